#include "system/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "system/clock.h"
#include "system/platform.h"

static const double SHORTEST_NAP = 1e-4, LONGEST_NAP = 0.02, PATIENCE = 2; /* seconds */

bool ld_process_exists(const char *name)
{
    char path[PATH_MAX];
    return ld_platform_find_program(path, sizeof path, name);
}

/* Returns true if a process has ended and waits for its parent, or init, to notice, where the
 * system tells. */
static bool is_zombie(pid_t pid)
{
    char path[64], state = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    /* Where the program's name has a ")" nothing is found, and the process counts as alive. */
    int found = fscanf(file, "%*d (%*[^)]) %c", &state);
    fclose(file);
    return found == 1 && (state == 'Z' || state == 'X');
}

bool ld_process_lives(pid_t pid)
{
    return (kill(pid, 0) == 0 || errno == EPERM) && !is_zombie(pid);
}

/* Becomes the program, in the child, where until exec only functions may be called that are safe in
 * a signal handler. */
static void become(const char *path, char *const argv[], char *const environment[], int log,
                   pid_t parent)
{
    sigset_t none;
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    setpgid(0, 0);
    if (!ld_platform_end_with(parent))
        _exit(127);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    dup2(nothing, STDIN_FILENO);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    execve(path, argv, environment);
    _exit(127);
}

ld_status ld_process_start(ld_process *p, char *const argv[], char *const environment[],
                           const char *log)
{
    char path[PATH_MAX];
    *p = (ld_process){0, 0};
    if (!ld_platform_find_program(path, sizeof path, argv[0]))
        return ld_fail(LD_VALUE, "process: there is no program \"%s\"%s", argv[0],
                       strchr(argv[0], '/') ? "" : " in PATH");
    int fd = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return ld_fail(LD_IO, "process: %s cannot be created: %s", log, strerror(errno));
    pid_t parent = getpid(), pid = fork();
    if (pid == 0)
        become(path, argv, environment, fd, parent);
    int reason = errno;
    close(fd);
    if (pid < 0)
        return ld_fail(LD_IO, "process: %s cannot be started: %s", argv[0], strerror(reason));
    setpgid(pid, pid); /* whoever of the two comes first */
    p->pid = pid;
    return LD_OK;
}

/* Sleeps between two looks at a process that was waited for so long: short waits end in time, long
 * ones cost little. */
static void nap(double waited)
{
    double part = waited / 64;
    double seconds = part < SHORTEST_NAP ? SHORTEST_NAP : part > LONGEST_NAP ? LONGEST_NAP : part;
    nanosleep(&(struct timespec){.tv_nsec = (long)(seconds * 1e9)}, NULL);
}

/* Returns true if the process has ended, and notes its exit status. */
static bool has_ended(ld_process *p)
{
    int status;
    if (p->pid == 0)
        return true;
    pid_t got = waitpid(p->pid, &status, WNOHANG);
    if (got == 0 || (got < 0 && errno == EINTR))
        return false;
    p->status = got < 0 ? 127 : WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    p->pid = 0;
    return true;
}

ld_status ld_process_wait(bool *ended, ld_process *p, double seconds)
{
    double began = ld_clock(), waited = 0;
    for (; !(*ended = has_ended(p)) && waited < seconds; waited = ld_clock() - began) {
        LD_CHECK(ld_poll());
        nap(waited);
    }
    return LD_OK;
}

void ld_process_stop(ld_process *p)
{
    pid_t group = p->pid;
    if (has_ended(p))
        return;
    kill(-group, SIGTERM);
    double began = ld_clock(), waited = 0;
    for (; !has_ended(p) && waited < PATIENCE; waited = ld_clock() - began)
        nap(waited);
    kill(-group, SIGKILL); /* what it has started may be left */
    while (!has_ended(p))
        nap(waited);
}
