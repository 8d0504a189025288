/* Archives and files as `ladies import` takes them, into a cache of their own; import.lua does it.
 * The first byte of an input says what the file is called and, by the bit of REGISTERED, whether it
 * is imported as a data set of the registry; the file is behind it.
 *
 * The cache lies deep below a folder that is empty otherwise, where paths that climb out are
 * found. */
#include <errno.h>
#include <ftw.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"
#include "fuzz_lua.h"
#include "io/archive/zip.h"
#include "system/folder.h"

enum {
    REGISTERED = 8,
    MOST_CONTENT = 1 << 22, /* of what is packed */
    CORE_ALWAYS = 16 << 20,
    CORE_BYTES_PER_BYTE = 1024, /* as in fuzz_data.c */
    SIDE = 1 << 24,
    BYTES_PER_COLUMN = 64,
};

static const char *const names[] = {"toy.zip",    "toy-1.0-py3-none-any.whl",
                                    "toy.gz",     "toy.npz.gz",
                                    "toy.npz",    "toy.csv.gz",
                                    "toy.zip.gz", "toy"};

/* The registry's one data set: any that has a folder of tables. */
static const char registry[] = "archive a\n  files file:///nowhere/\n"
                               "dataset known\n  about a toy\n  from a\n  base data\n"
                               "  file - 1 edges.csv\n  file - 1 labels.csv\n"
                               "  file - 1 features.csv\n";

static char root[100], cache[200], given[200];

static void write_file(const char *path, const void *data, size_t size)
{
    FILE *f = fopen(path, "wb");
    FUZZ_REQUIRE(f && fwrite(data, 1, size, f) == size && fclose(f) == 0, "%s: %s", path,
                 strerror(errno));
}

/* Makes the folders, and what the environment tells the library. */
static void prepare(void)
{
    char path[200];
    snprintf(root, sizeof root, "%s/root", fuzz_folder());
    snprintf(cache, sizeof cache, "%s/1/2/3/4/5/6/7/8/cache", root);
    FUZZ_REQUIRE(ld_folder_make(cache) == LD_OK, "%s", ld_message());
    snprintf(path, sizeof path, "%s/registry.txt", fuzz_folder());
    write_file(path, registry, sizeof registry - 1);
    setenv("LADIES_CACHE", cache, 1);
    setenv("LADIES_REGISTRY", path, 1);
    setenv("LADIES_OFFLINE", "1", 1);
}

/* Nothing but files and folders is made, and files only in the cache. */
static int check_one(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    (void)info;
    (void)walk;
    size_t length = strlen(cache), size = strlen(path);
    bool inside = strncmp(path, cache, length) == 0 && (size == length || path[length] == '/');
    bool above = size < length && strncmp(path, cache, size) == 0 && cache[size] == '/';
    FUZZ_REQUIRE(type == FTW_D || type == FTW_F, "%s is neither a file nor a folder", path);
    FUZZ_REQUIRE(type == FTW_D ? inside || above : inside || strcmp(path, given) == 0,
                 "%s lies outside", path);
    return 0;
}

/* Called from the script too, between the steps. */
static int check_tree(lua_State *L)
{
    (void)L;
    FUZZ_REQUIRE(nftw(root, check_one, 16, FTW_PHYS) == 0, "cannot look through %s", root);
    return 0;
}

/* How many bytes a file holds, unpacked once. */
static int64_t content_of(const char *path)
{
    ld_zip *z = NULL;
    int64_t total = 0;
    if (!fuzz_ok(ld_zip_open(&z, path, "zip")))
        return fuzz_unpacked_size(path);
    for (int64_t i = 0; i < z->count && total <= MOST_CONTENT; i++)
        total += z->members[i].size <= MOST_CONTENT ? z->members[i].size : MOST_CONTENT + 1;
    ld_zip_close(z);
    return total;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static lua_State *L;
    if (size < 2)
        return 0;
    if (!L) {
        prepare();
        L = fuzz_lua_start("import.lua");
        lua_register(L, "check_tree", check_tree);
    }
    snprintf(given, sizeof given, "%s/%s", root, names[data[0] % REGISTERED]);
    write_file(given, data + 1, size - 1);
    int64_t content = content_of(given);
    if (content <= MOST_CONTENT)
        fuzz_lua_call(L, given, data[0] & REGISTERED ? "known" : "x", content,
                      CORE_ALWAYS + content * CORE_BYTES_PER_BYTE +
                          (int64_t)SIDE * BYTES_PER_COLUMN);
    check_tree(L);
    remove(given);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    if (size > 2 && data[1] == 'P')
        return 1 + fuzz_mutate_zip(data + 1, size - 1, most - 1, seed);
    return fuzz_mutate_gzip(data, size, most, seed, 1);
}
