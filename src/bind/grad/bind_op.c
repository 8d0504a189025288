/* ladies.op: makes a differentiable operation of functions written in Lua. */
#include <stddef.h>

#include "memory/memory.h"
#include "state/bind.h"

/* A recorded call of an operation, with all that backward needs of it. */
typedef struct {
    lua_State *L;             /* the main thread of the state */
    lua_State *const *caller; /* the coroutine that goes backward */
    int ref;                  /* in the registry, of the table {backward, name, arguments...} */
    int n_args;
    const char *name; /* kept alive by the table */
} call;

enum { BACKWARD = 1, NAME = 2, FIRST_ARG = 3 };

static void call_free(void *custom)
{
    call *c = custom;
    luaL_unref(c->L, LUA_REGISTRYINDEX, c->ref);
    ld_free(c);
}

/* Takes the gradients that backward returned, one per tensor argument, in order. */
static ld_status take_gradients(lua_State *L, ld_node *n, int base, int returned)
{
    for (int i = 0; i < LD_NODE_INPUTS && n->in[i]; i++) {
        ld_tensor *in = n->in[i], *given;
        if (!ld_wants_grad(in))
            continue;
        if (i >= returned || lua_isnil(L, base + i))
            return ld_fail(LD_SHAPE,
                           "backward gave no gradient %d, a Tensor of %s expected; where there is "
                           "none, call it with :detach()",
                           i + 1, ld_tensor_shape(in));
        given = bind_to_tensor(L, base + i);
        if (!given || !ld_tensor_same_shape(given, in))
            return ld_fail(LD_SHAPE, "backward gave %s as gradient %d, a Tensor of %s expected",
                           given ? ld_tensor_shape(given) : luaL_typename(L, base + i), i + 1,
                           ld_tensor_shape(in));
        LD_CHECK(ld_grad_add(in, given));
    }
    return LD_OK;
}

/* Fails with LD_STATE when the value at the top is a Matrix that was changed in place since n was
 * recorded. Tensors need no check here, since the tape makes one. */
static ld_status check_unchanged(lua_State *L, const ld_node *n)
{
    const ld_csr *a = bind_to_object(L, -1, BIND_MATRIX);
    if (a && (ld_tensor_changed_since(a->values, n->time) ||
              ld_tensor_changed_since(a->row_scale, n->time) ||
              ld_tensor_changed_since(a->col_scale, n->time)))
        return ld_fail(LD_STATE, "a Matrix was changed in place after it was used");
    return LD_OK;
}

/* Raises core's message without the line of a caller: that of the call of backward comes before it
 * later. */
static void check(lua_State *L, ld_status status)
{
    if (status == LD_OK)
        return;
    lua_pushstring(L, ld_message());
    lua_error(L);
}

/* Runs the user's backward function and takes its gradients. It is called by lua_pcall, so that no
 * Lua error jumps over core's functions. */
static int run_backward(lua_State *L)
{
    ld_node *n = lua_touserdata(L, 1);
    const call *c = n->custom;
    luaL_checkstack(L, c->n_args + 8, NULL);
    lua_rawgeti(L, LUA_REGISTRYINDEX, c->ref);
    bind_push_pause(L); /* the tape must not grow while it is walked */
    lua_toclose(L, -1);
    lua_rawgeti(L, 2, BACKWARD);
    *bind_new_tensor(L) = ld_tensor_ref(n->out->grad);
    for (int i = 0; i < c->n_args; i++) {
        lua_rawgeti(L, 2, FIRST_ARG + i);
        check(L, check_unchanged(L, n));
    }
    lua_call(L, 1 + c->n_args, LUA_MULTRET);
    check(L, take_gradients(L, n, 4, lua_gettop(L) - 3));
    return 0;
}

static ld_status call_backward(ld_node *n)
{
    const call *c = n->custom;
    lua_State *L = *c->caller;
    if (!lua_checkstack(L, 8))
        return ld_fail(LD_NOMEM, "op %s: the Lua stack is full", c->name);
    lua_pushcfunction(L, run_backward);
    lua_pushlightuserdata(L, n);
    if (lua_pcall(L, 1, 0, 0) == LUA_OK)
        return LD_OK;
    ld_status status = bind_is_interruption(L, -1) ? LD_CANCELLED : LD_STATE;
    ld_set_message("op %s: %s", c->name, bind_error_text(L));
    lua_pop(L, 1);
    return status;
}

/* Raises an error when an argument that is no Tensor carries a gradient, which could not be given
 * back: a Matrix, or a table that holds a Matrix or a Tensor. */
static void check_constant(lua_State *L, int arg)
{
    const char *where = lua_pushfstring(L, "op %s", lua_tostring(L, lua_upvalueindex(3)));
    bind_check_constant(L, arg, where);
    if (lua_istable(L, arg))
        for (lua_pushnil(L); lua_next(L, arg); lua_pop(L, 1))
            bind_check_constant(L, -1, where);
    lua_pop(L, 1);
}

/* Makes the tensors among the arguments, at 1 .. n_args of the stack, the inputs of a node. */
static void take_inputs(lua_State *L, ld_node *node, int n_args)
{
    int n_inputs = 0;
    for (int i = 1; i <= n_args; i++) {
        ld_tensor *t = bind_to_operand(L, i);
        if (!t)
            check_constant(L, i);
        if (t && n_inputs == LD_NODE_INPUTS)
            bind_error(L, "op %s: at most %d tensor arguments",
                       lua_tostring(L, lua_upvalueindex(3)), LD_NODE_INPUTS);
        if (t)
            node->in[n_inputs++] = t;
    }
}

/* Makes the result of forward that of a node, as a tensor of its own. */
static ld_status record(ld_tensor **out, ld_tape *tape, ld_tensor *result, const ld_node *node)
{
    LD_OWN(ld_tensor) *y = NULL;
    LD_CHECK(ld_tensor_view(&y, result, result->ndim, result->n_rows, result->n_cols));
    return ld_tape_finish(tape, out, y, node);
}

/* Calls an operation: runs forward, and records the call in the open step. Its upvalues are
 * forward, backward and the name. */
static int op_call(lua_State *L)
{
    int n_args = lua_gettop(L);
    luaL_checkstack(L, n_args + 8, NULL);
    ld_node node = {.name = lua_tostring(L, lua_upvalueindex(3)),
                    .backward = call_backward,
                    .unread = LD_OUT,
                    .custom_free = call_free};
    take_inputs(L, &node, n_args);
    lua_pushnil(L); /* the result's place */
    bind_push_pause(L);
    lua_toclose(L, -1);
    lua_pushvalue(L, lua_upvalueindex(1));
    for (int i = 1; i <= n_args; i++)
        lua_pushvalue(L, i);
    lua_call(L, n_args, 1);
    lua_replace(L, n_args + 1);
    lua_settop(L, n_args + 1);     /* ends the pause; lua_closeslot is not in Lua 5.4.0 to 5.4.2 */
    take_inputs(L, &node, n_args); /* forward may have released them, or closed the step */
    ld_tape *tape = bind_tape(L);
    ld_tensor *result = bind_to_operand(L, -1);
    if (!result)
        return bind_error(L, "op %s: forward must return a Tensor, it returned a %s",
                          lua_tostring(L, lua_upvalueindex(3)), luaL_typename(L, -1));
    ld_tensor **out = bind_new_tensor(L);
    if (!tape) {
        *out = ld_tensor_ref(result);
        return 1;
    }
    lua_createtable(L, FIRST_ARG - 1 + n_args, 0);
    lua_pushvalue(L, lua_upvalueindex(2));
    lua_rawseti(L, -2, BACKWARD);
    lua_pushvalue(L, lua_upvalueindex(3));
    lua_rawseti(L, -2, NAME);
    for (int i = 1; i <= n_args; i++) {
        lua_pushvalue(L, i);
        lua_rawseti(L, -2, FIRST_ARG - 1 + i);
    }
    call *c = ld_alloc(sizeof *c, LD_MEM_TAPE);
    if (!c)
        return bind_error(L, "%s", ld_message());
    lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
    *c = (call){lua_tothread(L, -1), bind_backward_caller(L), LUA_NOREF, n_args,
                lua_tostring(L, lua_upvalueindex(3))};
    lua_pop(L, 1);
    c->ref = luaL_ref(L, LUA_REGISTRYINDEX);
    node.custom = c;
    ld_status st = record(out, tape, result, &node);
    if (st != LD_OK || !(*out)->tracked)
        call_free(c); /* the tape did not take it */
    bind_check(L, st);
    return 1;
}

static ld_status op_new(bind_call *c)
{
    lua_State *L = c->L;
    if (!lua_isfunction(L, 2) || !lua_isfunction(L, 3))
        return ld_fail(LD_VALUE, "op: forward and backward must be functions");
    lua_pushvalue(L, 2);
    lua_pushvalue(L, 3);
    lua_pushstring(L, c->in[3].text ? c->in[3].text : "?");
    lua_pushcclosure(L, op_call, 3);
    return LD_OK;
}

static const bind_function functions[] = {
    {"op", op_new,
     "ladies.op{forward = function, backward = function [, name = string]} -> function\n"
     "A differentiable operation written in Lua. forward(...) returns a Tensor; nothing in it is\n"
     "recorded. backward(gradient, ...) gets the gradient of the result and forward's arguments "
     "and\n"
     "returns one gradient for each Tensor among them, in order; for one that carries none it may "
     "be\n"
     "nil. At most six Tensors. A tensor that forward reads and is no argument is a constant."},
    {NULL, NULL, NULL},
};

const bind_subject bind_subject_op = {.functions = {{functions}}};
