/* The module ladies_limits for Lua: plain loops with the access patterns of primitives, on the threads
 * of the program, and the rate of the BLAS behind its products. `ladies bench` times a primitive and
 * its loop in turn. The loops compute next to nothing: what they take, the machine needs to move the
 * data. Tensors must have the shapes that are told below; they are not checked. */
#include <cblas.h>

#include "graph/csr.h"
#include "state/bind.h"
#include "system/simd.h"
#include "system/threads.h"

enum { GRAIN = 8192, ROWS = 64, SIDE = 512 };

typedef struct {
    float *a, *b, *c, *d; /* elements, or rows of `width` elements */
    int64_t width;
    const ld_structure *s;
    const int32_t *ids;
} loop;

/* --- elements in their order -------------------------------------------------------------------- */

LD_CLONES(read_chunk)
{
    const loop *l = ctx;
    float sums[16] = {0};
    for (int64_t i = begin; i + 16 <= end; i += 16)
        for (int j = 0; j < 16; j++)
            sums[j] += l->a[i + j];
    volatile float kept = 0; /* or the loop would be left out */
    for (int j = 0; j < 16; j++)
        kept = kept + sums[j];
}

LD_CLONES(copy_chunk)
{
    const loop *l = ctx;
    for (int64_t i = begin; i < end; i++)
        l->b[i] = l->a[i];
}

LD_CLONES(add_chunk)
{
    const loop *l = ctx;
    for (int64_t i = begin; i < end; i++)
        l->c[i] = l->a[i] + l->b[i];
}

/* Reads four arrays and writes three, as Adam does. */
LD_CLONES(update_chunk)
{
    const loop *l = ctx;
    for (int64_t i = begin; i < end; i++) {
        float sum = l->a[i] + l->b[i] + l->c[i] + l->d[i];
        l->a[i] = l->b[i] = l->c[i] = sum;
    }
}

/* --- rows in any order -------------------------------------------------------------------------- */

LD_CLONES(gather_rows)
{
    const loop *l = ctx;
    for (int64_t i = begin; i < end; i++) {
        const float *from = l->a + l->ids[i] * l->width;
        float *to = l->b + i * l->width;
        for (int64_t j = 0; j < l->width; j++)
            to[j] = from[j];
    }
}

/* A product with a matrix whose entries are all one. */
LD_CLONES(add_rows)
{
    const loop *l = ctx;
    for (int64_t i = begin; i < end; i++) {
        float *to = l->b + i * l->width;
        for (int64_t j = 0; j < l->width; j++)
            to[j] = 0;
        for (int64_t e = l->s->offsets[i]; e < l->s->offsets[i + 1]; e++) {
            const float *from = l->a + l->s->columns[e] * l->width;
            for (int64_t j = 0; j < l->width; j++)
                to[j] += from[j];
        }
    }
}

/* The column ids of some rows of a matrix. */
static void visit_rows(void *ctx, int64_t begin, int64_t end)
{
    const loop *l = ctx;
    int64_t sum = 0;
    for (int64_t i = begin; i < end; i++)
        for (int64_t e = l->s->offsets[l->ids[i]]; e < l->s->offsets[l->ids[i] + 1]; e++)
            sum += l->s->columns[e];
    volatile int64_t kept = sum;
    (void)kept;
}

/* --- products ----------------------------------------------------------------------------------- */

/* One product of square matrices for each item, with matrices of its own. */
static void multiply(void *ctx, int64_t begin, int64_t end)
{
    const loop *l = ctx;
    const int64_t size = (int64_t)SIDE * SIDE;
    for (int64_t i = begin; i < end; i++)
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, SIDE, SIDE, SIDE, 1, l->a + i * size,
                    SIDE, l->b + i * size, SIDE, 0, l->c + i * size, SIDE);
}

/* --- for Lua ------------------------------------------------------------------------------------ */

static int run(lua_State *L, int64_t n, int64_t grain, ld_loop_fn *fn, loop *l)
{
    bind_check(L, ld_parallel_for(n, grain, fn, l));
    return 0;
}

/* read(a) */
static int limit_read(lua_State *L)
{
    const ld_tensor *a = bind_tensor(L, 1);
    return run(L, ld_tensor_size(a), GRAIN, read_chunk, &(loop){.a = a->data});
}

/* copy(a, b): b = a */
static int limit_copy(lua_State *L)
{
    const ld_tensor *a = bind_tensor(L, 1), *b = bind_tensor(L, 2);
    return run(L, ld_tensor_size(a), GRAIN, copy_chunk, &(loop){.a = a->data, .b = b->data});
}

/* add(a, b, c): c = a + b */
static int limit_add(lua_State *L)
{
    const ld_tensor *a = bind_tensor(L, 1), *b = bind_tensor(L, 2), *c = bind_tensor(L, 3);
    loop l = {.a = a->data, .b = b->data, .c = c->data};
    return run(L, ld_tensor_size(a), GRAIN, add_chunk, &l);
}

/* update(a, b, c, d): a, b and c become the sum of all */
static int limit_update(lua_State *L)
{
    const ld_tensor *a = bind_tensor(L, 1), *b = bind_tensor(L, 2), *c = bind_tensor(L, 3);
    loop l = {.a = a->data, .b = b->data, .c = c->data, .d = bind_tensor(L, 4)->data};
    return run(L, ld_tensor_size(a), GRAIN, update_chunk, &l);
}

/* gather(a, b, ids): row i of b is row ids[i] of a */
static int limit_gather(lua_State *L)
{
    const ld_tensor *a = bind_tensor(L, 1), *b = bind_tensor(L, 2);
    const ld_index *ids = bind_index(L, 3);
    loop l = {.a = a->data, .b = b->data, .width = a->n_cols, .ids = ids->data};
    return run(L, ids->size, ROWS, gather_rows, &l);
}

/* add_rows(P, a, b): row i of b is the sum of the rows of a that row i of P has entries for */
static int limit_add_rows(lua_State *L)
{
    const ld_structure *s = bind_matrix(L, 1)->s;
    const ld_tensor *a = bind_tensor(L, 2), *b = bind_tensor(L, 3);
    loop l = {.a = a->data, .b = b->data, .width = a->n_cols, .s = s};
    return run(L, s->n_rows, ROWS, add_rows, &l);
}

/* visit(P, ids): reads these rows of P */
static int limit_visit(lua_State *L)
{
    const ld_structure *s = bind_matrix(L, 1)->s;
    const ld_index *ids = bind_index(L, 2);
    return run(L, ids->size, ROWS, visit_rows, &(loop){.s = s, .ids = ids->data});
}

/* multiply(a, b, c) -> multiplications and additions: of square matrices, as many as a, b and c have
 * room for, one after the other on each thread */
static int limit_multiply(lua_State *L)
{
    const ld_tensor *a = bind_tensor(L, 1), *b = bind_tensor(L, 2), *c = bind_tensor(L, 3);
    loop l = {.a = a->data, .b = b->data, .c = c->data};
    int64_t n = ld_tensor_size(a) / ((int64_t)SIDE * SIDE);
    run(L, n, 1, multiply, &l);
    lua_pushnumber(L, 2.0 * SIDE * SIDE * SIDE * (lua_Number)n);
    return 1;
}

int luaopen_ladies_limits(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"read", limit_read},     {"copy", limit_copy},         {"add", limit_add},
        {"update", limit_update}, {"gather", limit_gather},     {"add_rows", limit_add_rows},
        {"visit", limit_visit},   {"multiply", limit_multiply}, {NULL, NULL}};
    luaL_newlib(L, functions);
    lua_pushinteger(L, SIDE);
    lua_setfield(L, -2, "side");
    return 1;
}
