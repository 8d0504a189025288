/* Scopes: calls in which tensors take their memory from a room, or products are made row by row. A
 * call in one cannot be suspended, since the thread would stay in the scope. */
#include "base/room.h"
#include "state/bind.h"
#include "tensor/blas.h"

#define BIND_ROOM  "ladies.Room"
#define BIND_SCOPE "ladies.Scope"

/* What the thread goes back to. */
typedef struct {
    enum { NOTHING, ROOM, BY_ROWS } what;
    ld_room *room;
    bool by_rows;
} scope;

static int scope_close(lua_State *L)
{
    const scope *s = bind_check_userdata(L, 1, BIND_SCOPE);
    if (s->what == ROOM)
        ld_room_enter(s->room);
    else if (s->what == BY_ROWS)
        ld_matmul_by_rows(s->by_rows);
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
    *s = (scope){.what = BY_ROWS, .by_rows = ld_matmul_by_rows(true)};
    return call_in(L, 1);
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
