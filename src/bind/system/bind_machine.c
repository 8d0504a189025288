/* Facts about the machine and settings of the process: threads, vector units, memory, clock,
 * terminal. */
#include <unistd.h>

#include "base/version.h"
#include "graph/csr.h"
#include "kernel/gemm.h"
#include "state/bind.h"
#include "system/clock.h"
#include "system/loop_cost.h"
#include "system/machine.h"
#include "system/platform.h"
#include "system/simd.h"
#include "system/threads.h"

static ld_status threads(bind_call *c)
{
    if (!lua_isnil(c->L, 1))
        bind_check(c->L, ld_set_threads(c->in[0].integer));
    c->out[0].integer = ld_threads();
    return LD_OK;
}

/* Sets a field of the table on top of the stack. */
static void set_number(lua_State *L, const char *name, double value)
{
    lua_pushnumber(L, value);
    lua_setfield(L, -2, name);
}

static void push_loop(lua_State *L, const ld_loop_cost *loop)
{
    lua_createtable(L, 0, 5);
    lua_pushstring(L, loop->name);
    lua_setfield(L, -2, "name");
    set_number(L, "calls", (double)loop->calls);
    set_number(L, "chunks", (double)loop->chunks);
    set_number(L, "seconds", loop->seconds);
    lua_createtable(L, 0, LD_LOOP_WIDTHS);
    for (int w = 0; w < LD_LOOP_WIDTHS; w++) {
        lua_pushnumber(L, loop->within[w]);
        lua_rawseti(L, -2, ld_loop_widths[w]);
    }
    lua_setfield(L, -2, "within");
}

static ld_status watch_loops(bind_call *c)
{
    ld_loops_watch(c->in[0].flag);
    if (c->in[0].flag)
        return LD_OK;
    int n;
    double watching;
    const ld_loop_cost *loops = ld_loops_seen(&n, &watching);
    lua_createtable(c->L, n, 1);
    for (int i = 0; i < n; i++) {
        push_loop(c->L, &loops[i]);
        lua_rawseti(c->L, -2, i + 1);
    }
    set_number(c->L, "watching", watching);
    return LD_OK;
}

static ld_status machine(bind_call *c)
{
    size_t memory = ld_machine_memory();
    const struct {
        const char *name;
        lua_Integer value;
    } fields[] = {
        {"memory", memory > LUA_MAXINTEGER ? LUA_MAXINTEGER : (lua_Integer)memory},
        {"processors", ld_machine_processors()},
        {"allowed", ld_platform_processors()},
        {"share", ld_machine_share()},
        {"all", ld_machine_all_processors()},
    };
    lua_newtable(c->L);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        lua_pushinteger(c->L, fields[i].value);
        lua_setfield(c->L, -2, fields[i].name);
    }
    return LD_OK;
}

static ld_status vector_units(bind_call *c)
{
    if (c->in[0].text)
        bind_check(c->L, ld_use_units(c->in[0].text));
    lua_pushstring(c->L, ld_vector_units());
    return LD_OK;
}

static ld_status cancel_at(bind_call *c)
{
    c->out[0].flag = ld_cancel_at(c->in[0].integer);
    return LD_OK;
}

static ld_status limit_entries(bind_call *c)
{
    ld_structure_limit(c->in[0].integer);
    return LD_OK;
}

static ld_status blas(bind_call *c)
{
    char text[128];
    ld_blas_name(text, sizeof text);
    lua_pushstring(c->L, text);
    return LD_OK;
}

static ld_status monotonic_clock(bind_call *c)
{
    c->out[0].number = ld_clock();
    return LD_OK;
}

static ld_status is_terminal(bind_call *c)
{
    c->out[0].flag = isatty((int)c->in[0].integer);
    return LD_OK;
}

static const bind_function functions[] = {
    {"threads", threads,
     "ladies.threads([n: integer]) -> n\n"
     "Sets (when given) and returns the number of threads of the parallel loops. Results do not\n"
     "depend on it. Where nobody has set it, it is the number of processors that this process may use:\n"
     "no more than its control groups' quota, rounded up, and its part of the host's where several\n"
     "ranks share it."},
    {"watch_loops", watch_loops,
     "ladies_core.watch_loops(on: boolean) -> table | nil\n"
     "Begins to watch the parallel loops, which then run in one thread, or ends it and returns what\n"
     "was seen: for each function that loops ran, {name =, calls =, chunks =, seconds =, within =},\n"
     "where within[p] are the seconds that p = 2, 8, 16, 32 or 64 threads would take for the same\n"
     "chunks on a machine that has them; and watching, the seconds in loops and of watching them."},
    {"machine", machine,
     "ladies_core.machine() -> table\n"
     "The part of the machine that this process has: memory in bytes, the machine's or, where it\n"
     "is less, the limit of its control groups; processors that may be busy at a time; both\n"
     "divided by the ranks on this host. Besides, allowed: the processors that it may run on;\n"
     "all: those of the host, as far as control groups leave them; share: its part of these."},
    {"vector_units", vector_units,
     "ladies_core.vector_units([name]) -> \"AVX-512\" | \"AVX2\" | \"SSE2\" | \"NEON\" | \"none\"\n"
     "Sets (when given: avx512, avx2 or sse2, which this machine must have) and returns the vector\n"
     "units that the library's own loops run on, to the same bits. OpenBLAS chooses for itself."},
    {"cancel_at", cancel_at,
     "ladies_core.cancel_at(n: integer) -> boolean\n"
     "For tests: tells the n-th loop from now on that asks if it was interrupted that it was, and all\n"
     "after it until cancel_at(0). Returns true if one was told so since the call before."},
    {"limit_entries", limit_entries,
     "ladies_core.limit_entries(n: integer)\n"
     "For tests: the positions of a matrix's entries count as too large for an Index where there are\n"
     "more than n, as they are where there are 2^31; 0 stops this."},
    {"blas", blas,
     "ladies_core.blas() -> string\n"
     "The BLAS that computes dense products, and its kernels here: \"OpenBLAS 0.3.21 Zen\"."},
    {"clock", monotonic_clock, "ladies_core.clock() -> number\nMonotonic time in seconds."},
    {"isatty", is_terminal,
     "ladies_core.isatty(descriptor: integer) -> boolean\n"
     "True if the file descriptor is a terminal."},
    {NULL, NULL, NULL},
};

static void add_version(lua_State *L)
{
    lua_pushstring(L, LD_VERSION);
    lua_setfield(L, -2, "version");
}

const bind_subject bind_subject_machine = {.functions = {{functions}}, .more = add_version};
