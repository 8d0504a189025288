/* Reads the limits of control groups. /proc/self/cgroup has a line "number:controllers:group" for
 * each hierarchy, of which version 2 has one, "0::group"; /proc/self/mountinfo tells where each is
 * mounted, and which of its groups is the topmost that is seen there. See the manual pages
 * cgroups(7) and proc(5). */
#include "system/cgroup.h"

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_LINE = 2 * PATH_MAX };

typedef struct {
    char folder[3 * PATH_MAX]; /* the innermost group's folder */
    size_t top;                /* the length of the outermost group's folder */
} hierarchy;

/* The type of functions that take one limit from a file in the folder of a group. */
typedef void take_fn(ld_cgroup_limits *limits, const char *folder, const char *name);

/* Returns true if a list with commas has a word. */
static bool has_word(const char *list, const char *word)
{
    size_t length = strlen(word);
    while (*list) {
        size_t n = strcspn(list, ",\n");
        if (n == length && strncmp(list, word, n) == 0)
            return true;
        list += n + (list[n] != '\0');
    }
    return false;
}

/* Finds the group of this process in the hierarchy of a controller, or in that of version 2
 * (NULL). */
static bool find_group(char group[PATH_MAX], const char *root, const char *controller)
{
    char path[PATH_MAX], line[LONGEST_LINE];
    bool found = false;
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *f = fopen(path, "r");
    while (f && !found && fgets(line, sizeof line, f)) {
        char *controllers = strchr(line, ':'), *at = controllers ? strchr(controllers + 1, ':') : 0;
        if (!at)
            continue;
        *at++ = '\0';
        at[strcspn(at, "\n")] = '\0';
        found = controller ? has_word(controllers + 1, controller) : controllers[1] == '\0';
        if (found)
            found = (size_t)snprintf(group, PATH_MAX, "%s", at) < PATH_MAX;
    }
    if (f)
        fclose(f);
    return found;
}

/* Returns the path of `group` below a mount that shows the group `top` of the hierarchy and those
 * in it. It is "" where the group is `top`, or where the names are those of another namespace. */
static const char *below(const char *group, const char *top)
{
    size_t length = strcmp(top, "/") == 0 ? 0 : strlen(top);
    bool within = strncmp(group, top, length) == 0 && (group[length] == '/' || !group[length]);
    return !within || strcmp(group + length, "/") == 0 || strstr(group, "/..") ? ""
                                                                               : group + length;
}

/* Finds the hierarchy of a controller, or that of version 2 (NULL). */
static bool find_hierarchy(hierarchy *h, const char *root, const char *controller)
{
    char path[PATH_MAX], group[PATH_MAX], line[LONGEST_LINE];
    bool found = false;
    if (!find_group(group, root, controller))
        return false;
    snprintf(path, sizeof path, "%s/proc/self/mountinfo", root);
    FILE *f = fopen(path, "r");
    while (f && !found && fgets(line, sizeof line, f)) {
        char *save, *fields = strstr(line, " - "), *type, *options, *top, *place;
        if (!fields)
            continue;
        *fields = '\0';
        type = strtok_r(fields + 3, " \n", &save);
        if (!type || !strtok_r(NULL, " \n", &save))
            continue;
        options = strtok_r(NULL, " \n", &save);
        strtok_r(line, " ", &save);
        for (int i = 0; i < 2; i++)
            strtok_r(NULL, " ", &save);
        top = strtok_r(NULL, " ", &save);
        place = strtok_r(NULL, " ", &save);
        if (!place || strcmp(type, controller ? "cgroup" : "cgroup2") != 0 ||
            (controller && (!options || !has_word(options, controller))))
            continue;
        h->top = strlen(root) + strlen(place);
        found = (size_t)snprintf(h->folder, sizeof h->folder, "%s%s%s", root, place,
                                 below(group, top)) < sizeof h->folder;
    }
    if (f)
        fclose(f);
    return found;
}

/* Reads the first line of a file of a group; false where there is none. */
static bool read_line(char line[LONGEST_LINE], const char *folder, const char *name)
{
    char path[4 * PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "r");
    bool found = f && fgets(line, LONGEST_LINE, f);
    if (f)
        fclose(f);
    return found;
}

/* Lowers the limit of memory to the number in a file, if there is one: "max" is none. */
static void take_memory(ld_cgroup_limits *limits, const char *folder, const char *name)
{
    char line[LONGEST_LINE], *end;
    if (!read_line(line, folder, name))
        return;
    unsigned long long bytes = strtoull(line, &end, 10);
    if (end > line && bytes > 0 && bytes < limits->memory)
        limits->memory = bytes;
}

static void take_quota(ld_cgroup_limits *limits, double microseconds, double period)
{
    if (microseconds > 0 && period > 0)
        limits->quota = fmin(limits->quota, microseconds / period);
}

static void take_quota1(ld_cgroup_limits *limits, const char *folder, const char *name)
{
    char line[LONGEST_LINE], period[LONGEST_LINE];
    if (read_line(line, folder, name) && read_line(period, folder, "cpu.cfs_period_us"))
        take_quota(limits, strtod(line, NULL), strtod(period, NULL));
}

static void take_quota2(ld_cgroup_limits *limits, const char *folder, const char *name)
{
    char line[LONGEST_LINE], *period;
    if (!read_line(line, folder, name))
        return;
    double microseconds = strtod(line, &period);
    if (period > line)
        take_quota(limits, microseconds, strtod(period, NULL));
}

/* Counts the processors of a list such as "0-3,8". */
static void take_processors(ld_cgroup_limits *limits, const char *folder, const char *name)
{
    char line[LONGEST_LINE], *at = line;
    int64_t count = 0;
    if (!read_line(line, folder, name))
        return;
    while (*at >= '0' && *at <= '9') {
        long first = strtol(at, &at, 10), last = first;
        if (*at == '-')
            last = strtol(at + 1, &at, 10);
        count += last - first + 1;
        at += *at == ',';
    }
    if (count > 0 && count < limits->n_allowed)
        limits->n_allowed = count;
}

ld_cgroup_limits ld_cgroup_read(const char *root)
{
    /* memory.high counts, since beyond it a process is slowed down until it holds less. */
    static const struct {
        const char *controller; /* NULL: of version 2 */
        take_fn *take;
        const char *name;
    } SOURCES[] = {
        {"memory", take_memory, "memory.limit_in_bytes"},
        {"cpu", take_quota1, "cpu.cfs_quota_us"},
        {"cpuset", take_processors, "cpuset.effective_cpus"},
        {NULL, take_memory, "memory.max"},
        {NULL, take_memory, "memory.high"},
        {NULL, take_quota2, "cpu.max"},
        {NULL, take_processors, "cpuset.cpus.effective"},
    };
    ld_cgroup_limits limits = {UINT64_MAX, INFINITY, INT64_MAX};
    for (size_t i = 0; i < sizeof SOURCES / sizeof SOURCES[0]; i++) {
        hierarchy h;
        if (!find_hierarchy(&h, root, SOURCES[i].controller))
            continue;
        for (;;) {
            SOURCES[i].take(&limits, h.folder, SOURCES[i].name);
            char *slash = strrchr(h.folder + h.top, '/');
            if (!slash)
                break;
            *slash = '\0';
        }
    }
    return limits;
}
