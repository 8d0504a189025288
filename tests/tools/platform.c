/* Prints what system/platform.c and system/cgroup.c find:
 *     platform COMMAND [ARGS...]
 * program             the path of this program
 * short               the same with room for four characters
 * processors          how many there are
 * groups ROOT         what control groups leave: bytes, quota, processors
 * map FILE            fresh pages and a file's first ones, written to and made larger
 * end PID             whether PID is the parent */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "system/cgroup.h"
#include "system/platform.h"

static int print_map(const char *path)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *fresh = ld_platform_map(page);
    if (!fresh || fresh[0] || fresh[page - 1])
        return 1;
    fresh[7] = 'x';
    ld_platform_enlarge(fresh, page);
    char *larger = ld_platform_remap(fresh, page, 5 * page);
    printf("remap: %s\n", !larger ? "none" : larger[7] == 'x' && !larger[4 * page] ? "moved" : "?");
    ld_platform_unmap(larger ? larger : fresh, larger ? 5 * page : page);

    int fd = open(path, O_RDONLY);
    char *pages = ld_platform_map_file(fd, 0, 5, false);
    if (!pages)
        return 1;
    pages[0] = '_';
    printf("file: %.5s\n", pages);
    ld_platform_forget(pages, 5);
    printf("forgotten: %.5s\n", pages);
    ld_platform_unmap(pages, 5);
    return ld_platform_map_file(-1, 0, 5, false) != NULL || close(fd) != 0;
}

static void print_groups(const char *root)
{
    ld_cgroup_limits l = ld_cgroup_read(root);
    printf("%" PRIu64 " %g %" PRId64 "\n", l.memory, l.quota, l.n_allowed);
}

int main(int argc, char **argv)
{
    char path[4096];
    const char *command = argc > 1 ? argv[1] : "";
    if (strcmp(command, "program") == 0)
        puts(ld_platform_program(path, sizeof path, argv[0]) ? path : "none");
    else if (strcmp(command, "short") == 0)
        puts(ld_platform_program(path, 4, argv[0]) ? path : "none");
    else if (strcmp(command, "processors") == 0)
        printf("%d\n", ld_platform_processors());
    else if (strcmp(command, "groups") == 0 && argc > 2)
        print_groups(argv[2]);
    else if (strcmp(command, "map") == 0 && argc > 2)
        return print_map(argv[2]);
    else if (strcmp(command, "end") == 0 && argc > 2)
        puts(ld_platform_end_with((pid_t)atol(argv[2])) ? "parent" : "another");
    else
        return 2;
    return 0;
}
