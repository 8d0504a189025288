/* Steps: the scopes within which operations are recorded. */
#include "state/bind.h"

static ld_status step_new(bind_call *c)
{
    bind_recording *t = bind_recording_of(c->L);
    if (!t->tape)
        return ld_fail(LD_STATE, "step: the program is at its end");
    if (ld_tape_is_open(t->tape))
        lua_gc(c->L, LUA_GCCOLLECT);
    if (t->forgotten)
        ld_tape_close(t->tape);
    t->forgotten = false;
    bind_scope *s = bind_push_scope(c->L, false);
    ld_status st = ld_tape_open(t->tape, c->in[1].flag);
    s->open = st == LD_OK;
    return st;
}

/* Counts the results of the function that no_grad called, also when it goes on after a yield. The
 * first place of the stack is not one of them: it holds the pause. */
static int after_call(lua_State *L, int status, lua_KContext context)
{
    (void)status, (void)context;
    return lua_gettop(L) - 1;
}

static int no_grad(lua_State *L)
{
    int n_args = lua_gettop(L);
    if (!lua_isfunction(L, 1) && !luaL_getmetafield(L, 1, "__call"))
        bind_type_error(L, 1, "function");
    lua_settop(L, n_args);
    bind_push_pause(L);
    lua_insert(L, 1);
    lua_toclose(L, 1);
    lua_callk(L, lua_gettop(L) - 2, LUA_MULTRET, 0, after_call);
    return after_call(L, LUA_OK, 0);
}

static void scope_describe(lua_State *L, const void *object)
{
    const bind_scope *s = object;
    if (s->pause || !s->open || !bind_recording_of(L)->tape)
        lua_pushstring(L, s->pause ? "Pause of recording" : "Step (closed)");
    else
        lua_pushfstring(L, "Step, %d operations recorded",
                        (int)ld_tape_length(bind_recording_of(L)->tape));
}

/* Returns the number of operations recorded in the step at 1, which is 0 when it is closed. */
static int64_t recorded(lua_State *L)
{
    const bind_scope *s = bind_check_userdata(L, 1, BIND_STEP);
    const ld_tape *tape = bind_recording_of(L)->tape;
    return s->open && !s->pause && tape ? ld_tape_length(tape) : 0;
}

static ld_status scope_len(bind_call *c)
{
    c->out[0].integer = recorded(c->L);
    return LD_OK;
}

static ld_status scope_seconds(bind_call *c)
{
    int64_t n = recorded(c->L);
    lua_createtable(c->L, (int)n, 0);
    for (int64_t i = 0; i < n; i++) {
        lua_pushnumber(c->L, ld_tape_seconds(bind_recording_of(c->L)->tape, i));
        lua_rawseti(c->L, -2, i + 1);
    }
    return LD_OK;
}

static const bind_function functions[] = {
    {"step", step_new,
     "ladies.step([{record = true}]) -> Step\n"
     "Opens a training step: `local step <close> = ladies.step()`. Operations are recorded for\n"
     "loss:backward(), and all they make belongs to the step and is gone when it closes; keep a\n"
     "tensor with :detach(). With record = false only lifetimes are managed. One step at a time.\n"
     "No function drops a gradient: it passes it on, refuses the argument that carries it, or makes\n"
     "no tensor. After backward nothing more is recorded: parameters are constants and may change\n"
     "in place; before it, what backward still needs must stay as it is. Outside of a step what is\n"
     "made of parameters is a constant; a Matrix that carries a gradient raises there when another\n"
     "one or a Tensor is to be made of it, as does a parameter that is to become a factor of one."},
    {"no_grad", NULL,
     "ladies.no_grad(f, ...) -> ...\n"
     "Calls f(...) and returns its results; nothing in it is recorded, and what it makes is "
     "constant and\n"
     "belongs to no step. While f waits in a coroutine, others record.",
     .raw = no_grad},
    {NULL, NULL, NULL},
};

static const bind_function methods[] = {
    {"close", NULL, "step:close()\nEnds the step, as the end of its <close> scope does.",
     .raw = bind_close_scope},
    {"seconds", scope_seconds,
     "step:seconds() -> number[]\n"
     "The seconds that backward took for each operation recorded, in their order; 0 where it has\n"
     "not run. #step is the number of operations, 0 when the step is closed."},
    {NULL, NULL, NULL},
};

static const bind_function operators[] = {
    {"__len", scope_len,
     "#step -> integer\nThe number of operations recorded, 0 when the step is closed."},
    {NULL, NULL, NULL},
};

static const bind_class class = {
    .name = BIND_STEP,
    .release = bind_close_scope,
    .closes = true,
    .methods = methods,
    .operators = operators,
    .describe = scope_describe,
};

const bind_subject bind_subject_step = {.classes = {&class}, .functions = {{functions}}};
