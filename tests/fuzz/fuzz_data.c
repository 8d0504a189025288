/* Whole data sets through the readers in Lua. An input is a zip archive of a data set's files; they
 * are laid into a folder, and readers.lua, which lists the readers, is called with it. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"
#include "fuzz_lua.h"
#include "io/archive/zip.h"

enum {
    MOST_CONTENT = 1 << 22, /* of the files of an input */
    CORE_ALWAYS = 16 << 20,
    CORE_BYTES_PER_BYTE = 1024, /* files in gzip hold more than they have */
    SIDE = 1 << 24,             /* a .mtx file or a pickle may have so many columns; */
    BYTES_PER_COLUMN = 64,      /* what they take, several times over */
};

/* Makes the folders of a path below `root`. */
static void make_folders(const char *path, size_t root)
{
    char folder[600];
    snprintf(folder, sizeof folder, "%s", path);
    for (char *slash = folder + root; (slash = strchr(slash + 1, '/'));) {
        *slash = '\0';
        mkdir(folder, 0700);
        *slash = '/';
    }
}

/* Writes the members that can be read into a folder; returns their bytes. */
static int64_t lay_out(const char *folder, const char *archive)
{
    static char content[MOST_CONTENT];
    ld_zip *z = NULL;
    int64_t total = 0;
    if (!fuzz_ok(ld_zip_open(&z, archive, "zip")))
        return 0;
    for (int64_t i = 0; i < z->count; i++) {
        const ld_zip_member *m = &z->members[i];
        char path[600];
        ld_source *s;
        if (m->size > MOST_CONTENT - total || ld_zip_read(&s, z, m) != LD_OK ||
            ld_source_read(s, content, m->size) != LD_OK || ld_source_finish(s) != LD_OK)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, m->name);
        make_folders(path, strlen(folder));
        FILE *f = fopen(path, "wb");
        if (!f) /* a name that is also a folder's */
            continue;
        fwrite(content, 1, (size_t)m->size, f);
        fclose(f);
        total += m->size;
    }
    ld_zip_close(z);
    return total;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static lua_State *L;
    char folder[100];
    if (!L)
        L = fuzz_lua_start("readers.lua");
    snprintf(folder, sizeof folder, "%s/data", fuzz_folder());
    fuzz_remove(folder);
    FUZZ_REQUIRE(mkdir(folder, 0700) == 0, "cannot make %s: %s", folder, strerror(errno));
    int64_t content = lay_out(folder, fuzz_file(data, size));
    if (content == 0)
        return 0;
    fuzz_lua_call(L, folder, NULL, content,
                  CORE_ALWAYS + content * CORE_BYTES_PER_BYTE + (int64_t)SIDE * BYTES_PER_COLUMN);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    return fuzz_mutate_zip(data, size, most, seed);
}
