/* Scopes: calls in which tensors take their memory from a room (memory/room.h), or in which
 * products are made row by row, in bfloat16 or in float32. A call in a scope cannot be suspended,
 * since the thread would stay in it. */
#include "kernel/bfloat16.h"
#include "memory/room.h"
#include "state/bind.h"
#include "tensor/matmul.h"

#define BIND_ROOM  "ladies.Room"
#define BIND_SCOPE "ladies.Scope"

/* The setting of the thread before the scope, which it goes back to at the end. */
typedef struct {
    enum { NOTHING, ROOM, BY_ROWS, PRECISION } what;
    ld_room *room;
    bool before;
} scope;

static int scope_close(lua_State *L)
{
    const scope *s = bind_check_userdata(L, 1, BIND_SCOPE);
    if (s->what == ROOM)
        ld_room_enter(s->room);
    else if (s->what == BY_ROWS)
        ld_matmul_by_rows(s->before);
    else if (s->what == PRECISION)
        ld_matmul_in_bfloat16(s->before);
    return 0;
}

/* Puts a scope below the function at `at` and its arguments; it closes when the calling function
 * returns. The caller fills in what the scope is to restore. */
static scope *open_scope(lua_State *L, int at)
{
    bind_check_type(L, at, LUA_TFUNCTION);
    scope *s = lua_newuserdatauv(L, sizeof *s, 0);
    *s = (scope){.what = NOTHING};
    luaL_setmetatable(L, BIND_SCOPE);
    lua_insert(L, at);
    lua_toclose(L, at);
    return s;
}

/* Calls the function above the scope at `at` and returns the number of its results. */
static int call_in(lua_State *L, int at)
{
    lua_call(L, lua_gettop(L) - at - 1, LUA_MULTRET);
    return lua_gettop(L) - at;
}

static int by_rows(lua_State *L)
{
    scope *s = open_scope(L, 1);
    *s = (scope){.what = BY_ROWS, .before = ld_matmul_by_rows(true)};
    return call_in(L, 1);
}

static ld_status bfloat16_units(bind_call *c)
{
    lua_pushstring(c->L, ld_bfloat16_units());
    return LD_OK;
}

static int call_in_precision(lua_State *L, bool in_bfloat16)
{
    scope *s = open_scope(L, 1);
    *s = (scope){.what = PRECISION, .before = ld_matmul_in_bfloat16(in_bfloat16)};
    return call_in(L, 1);
}

static int in_bfloat16(lua_State *L)
{
    bind_check_type(L, 1, LUA_TFUNCTION);
    if (!ld_bfloat16_units())
        return bind_error(L, "in_bfloat16: " LD_NO_BFLOAT16);
    return call_in_precision(L, true);
}

static int in_float32(lua_State *L)
{
    return call_in_precision(L, false);
}

/* --- rooms ------------------------------------------------------------------------------------ */

static ld_status room_new(bind_call *c)
{
    bind_arg_check(c->L, c->in[0].integer >= 0, 1, "must be 0 or more bytes");
    return ld_room_new((ld_room **)bind_new_object(c->L, BIND_ROOM), c->in[0].integer,
                       c->in[1].text);
}

static int in_room(lua_State *L)
{
    ld_room *room = bind_object(L, 1, BIND_ROOM);
    scope *s = open_scope(L, 2);
    *s = (scope){.what = ROOM, .room = ld_room_enter(room)};
    return call_in(L, 2);
}

static ld_status room_use(bind_call *c)
{
    const ld_room *room = c->in[0].object;
    c->out[0].integer = atomic_load(&room->most_memory);
    c->out[1].integer = atomic_load(&room->most_files);
    c->out[2].flag = atomic_load(&room->lacks);
    return LD_OK;
}

static ld_status room_keep(bind_call *c)
{
    return ld_tensor_keep(c->in[1].tensor, c->in[0].object, c->in[2].text);
}

static ld_status room_kept(bind_call *c)
{
    int64_t n_rows = c->in[2].integer, n_cols = c->in[3].integer;
    bool is_vector = lua_isnil(c->L, 4);
    return ld_tensor_kept(c->out[0].tensor, c->in[0].object, c->in[1].text, is_vector ? 1 : 2,
                          n_rows, is_vector ? 1 : n_cols);
}

static const bind_function functions[] = {
    {"by_rows", NULL,
     "ladies_core.by_rows(f, ...) -> ...\n"
     "Calls f(...) so that a row of a product of dense matrices does not depend on which other rows\n"
     "there are: from a multiple of 192 on, rows have the bits that they have among all. Returns its\n"
     "results.",
     .raw = by_rows},
    {"bfloat16_units", bfloat16_units,
     "ladies.bfloat16_units() -> string | nil\n"
     "The units that multiply dense matrices of bfloat16 here: \"AMX\" or \"AVX512-BF16\"; nil "
     "where\n"
     "the processor has neither, or LADIES_ISA holds them back."},
    {"in_bfloat16", NULL,
     "ladies.in_bfloat16(f, ...) -> ...\n"
     "f(...), in which products of dense matrices, and what backward makes of them, round their\n"
     "factors to bfloat16 (8 bits of significand) and add in float32. An error where nothing does that\n"
     "here; see bfloat16_units. Within it gradcheck and exact inference are of float32 all the same,\n"
     "and ladies.train, but for its steps where its option precision says so.",
     .raw = in_bfloat16},
    {"in_float32", NULL,
     "ladies_core.in_float32(f, ...) -> ...\n"
     "Calls f(...) with products of dense matrices in float32, also within in_bfloat16, and\n"
     "returns its results.",
     .raw = in_float32},
    {"room", room_new,
     "ladies_core.room(bytes: integer, folder: string) -> Room\n"
     "A room: so many bytes of memory for large tensors (of 64 KiB or more), and behind them\n"
     "files without names in the folder, which are gone with the tensors."},
    {"in_room", NULL,
     "ladies_core.in_room(room: Room, f, ...) -> ...\n"
     "Calls f(...), whose tensors take their memory from the room, with the same numbers as a\n"
     "result, and returns its results. Where the disk is full that is an error.",
     .raw = in_room},
    {"room_use", room_use,
     "ladies_core.room_use(room: Room) -> integer, integer, boolean\n"
     "The most bytes that it has had in memory at a time, and in files; and true if it had\n"
     "neither memory for a tensor nor a file, so that a computation in it has failed."},
    {"room_keep", room_keep,
     "ladies_core.room_keep(room: Room, t: Tensor [, path: string])\n"
     "Moves a tensor to a file of the room, if it is not in one. With a path, of a file that is not\n"
     "there and that is in the room's folder or below it, that file outlives the process, and the\n"
     "tensor is frozen."},
    {"room_kept", room_kept,
     "ladies_core.room_kept(room: Room, path: string, n_rows: integer [, n_cols: integer]) -> Tensor\n"
     "The frozen tensor of this shape that room_keep has put into a file, now in the room; a vector\n"
     "without n_cols."},
    {NULL, NULL, NULL},
};

static void register_scopes(lua_State *L)
{
    luaL_newmetatable(L, BIND_SCOPE);
    lua_pushcfunction(L, scope_close);
    lua_setfield(L, -2, "__close");
    lua_pop(L, 1);
}

static const bind_class room = {.name = BIND_ROOM, .drop = ld_room_drop, .closes = true};

const bind_subject bind_subject_scope = {
    .classes = {&room}, .functions = {{functions}}, .more = register_scopes};
