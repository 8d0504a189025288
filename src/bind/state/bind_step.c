/* Steps: the scopes within which operations are recorded. */
#include "state/bind.h"

#define BIND_STEP "ladies.Step"

/* --- the tape of a Lua state ------------------------------------------------------------------- */

/* A scope that ends a step, or a pause of recording, when it closes. */
typedef struct scope {
    bool open, pause;
    lua_State *thread;          /* of a pause: the coroutine that made it, which is its uservalue */
    struct scope *above, *next; /* among the open pauses */
} scope;

typedef struct {
    ld_tape *tape;
    scope *pauses;     /* the open ones, the latest first */
    bool forgotten;    /* a finalizer let go of the open step */
    lua_State *caller; /* the coroutine that called backward last */
} tape_state;

static const char state_key;

static tape_state *state(lua_State *L)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, &state_key);
    tape_state *s = lua_touserdata(L, -1);
    lua_pop(L, 1);
    return s;
}

/* A pause holds for the coroutine that made it and for those that run within it. It does not while
 * that one is suspended, nor when an error has ended it, after which Lua need not close its scopes
 * before it collects them. */
static bool is_paused(const tape_state *s)
{
    for (const scope *pause = s->pauses; pause; pause = pause->next)
        if (lua_status(pause->thread) == LUA_OK)
            return true;
    return false;
}

ld_tape *bind_tape(lua_State *L)
{
    tape_state *s = state(L);
    return ld_tape_is_open(s->tape) && !is_paused(s) ? s->tape : NULL;
}

bool bind_expects_step(lua_State *L)
{
    tape_state *s = state(L);
    return !ld_tape_is_open(s->tape) && !is_paused(s);
}

ld_status bind_backward(lua_State *L, ld_tensor *loss)
{
    tape_state *s = state(L);
    s->caller = L;
    return ld_tape_backward(s->tape, loss);
}

lua_State *const *bind_backward_caller(lua_State *L)
{
    return &state(L)->caller;
}

static int state_gc(lua_State *L)
{
    tape_state *s = lua_touserdata(L, 1);
    ld_tape_free(s->tape);
    s->tape = NULL;
    return 0;
}

static void state_open(lua_State *L)
{
    tape_state *s = lua_newuserdatauv(L, sizeof *s, 0);
    *s = (tape_state){0};
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, state_gc);
    lua_setfield(L, -2, "__gc");
    lua_setmetatable(L, -2);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &state_key);
    bind_check(L, ld_tape_new(&s->tape));
}

/* --- steps -------------------------------------------------------------------------------------- */

static scope *push_scope(lua_State *L, bool pause)
{
    scope *s = lua_newuserdatauv(L, sizeof *s, pause ? 1 : 0);
    *s = (scope){.pause = pause};
    luaL_setmetatable(L, BIND_STEP);
    return s;
}

static int step_new(lua_State *L)
{
    static const char *const names[] = {"record", NULL};
    bind_check_options(L, 1, "step", names);
    bool record = bind_option_boolean(L, 1, "record", true);
    tape_state *t = state(L);
    if (!t->tape)
        return bind_error(L, "step: the program is at its end");
    if (ld_tape_is_open(t->tape))
        lua_gc(L, LUA_GCCOLLECT);
    if (t->forgotten)
        ld_tape_close(t->tape);
    t->forgotten = false;
    scope *s = push_scope(L, false);
    bind_check(L, ld_tape_open(t->tape, record));
    s->open = true;
    return 1;
}

void bind_push_pause(lua_State *L)
{
    tape_state *t = state(L);
    scope *s = push_scope(L, true);
    lua_pushthread(L);
    lua_setiuservalue(L, -2, 1);
    s->open = true;
    s->thread = L;
    s->next = t->pauses;
    if (s->next)
        s->next->above = s;
    t->pauses = s;
}

static void end_pause(tape_state *t, scope *s)
{
    if (s->above)
        s->above->next = s->next;
    else
        t->pauses = s->next;
    if (s->next)
        s->next->above = s->above;
}

/* The pause is below what f returned. */
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

/* A finalizer may come by in the middle of an operation on the step's tensors. So the next step
 * closes the one that a finalizer, the scope's own or a user's, let go of. */
static int scope_close(lua_State *L)
{
    scope *s = bind_check_userdata(L, 1, BIND_STEP);
    tape_state *t = state(L);
    if (s->open && s->pause)
        end_pause(t, s);
    else if (s->open && bind_in_finalizer(L))
        t->forgotten = true;
    else if (s->open)
        ld_tape_close(t->tape);
    s->open = false;
    return 0;
}

static int scope_tostring(lua_State *L)
{
    const scope *s = bind_check_userdata(L, 1, BIND_STEP);
    if (s->pause || !s->open || !state(L)->tape)
        lua_pushstring(L, s->pause ? "Pause of recording" : "Step (closed)");
    else
        lua_pushfstring(L, "Step, %d operations recorded", (int)ld_tape_length(state(L)->tape));
    return 1;
}

/* The number of operations recorded, in an open step. */
static int64_t recorded(lua_State *L)
{
    const scope *s = bind_check_userdata(L, 1, BIND_STEP);
    const ld_tape *tape = state(L)->tape;
    return s->open && !s->pause && tape ? ld_tape_length(tape) : 0;
}

static int scope_len(lua_State *L)
{
    lua_pushinteger(L, recorded(L));
    return 1;
}

static int scope_seconds(lua_State *L)
{
    int64_t n = recorded(L);
    lua_createtable(L, (int)n, 0);
    for (int64_t i = 0; i < n; i++) {
        lua_pushnumber(L, ld_tape_seconds(state(L)->tape, i));
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

static int scope_get(lua_State *L)
{
    return bind_no_field(L, BIND_STEP);
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
    {"no_grad", no_grad,
     "ladies.no_grad(f, ...) -> ...\n"
     "Calls f(...) and returns its results; nothing in it is recorded, and what it makes is "
     "constant and\n"
     "belongs to no step. While f waits in a coroutine, others record."},
    {NULL, NULL, NULL},
};

static const bind_function methods[] = {
    {"close", scope_close, "step:close()\nEnds the step, as the end of its <close> scope does."},
    {"seconds", scope_seconds,
     "step:seconds() -> number[]\n"
     "Of each operation recorded, in their order, the seconds that its part of backward took; 0\n"
     "where it has not run. #step is the number of operations, 0 when the step is closed."},
    {NULL, NULL, NULL},
};

static const bind_function operators[] = {
    {"__len", scope_len,
     "#step -> integer\nThe number of operations recorded, 0 when the step is closed."},
    {NULL, NULL, NULL},
};

void bind_open_step(lua_State *L)
{
    static const luaL_Reg meta[] = {
        {"__close", scope_close},
        {"__gc", scope_close},
        {"__tostring", scope_tostring},
        {NULL, NULL},
    };
    static const char *const properties[] = {NULL};
    state_open(L);
    bind_class(L, BIND_STEP, methods, meta, properties, scope_get);
    bind_operators(L, BIND_STEP, operators);
    bind_functions(L, functions);
}
