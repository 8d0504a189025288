/* Runs other programs without a shell: starts them with their arguments unchanged, waits for them,
 * and ends them. */
#ifndef LD_SYSTEM_PROCESS_H
#define LD_SYSTEM_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/status.h"

typedef struct ld_process {
    pid_t pid;  /* also its group; 0 once it has ended */
    int status; /* then: its exit status, 128 + n after signal n */
} ld_process;

/* Returns true if PATH leads to a program of this name; a name with a slash is a path. Folders of
 * PATH that are not named from the root, such as the current one, are left out. */
bool ld_process_exists(const char *name);

/* Returns true if a process of this number is there and has not ended. */
bool ld_process_lives(pid_t pid);

/* Starts the program of this name, looked for in PATH unless it is a path, with `argv`
 * (NULL-terminated, argv[0] its name) and `environment` as its whole environment. The program reads
 * nothing and writes its output to a new file at `log`. It has a process group of its own, so
 * Ctrl-C at the terminal does not reach it, and is ended when this process ends, however that ends.
 * Fails with LD_VALUE when there is no such program. */
ld_status ld_process_start(ld_process *p, char *const argv[], char *const environment[],
                           const char *log);

/* Waits at most `seconds` for the program to end; *ended says whether it has. Fails with
 * LD_CANCELLED on Ctrl-C. */
ld_status ld_process_wait(bool *ended, ld_process *p, double seconds);

/* Ends a program that still runs, and its group: by SIGTERM, and after a moment by SIGKILL. */
void ld_process_stop(ld_process *p);

#endif
