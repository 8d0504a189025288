/* Scopes: calls in which tensors take their memory from a room, or products are made row by row or in
 * bfloat16 or float32. A call in one cannot be suspended, since the thread would stay in the scope. */
#include "base/room.h"
#include "state/bind.h"
#include "tensor/bfloat16.h"
#include "tensor/blas.h"

#define BIND_ROOM  "ladies.Room"
#define BIND_SCOPE "ladies.Scope"

/* What the thread goes back to. */
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

/* A scope below the function at `at` and its arguments, which closes when the caller returns; it is
 * to say what it goes back to. */
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

/* The results of the function in the scope at `at`. */
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

static int bfloat16_units(lua_State *L)
{
    lua_pushstring(L, ld_bfloat16_units());
    return 1;
}

static int call_in_precision(lua_State *L, bool in_bfloat16)
{
    scope *s = open_scope(L, 1);
    *s = (scope){.what = PRECISION, .before = ld_matmul_in_bfloat16(in_bfloat16)};
    return call_in(L, 1);
}

static int in_bfloat16(lua_State *L)
{
    if (!ld_bfloat16_units())
        return bind_error(L, "in_bfloat16: " LD_NO_BFLOAT16);
    return call_in_precision(L, true);
}

static int in_float32(lua_State *L)
{
    return call_in_precision(L, false);
}

/* --- rooms -------------------------------------------------------------------------------------- */

static void drop(void *room)
{
    ld_room_unref(room);
}

static int room_gc(lua_State *L)
{
    bind_drop(L, bind_check_userdata(L, 1, BIND_ROOM), drop);
    return 0;
}

static int room_new(lua_State *L)
{
    lua_Integer bound = bind_check_integer(L, 1);
    const char *folder = bind_check_string(L, 2);
    bind_arg_check(L, bound >= 0, 1, "must be 0 or more bytes");
    ld_room **room = lua_newuserdatauv(L, sizeof *room, 0);
    *room = NULL;
    luaL_setmetatable(L, BIND_ROOM);
    bind_check(L, ld_room_new(room, bound, folder));
    return 1;
}

static int in_room(lua_State *L)
{
    ld_room *room = bind_object(L, 1, BIND_ROOM);
    scope *s = open_scope(L, 2);
    *s = (scope){.what = ROOM, .room = ld_room_enter(room)};
    return call_in(L, 2);
}

static int room_use(lua_State *L)
{
    const ld_room *room = bind_object(L, 1, BIND_ROOM);
    lua_pushinteger(L, atomic_load(&room->most_memory));
    lua_pushinteger(L, atomic_load(&room->most_files));
    lua_pushboolean(L, atomic_load(&room->lacks));
    return 3;
}

static const bind_function functions[] = {
    {"by_rows", by_rows,
     "ladies_core.by_rows(f, ...) -> ...\n"
     "f(...), in which a row of a product of dense matrices is that of this row alone, to the bit,\n"
     "whichever others the matrix has."},
    {"bfloat16_units", bfloat16_units,
     "ladies.bfloat16_units() -> string | nil\n"
     "What multiplies dense matrices of bfloat16 here: \"AMX\" or \"AVX512-BF16\"; nil where the\n"
     "processor has neither, or LADIES_ISA holds them back."},
    {"in_bfloat16", in_bfloat16,
     "ladies.in_bfloat16(f, ...) -> ...\n"
     "f(...), in which products of dense matrices, and what backward makes of them, round their\n"
     "factors to bfloat16 (8 bits of significand) and add in float32. An error where nothing does that\n"
     "here; see bfloat16_units. Within it gradcheck and exact inference are of float32 all the same,\n"
     "and ladies.train, but for its steps where its option precision says so."},
    {"in_float32", in_float32,
     "ladies_core.in_float32(f, ...) -> ...\n"
     "f(...), in which products of dense matrices are of float32, also within in_bfloat16."},
    {"room", room_new,
     "ladies_core.room(bytes, folder) -> Room\n"
     "So many bytes of memory for large tensors (of 64 KiB or more), and behind them files without\n"
     "names in the folder, which are gone with the tensors."},
    {"in_room", in_room,
     "ladies_core.in_room(room, f, ...) -> ...\n"
     "f(...), whose tensors take their memory from the room; to the same numbers. Where the disk is\n"
     "full that is an error."},
    {"room_use", room_use,
     "ladies_core.room_use(room) -> integer, integer, boolean\n"
     "The most bytes that it has had in memory at a time, and in files; and whether it had neither\n"
     "memory for a tensor nor a file, so that what was computed in it has failed."},
    {NULL, NULL, NULL},
};

void bind_open_scope(lua_State *L)
{
    static const luaL_Reg of_scope[] = {{"__close", scope_close}, {NULL, NULL}};
    bind_hidden_class(L, BIND_ROOM, room_gc);
    luaL_newmetatable(L, BIND_SCOPE);
    luaL_setfuncs(L, of_scope, 0);
    lua_pop(L, 1);
    bind_functions(L, functions);
}
