/* Arguments and results that several functions of tensors have in common. */
#include "grad/op.h"
#include "tensor/bind_tensor.h"

int bind_dimension(bind_call *c, const ld_tensor *t)
{
    lua_Integer dim = c->in[1].integer;
    if (lua_isnil(c->L, 2))
        return 0;
    bind_arg_check(c->L, dim >= 1 && dim <= t->ndim, 2,
                   t->ndim == 2 ? "the dimension must be 1 (one result for each column) or 2 (one "
                                  "for each row)"
                                : "a vector has dimension 1 alone");
    return (int)dim;
}

int bind_power(bind_call *c)
{
    lua_Integer power = c->in[1].integer;
    bind_arg_check(c->L, power == 1 || power == 2, 2, "the power must be 1 or 2");
    return (int)power;
}

void bind_push_finite(bind_call *c, int64_t at, float value, int64_t n_cols)
{
    lua_pushboolean(c->L, at < 0);
    c->n_pushed = at < 0 ? 1 : 4;
    if (at < 0)
        return;
    lua_pushnumber(c->L, (lua_Number)value);
    lua_pushinteger(c->L, at / n_cols + 1);
    lua_pushinteger(c->L, at % n_cols + 1);
}

ld_status bind_push_element(bind_call *c, ld_tensor *t, int64_t position)
{
    if (bind_passes_gradient(c->L, t))
        return ld_op_element(bind_tape(c->L), bind_new_tensor(c->L), t, position);
    lua_pushnumber(c->L, (lua_Number)t->data[position]);
    return LD_OK;
}

ld_index *bind_push_positions(lua_State *L, int arg, int64_t n)
{
    ld_tensor *mask = bind_tensor(L, arg);
    if (mask->ndim != 1 || mask->n_rows != n)
        bind_error(L, "a mask of %s for %I elements or rows", ld_tensor_shape(mask),
                   (LUAI_UACINT)n);
    ld_index **positions = bind_new_index(L);
    bind_check(L, ld_tensor_positions(positions, mask));
    return *positions;
}
