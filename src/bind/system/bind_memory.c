/* Memory: the bytes that core holds, by owner; counts of what a thread takes; giving cached memory
 * back to the system; and, for tests, an allocation that fails. */
#include "memory/memory.h"

#include <sys/resource.h>

#include "graph/marker.h"
#include "state/bind.h"

static ld_status memory(bind_call *c)
{
    lua_State *L = c->L;
    ld_memory_stats s = ld_memory_read();
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    const struct {
        const char *name;
        int64_t value;
    } fields[] = {
        {"total", s.total},
        {"peak", s.peak},
        {"cached", s.cached},
        {"system_calls", s.system_calls},
        {"resident_peak", (int64_t)usage.ru_maxrss * 1024},
    };
    lua_newtable(L);
    for (int tag = 0; tag < LD_MEM_TAGS; tag++) {
        lua_pushinteger(L, s.live[tag]);
        lua_setfield(L, -2, ld_memory_tag_name((ld_memory_tag)tag));
    }
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        lua_pushinteger(L, fields[i].value);
        lua_setfield(L, -2, fields[i].name);
    }
    return LD_OK;
}

static ld_status memory_count(bind_call *c)
{
    int64_t before, number = lua_isnil(c->L, 1) ? LD_NEW_COUNT : c->in[0].integer;
    c->out[0].integer = ld_memory_count(number, &before);
    c->out[1].integer = before;
    return LD_OK;
}

static ld_status memory_counted(bind_call *c)
{
    c->out[0].integer = ld_memory_counted(c->in[0].integer);
    return LD_OK;
}

static ld_status memory_trim(bind_call *c)
{
    lua_gc(c->L, LUA_GCCOLLECT);
    lua_gc(c->L, LUA_GCCOLLECT); /* finalised objects are freed in the second round */
    bind_settle(c->L);
    ld_marker_trim();
    ld_memory_trim();
    return LD_OK;
}

static ld_status memory_fail_at(bind_call *c)
{
    ld_memory_fail_at(c->in[0].integer);
    return LD_OK;
}

static const bind_function functions[] = {
    {"memory", memory,
     "ladies.memory() -> table\n"
     "Bytes in use by owner (tensor, index, matrix, tape, scratch, io), as many as were asked for;\n"
     "total, their sum, and peak, the largest total since the start or the last memory_trim(); cached,\n"
     "bytes of the free blocks kept for reuse; resident_peak, the most that the process has had in\n"
     "memory. Besides, system_calls: how many blocks were taken from the system."},
    {"memory_count", memory_count,
     "ladies_core.memory_count([n: integer]) -> integer, integer\n"
     "From now on counts the memory that this thread takes, in count n, in a new count (n = nil),\n"
     "or in none (0). Returns the number of that count, and of the one until now. Memory counts\n"
     "until it is freed, by whatever thread; the latest 16 counts are kept."},
    {"memory_counted", memory_counted,
     "ladies_core.memory_counted(n: integer) -> integer\n"
     "The bytes still in use of the memory taken in count n; 0 for a count that is not kept."},
    {"memory_trim", memory_trim,
     "ladies.memory_trim()\nCollects garbage and gives cached memory back to the system; the peak\n"
     "starts anew."},
    {"memory_fail_at", memory_fail_at,
     "ladies_core.memory_fail_at(n: integer)\nFor tests: makes the n-th allocation from now fail, once; 0 "
     "stops\n"
     "this."},
    {NULL, NULL, NULL},
};

const bind_subject bind_subject_memory = {.functions = {{functions}}};
