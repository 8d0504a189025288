/* Rng: counter-based random number generators. */
#include <inttypes.h>

#include "state/bind.h"
#include "tensor/index_numbers.h"

static ld_status rng_new(bind_call *c)
{
    *c->out[0].rng = ld_rng_seed((uint64_t)c->in[0].integer);
    return LD_OK;
}

static ld_status rng_fork(bind_call *c)
{
    *c->out[0].rng = ld_rng_fork(c->in[0].rng, (uint64_t)c->in[1].integer);
    return LD_OK;
}

static ld_status rng_at(bind_call *c)
{
    *c->out[0].rng = ld_rng_at(c->in[0].rng, (uint64_t)c->in[1].integer);
    return LD_OK;
}

static ld_status rng_uniform(bind_call *c)
{
    c->out[0].number = ld_random_uniform(ld_rng_next(c->in[0].rng), 0);
    return LD_OK;
}

static ld_status rng_normal(bind_call *c)
{
    c->out[0].number = ld_random_normal(ld_rng_next(c->in[0].rng), 0);
    return LD_OK;
}

static ld_status rng_uniform_of(bind_call *c)
{
    return ld_uniform_of(c->out[0].tensor, c->in[1].index, c->in[0].rng);
}

static ld_status rng_below(bind_call *c)
{
    bind_arg_check(c->L, c->in[1].integer > 0, 2, "must be positive");
    ld_stream s = ld_rng_next(c->in[0].rng);
    c->out[0].integer = (lua_Integer)ld_random_below(s, 0, (uint64_t)c->in[1].integer) + 1;
    return LD_OK;
}

static void rng_describe(lua_State *L, const void *object)
{
    const ld_rng *r = object;
    char text[64];
    snprintf(text, sizeof text, "Rng %016" PRIx64 ", call %" PRIu64, r->key,
             r->next & ~((uint64_t)1 << 63));
    lua_pushstring(L, text);
}

static const bind_function functions[] = {
    {"rng", rng_new,
     "ladies.rng(seed) -> Rng\n"
     "A random number generator. Draws are Philox4x32-10 of (key, call, position): the same seed\n"
     "gives the same draws on any number of threads. Every primitive that takes an rng uses up "
     "one\n"
     "call of it, so two calls differ."},
    {NULL, NULL, NULL},
};

static const bind_function methods[] = {
    {"fork", rng_fork,
     "rng:fork(k: integer) -> Rng\n"
     "The k-th child (k an integer). Pure: it depends on the rng's key and k, not on earlier "
     "calls."},
    {"at", rng_at,
     "rng:at(k: integer) -> Rng\n"
     "A generator whose every call gives the same draws, those of sub-stream k: for randomness "
     "that\n"
     "is shared on purpose, between layers or rows."},
    {"uniform", rng_uniform, "rng:uniform() -> number\nUniform in the open interval (0, 1)."},
    {"uniform_of", rng_uniform_of,
     "rng:uniform_of(idx) -> Tensor\n"
     "A uniform number in (0, 1) for each element of an Index: a function of the generator's call and\n"
     "the id alone, the same whatever other ids are asked with it. Like every call it uses one up:\n"
     "rng:at(k):uniform_of(idx) gives an id the same number each time, in all layers and rows, as\n"
     "A:poisson_rows compares it with shared = true."},
    {"normal", rng_normal, "rng:normal() -> number\nStandard normal."},
    {"below", rng_below, "rng:below(n: integer) -> integer\nUniform in 1 .. n."},
    {NULL, NULL, NULL},
};

static const bind_class class = {.name = BIND_RNG, .methods = methods, .describe = rng_describe};

const bind_subject bind_subject_rng = {.classes = {&class}, .functions = {{functions}}};
