/* Graphs that stay in their file: a matrix over the offsets and columns of a .safetensors file is
 * made just when these are the offsets and columns of a matrix, and can then be used. The first
 * four bytes of an input are the number of rows and of columns, the rest is the file. */
#include <string.h>

#include "fuzz.h"
#include "io/array/safetensors.h"

enum { OWN = 4, ALWAYS = 1 << 20, BYTES_PER_BYTE = 64 };

/* The place of a tensor's bytes among those of the file; NULL unless it is a vector of `count`
 * elements of this type, or of any number for -1. */
static const uint8_t *bytes_of(const ld_safetensors *f, const uint8_t *file, const char *name,
                               const char *dtype, int64_t size, int64_t *count)
{
    const ld_safetensor *t = ld_safetensors_find(f, name);
    if (!t || strcmp(t->dtype, dtype) != 0 || t->ndim != 1)
        return NULL;
    *count = (t->end - t->begin) / size;
    return file + f->data + t->begin;
}

static int64_t offset(const uint8_t *offsets, int64_t r)
{
    int64_t value;
    memcpy(&value, offsets + r * (int64_t)sizeof value, sizeof value);
    return value;
}

static int32_t column(const uint8_t *columns, int64_t e)
{
    int32_t value;
    memcpy(&value, columns + e * (int64_t)sizeof value, sizeof value);
    return value;
}

/* Finds out, the slow way, whether the bytes are a matrix of this shape with sorted rows. */
static bool is_matrix(const uint8_t *offsets, const uint8_t *columns, int64_t n_rows,
                      int64_t n_cols, int64_t nnz)
{
    if (offset(offsets, 0) != 0 || offset(offsets, n_rows) != nnz)
        return false;
    for (int64_t r = 0; r < n_rows; r++)
        if (offset(offsets, r) > offset(offsets, r + 1))
            return false;
    for (int64_t r = 0; r < n_rows; r++)
        for (int64_t e = offset(offsets, r), last = -1; e < offset(offsets, r + 1); e++) {
            if (column(columns, e) <= last || column(columns, e) >= n_cols)
                return false;
            last = column(columns, e);
        }
    return true;
}

/* Goes over all entries, in their order and in that of the transpose. */
static void use(ld_csr *a)
{
    uint64_t hash;
    ld_csr *t = NULL;
    fuzz_check_matrix(a);
    FUZZ_REQUIRE(fuzz_ok(ld_csr_hash(&hash, a)), "%s", ld_message());
    FUZZ_REQUIRE(fuzz_ok(ld_csr_transpose(&t, a)), "%s", ld_message());
    FUZZ_REQUIRE(t->s->nnz == a->s->nnz, "another number of entries");
    fuzz_check_matrix(t);
    ld_csr_unref(t);
}

static void map(ld_safetensors *f, const uint8_t *file, int64_t n_rows, int64_t n_cols)
{
    int64_t n_offsets = 0, nnz = 0;
    const uint8_t *offsets = bytes_of(f, file, "indptr", "I64", sizeof(int64_t), &n_offsets);
    const uint8_t *columns = bytes_of(f, file, "indices", "I32", sizeof(int32_t), &nnz);
    ld_mapped_csr given = {"indptr", "indices", n_rows, n_cols, false, false, false};
    ld_csr *a = NULL;
    if (!fuzz_ok(ld_safetensors_map_csr(&a, f, &given))) {
        FUZZ_REQUIRE(!offsets || !columns || n_offsets != n_rows + 1 ||
                         !is_matrix(offsets, columns, n_rows, n_cols, nnz),
                     "a matrix is refused: %s", ld_message());
        return;
    }
    if (a) {
        FUZZ_REQUIRE(offsets && columns && n_offsets == n_rows + 1 && a->s->nnz == nnz &&
                         is_matrix(offsets, columns, n_rows, n_cols, nnz),
                     "no matrix is taken for one");
        use(a);
    }
    ld_csr_unref(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ld_safetensors *f = NULL;
    uint16_t shape[2];
    if (size < OWN)
        return 0;
    memcpy(shape, data, sizeof shape);
    const char *path = fuzz_file(data + OWN, size - OWN);
    fuzz_begin();
    if (fuzz_ok(ld_safetensors_open(&f, path))) {
        f->least_mapped = 1;
        map(f, data + OWN, shape[0], shape[1]);
    }
    ld_safetensors_close(f);
    fuzz_end(ALWAYS + ((int64_t)size + shape[0] + shape[1]) * BYTES_PER_BYTE);
    return 0;
}

/* Seven times in eight the header stays as it is: the shape changes, or what the offsets and columns
 * are. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    uint64_t length = 0;
    if (size < OWN + sizeof length || seed % 8 == 0)
        return LLVMFuzzerMutate(data, size, most);
    memcpy(&length, data + OWN, sizeof length);
    size_t head = OWN + sizeof length + (size_t)length;
    if (length > size || head >= size)
        return LLVMFuzzerMutate(data, size, most);
    if (seed % 8 == 1) {
        LLVMFuzzerMutate(data, OWN, OWN);
        return size;
    }
    size_t rest = size - head, changed = LLVMFuzzerMutate(data + head, rest, rest);
    memset(data + head + changed, 0, rest - changed); /* as long as the header says */
    return size;
}
