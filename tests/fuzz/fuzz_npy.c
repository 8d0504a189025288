/* Single arrays, plain or in gzip: every way of reading one, and writing what was read. */
#include "fuzz.h"
#include "fuzz_array.h"
#include "io/archive/gz.h"

enum { ALWAYS = 1 << 20, BYTES_PER_BYTE = 16 };

typedef struct {
    const char *path;
    ld_gz *g;
} opened;

static ld_status begin(void *context, ld_npy_header *h, ld_source **s)
{
    opened *x = context;
    ld_gz_close(x->g);
    x->g = NULL;
    ld_status st = ld_gz_open(&x->g, x->path, "npy");
    if (st != LD_OK)
        return st;
    *s = &x->g->source;
    return ld_npy_read_header(h, *s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    opened x = {.path = fuzz_file(data, size)};
    int64_t unpacked = fuzz_unpacked_size(x.path);
    fuzz_begin();
    fuzz_read_array(begin, &x);
    ld_gz_close(x.g);
    fuzz_end(ALWAYS + unpacked * BYTES_PER_BYTE);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    return fuzz_mutate_gzip(data, size, most, seed, 0);
}
