/* Matrix Market files, plain or in gzip; what is read is written and read again. */
#include <math.h>

#include "fuzz.h"
#include "io/text/mtx.h"

enum {
    ALWAYS = 1 << 23,
    BYTES_PER_BYTE = 64,
    SIDE = 1 << 24, /* rows or columns that a file may declare, whatever its size is; ... */
    BYTES_PER_ROW =
        24, /* ... what they take: offsets, and as much again while entries are sorted */
    MOST_WRITTEN = 1 << 12,
};

static void read_again(const char *path, const ld_csr *a, const ld_tensor *t)
{
    ld_csr *b = NULL;
    ld_tensor *u = NULL;
    FUZZ_REQUIRE(fuzz_ok(ld_mtx_read(&b, &u, path, NULL, NULL)), "%s", ld_message());
    FUZZ_REQUIRE((a != NULL) == (b != NULL), "an array comes back as entries");
    uint64_t before, after;
    FUZZ_REQUIRE(fuzz_ok(a ? ld_csr_hash(&before, a) : ld_tensor_hash(&before, t)) &&
                     fuzz_ok(a ? ld_csr_hash(&after, b) : ld_tensor_hash(&after, u)),
                 "%s", ld_message());
    FUZZ_REQUIRE(before == after, "the %s comes back as another", a ? "matrix" : "array");
    ld_csr_unref(b);
    ld_tensor_unref(u);
}

/* Sums of entries may be too large for the format, which has no infinities. */
static bool is_finite(const ld_tensor *t)
{
    for (int64_t i = 0; t && i < ld_tensor_size(t); i++)
        if (!isfinite(t->data[i]))
            return false;
    return true;
}

static void check(ld_csr *a, ld_tensor *t)
{
    char path[100];
    snprintf(path, sizeof path, "%s/matrix.mtx", fuzz_folder());
    if (a) {
        fuzz_check_matrix(a);
        if (!is_finite(a->values) || a->s->n_rows > MOST_WRITTEN)
            return;
        FUZZ_REQUIRE(fuzz_ok(ld_mtx_write(path, a, false)), "%s", ld_message());
    } else {
        FUZZ_REQUIRE(is_finite(t), "a number that is none");
        FUZZ_REQUIRE(fuzz_ok(ld_mtx_write_dense(path, t)), "%s", ld_message());
    }
    read_again(path, a, t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file(data, size);
    int64_t unpacked = fuzz_unpacked_size(path);
    ld_csr *a = NULL;
    ld_tensor *t = NULL;
    fuzz_begin();
    if (fuzz_ok(ld_mtx_read(&a, &t, path, NULL, NULL))) {
        FUZZ_REQUIRE((a != NULL) != (t != NULL), "neither entries nor an array");
        check(a, t);
    }
    ld_csr_unref(a);
    ld_tensor_unref(t);
    fuzz_end(ALWAYS + unpacked * BYTES_PER_BYTE + (int64_t)SIDE * BYTES_PER_ROW);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    return fuzz_mutate_gzip(data, size, most, seed, 0);
}
