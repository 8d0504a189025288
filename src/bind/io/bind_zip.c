/* ladies.zip: unpacks zip archives and gzip files to files on disk, and gives the SHA-256 of files,
 * by which downloads are checked. */
#include "io/archive/zip.h"

#include "io/archive/unpack.h"
#include "state/bind.h"

#define BIND_ZIP "ladies.Zip"

static void push_digest(lua_State *L, const unsigned char digest[LD_SHA256_BYTES])
{
    char text[2 * LD_SHA256_BYTES + 1];
    for (int i = 0; i < LD_SHA256_BYTES; i++)
        sprintf(text + 2 * i, "%02x", digest[i]);
    lua_pushstring(L, text);
}

static ld_status zip_open(bind_call *c)
{
    return ld_zip_open((ld_zip **)bind_new_object(c->L, BIND_ZIP), c->in[0].text, "zip");
}

static ld_status zip_members(bind_call *c)
{
    const ld_zip *z = c->in[0].object;
    lua_createtable(c->L, (int)z->count, 0);
    for (int64_t i = 0; i < z->count; i++) {
        lua_createtable(c->L, 0, 2);
        lua_pushstring(c->L, z->members[i].name);
        lua_setfield(c->L, -2, "name");
        lua_pushinteger(c->L, z->members[i].size);
        lua_setfield(c->L, -2, "size");
        lua_rawseti(c->L, -2, i + 1);
    }
    return LD_OK;
}

static ld_status zip_unpack(bind_call *c)
{
    unsigned char digest[LD_SHA256_BYTES];
    ld_zip *z = c->in[0].object;
    const ld_zip_member *member = ld_zip_find(z, c->in[1].text);
    if (!member)
        return ld_fail(LD_VALUE, "%s: has no member \"%s\"", z->file->label.text, c->in[1].text);
    bind_check(c->L, ld_unpack_member(digest, z, member, c->in[2].text));
    push_digest(c->L, digest);
    return LD_OK;
}

static ld_status zip_gunzip(bind_call *c)
{
    unsigned char digest[LD_SHA256_BYTES];
    bind_check(c->L, ld_unpack_gz(digest, c->in[0].text, c->in[1].text, c->in[2].integer));
    push_digest(c->L, digest);
    return LD_OK;
}

static ld_status zip_sha256(bind_call *c)
{
    unsigned char digest[LD_SHA256_BYTES];
    bind_check(c->L, ld_file_digest(digest, c->in[0].text));
    push_digest(c->L, digest);
    return LD_OK;
}

static const bind_function functions[] = {
    {"open", zip_open,
     "zip.open(path) -> Zip\n"
     "Opens a zip archive for reading. Archives that are cut off, whose members overlap, occur\n"
     "twice, have paths that lead out of a folder or declare more than they can hold are refused."},
    {"gunzip", zip_gunzip,
     "zip.gunzip(from: string, to: string [, limit = 2^40]) -> string\n"
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
    {"close", NULL, "z:close()\nCloses the archive.", .raw = bind_close},
    {NULL, NULL, NULL},
};

static const bind_class class = {
    .name = BIND_ZIP, .drop = ld_zip_drop, .closes = true, .methods = methods};

const bind_subject bind_subject_zip = {.classes = {&class}, .functions = {{functions, "zip"}}};
