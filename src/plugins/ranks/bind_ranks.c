/* The module ladies_ranks for Lua: the functions of ranks.h. It uses core and the binding of the
 * program that loads it. Memory that MPI may still use after a failure is kept for ever. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "fetch.h"
#include "fetch_graph.h"
#include "graph/bind_graph_rows.h"
#include "memory/memory.h"
#include "order.h"
#include "plan.h"
#include "ranks.h"
#include "state/bind.h"
#include "tensor/share.h"

static int ranks_open(lua_State *L)
{
    int rank, size, length;
    char host[MPI_MAX_PROCESSOR_NAME];
    bind_check(L, ld_ranks_open(&rank, &size));
    MPI_Get_processor_name(host, &length);
    lua_pushinteger(L, rank);
    lua_pushinteger(L, size);
    lua_pushlstring(L, host, (size_t)length);
    return 3;
}

/* Returns the number of a rank at arg. */
static int check_rank(lua_State *L, int arg)
{
    int64_t rank = bind_check_integer(L, arg);
    if (rank < 0 || rank >= ld_ranks_count())
        bind_error(L, "ranks: there is no rank %I of %d", (LUAI_UACINT)rank, ld_ranks_count());
    return (int)rank;
}

/* Pushes a userdata with the blocks of the array at arg, {{rank, Tensor}, ...}, and returns it. */
static ld_ranks_block *push_blocks(lua_State *L, int arg, int *n, bool written)
{
    bind_check_type(L, arg, LUA_TTABLE);
    *n = (int)lua_rawlen(L, arg);
    ld_ranks_block *blocks = lua_newuserdatauv(L, ((size_t)*n + 1) * sizeof *blocks, 0);
    for (int i = 0; i < *n; i++) {
        lua_rawgeti(L, arg, i + 1);
        bind_check_type(L, -1, LUA_TTABLE);
        int pair = lua_gettop(L);
        lua_rawgeti(L, pair, 1);
        lua_rawgeti(L, pair, 2);
        ld_tensor *t = written ? bind_writable_tensor(L, pair + 2) : bind_tensor(L, pair + 2);
        blocks[i] = (ld_ranks_block){check_rank(L, pair + 1), t->data, ld_tensor_size(t)};
        lua_settop(L, pair - 1);
    }
    return blocks;
}

/* Keeps the objects on the stack alive while a call of ranks.h uses them. Returns a registry
 * reference. */
static int hold(lua_State *L)
{
    int n = lua_gettop(L);
    lua_createtable(L, n, 0);
    for (int i = 1; i <= n; i++) {
        lua_pushvalue(L, i);
        lua_rawseti(L, -2, i);
    }
    return luaL_ref(L, LUA_REGISTRYINDEX);
}

/* Lets these objects go after a call that succeeded, and raises the error of one that failed. */
static void settle(lua_State *L, int held, ld_status st)
{
    if (st == LD_OK)
        luaL_unref(L, LUA_REGISTRYINDEX, held);
    bind_check(L, st);
}

static int ranks_exchange(lua_State *L)
{
    int n_sends, n_receives;
    const ld_ranks_block *sends = push_blocks(L, 1, &n_sends, false);
    const ld_ranks_block *receives = push_blocks(L, 2, &n_receives, true);
    int held = hold(L);
    settle(L, held, ld_ranks_exchange(sends, n_sends, receives, n_receives));
    return 0;
}

static int ranks_sum(lua_State *L)
{
    ld_tensor *sum = bind_writable_tensor(L, 1);
    const ld_tensor *own = bind_tensor(L, 2);
    bind_arg_check(L, ld_tensor_same_shape(sum, own), 2, "another shape than the sum");
    int held = hold(L);
    settle(L, held, ld_ranks_sum(sum->data, own->data, ld_tensor_size(own)));
    return 0;
}

static int bytes_gc(lua_State *L)
{
    char **bytes = lua_touserdata(L, 1);
    ld_free(*bytes);
    *bytes = NULL;
    return 0;
}

static int ranks_gather(lua_State *L)
{
    size_t length;
    const char *own = bind_check_lstring(L, 1, &length);
    int size = ld_ranks_count();
    int64_t *offsets = lua_newuserdatauv(L, ((size_t)size + 1) * sizeof *offsets, 0);
    char **bytes = lua_newuserdatauv(L, sizeof *bytes, 0);
    *bytes = NULL;
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, bytes_gc);
    lua_setfield(L, -2, "__gc");
    lua_setmetatable(L, -2);
    int held = hold(L);
    settle(L, held, ld_ranks_gather(bytes, offsets, own, (int64_t)length));
    lua_createtable(L, size, 0);
    for (int r = 0; r < size; r++) {
        lua_pushlstring(L, *bytes + offsets[r], (size_t)(offsets[r + 1] - offsets[r]));
        lua_rawseti(L, -2, r + 1);
    }
    return 1;
}

static int ranks_broadcast(lua_State *L)
{
    size_t length = 0;
    const char *own = lua_isnil(L, 1) ? NULL : bind_check_lstring(L, 1, &length);
    int root = check_rank(L, 2), size = ld_ranks_count();
    int64_t *offsets = lua_newuserdatauv(L, ((size_t)size + 1) * sizeof *offsets, 0);
    bind_check(L, ld_ranks_sizes(offsets, (int64_t)length));
    size_t n = (size_t)offsets[size];
    char *bytes = lua_newuserdatauv(L, n + 1, 0);
    if (own)
        memcpy(bytes, own, length);
    int held = hold(L);
    settle(L, held, ld_ranks_broadcast(bytes, (int64_t)n, root));
    lua_pushlstring(L, bytes, n);
    return 1;
}

static int ranks_at(lua_State *L)
{
    size_t length;
    ld_order_call(bind_check_lstring(L, 1, &length));
    return 0;
}

static int ranks_set_patience(lua_State *L)
{
    ld_ranks_set_patience(bind_check_number(L, 1));
    return 0;
}

static int ranks_finish(lua_State *L)
{
    bind_check(L, ld_ranks_finish());
    return 0;
}

static int ranks_silence(lua_State *L)
{
    fflush(stdout);
    if (!freopen("/dev/null", "w", stdout))
        bind_error(L, "ranks: /dev/null cannot be opened");
    return 0;
}

static int ranks_share(lua_State *L)
{
    ld_ranks_share(lua_toboolean(L, 1));
    return 0;
}

static int ranks_shared(lua_State *L)
{
    int64_t messages, bytes;
    ld_ranks_shared(&messages, &bytes);
    lua_pushinteger(L, messages);
    lua_pushinteger(L, bytes);
    return 2;
}

static int ranks_waited(lua_State *L)
{
    lua_pushnumber(L, ld_ranks_waited());
    return 1;
}

/* --- rows ------------------------------------------------------------------------------------- */

#define BIND_FETCH "ladies.Fetch"

static int fetch_gc(lua_State *L)
{
    ld_fetch **f = lua_touserdata(L, 1);
    ld_fetch_free(*f);
    *f = NULL;
    return 0;
}

static ld_fetch **fetch_at(lua_State *L)
{
    ld_fetch **f = bind_check_userdata(L, 1, BIND_FETCH);
    bind_arg_check(L, *f != NULL, 1, "a fetch that is over");
    return f;
}

static int ranks_fetch(lua_State *L)
{
    ld_rows *have = bind_object(L, 1, BIND_ROWS);
    const ld_index *ids = bind_index(L, 2);
    ld_fetch **f = lua_newuserdatauv(L, sizeof *f, 0);
    *f = NULL;
    luaL_setmetatable(L, BIND_FETCH);
    bind_arg_check(L, have->n_cols > 0 && have->n_cols < INT32_MAX / 4, 1,
                   "rows of no columns, or of more than MPI can count");
    bind_check(L, ld_fetch_begin(f, have, ids));
    return 1;
}

static int ranks_fetched(lua_State *L)
{
    int64_t messages, bytes;
    ld_fetch **f = fetch_at(L);
    bind_check(L, ld_fetch_end(bind_new_rows(L), *f));
    ld_fetch_sent(&messages, &bytes, *f);
    ld_fetch_free(*f);
    *f = NULL;
    lua_pushinteger(L, messages);
    lua_pushinteger(L, bytes);
    return 3;
}

static int ranks_kept(lua_State *L)
{
    ld_rows *own = bind_object(L, 1, BIND_ROWS);
    const ld_rows *have = bind_object(L, 2, BIND_ROWS);
    ld_index *ids = bind_index(L, 3);
    bind_check(L, ld_index_check(ids, 0, have->n_rows, "ranks: the row to keep"));
    bind_check(L, ld_fetch_keep(bind_new_rows(L), own, have, ids));
    return 1;
}

static int ranks_fetch_graph(lua_State *L)
{
    ld_graph_fetched found;
    const ld_graph_rows *have = bind_graph_rows(L, 1);
    const ld_index *ids = bind_index(L, 2);
    ld_csr **rows = bind_new_matrix(L);
    int held = hold(L);
    settle(L, held, ld_ranks_fetch_graph(&found, have, ids));
    *rows = found.rows;
    if (!found.any) {
        lua_pop(L, 1);
        lua_pushnil(L);
    }
    lua_pushinteger(L, found.messages);
    lua_pushinteger(L, found.bytes);
    return 3;
}

static int ranks_gather_rows(lua_State *L)
{
    ld_tensor *t = bind_writable_tensor(L, 1);
    int n_owners;
    bind_check_type(L, 2, LUA_TTABLE);
    const int64_t *bounds = bind_push_bounds(L, 2, &n_owners);
    bind_check(L, ld_plan_check_owners(n_owners, "the rows of a product are"));
    bind_check(L, ld_share_check_bounds(bounds, n_owners, t->n_rows, "gather_rows"));
    bind_check(L, ld_ranks_gather_rows(t, bounds));
    return 0;
}

int luaopen_ladies_ranks(lua_State *L)
{
    static const bind_function functions[] = {
        {"open", NULL,
         "open() -> rank, size, host\nBegins MPI: this process is a rank, from 0, of so many.",
         .raw = ranks_open},
        {"at", NULL,
         "at(name)\n"
         "Sets the name of the next call, which is compared with that of the others where it "
         "waits\n"
         "for long.",
         .raw = ranks_at},
        {"exchange", NULL,
         "exchange(sends, receives)\nSends and receives tensors, {{rank, Tensor}, ...} each; the k-th "
         "from one rank to\nanother is the k-th there.",
         .raw = ranks_exchange},
        {"sum", NULL, "sum(to, t)\nThe sum of the tensors t of all ranks, by MPI's own order.",
         .raw = ranks_sum},
        {"gather", NULL, "gather(text) -> array\nThe texts of all ranks, in their order.",
         .raw = ranks_gather},
        {"broadcast", NULL,
         "broadcast(text, root) -> text\nThe text of rank `root`; others give nil.",
         .raw = ranks_broadcast},
        {"set_patience", NULL,
         "set_patience(seconds)\n"
         "Sets for how long a call waits for other ranks.",
         .raw = ranks_set_patience},
        {"finish", NULL, "finish()\nEnds MPI, when all ranks have come to it.",
         .raw = ranks_finish},
        {"fetch", NULL,
         "fetch(have, ids) -> Fetch\n"
         "Begins to bring the rows `ids`, an ascending Index, that `have` lacks, Rows, and to give\n"
         "others what they want of it. All ranks call it, one fetch after the other.",
         .raw = ranks_fetch},
        {"fetched", NULL,
         "fetched(fetch) -> Rows, messages, bytes\n"
         "Waits for the end of a fetch: `have` with its rows, and what this rank has sent for it.",
         .raw = ranks_fetched},
        {"kept", NULL,
         "kept(own, have, ids) -> Rows\n"
         "The rows of `own`, and copies of those of an ascending Index that `have` holds.",
         .raw = ranks_kept},
        {"fetch_graph", NULL,
         "fetch_graph(have, ids) -> Matrix | nil, messages, bytes\n"
         "Waits for the rows `ids`, an ascending Index, that `have` lacks, GraphRows, and gives others\n"
         "what they want of it; nil when no rank wants any. All ranks call it; then what was sent.",
         .raw = ranks_fetch_graph},
        {"gather_rows", NULL,
         "gather_rows(t, bounds)\n"
         "Brings all rows of a Tensor to all ranks; bounds[r + 1] is the number before those of r.",
         .raw = ranks_gather_rows},
        {"silence", NULL, "silence()\nLets standard output go nowhere.", .raw = ranks_silence},
        {"share", NULL,
         "share(on)\n"
         "With true, lets all ranks make products together, each some rows of them.",
         .raw = ranks_share},
        {"shared", NULL,
         "shared() -> messages, bytes\n"
         "The messages and bytes that this rank has sent for products so far.",
         .raw = ranks_shared},
        {"waited", NULL,
         "waited() -> seconds\n"
         "The seconds that this rank has waited for others so far.",
         .raw = ranks_waited},
        {NULL, NULL, NULL},
    };
    static const bind_class fetch = {.name = BIND_FETCH, .release = fetch_gc, .closes = true};
    bind_open_class(L, &fetch);
    lua_newtable(L);
    bind_functions(L, functions);
    return 1;
}
