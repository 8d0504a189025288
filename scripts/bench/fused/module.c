/* The module ladies_fused for Lua: fused.NAME(P, layers, size) is a sampler. Core and the binding are
 * those of the program that loads it. */
#include <string.h>

#include "fused.h"
#include "memory/memory.h"
#include "state/bind.h"

#define SAMPLER "ladies.FusedSampler"

typedef struct {
    fused_sampler f;
    fused_layer *sample;
    int layers;
} sampler;

void *fused_room(fused_buffer *b, int64_t size)
{
    if (!b->data || b->size < size) {
        ld_free(b->data);
        b->size = size + size / 4;
        b->data = ld_alloc((size_t)b->size, LD_MEM_SCRATCH);
        if (!b->data)
            b->size = 0;
    }
    return b->data;
}

ld_status fused_block_new(fused_block *out, int64_t n_rows, const int64_t *offsets,
                          const int32_t *columns, const float *values, ld_index *src)
{
    int64_t nnz = offsets[n_rows];
    ld_structure *s = NULL;
    ld_tensor *weights = NULL;
    ld_status st;
    LD_TRY(ld_structure_new(&s, n_rows, src->size, nnz, false));
    LD_TRY(ld_tensor_new(&weights, 1, nnz, 1));
    memcpy(s->offsets, offsets, (size_t)(n_rows + 1) * sizeof *offsets);
    memcpy(s->columns, columns, (size_t)nnz * sizeof *columns);
    memcpy(weights->data, values, (size_t)nnz * sizeof *values);
    LD_TRY(ld_csr_new(&out->adj, s, weights, NULL, NULL));
    out->src = ld_index_ref(src);
done:
    ld_structure_unref(s);
    ld_tensor_unref(weights);
    ld_index_unref(src);
    return st;
}

static int sampler_gc(lua_State *L)
{
    sampler *s = luaL_checkudata(L, 1, SAMPLER);
    ld_csr_unref(s->f.P);
    ld_index_unref(s->f.loops);
    ld_alias_unref(s->f.table);
    ld_marker_put(s->f.renamed);
    ld_free(s->f.bits);
    for (size_t i = 0; i < sizeof s->f.work / sizeof *s->f.work; i++)
        ld_free(s->f.work[i].data);
    memset(s, 0, sizeof *s);
    return 0;
}

/* sampler(seeds, rng) -> mini-batch */
static int sampler_call(lua_State *L)
{
    sampler *s = luaL_checkudata(L, 1, SAMPLER);
    const ld_index *dst = bind_index(L, 2);
    ld_rng *rng = bind_rng(L, 3);
    lua_settop(L, 3);
    lua_createtable(L, 0, 3);
    lua_createtable(L, s->layers, 0);
    lua_pushvalue(L, 2); /* dst of the next block, on top */
    for (int l = s->layers; l > 0; l--) {
        fused_block block = {NULL, NULL};
        lua_createtable(L, 0, 3);
        ld_csr **adj = bind_new_matrix(L);
        ld_index **src = bind_new_index(L);
        bind_check(L, s->sample(&block, &s->f, dst, rng));
        *adj = block.adj;
        *src = block.src;
        dst = block.src;
        lua_pushvalue(L, -1);
        lua_setfield(L, -4, "src");
        lua_insert(L, 6);
        lua_setfield(L, -2, "adj");
        lua_pushvalue(L, 7);
        lua_setfield(L, -2, "dst");
        lua_rawseti(L, 5, l);
        lua_remove(L, 7);
    }
    lua_setfield(L, 4, "input");
    lua_setfield(L, 4, "blocks");
    lua_pushvalue(L, 2);
    lua_setfield(L, 4, "output");
    return 1;
}

static int new_sampler(lua_State *L, fused_layer *sample, ld_status (*prepare)(fused_sampler *))
{
    ld_csr *P = bind_matrix(L, 1);
    int layers = (int)luaL_checkinteger(L, 2);
    int64_t size = bind_count(L, 3, "size");
    sampler *s = lua_newuserdatauv(L, sizeof *s, 0);
    *s = (sampler){.f = {.P = ld_csr_ref(P), .size = size}, .sample = sample, .layers = layers};
    luaL_setmetatable(L, SAMPLER);
    bind_check(L, ld_marker_take(&s->f.renamed, P->s->n_cols));
    if (prepare)
        bind_check(L, prepare(&s->f));
    return 1;
}

static int new_ladies(lua_State *L)
{
    return new_sampler(L, fused_ladies, NULL);
}

static int new_fastgcn(lua_State *L)
{
    return new_sampler(L, fused_fastgcn, fused_prepare_fastgcn);
}

static int new_graphsage(lua_State *L)
{
    return new_sampler(L, fused_graphsage, fused_prepare_graphsage);
}

int luaopen_ladies_fused(lua_State *L)
{
    static const luaL_Reg functions[] = {{"ladies", new_ladies},
                                         {"fastgcn", new_fastgcn},
                                         {"graphsage", new_graphsage},
                                         {NULL, NULL}};
    static const luaL_Reg meta[] = {{"__gc", sampler_gc}, {"__call", sampler_call}, {NULL, NULL}};
    luaL_newmetatable(L, SAMPLER);
    luaL_setfuncs(L, meta, 0);
    lua_pop(L, 1);
    luaL_newlib(L, functions);
    return 1;
}
