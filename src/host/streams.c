#include "streams.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void ld_streams_close(void)
{
    errno = 0;
    bool failed = ferror(stdout) != 0; /* some time ago, for a reason that nobody kept */
    if (fclose(stdout) == 0 && !failed)
        return;
    fprintf(stderr, "ladies: a part of standard output could not be written%s%s\n",
            errno ? ": " : "", errno ? strerror(errno) : "");
    _exit(EXIT_FAILURE);
}

void ld_streams_open(void)
{
    static const int modes[] = {O_WRONLY, O_RDONLY, O_RDONLY}; /* what will be tried fails */
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", modes[fd]) != fd)
            _exit(EXIT_FAILURE);
    signal(SIGXFSZ, SIG_IGN);
    atexit(ld_streams_close);
}
