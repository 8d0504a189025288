/* file: whole files as strings, read with a limit and written whole or not at all. */
#include "io/file.h"

#include "io/archive/gz.h"
#include "state/bind.h"

#define BIND_OUTPUT "ladies.FileWriter"

enum { PIECE = 1 << 16 };

static ld_status file_read(bind_call *c)
{
    lua_State *L = c->L;
    ld_gz **g = (ld_gz **)bind_new_object(L, BIND_INPUT);
    lua_toclose(L, -1);
    bind_check(L, ld_gz_open(g, c->in[0].text, "file"));
    /* Strings on the stack and no luaL_Buffer, whose memory Lua loses where this is called for the
     * message of an error and that fails in turn. */
    char *piece = lua_newuserdatauv(L, PIECE, 0);
    int64_t got, total = 0;
    int pieces = 0;
    do {
        bind_check(L, ld_gz_read(*g, piece, PIECE, &got));
        luaL_checkstack(L, 2, "file");
        lua_pushlstring(L, piece, (size_t)got);
        pieces++;
        total += got;
        if (total > c->in[2].integer)
            bind_error(L, "%s: holds more than the limit of %I bytes", (*g)->source.name,
                       (LUAI_UACINT)c->in[2].integer);
    } while (got == PIECE);
    lua_concat(L, pieces);
    return LD_OK;
}

static ld_status file_write(bind_call *c)
{
    return ld_file_write(c->in[0].text, c->in[1].text, (int64_t)lua_rawlen(c->L, 2));
}

/* --- a piece at a time ------------------------------------------------------------------------ */

static ld_status output_new(bind_call *c)
{
    return ld_writer_open((ld_writer **)bind_new_object(c->L, BIND_OUTPUT), c->in[0].text, "file");
}

static ld_status output_add(bind_call *c)
{
    return ld_writer_put(c->in[0].object, c->in[1].text, (int64_t)lua_rawlen(c->L, 2));
}

static ld_status output_commit(bind_call *c)
{
    ld_writer **place = lua_touserdata(c->L, 1);
    *place = NULL; /* core takes it */
    return ld_writer_commit(c->in[0].object);
}

/* --- what the system knows of files ----------------------------------------------------------- */

static ld_status file_forget(bind_call *c)
{
    ld_file *f;
    bind_check(c->L, ld_file_open(&f, c->in[0].text, "file"));
    ld_status st = ld_file_forget(f);
    ld_file_close(f);
    return st;
}

static ld_status file_changed(bind_call *c)
{
    char name[LD_MAPPED_NAME];
    if (ld_mapped_file_changed(name))
        lua_pushstring(c->L, name);
    else
        lua_pushnil(c->L);
    return LD_OK;
}

static const bind_function functions[] = {
    {"read", file_read,
     "file.read(path [, {limit = 2^30}]) -> string\n"
     "A whole file, unpacked if it is packed with gzip; an error beyond `limit` bytes."},
    {"write", file_write,
     "file.write(path, text)\n"
     "Writes a file that appears whole or not at all: a temporary file, synced and renamed."},
    {"writer", output_new,
     "file.writer(path) -> FileWriter\n"
     "Writes a file as file.write does, a piece at a time: w:add(text). It appears with w:commit()."},
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

static const bind_function output_methods[] = {
    {"add", output_add, "w:add(text)\nWrites the next piece."},
    {"commit", output_commit,
     "w:commit()\n"
     "Completes the file, which then appears, whole; an error after a write that failed."},
    {"close", NULL,
     "w:close()\n"
     "Closes the writer. Without w:commit before, nothing is left of the file.",
     .raw = bind_close},
    {NULL, NULL, NULL},
};

static const bind_class input = {.name = BIND_INPUT, .drop = ld_gz_drop, .closes = true};

static const bind_class output = {
    .name = BIND_OUTPUT, .drop = ld_writer_drop, .closes = true, .methods = output_methods};

const bind_subject bind_subject_file = {.classes = {&input, &output},
                                        .functions = {{functions, "file"}}};
