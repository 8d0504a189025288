/* file: whole files as strings, read with a limit and written whole or not at all. */
#include "io/file.h"

#include "io/archive/gz.h"
#include "state/bind.h"

#define BIND_INPUT "ladies.Input"

enum { PIECE = 1 << 16 };
static const lua_Number LIMIT = 1 << 30;

static int input_close(lua_State *L)
{
    ld_gz **g = bind_check_userdata(L, 1, BIND_INPUT);
    ld_gz_close(*g);
    *g = NULL;
    return 0;
}

static int file_read(lua_State *L)
{
    static const char *const options[] = {"limit", NULL};
    const char *path = bind_check_string(L, 1);
    bind_check_options(L, 2, "file.read", options);
    lua_Number limit = bind_option_number(L, 2, "file.read", "limit", LIMIT);
    ld_gz **g = lua_newuserdatauv(L, sizeof *g, 0);
    *g = NULL;
    luaL_setmetatable(L, BIND_INPUT);
    lua_toclose(L, -1);
    bind_check(L, ld_gz_open(g, path, "file"));
    luaL_Buffer text;
    luaL_buffinit(L, &text);
    int64_t got, total = 0;
    do {
        char *piece = luaL_prepbuffsize(&text, PIECE);
        bind_check(L, ld_gz_read(*g, piece, PIECE, &got));
        luaL_addsize(&text, (size_t)got);
        total += got;
        if ((lua_Number)total > limit)
            return bind_error(L, "%s: holds more than the limit of %f bytes", (*g)->source.name,
                              limit);
    } while (got == PIECE);
    luaL_pushresult(&text);
    return 1;
}

static int file_write(lua_State *L)
{
    size_t size;
    const char *path = bind_check_string(L, 1), *text = bind_check_lstring(L, 2, &size);
    bind_check(L, ld_file_write(path, text, (int64_t)size));
    return 0;
}

static int file_forget(lua_State *L)
{
    ld_file *f;
    bind_check(L, ld_file_open(&f, bind_check_string(L, 1), "file"));
    ld_status st = ld_file_forget(f);
    ld_file_close(f);
    bind_check(L, st);
    return 0;
}

static int file_changed(lua_State *L)
{
    char name[LD_MAPPED_NAME];
    if (ld_mapped_file_changed(name))
        lua_pushstring(L, name);
    else
        lua_pushnil(L);
    return 1;
}

static const bind_function functions[] = {
    {"read", file_read,
     "file.read(path [, {limit = 2^30}]) -> string\n"
     "A whole file, unpacked if it is packed with gzip; an error beyond `limit` bytes."},
    {"write", file_write,
     "file.write(path, text)\n"
     "Writes a file that appears whole or not at all: a temporary file, synced and renamed."},
    {"forget", file_forget,
     "file.forget(path)\n"
     "Asks the system to forget what it has in memory of a file, to time what reads it from the disk.\n"
     "Pages that a process has mapped stay."},
    {"changed", file_changed,
     "file.changed() -> string | nil\n"
     "The name of a file that was written to, or touched, since this process opened it, and of which it\n"
     "still has something mapped (see npz.open); nil where there is none. Numbers of such a file may\n"
     "be others now than they were. A file that another one has replaced is as it was."},
    {NULL, NULL, NULL},
};

void bind_open_file(lua_State *L)
{
    bind_hidden_class(L, BIND_INPUT, input_close);
    lua_newtable(L);
    bind_functions(L, functions);
    lua_setfield(L, -2, "file");
}
