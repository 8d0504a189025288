/* Reads tensors and matrices from the Lua stack, alone and in lists, and refuses those whose
 * gradient a function would lose. */
#include <string.h>

#include "grad/op.h"
#include "state/bind.h"

static int refuse_gradient(lua_State *L, const char *name, const char *kind)
{
    return bind_error(L, "%s: the %s carries a gradient, which %s does not pass on; use :detach()",
                      name, kind, name);
}

bool bind_passes_gradient(lua_State *L, const ld_tensor *t)
{
    return ld_wants_grad(t) && ld_tape_records(bind_tape(L));
}

/* Returns t, which must be usable: neither released nor of a closed step. */
static ld_tensor *usable(lua_State *L, ld_tensor *t)
{
    if (!t)
        bind_error(L, "the tensor has been released");
    bind_check(L, ld_tensor_check(t, "ladies"));
    return t;
}

ld_tensor *bind_operand(lua_State *L, int arg)
{
    return usable(L, *(ld_tensor **)bind_check_userdata(L, arg, BIND_TENSOR));
}

ld_tensor *bind_to_operand(lua_State *L, int arg)
{
    ld_tensor **t = luaL_testudata(L, arg, BIND_TENSOR);
    return t ? usable(L, *t) : NULL;
}

static ld_tensor *constant(lua_State *L, ld_tensor *t)
{
    if (bind_passes_gradient(L, t))
        refuse_gradient(L, bind_push_function_name(L), "tensor");
    return t;
}

ld_tensor *bind_tensor(lua_State *L, int arg)
{
    return constant(L, bind_operand(L, arg));
}

ld_tensor *bind_to_tensor(lua_State *L, int arg)
{
    return constant(L, bind_to_operand(L, arg));
}

ld_tensor *bind_writable_tensor(lua_State *L, int arg)
{
    ld_tensor *t = bind_operand(L, arg);
    if (t->tracked)
        bind_error(L, "a tensor that a loss may depend on cannot be changed in place; "
                      "use :detach() or :clone()");
    bind_check(L, ld_tensor_change(bind_tensor(L, arg)));
    return t;
}

ld_csr *bind_any_matrix(lua_State *L, int arg)
{
    ld_csr *a = bind_object(L, arg, BIND_MATRIX);
    const ld_tensor *factors[] = {a->values, a->row_scale, a->col_scale};
    for (int i = 0; i < 3; i++)
        if (factors[i]) /* it may be a tensor of a step that is closed by now */
            bind_check(L, ld_tensor_check(factors[i], i == 0 ? "matrix values" : "matrix scale"));
    return a;
}

static int refuse_outside(lua_State *L, const char *kind)
{
    return bind_error(L,
                      "%s: the %s carries a gradient, and no step is open that could record it; "
                      "open a step first, or use :detach() or ladies.no_grad",
                      bind_push_function_name(L), kind);
}

ld_csr *bind_matrix_operand(lua_State *L, int arg)
{
    ld_csr *a = bind_any_matrix(L, arg);
    if (ld_csr_wants_grad(a) && bind_expects_step(L))
        refuse_outside(L, "matrix");
    return a;
}

ld_tensor *bind_factor(lua_State *L, int arg)
{
    ld_tensor *t = bind_operand(L, arg);
    if (ld_wants_grad(t) && bind_expects_step(L))
        refuse_outside(L, "tensor");
    return t;
}

/* Returns true if a's gradient would be lost in a function that does not pass it on. */
static bool loses_gradient(lua_State *L, const ld_csr *a)
{
    return ld_matrix_tape(bind_tape(L), a) || (ld_csr_wants_grad(a) && bind_expects_step(L));
}

ld_csr *bind_matrix(lua_State *L, int arg)
{
    ld_csr *a = bind_any_matrix(L, arg);
    if (loses_gradient(L, a))
        refuse_gradient(L, bind_push_function_name(L), "matrix");
    return a;
}

void bind_check_constant(lua_State *L, int arg, const char *where)
{
    if (bind_passes_gradient(L, bind_to_operand(L, arg)))
        refuse_gradient(L, where, "tensor");
    if (luaL_testudata(L, arg, BIND_MATRIX) && loses_gradient(L, bind_any_matrix(L, arg)))
        refuse_gradient(L, where, "matrix");
}

/* Returns the object at arg as functions that take many of its class do. */
static void *element(lua_State *L, int arg, const char *type)
{
    if (strcmp(type, BIND_TENSOR) == 0)
        return bind_operand(L, arg);
    return strcmp(type, BIND_MATRIX) == 0 ? bind_matrix(L, arg) : bind_object(L, arg, type);
}

void *bind_push_list(lua_State *L, int arg, const char *type, int64_t *n)
{
    bind_check_type(L, arg, LUA_TTABLE);
    *n = (int64_t)lua_rawlen(L, arg);
    void **list = lua_newuserdatauv(L, ((size_t)*n + 1) * sizeof *list, 0);
    for (int64_t i = 0; i < *n; i++) {
        lua_rawgeti(L, arg, i + 1);
        list[i] = element(L, lua_gettop(L), type);
        lua_pop(L, 1);
    }
    return list;
}
