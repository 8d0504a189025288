/* zip: archives of any files, whose members become files; sha256 of what there is. */
#include "io/archive/zip.h"

#include "io/archive/unpack.h"
#include "state/bind.h"

#define BIND_ZIP "ladies.Zip"

static const lua_Integer LIMIT = (lua_Integer)1 << 40;

static void push_digest(lua_State *L, const unsigned char digest[LD_SHA256_BYTES])
{
    char text[2 * LD_SHA256_BYTES + 1];
    for (int i = 0; i < LD_SHA256_BYTES; i++)
        sprintf(text + 2 * i, "%02x", digest[i]);
    lua_pushstring(L, text);
}

static ld_zip *archive(lua_State *L)
{
    return bind_object(L, 1, BIND_ZIP);
}

static int zip_open(lua_State *L)
{
    const char *path = bind_check_string(L, 1);
    ld_zip **z = lua_newuserdatauv(L, sizeof *z, 0);
    *z = NULL;
    luaL_setmetatable(L, BIND_ZIP);
    bind_check(L, ld_zip_open(z, path, "zip"));
    return 1;
}

static void drop(void *archive)
{
    ld_zip_close(archive);
}

static int zip_close(lua_State *L)
{
    bind_drop(L, bind_check_userdata(L, 1, BIND_ZIP), drop);
    return 0;
}

static int zip_members(lua_State *L)
{
    ld_zip *z = archive(L);
    lua_createtable(L, (int)z->count, 0);
    for (int64_t i = 0; i < z->count; i++) {
        lua_createtable(L, 0, 2);
        lua_pushstring(L, z->members[i].name);
        lua_setfield(L, -2, "name");
        lua_pushinteger(L, z->members[i].size);
        lua_setfield(L, -2, "size");
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

static int zip_unpack(lua_State *L)
{
    unsigned char digest[LD_SHA256_BYTES];
    ld_zip *z = archive(L);
    const char *name = bind_check_string(L, 2), *path = bind_check_string(L, 3);
    const ld_zip_member *member = ld_zip_find(z, name);
    if (!member)
        bind_check(L, ld_fail(LD_VALUE, "%s: has no member \"%s\"", z->file->label.text, name));
    bind_check(L, ld_unpack_member(digest, z, member, path));
    push_digest(L, digest);
    return 1;
}

static int zip_gunzip(lua_State *L)
{
    unsigned char digest[LD_SHA256_BYTES];
    const char *from = bind_check_string(L, 1), *to = bind_check_string(L, 2);
    bind_check(L, ld_unpack_gz(digest, from, to, bind_opt_integer(L, 3, LIMIT)));
    push_digest(L, digest);
    return 1;
}

static int zip_sha256(lua_State *L)
{
    unsigned char digest[LD_SHA256_BYTES];
    bind_check(L, ld_file_digest(digest, bind_check_string(L, 1)));
    push_digest(L, digest);
    return 1;
}

static int zip_get(lua_State *L)
{
    return bind_no_field(L, BIND_ZIP);
}

static const bind_function functions[] = {
    {"open", zip_open,
     "zip.open(path) -> Zip\n"
     "Opens a zip archive for reading. Archives that are cut off, whose members overlap, occur\n"
     "twice, have paths that lead out of a folder or declare more than they can hold are refused."},
    {"gunzip", zip_gunzip,
     "zip.gunzip(from: string, to: string [, limit: integer]) -> string\n"
     "Unpacks a gzip file into a file that appears whole or not at all; an error beyond `limit`\n"
     "bytes. A file that is not packed is copied. Gives the SHA-256 of what was written."},
    {"sha256", zip_sha256,
     "zip.sha256(path) -> string\nThe SHA-256 (FIPS 180-4) of a file, in hexadecimal."},
    {NULL, NULL, NULL},
};

static const bind_function methods[] = {
    {"members", zip_members,
     "z:members() -> table\nThe members, sorted by name: tables with `name` and `size`, in bytes."},
    {"unpack", zip_unpack,
     "z:unpack(name, path) -> string\n"
     "Writes a member to a file that appears whole or not at all; an error for encrypted, damaged\n"
     "or linked ones. Gives the SHA-256 of what was written."},
    {"close", zip_close, "z:close()\nCloses the archive."},
    {NULL, NULL, NULL},
};

void bind_open_zip(lua_State *L)
{
    static const luaL_Reg meta[] = {{"__gc", zip_close}, {"__close", zip_close}, {NULL, NULL}};
    static const char *const properties[] = {NULL};
    bind_class(L, BIND_ZIP, methods, meta, properties, zip_get);
    lua_newtable(L);
    bind_functions(L, functions);
    lua_setfield(L, -2, "zip");
}
