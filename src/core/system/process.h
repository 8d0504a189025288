/* Other programs, run without a shell: started with their arguments as they are, watched, ended. */
#ifndef LD_SYSTEM_PROCESS_H
#define LD_SYSTEM_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/status.h"

typedef struct ld_process {
    pid_t pid;  /* also its group; 0 once it has ended */
    int status; /* then: its exit status, 128 + n after signal n */
} ld_process;

/* True if PATH leads to a program of this name; a name with a slash is a path. Folders of PATH that
 * are not named from the root, such as the current one, are left out. */
bool ld_process_exists(const char *name);

/* True if a process of this number is there and has not ended. */
bool ld_process_lives(pid_t pid);

/* Starts the program of this name, looked for in PATH unless it is a path, with `argv`
 * (NULL-terminated, argv[0] its name) and `environment` as its whole environment. It reads nothing
 * and writes what it has to say to a new file at `log`. It has a process group of its own, so
 * Ctrl-C at the terminal does not reach it, and ends with this program, however that ends. LD_VALUE
 * when there is no such program. */
ld_status ld_process_start(ld_process *p, char *const argv[], char *const environment[],
                           const char *log);

/* Waits for its end, at most so many seconds; `ended` tells. LD_CANCELLED on Ctrl-C. */
ld_status ld_process_wait(bool *ended, ld_process *p, double seconds);

/* Ends it and all of its group: asks, waits a moment, insists. Nothing happens when it has
 * ended. */
void ld_process_stop(ld_process *p);

#endif
