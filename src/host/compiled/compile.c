/* compile OUT FOLDER NAME...: compiles the Lua files of these names below FOLDER, for
 * compiled.c. It runs when the program is built. A file that does not compile is left out: the program
 * tells of it where it is wanted. */
#include <lauxlib.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "form.h"

/* What has been dumped. */
typedef struct {
    char *bytes;
    size_t size, capacity;
} buffer;

static int append(lua_State *L, const void *bytes, size_t size, void *to)
{
    (void)L;
    buffer *b = to;
    if (b->capacity - b->size < size) {
        size_t capacity = 2 * b->capacity + size;
        char *larger = realloc(b->bytes, capacity);
        if (!larger)
            return 1;
        b->bytes = larger;
        b->capacity = capacity;
    }
    memcpy(b->bytes + b->size, bytes, size);
    b->size += size;
    return 0;
}

/* Reads a file whole; false where it cannot. */
static bool read_file(buffer *b, const char *path)
{
    char piece[1 << 16];
    FILE *file = fopen(path, "rb");
    bool well = file != NULL;
    for (size_t n; well && (n = fread(piece, 1, sizeof piece, file)) > 0;)
        well = append(NULL, piece, n, b) == 0;
    well = well && !ferror(file);
    if (file)
        fclose(file);
    return well;
}

/* Compiles FOLDER/NAME behind the other code. False where it is not Lua, or of another form. */
static bool compile(ld_compiled_entry *e, buffer *code, const char *folder, const char *name)
{
    char path[4096];
    buffer source = {0};
    lua_State *L = luaL_newstate();
    bool named = strlen(name) < sizeof e->name;
    bool well = L && named && snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path;
    well = well && read_file(&source, path);
    well = well && luaL_loadbufferx(L, source.bytes, source.size, "@", "t") == LUA_OK;
    *e = (ld_compiled_entry){.at = code->size};
    well = well && lua_dump(L, append, code, 0) == 0;
    e->size = code->size - e->at;
    well = well && e->size > LD_COMPILED_BEFORE + LD_COMPILED_SOURCE &&
           memcmp(code->bytes + e->at + LD_COMPILED_BEFORE, LD_COMPILED_NO_PATH,
                  LD_COMPILED_SOURCE) == 0;
    if (well) {
        strcpy(e->name, name);
        e->source_size = source.size;
        e->source_hash = ld_compiled_hash(source.bytes, source.size);
        e->hash = ld_compiled_hash(code->bytes + e->at, e->size);
    } else {
        code->size = e->at;
    }
    if (L)
        lua_close(L);
    free(source.bytes);
    return well;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const ld_compiled_entry *)a)->name, ((const ld_compiled_entry *)b)->name);
}

static bool write_file(const char *path, const ld_compiled_head *head,
                       const ld_compiled_entry *entries, const buffer *code)
{
    FILE *file = fopen(path, "wb");
    bool well = file && fwrite(head, sizeof *head, 1, file) == 1 &&
                fwrite(entries, sizeof *entries, head->count, file) == head->count &&
                fwrite(code->bytes, 1, code->size, file) == code->size;
    return (!file || fclose(file) == 0) && well;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return EXIT_FAILURE;
    ld_compiled_entry *entries = calloc((size_t)argc, sizeof *entries);
    ld_compiled_head head = {.magic = LD_COMPILED_MAGIC,
                             .lua = ld_compiled_hash(lua_ident, strlen(lua_ident))};
    buffer code = {0};
    for (int i = 3; entries && i < argc; i++)
        head.count += compile(&entries[head.count], &code, argv[2], argv[i]);
    if (entries)
        qsort(entries, head.count, sizeof *entries, by_name);
    for (uint64_t i = 0; i < head.count; i++)
        entries[i].at += sizeof head + head.count * sizeof *entries;
    /* A program that runs now goes on with the old file. */
    char begun[4096];
    bool well = entries && snprintf(begun, sizeof begun, "%s.new", argv[1]) < (int)sizeof begun &&
                write_file(begun, &head, entries, &code) && rename(begun, argv[1]) == 0;
    if (!well)
        fprintf(stderr, "compile: cannot write %s\n", argv[1]);
    free(entries);
    free(code.bytes);
    return well ? EXIT_SUCCESS : EXIT_FAILURE;
}
