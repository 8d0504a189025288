/* The module ladies_ranks for Lua: the functions of ranks.h. It uses core and the binding of the
 * program that loads it. Memory that MPI may still use after a failure is kept for ever. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "fetch_features.h"
#include "fetch_graph.h"
#include "order.h"
#include "plan.h"
#include "ranks.h"
#include "state/bind.h"
#include "tensor/shared_product.h"

#define BIND_FETCH "ladies.Fetch"

static ld_status ranks_open(bind_call *c)
{
    int rank, size, length;
    char host[MPI_MAX_PROCESSOR_NAME];
    bind_check(c->L, ld_ranks_open(&rank, &size));
    MPI_Get_processor_name(host, &length);
    lua_pushinteger(c->L, rank);
    lua_pushinteger(c->L, size);
    lua_pushlstring(c->L, host, (size_t)length);
    return LD_OK;
}

static int check_rank(lua_State *L, int64_t rank)
{
    if (rank < 0 || rank >= ld_ranks_count())
        bind_error(L, "ranks: there is no rank %I of %d", (LUAI_UACINT)rank, ld_ranks_count());
    return (int)rank;
}

/* Pushes a userdata with the blocks of the array at arg, {{rank, Tensor}, ...}, and returns it. */
static ld_ranks_block *push_blocks(lua_State *L, int arg, int *n, bool written)
{
    *n = (int)lua_rawlen(L, arg);
    ld_ranks_block *blocks = lua_newuserdatauv(L, ((size_t)*n + 1) * sizeof *blocks, 0);
    for (int i = 0; i < *n; i++) {
        lua_rawgeti(L, arg, i + 1);
        bind_check_type(L, -1, LUA_TTABLE);
        int pair = lua_gettop(L);
        lua_rawgeti(L, pair, 1);
        lua_rawgeti(L, pair, 2);
        ld_tensor *t = written ? bind_writable_tensor(L, pair + 2) : bind_tensor(L, pair + 2);
        blocks[i] = (ld_ranks_block){check_rank(L, bind_check_integer(L, pair + 1)), t->data,
                                     ld_tensor_size(t)};
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

static ld_status ranks_exchange(bind_call *c)
{
    int n_sends, n_receives;
    const ld_ranks_block *sends = push_blocks(c->L, 1, &n_sends, false);
    const ld_ranks_block *receives = push_blocks(c->L, 2, &n_receives, true);
    int held = hold(c->L);
    settle(c->L, held, ld_ranks_exchange(sends, n_sends, receives, n_receives));
    return LD_OK;
}

static ld_status ranks_sum(bind_call *c)
{
    ld_tensor *sum = c->in[0].tensor;
    const ld_tensor *own = c->in[1].tensor;
    bind_arg_check(c->L, ld_tensor_same_shape(sum, own), 2, "another shape than the sum");
    LD_CHECK(ld_tensor_change(sum));
    int held = hold(c->L);
    settle(c->L, held, ld_ranks_sum(sum->data, own->data, ld_tensor_size(own)));
    return LD_OK;
}

static ld_status ranks_gather(bind_call *c)
{
    lua_State *L = c->L;
    int size = ld_ranks_count();
    int64_t *offsets = lua_newuserdatauv(L, ((size_t)size + 1) * sizeof *offsets, 0);
    char **bytes = (char **)bind_new_object(L, BIND_BUFFER);
    int held = hold(L);
    settle(L, held, ld_ranks_gather(bytes, offsets, c->in[0].text, (int64_t)lua_rawlen(L, 1)));
    lua_createtable(L, size, 0);
    for (int r = 0; r < size; r++) {
        lua_pushlstring(L, *bytes + offsets[r], (size_t)(offsets[r + 1] - offsets[r]));
        lua_rawseti(L, -2, r + 1);
    }
    return LD_OK;
}

static ld_status ranks_broadcast(bind_call *c)
{
    lua_State *L = c->L;
    const char *own = lua_isnil(L, 1) ? NULL : bind_check_bytes(L, 1);
    size_t length = own ? lua_rawlen(L, 1) : 0;
    int root = check_rank(L, c->in[1].integer), size = ld_ranks_count();
    int64_t *offsets = lua_newuserdatauv(L, ((size_t)size + 1) * sizeof *offsets, 0);
    bind_check(L, ld_ranks_sizes(offsets, (int64_t)length));
    size_t n = (size_t)offsets[size];
    char *bytes = lua_newuserdatauv(L, n + 1, 0);
    if (own)
        memcpy(bytes, own, length);
    int held = hold(L);
    settle(L, held, ld_ranks_broadcast(bytes, (int64_t)n, root));
    lua_pushlstring(L, bytes, n);
    return LD_OK;
}

static ld_status ranks_at(bind_call *c)
{
    ld_order_call(c->in[0].text);
    return LD_OK;
}

static ld_status ranks_set_patience(bind_call *c)
{
    ld_ranks_set_patience(c->in[0].number);
    return LD_OK;
}

static ld_status ranks_finish(bind_call *c)
{
    (void)c;
    return ld_ranks_finish();
}

static ld_status ranks_silence(bind_call *c)
{
    fflush(stdout);
    if (!freopen("/dev/null", "w", stdout))
        bind_error(c->L, "ranks: /dev/null cannot be opened");
    return LD_OK;
}

static ld_status ranks_share(bind_call *c)
{
    ld_ranks_share(c->in[0].flag);
    return LD_OK;
}

static ld_status ranks_shared(bind_call *c)
{
    int64_t messages, bytes;
    ld_ranks_shared(&messages, &bytes);
    c->out[0].integer = messages;
    c->out[1].integer = bytes;
    return LD_OK;
}

static ld_status ranks_waited(bind_call *c)
{
    c->out[0].number = ld_ranks_waited();
    return LD_OK;
}

/* --- rows ------------------------------------------------------------------------------------- */

static ld_status ranks_fetch(bind_call *c)
{
    ld_rows *have = c->in[0].rows;
    ld_fetch **f = (ld_fetch **)bind_new_object(c->L, BIND_FETCH);
    bind_arg_check(c->L, have->n_cols > 0 && have->n_cols < INT32_MAX / 4, 1,
                   "rows of no columns, or of more than MPI can count");
    return ld_fetch_begin(f, have, c->in[1].index);
}

static ld_status ranks_fetched(bind_call *c)
{
    int64_t messages, bytes;
    LD_CHECK(ld_fetch_end(c->out[0].rows, c->in[0].object));
    ld_fetch_sent(&messages, &bytes, c->in[0].object);
    bind_drop(c->L, lua_touserdata(c->L, 1), ld_fetch_drop);
    c->out[1].integer = messages;
    c->out[2].integer = bytes;
    return LD_OK;
}

static ld_status ranks_kept(bind_call *c)
{
    const ld_rows *have = c->in[1].rows;
    LD_CHECK(ld_index_check(c->in[2].index, 0, have->n_rows, "ranks: the row to keep"));
    return ld_fetch_keep(c->out[0].rows, c->in[0].rows, have, c->in[2].index);
}

static ld_status ranks_fetch_graph(bind_call *c)
{
    ld_graph_fetched found;
    lua_State *L = c->L;
    ld_csr **rows = bind_new_matrix(L);
    int held = hold(L);
    settle(L, held, ld_ranks_fetch_graph(&found, c->in[0].object, c->in[1].index));
    *rows = found.rows;
    if (!found.any) {
        lua_pop(L, 1);
        lua_pushnil(L);
    }
    lua_pushinteger(L, found.messages);
    lua_pushinteger(L, found.bytes);
    return LD_OK;
}

static ld_status ranks_gather_rows(bind_call *c)
{
    ld_tensor *t = c->in[0].tensor;
    int n_owners;
    const int64_t *bounds = bind_push_bounds(c->L, 2, &n_owners);
    LD_CHECK(ld_plan_check_owners(n_owners, "the rows of a product are"));
    LD_CHECK(ld_share_check_bounds(bounds, n_owners, t->n_rows, "gather_rows"));
    LD_CHECK(ld_tensor_change(t));
    return ld_ranks_gather_rows(t, bounds);
}

int luaopen_ladies_ranks(lua_State *L)
{
    static const bind_function functions[] = {
        {"open", ranks_open,
         "open() -> rank, size, host\nBegins MPI: this process is a rank, from 0, of so many."},
        {"at", ranks_at,
         "at(name)\n"
         "Sets the name of the next call, which is compared with that of the others where it\n"
         "waits for long."},
        {"exchange", ranks_exchange,
         "exchange(sends: table, receives: table)\n"
         "Sends and receives tensors, {{rank, Tensor}, ...} each; the k-th from one rank to\n"
         "another is the k-th there."},
        {"sum", ranks_sum,
         "sum(to: Tensor, t)\nThe sum of the tensors t of all ranks, by MPI's own order.",
         .changes = "to"},
        {"gather", ranks_gather, "gather(text) -> array\nThe texts of all ranks, in their order."},
        {"broadcast", ranks_broadcast,
         "broadcast(text: string | nil, root: integer) -> text\n"
         "The text of rank `root`; others give nil."},
        {"set_patience", ranks_set_patience,
         "set_patience(seconds: number)\nSets for how long a call waits for other ranks."},
        {"finish", ranks_finish, "finish()\nEnds MPI, when all ranks have come to it."},
        {"fetch", ranks_fetch,
         "fetch(have: Rows, ids: Index) -> Fetch\n"
         "Begins to bring the rows `ids`, ascending, that `have` lacks, and to give others what\n"
         "they want of it. All ranks call it, one fetch after the other."},
        {"fetched", ranks_fetched,
         "fetched(fetch: Fetch) -> Rows, integer, integer\n"
         "Waits for the end of a fetch: `have` with its rows, and the messages and bytes that this\n"
         "rank has sent for it."},
        {"kept", ranks_kept,
         "kept(own: Rows, have: Rows, ids: Index) -> Rows\n"
         "The rows of `own`, and copies of the rows `ids`, ascending, that `have` holds."},
        {"fetch_graph", ranks_fetch_graph,
         "fetch_graph(have: GraphRows, ids: Index) -> Matrix | nil, integer, integer\n"
         "Waits for the rows `ids`, ascending, that `have` lacks, and gives others what they want\n"
         "of it; nil when no rank wants any. All ranks call it. Then the messages and bytes that\n"
         "were sent."},
        {"gather_rows", ranks_gather_rows,
         "gather_rows(t, bounds: table)\n"
         "Brings all rows of a Tensor to all ranks; bounds[r + 1] is the number before those of r.",
         .changes = "t"},
        {"silence", ranks_silence, "silence()\nLets standard output go nowhere."},
        {"share", ranks_share,
         "share(on: boolean)\n"
         "With true, lets all ranks make products together, each some rows of them."},
        {"shared", ranks_shared,
         "shared() -> integer, integer\n"
         "The messages and bytes that this rank has sent for products so far."},
        {"waited", ranks_waited,
         "waited() -> number\nThe seconds that this rank has waited for others so far."},
        {NULL, NULL, NULL},
    };
    static const bind_class fetch = {.name = BIND_FETCH, .drop = ld_fetch_drop, .closes = true};
    bind_open_class(L, &fetch);
    lua_newtable(L);
    bind_functions(L, functions);
    return 1;
}
