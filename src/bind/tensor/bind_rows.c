/* Rows: features that stay in their file, of which a few rows at a time become a Tensor. */
#include "tensor/stored_rows.h"

#include <string.h>

#include "state/bind.h"
#include "state/parts.h"
#include "tensor/bind_tensor.h"

static ld_status rows_rows(bind_call *c)
{
    return ld_rows_gather(c->out[0].tensor, c->in[0].object, c->in[1].index);
}

static ld_status rows_slice(bind_call *c)
{
    int64_t first, count = bind_range(c->L, 2, &first);
    return ld_rows_slice(c->out[0].tensor, c->in[0].object, first, count);
}

static ld_status rows_to_tensor(bind_call *c)
{
    ld_rows *x = c->in[0].object;
    return ld_rows_slice(c->out[0].tensor, x, 0, x->n_rows);
}

static ld_status rows_matmul(bind_call *c)
{
    return ld_rows_matmul(c->out[0].tensor, c->in[0].object, c->in[1].tensor);
}

static ld_status rows_prefetch(bind_call *c)
{
    return ld_rows_prefetch(c->in[0].object, c->in[1].index);
}

static ld_status rows_missing(bind_call *c)
{
    return ld_rows_missing(c->out[0].index, c->in[0].object, c->in[1].index);
}

static ld_status rows_is_finite(bind_call *c)
{
    ld_rows *x = c->in[0].object;
    int64_t at = -1;
    float value = 0;
    ld_status st = ld_rows_not_finite(&at, &value, x);
    bind_push_finite(c, at, value, x->n_cols);
    return st;
}

static ld_status rows_hash(bind_call *c)
{
    uint64_t hash = 0;
    ld_status st = ld_rows_hash(&hash, c->in[0].object);
    bind_push_hash(c->L, hash);
    return st;
}

static void rows_describe(lua_State *L, const void *object)
{
    const ld_rows *x = object;
    lua_pushfstring(L, "Rows %I x %I, %s%s", (LUAI_UACINT)x->n_rows, (LUAI_UACINT)x->n_cols,
                    ld_number_name(x->number),
                    x->parts     ? " in parts"
                    : x->mapping ? " in a file"
                                 : "");
}

/* Pushes the number of rows before those of each rank, and last that of all; nil for whole rows. */
static void push_bounds(lua_State *L, const ld_rows *x)
{
    if (!x->bounds) {
        lua_pushnil(L);
        return;
    }
    lua_createtable(L, x->n_owners + 1, 0);
    for (int r = 0; r <= x->n_owners; r++) {
        lua_pushinteger(L, x->bounds[r]);
        lua_rawseti(L, -2, r + 1);
    }
}

static void rows_field(lua_State *L, const char *key)
{
    const ld_rows *x = bind_object(L, 1, BIND_ROWS);
    if (strcmp(key, "n_rows") == 0)
        lua_pushinteger(L, x->n_rows);
    else if (strcmp(key, "n_cols") == 0)
        lua_pushinteger(L, x->n_cols);
    else if (strcmp(key, "whole") == 0)
        lua_pushboolean(L, !x->bounds);
    else if (strcmp(key, "bounds") == 0)
        push_bounds(L, x);
    else
        lua_pushstring(L, ld_number_name(x->number));
}

static ld_status rows_in_parts(bind_call *c)
{
    int n_parts, n_owners;
    const bind_part *given = bind_push_parts(c->L, 5, &n_parts, "rows_in_parts");
    ld_rows_part *parts = lua_newuserdatauv(c->L, ((size_t)n_parts + 1) * sizeof *parts, 0);
    for (int i = 0; i < n_parts; i++)
        parts[i] = (ld_rows_part){.first = given[i].first,
                                  .ids = given[i].ids,
                                  .rows = bind_object(c->L, given[i].rows, BIND_ROWS)};
    const int64_t *bounds = bind_push_bounds(c->L, 6, &n_owners);
    return ld_rows_join(c->out[0].rows, (ld_number)c->in[1].integer, c->in[2].integer,
                        c->in[3].integer, parts, n_parts, bounds, n_owners);
}

static const bind_function functions[] = {
    {"rows_in_parts", rows_in_parts,
     "ladies_core.rows_in_parts{dtype = \"float32\" | \"float16\" | \"bfloat16\", n_rows=, "
     "n_cols=,\n"
     "  parts = table [, bounds = integer[]]} -> Rows\n"
     "Rows of which this process holds those of the parts. A part is {first =, rows = Rows},\n"
     "those from `first` on, or {ids = Index, rows = Rows}, those of ascending ids. Where others\n"
     "are elsewhere, bounds[r + 1] is the number of rows before those of rank r, and its last\n"
     "element n_rows."},
    {NULL, NULL, NULL},
};

static const bind_function methods[] = {
    {"rows", rows_rows,
     "x:rows(idx) -> Tensor\n"
     "The rows of these numbers, which may repeat, as float32. A row that another rank has is an\n"
     "error but in comm.together, where all ranks ask for the same rows. This holds for slice and\n"
     "to_tensor, too."},
    {"slice", rows_slice, "x:slice(first, last) -> Tensor\nRows first .. last."},
    {"to_tensor", rows_to_tensor, "x:to_tensor() -> Tensor\nAll rows, in memory."},
    {"matmul", rows_matmul,
     "x:matmul(W: Tensor) -> Tensor\n"
     "The product with a dense matrix, without all of x in memory: to the bit that of x:to_tensor()\n"
     "in exact inference, where a row does not depend on which others there are. It has no gradient:\n"
     "W must be a constant, or nothing be recorded."},
    {"prefetch", rows_prefetch,
     "x:prefetch(idx)\n"
     "Waits until these rows are in memory, so that rows(idx) does not: for threads that run ahead."},
    {"missing", rows_missing,
     "x:missing(idx) -> Index\n"
     "The ids whose rows are not here but at other ranks (x.whole: none are)."},
    {"is_finite", rows_is_finite,
     "x:is_finite() -> boolean [, number, row, column]\n"
     "True if all elements are finite; if not, false, the first that is not, and its place."},
    {"hash", rows_hash,
     "x:hash() -> string\n"
     "16 hexadecimal digits that depend on every bit, those of x:to_tensor(), unless rows are in parts."},
    {NULL, NULL, NULL},
};

static const char *const fields[] = {"n_rows:integer", "n_cols:integer",   "dtype:string",
                                     "whole:boolean",  "bounds:integer[]", NULL};

static const bind_class class = {
    .name = BIND_ROWS,
    .drop = ld_rows_drop,
    .methods = methods,
    .fields = fields,
    .get = rows_field,
    .describe = rows_describe,
};

const bind_subject bind_subject_rows = {.classes = {&class}, .functions = {{functions}}};
