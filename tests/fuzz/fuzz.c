#include "fuzz.h"

#include <fcntl.h>
#include <ftw.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "io/archive/gz.h"
#include "memory/memory.h"

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    (void)info;
    (void)type;
    (void)walk;
    return remove(path);
}

void fuzz_remove(const char *folder)
{
    nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static char folder[64];

static void remove_folder(void)
{
    if (folder[0])
        fuzz_remove(folder);
}

void fuzz_abort(void)
{
    remove_folder();
    abort();
}

static int64_t before;

void fuzz_begin(void)
{
    ld_memory_trim(); /* forgets the peak */
    before = ld_memory_read().total;
}

void fuzz_end(int64_t bound)
{
    ld_memory_stats stats = ld_memory_read();
    FUZZ_REQUIRE(stats.total == before, "%" PRId64 " bytes stay behind", stats.total - before);
    FUZZ_REQUIRE(stats.peak - before <= bound,
                 "%" PRId64 " bytes were used at once, %" PRId64 " expected", stats.peak - before,
                 bound);
}

bool fuzz_ok(ld_status status)
{
    if (status == LD_OK)
        return true;
    const char *message = ld_message();
    size_t length = strlen(message);
    FUZZ_REQUIRE(status != LD_NOMEM, "%s", message);
    FUZZ_REQUIRE(length > 0 && length < 700, "a message of %zu bytes: %s", length, message);
    for (const char *p = message; *p; p++)
        FUZZ_REQUIRE((unsigned char)*p >= 0x20 && *p != 0x7F, "not one clear line: %s", message);
    return false;
}

static void write_all(int fd, const uint8_t *data, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, data, size);
        FUZZ_REQUIRE(n > 0, "cannot write the input");
        data += n;
        size -= (size_t)n;
    }
}

const char *fuzz_file(const void *data, size_t size)
{
    static char path[40];
    static int fd = -1;
    if (fd < 0) {
        fd = memfd_create("input", MFD_CLOEXEC);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    FUZZ_REQUIRE(fd >= 0 && ftruncate(fd, 0) == 0 && lseek(fd, 0, SEEK_SET) == 0,
                 "cannot make a file in memory");
    write_all(fd, data, size);
    return path;
}

const char *fuzz_folder(void)
{
    if (!folder[0]) {
        /* In memory where there is such a place: nothing is synced to a disk there. */
        snprintf(folder, sizeof folder, "%s/ladies-fuzz-XXXXXX",
                 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
        FUZZ_REQUIRE(mkdtemp(folder), "cannot make %s", folder);
        atexit(remove_folder);
    }
    return folder;
}

int64_t fuzz_unpacked_size(const char *path)
{
    static char piece[1 << 16];
    int64_t total = 0, got = 0;
    ld_gz *g = NULL;
    if (ld_gz_open(&g, path, "fuzz") != LD_OK)
        return 0;
    while (ld_gz_read(g, piece, sizeof piece, &got) == LD_OK && got > 0)
        total += got;
    ld_gz_close(g);
    return total + (int64_t)sizeof piece; /* a read that fails does not say what it gave before */
}

void fuzz_check_matrix(const ld_csr *a)
{
    const ld_structure *s = a->s;
    FUZZ_REQUIRE(s->n_rows >= 0 && s->n_cols >= 0 && s->nnz >= 0, "negative sizes");
    FUZZ_REQUIRE(s->offsets[0] == 0 && s->offsets[s->n_rows] == s->nnz,
                 "offsets do not run from 0 to the number of entries");
    FUZZ_REQUIRE(!a->values || ld_tensor_size(a->values) == s->nnz, "values for other entries");
    for (int64_t r = 0; r < s->n_rows; r++) {
        FUZZ_REQUIRE(s->offsets[r] <= s->offsets[r + 1] && s->offsets[r + 1] <= s->nnz,
                     "the offsets fall in row %" PRId64, r);
        for (int64_t e = s->offsets[r]; e < s->offsets[r + 1]; e++)
            FUZZ_REQUIRE(s->columns[e] < s->n_cols &&
                             s->columns[e] > (e > s->offsets[r] ? s->columns[e - 1] : -1),
                         "column %d in row %" PRId64 " of %" PRId64 " columns", s->columns[e], r,
                         s->n_cols);
    }
}
