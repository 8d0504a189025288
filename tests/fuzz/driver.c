/* Stands in for libFuzzer where there is none: fuzz_NAME [-runs=N] [-seed=S] FILE-OR-FOLDER...
 *
 * Tries every file, then N mutations of them: the same ones for the same seed and files. It does
 * not look at coverage; it makes sure that faults found once stay mended, and that the harnesses
 * work where there is no clang. The input that ends the program lies in crash-NAME then. */
#include <dirent.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "random/rng.h"

enum { MOST_INPUTS = 4096, MOST_BYTES = 1 << 20, ROUNDS = 4, SECONDS = 60 };

/* gcc has no LLVMFuzzerCustomMutator of its own to fall back on. */
#pragma weak LLVMFuzzerCustomMutator

typedef struct {
    uint8_t *data;
    size_t size;
} input;

static input inputs[MOST_INPUTS];
static int n_inputs;
static ld_stream stream;
static uint64_t position;
static const uint8_t *tried;
static size_t tried_size;
static char crash_name[200];

static uint32_t draw(uint32_t below)
{
    uint32_t bits[4];
    ld_philox(bits, stream, position++);
    return bits[0] % below;
}

/* --- the plain mutations ---------------------------------------------------------------------- */

static size_t insert(uint8_t *data, size_t size, size_t most, const uint8_t *what, size_t length)
{
    size_t at = draw((uint32_t)size + 1);
    length = length < most - size ? length : most - size;
    memmove(data + at + length, data + at, size - at);
    memcpy(data + at, what, length);
    return size + length;
}

static size_t erase(uint8_t *data, size_t size)
{
    size_t at = draw((uint32_t)size), length = 1 + draw(1 + (uint32_t)(size - at - 1) / 2);
    memmove(data + at, data + at + length, size - at - length);
    return size - length;
}

static void write_number(uint8_t *data, size_t size)
{
    static const uint64_t numbers[] = {0,          1,         127,        128,
                                       255,        0xFFFF,    0x7FFFFFFF, 0x80000000,
                                       0xFFFFFFFF, INT64_MAX, 1ull << 63, UINT64_MAX};
    uint64_t number = numbers[draw(sizeof numbers / sizeof *numbers)];
    size_t bytes = (size_t)1 << draw(4);
    bytes = bytes < size ? bytes : size;
    memcpy(data + draw((uint32_t)(size - bytes) + 1), &number, bytes);
}

/* Inserts a number or a separator, to change or divide numbers in text. */
static size_t insert_digits(uint8_t *data, size_t size, size_t most)
{
    static const char *const texts[] = {
        "0",   "-1", "2147483647", "4294967296", "1e39", "1e-46", "99999999999999999999",
        "nan", ".",  "\n",         ",",          "\""};
    const char *text = texts[draw(sizeof texts / sizeof *texts)];
    return insert(data, size, most, (const uint8_t *)text, strlen(text));
}

static size_t splice(uint8_t *data, size_t size, size_t most)
{
    const input *other = &inputs[draw((uint32_t)n_inputs)];
    if (other->size == 0)
        return size;
    size_t at = draw((uint32_t)other->size), length = 1 + draw((uint32_t)(other->size - at));
    return insert(data, size, most, other->data + at, length);
}

static size_t mutate_once(uint8_t *data, size_t size, size_t most)
{
    uint8_t byte = (uint8_t)draw(256);
    if (size == 0)
        return insert(data, size, most, &byte, 1);
    switch (draw(8)) {
    case 0: return erase(data, size);
    case 1: return insert(data, size, most, &byte, 1);
    case 2: return splice(data, size, most);
    case 3: return insert_digits(data, size, most);
    case 4: write_number(data, size); return size;
    case 5: data[draw((uint32_t)size)] = byte; return size;
    default: data[draw((uint32_t)size)] ^= (uint8_t)(1 << draw(8)); return size;
    }
}

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most)
{
    for (uint32_t n = 1 + draw(ROUNDS); n > 0; n--)
        size = mutate_once(data, size, most);
    return size;
}

/* --- inputs ----------------------------------------------------------------------------------- */

static void read_file(const char *path, int64_t size)
{
    FILE *f = fopen(path, "rb");
    FUZZ_REQUIRE(f && n_inputs < MOST_INPUTS && size <= MOST_BYTES, "%s cannot be taken", path);
    input *x = &inputs[n_inputs++];
    x->size = (size_t)size;
    x->data = malloc(x->size + 1);
    FUZZ_REQUIRE(x->data && fread(x->data, 1, x->size, f) == x->size, "%s cannot be read", path);
    fclose(f);
}

static void read_path(const char *path)
{
    struct stat info;
    struct dirent **names;
    FUZZ_REQUIRE(stat(path, &info) == 0, "there is no %s", path);
    if (!S_ISDIR(info.st_mode)) {
        read_file(path, info.st_size);
        return;
    }
    int n = scandir(path, &names, NULL, alphasort);
    FUZZ_REQUIRE(n >= 0, "%s cannot be read", path);
    for (int i = 0; i < n; i++) {
        char below[4096];
        snprintf(below, sizeof below, "%s/%s", path, names[i]->d_name);
        if (names[i]->d_name[0] != '.')
            read_path(below);
        free(names[i]);
    }
    free(names);
}

/* Keeps the input that a signal ends. */
static void save_input(int signal_number)
{
    FILE *f = fopen(crash_name, "wb");
    if (f) {
        fwrite(tried, 1, tried_size, f);
        fclose(f);
    }
    fprintf(stderr, "the input is in %s\n", crash_name);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/* Tries a copy that ends where its block does, so that a sanitizer sees reads behind its end. */
static void try(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size);
    FUZZ_REQUIRE(copy || size == 0, "out of memory");
    if (size > 0)
        memcpy(copy, data, size);
    tried = copy;
    tried_size = size;
    alarm(SECONDS);
    LLVMFuzzerTestOneInput(copy, size);
    alarm(0);
    free(copy);
}

static void try_mutations(int64_t runs)
{
    uint8_t *data = malloc(MOST_BYTES);
    FUZZ_REQUIRE(data, "out of memory");
    for (int64_t i = 0; i < runs; i++) {
        const input *x = &inputs[i % n_inputs];
        size_t most = 2 * x->size + 64;
        memcpy(data, x->data, x->size);
        most = most < MOST_BYTES ? most : MOST_BYTES;
        size_t size = LLVMFuzzerCustomMutator
                          ? LLVMFuzzerCustomMutator(data, x->size, most, draw(UINT32_MAX))
                          : LLVMFuzzerMutate(data, x->size, most);
        try(data, size);
    }
    free(data);
}

int main(int argc, char **argv)
{
    int64_t runs = 0;
    uint64_t seed = 1;
    const char *name = strrchr(argv[0], '/');
    snprintf(crash_name, sizeof crash_name, "crash-%s", name ? name + 1 : argv[0]);
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "-runs=", 6) == 0)
            runs = atoll(argv[i] + 6);
        else if (strncmp(argv[i], "-seed=", 6) == 0)
            seed = strtoull(argv[i] + 6, NULL, 10);
        else
            read_path(argv[i]);
    }
    FUZZ_REQUIRE(n_inputs > 0, "usage: %s [-runs=N] [-seed=S] FILE-OR-FOLDER...", argv[0]);
    stream = (ld_stream){seed, 0};
    signal(SIGABRT, save_input);
    signal(SIGALRM, save_input);
    signal(SIGSEGV, save_input);
    for (int i = 0; i < n_inputs; i++)
        try(inputs[i].data, inputs[i].size);
    try_mutations(runs);
    printf("%s: %d files and %" PRId64 " mutations of them\n", crash_name + 6, n_inputs, runs);
    for (int i = 0; i < n_inputs; i++)
        free(inputs[i].data);
    return 0;
}
