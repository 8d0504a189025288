/* Tests what is copied to and from a temporary file, and that it fails with a reason. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/status.h"
#include "check.h"
#include "memory/mapping.h"

enum { SIZE = 20000, FIRST = 123, N = 9000, LEFT = 5000 };

static void fails(ld_status st, ld_status with, const char *message)
{
    check(st == with && strcmp(ld_message(), message) == 0, "\"%s\" is \"%s\"", ld_message(),
          message);
}

/* What is written by calls is in the mapping's pages, and what is written there is read by calls. */
static void check_copies(const ld_mapping *m)
{
    char *some = new_block(N, 1), *got = new_block(N, 1);
    for (int64_t i = 0; i < N; i++)
        some[i] = (char)next_bits();
    check(ld_mapping_write(m, m->data + FIRST, some, N) == LD_OK, "written");
    check(memcmp(m->data + FIRST, some, N) == 0 && m->data[FIRST - 1] == 0, "in its place");
    check(m->data[FIRST + N] == 0, "and no further");
    m->data[FIRST + N - 1] ^= 1;
    some[N - 1] ^= 1;
    check(ld_mapping_read(m, got, m->data + FIRST, N) == LD_OK, "read");
    check(memcmp(got, some, N) == 0, "what is read is what the pages hold");
}

/* A disk that takes no more, which a limit of this process is in the place of; and a file that has
 * become shorter. */
static void check_failures(const ld_mapping *m)
{
    char *some = new_block(N, 1);
    struct rlimit before, low;
    getrlimit(RLIMIT_FSIZE, &before);
    low = (struct rlimit){LEFT, before.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &low);
    ld_status st = ld_mapping_write(m, m->data + FIRST, some, N);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_DFL);
    fails(st, LD_IO, "a temporary file: cannot be written: File too large");

    check(ftruncate(m->fd, LEFT) == 0, "shortened");
    check(ld_mapping_read(m, some, m->data, LEFT) == LD_OK, "what is left can be read");
    fails(ld_mapping_read(m, some, m->data + FIRST, N), LD_FORMAT,
          "a temporary file: is cut off at byte 5000");
}

void test(void)
{
    const char *folder = getenv("TMPDIR");
    ld_mapping *m;
    if (ld_mapping_temporary(&m, folder ? folder : "/tmp", SIZE) != LD_OK) {
        check(false, "%s", ld_message());
        return;
    }
    check_copies(m);
    check_failures(m);
    ld_mapping_unref(m);
}
