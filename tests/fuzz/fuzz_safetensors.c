/* Files of weights: the header, every tensor in every way of reading, once more mapped, which must
 * make no difference; and what was read is written and read again. */
#include <string.h>

#include "fuzz.h"
#include "fuzz_array.h"
#include "io/array/safetensors_write.h"

enum { ALWAYS = 1 << 20, BYTES_PER_BYTE = 32 };

typedef struct {
    ld_safetensors *f;
    const char *name;
} tensor;

static ld_status begin(void *context, ld_npy_header *h, ld_source **s)
{
    tensor *t = context;
    return ld_safetensors_read(h, s, t->f, t->name);
}

/* The tensor's bytes as an array to be written; data is NULL when it is not one of those. */
static ld_npy_array copy(ld_safetensors *f, const ld_safetensor *t)
{
    ld_npy_array a = {.name = t->name, .data = NULL};
    ld_source *s;
    if (t->header.type.kind == 'B' || !fuzz_ok(ld_safetensors_read(&a.header, &s, f, t->name)))
        return a;
    void *bytes = malloc((size_t)ld_npy_bytes(&a.header) + 1);
    FUZZ_REQUIRE(bytes, "no memory");
    FUZZ_REQUIRE(fuzz_ok(ld_npy_read_bytes(bytes, &a.header, s)), "%s", ld_message());
    a.data = bytes;
    return a;
}

/* The texts and tensors that are read come back from a file of ours. */
static void write_again(ld_safetensors *f)
{
    char path[300];
    int64_t count = 0;
    ld_safetensors *again = NULL;
    ld_npy_array *arrays = malloc((size_t)f->count * sizeof *arrays + 1);
    FUZZ_REQUIRE(arrays, "no memory");
    for (int64_t i = 0; i < f->count; i++) {
        arrays[count] = copy(f, &f->tensors[i]);
        count += arrays[count].data != NULL;
    }
    snprintf(path, sizeof path, "%s/again", fuzz_folder());
    FUZZ_REQUIRE(fuzz_ok(ld_safetensors_write(path, arrays, count, f->texts, f->n_texts)), "%s",
                 ld_message());
    FUZZ_REQUIRE(fuzz_ok(ld_safetensors_open(&again, path)), "%s", ld_message());
    FUZZ_REQUIRE(again->count == count && again->n_texts == f->n_texts, "another number of them");
    for (int64_t i = 0; i < f->n_texts; i++)
        FUZZ_REQUIRE(strcmp(f->texts[i].key, again->texts[i].key) == 0 &&
                         strcmp(f->texts[i].value, again->texts[i].value) == 0,
                     "another text");
    for (int64_t i = 0; i < count; i++) {
        ld_npy_array b = copy(again, ld_safetensors_find(again, arrays[i].name));
        FUZZ_REQUIRE(b.data && ld_npy_bytes(&b.header) == ld_npy_bytes(&arrays[i].header) &&
                         memcmp(b.data, arrays[i].data, (size_t)ld_npy_bytes(&b.header)) == 0,
                     "another tensor");
        free((void *)b.data);
        free((void *)arrays[i].data);
    }
    ld_safetensors_close(again);
    free(arrays);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file(data, size);
    ld_safetensors *f = NULL, *mapping = NULL;
    fuzz_begin();
    if (fuzz_ok(ld_safetensors_open(&f, path))) {
        FUZZ_REQUIRE(fuzz_ok(ld_safetensors_open(&mapping, path)), "%s", ld_message());
        mapping->least_mapped = 1;
        for (int64_t i = 0; i < f->count; i++) {
            const char *name = f->tensors[i].name;
            FUZZ_REQUIRE(ld_safetensors_find(f, name) == &f->tensors[i], "not found");
            fuzz_read_array(begin, &(tensor){f, name});
            fuzz_compare_mapped(begin, &(tensor){f, name}, &(tensor){mapping, name});
        }
        FUZZ_REQUIRE(!ld_safetensors_find(f, "no such tensor\n"), "a tensor that is not there");
        fuzz_ok(ld_safetensors_read(&(ld_npy_header){0}, &(ld_source *){NULL}, f, "\n"));
        write_again(f);
    }
    ld_safetensors_close(f);
    ld_safetensors_close(mapping);
    fuzz_end(ALWAYS + (int64_t)size * BYTES_PER_BYTE);
    return 0;
}

/* Three times in four the header alone changes, its length with it. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    uint64_t length = 0;
    if (size < sizeof length || seed % 4 == 0 || most < size + 64)
        return LLVMFuzzerMutate(data, size, most);
    memcpy(&length, data, sizeof length);
    if (length > size - sizeof length)
        return LLVMFuzzerMutate(data, size, most);
    size_t rest = size - sizeof length - length, room = most - sizeof length - rest;
    uint8_t *header = malloc(room + 1), *tail = malloc(rest + 1);
    FUZZ_REQUIRE(header && tail, "no memory");
    memcpy(header, data + sizeof length, length);
    memcpy(tail, data + sizeof length + length, rest);
    length = LLVMFuzzerMutate(header, length, room);
    memcpy(data, &length, sizeof length);
    memcpy(data + sizeof length, header, length);
    memcpy(data + sizeof length + length, tail, rest);
    free(header);
    free(tail);
    return sizeof length + length + rest;
}
