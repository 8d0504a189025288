/* The zip container and the arrays in it: every member is read through, arrays in every way, and
 * once more from an archive whose members are mapped where that is possible, which must make no
 * difference. */

#include "fuzz.h"
#include "fuzz_array.h"
#include "io/array/npz.h"
#include "io/pickle/pickle.h"

enum {
    ALWAYS = 1 << 20,
    BYTES_PER_BYTE = 512,    /* as in fuzz_pickle.c, for arrays of objects */
    PIECE = 1000,            /* not a power of two, so that pieces end anywhere */
    MOST_COMPARED = 1 << 24, /* as in fuzz_array.c */
};

typedef struct {
    ld_zip *z;
    const char *name;
} array;

static ld_status begin(void *context, ld_npy_header *h, ld_source **s)
{
    array *a = context;
    return ld_npz_read(h, s, a->z, a->name);
}

/* Reads a member through; returns the bytes that it gave. */
static int64_t read_member(ld_zip *z, const ld_zip_member *m)
{
    static char piece[PIECE];
    ld_source *s;
    FUZZ_REQUIRE(ld_zip_name_is_fit(m->name), "an unfit name");
    FUZZ_REQUIRE(ld_zip_find(z, m->name) == m, "a member that is not found");
    if (!fuzz_ok(ld_zip_read(&s, z, m)))
        return 0;
    FUZZ_REQUIRE(s->left == m->size, "another size");
    int64_t n, total = 0;
    for (; s->left > 0; total += n) {
        n = s->left < PIECE ? s->left : PIECE;
        if (!fuzz_ok(ld_source_read(s, piece, n)))
            return total + n;
    }
    if (fuzz_ok(ld_source_finish(s)))
        FUZZ_REQUIRE(total == m->size, "a whole member of another size");
    return total;
}

/* An array of objects is one pickle. */
static void read_objects(array *a)
{
    ld_npy_header h;
    ld_source *s;
    ld_pickle *p = NULL;
    if (fuzz_ok(begin(a, &h, &s)) && h.type.kind == 'O')
        fuzz_ok(ld_pickle_read(&p, s));
    ld_pickle_unref(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file(data, size);
    ld_zip *z = NULL, *mapping = NULL;
    int64_t content = 0;
    fuzz_begin();
    if (fuzz_ok(ld_zip_open(&z, path, "npz"))) {
        FUZZ_REQUIRE(fuzz_ok(ld_zip_open(&mapping, path, "npz")), "%s", ld_message());
        mapping->least_mapped = 1;
        for (int64_t i = 0; i < z->count; i++) {
            const ld_zip_member *m = &z->members[i];
            char name[LD_ZIP_LONGEST_NAME + 1];
            content += read_member(z, m);
            int length = ld_npz_name_length(m);
            if (length < 0)
                continue;
            snprintf(name, sizeof name, "%.*s", length, m->name);
            FUZZ_REQUIRE(ld_npz_has(z, name), "an array that is not there");
            array a = {z, name};
            fuzz_read_array(begin, &a);
            read_objects(&a);
            if (m->size <= MOST_COMPARED)
                fuzz_compare_mapped(begin, &a, &(array){mapping, name});
        }
        ld_npy_header h;
        ld_source *s;
        fuzz_ok(ld_npz_read(&h, &s, z, "no such array"));
    }
    ld_zip_close(z);
    ld_zip_close(mapping);
    fuzz_end(ALWAYS + ((int64_t)size + content) * BYTES_PER_BYTE);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    return fuzz_mutate_zip(data, size, most, seed);
}
