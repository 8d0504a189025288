/* Optimizers. */
#include <string.h>

#include "optim/optimizer.h"
#include "state/bind.h"

#define BIND_OPTIMIZER "ladies.Optimizer"

static ld_optimizer *optimizer(lua_State *L)
{
    return bind_object(L, 1, BIND_OPTIMIZER);
}

/* The array of the n parameters in the table at 1, as a userdata so that it goes with the stack. */
static ld_tensor **parameters(lua_State *L, const char *where, int64_t *n)
{
    bind_check_type(L, 1, LUA_TTABLE);
    *n = (int64_t)lua_rawlen(L, 1);
    if (*n == 0)
        bind_error(L, "%s: there are no parameters; those of a model are model:parameters()",
                   where);
    ld_tensor **params = lua_newuserdatauv(L, (size_t)*n * sizeof(ld_tensor *), 0);
    for (int64_t i = 0; i < *n; i++) {
        lua_rawgeti(L, 1, i + 1);
        if (!(params[i] = bind_to_operand(L, -1)))
            bind_error(L, "%s: parameter %d must be a Tensor, got a %s", where, (int)i + 1,
                       luaL_typename(L, -1));
        lua_pop(L, 1);
    }
    return params;
}

/* The same when views of them that nobody holds any more, as what was printed had, are gone. */
static ld_tensor **parameters_alone(lua_State *L, const char *where, int64_t *n)
{
    ld_tensor **params = parameters(L, where, n);
    for (int64_t i = 0; i < *n; i++) {
        if (!ld_tensor_has_views(params[i]))
            continue;
        lua_gc(L, LUA_GCCOLLECT);
        bind_settle(L);
        return parameters(L, where, n);
    }
    return params;
}

static int make(lua_State *L, ld_optimizer_kind kind, const char *where, const char *const *names)
{
    bind_check_options(L, 2, where, names);
    ld_optimizer_options options = {
        .lr = bind_option_number(L, 2, where, "lr", kind == LD_SGD ? 0.01 : 0.001),
        .momentum = bind_option_number(L, 2, where, "momentum", 0),
        .beta1 = bind_option_number(L, 2, where, "beta1", 0.9),
        .beta2 = bind_option_number(L, 2, where, "beta2", 0.999),
        .eps = bind_option_number(L, 2, where, "eps", 1e-8),
        .weight_decay =
            bind_option_number(L, 2, where, "weight_decay", kind == LD_ADAMW ? 0.01 : 0),
    };
    int64_t n;
    ld_tensor **params = parameters_alone(L, where, &n);
    ld_optimizer **o = lua_newuserdatauv(L, sizeof(ld_optimizer *), 0);
    *o = NULL;
    luaL_setmetatable(L, BIND_OPTIMIZER);
    bind_check(L, ld_optimizer_new(o, kind, &options, params, n));
    return 1;
}

static int optim_sgd(lua_State *L)
{
    static const char *const names[] = {"lr", "momentum", "weight_decay", NULL};
    return make(L, LD_SGD, "sgd", names);
}

static const char *const adam_options[] = {"lr", "beta1", "beta2", "eps", "weight_decay", NULL};

static int optim_adam(lua_State *L)
{
    return make(L, LD_ADAM, "adam", adam_options);
}

static int optim_adamw(lua_State *L)
{
    return make(L, LD_ADAMW, "adamw", adam_options);
}

static void drop(void *optimizer)
{
    ld_optimizer_free(optimizer);
}

static int optimizer_gc(lua_State *L)
{
    bind_drop(L, bind_check_userdata(L, 1, BIND_OPTIMIZER), drop);
    return 0;
}

static int optimizer_tostring(lua_State *L)
{
    static const char *const names[] = {"SGD", "Adam", "AdamW"};
    if (bind_push_closed(L, 1, BIND_OPTIMIZER))
        return 1;
    const ld_optimizer *o = optimizer(L);
    lua_pushfstring(L, "%s of %d parameters, lr %f", names[o->kind], (int)o->n, o->options.lr);
    return 1;
}

/* Fails in a step where something waits for a backward that has been forgotten. */
static void check_went_back(lua_State *L, const ld_optimizer *o)
{
    const ld_tape *tape = bind_tape(L);
    if (ld_tape_records(tape) && ld_tape_length(tape) > 0 && !ld_optimizer_has_gradient(o))
        bind_error(L, "step: no parameter has a gradient; loss:backward() comes before");
}

static int optimizer_step(lua_State *L)
{
    static const char *const names[] = {"clip", "square", NULL};
    ld_optimizer *o = optimizer(L);
    check_went_back(L, o);
    if (lua_isnoneornil(L, 2)) {
        bind_check(L, ld_optimizer_step(o));
        return 0;
    }
    bind_check_options(L, 2, "step", names);
    double most = bind_option_number(L, 2, "step", "clip", INFINITY), norm = 0;
    double square = bind_option_number(L, 2, "step", "square", -1); /* NaN is one, of NaNs */
    bind_check(L, square < 0 ? ld_optimizer_step_clipped(o, most, &norm)
                             : ld_optimizer_step_of(o, most, square, &norm));
    lua_pushnumber(L, norm);
    return 1;
}

static int optimizer_clear(lua_State *L)
{
    ld_optimizer_clear(optimizer(L));
    return 0;
}

static int optimizer_accumulate(lua_State *L)
{
    ld_optimizer *o = optimizer(L);
    int64_t leaves = bind_check_integer(L, 2), next = 0;
    if (o->n_sums > 0)
        next = o->sums[0].leaves.first + ld_optimizer_waiting(o);
    bool complete;
    int64_t place = bind_opt_integer(L, 3, next + 1);
    place = place < 0 ? 0 : place; /* refused as all below 1; no overflow below */
    bind_check(L, ld_optimizer_accumulate(o, place - 1, leaves, &complete));
    lua_pushboolean(L, complete);
    return 1;
}

/* Pushes a table of whether each parameter has a gradient in what waits. */
static void push_in_sum(lua_State *L, const ld_optimizer *o)
{
    lua_createtable(L, (int)o->n, 0);
    for (int64_t i = 0; i < o->n; i++) {
        lua_pushboolean(L, o->in_sum[i]);
        lua_rawseti(L, -2, i + 1);
    }
}

static int optimizer_sums(lua_State *L)
{
    ld_optimizer *o = optimizer(L);
    bind_check(L, ld_optimizer_check_slabs(o, "sums"));
    lua_createtable(L, o->n_sums, 0);
    for (int i = 0; i < o->n_sums; i++) {
        const ld_sum *sum = &o->sums[i];
        lua_createtable(L, 0, 3);
        *bind_new_tensor(L) = ld_tensor_ref(sum->slab);
        lua_setfield(L, -2, "sum");
        lua_pushinteger(L, sum->leaves.first + 1);
        lua_setfield(L, -2, "first");
        lua_pushinteger(L, sum->leaves.first + sum->leaves.count);
        lua_setfield(L, -2, "last");
        lua_rawseti(L, -2, i + 1);
    }
    push_in_sum(L, o);
    *bind_new_tensor(L) = ld_tensor_ref(o->grads);
    return 3;
}

static int optimizer_set_mean(lua_State *L)
{
    ld_optimizer *o = optimizer(L);
    const ld_tensor *mean = bind_tensor(L, 2);
    bind_check_type(L, 3, LUA_TTABLE);
    bool *has = lua_newuserdatauv(L, (size_t)o->n * sizeof *has, 0);
    for (int64_t i = 0; i < o->n; i++) {
        has[i] = lua_rawgeti(L, 3, i + 1) == LUA_TBOOLEAN && lua_toboolean(L, -1);
        lua_pop(L, 1);
    }
    bind_check(L, ld_optimizer_set_mean(o, mean, has));
    return 0;
}

/* The number of a part, from 1, as one from 0; less where there is none. */
static int64_t part_number(lua_State *L)
{
    int64_t i = bind_check_integer(L, 2);
    return i > 0 ? i - 1 : -1;
}

static int optimizer_part(lua_State *L)
{
    const ld_optimizer *o = optimizer(L);
    ld_part part;
    bind_check(L, ld_optimizer_part(&part, o, part_number(L), bind_check_integer(L, 3)));
    lua_pushinteger(L, part.first + 1);
    lua_pushinteger(L, part.end);
    return 2;
}

static int optimizer_keep(lua_State *L)
{
    ld_optimizer *o = optimizer(L);
    bind_check(L, ld_optimizer_keep(o, part_number(L), bind_check_integer(L, 3)));
    return 0;
}

static int optimizer_squares(lua_State *L)
{
    const ld_optimizer *o = optimizer(L);
    double *sums = lua_newuserdatauv(L, (size_t)ld_optimizer_most_squares(o) * sizeof *sums, 0);
    int64_t n;
    bind_check(L, ld_optimizer_squares(sums, &n, o));
    lua_createtable(L, (int)n, 0);
    for (int64_t i = 0; i < n; i++) {
        lua_pushnumber(L, sums[i]);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

static int optimizer_values(lua_State *L)
{
    ld_optimizer *o = optimizer(L);
    bind_check(L, ld_optimizer_check_slabs(o, "values"));
    *bind_new_tensor(L) = ld_tensor_ref(o->values);
    return 1;
}

static int optimizer_clip_norm(lua_State *L)
{
    ld_optimizer *o = optimizer(L);
    double norm = 0;
    bind_check(L, ld_optimizer_clip(o, bind_check_number(L, 2), &norm));
    lua_pushnumber(L, norm);
    return 1;
}

static int optimizer_set_lr(lua_State *L)
{
    ld_optimizer *o = optimizer(L);
    bind_check(L, ld_optimizer_set_lr(o, bind_check_number(L, 2)));
    return 0;
}

enum { SHAPE = 3 };

/* A shape as in a state: {dimensions, rows, columns}. */
static void push_shape(lua_State *L, const ld_tensor *t)
{
    const int64_t shape[SHAPE] = {t->ndim, t->n_rows, t->n_cols};
    lua_createtable(L, SHAPE, 0);
    for (int i = 0; i < SHAPE; i++) {
        lua_pushinteger(L, shape[i]);
        lua_rawseti(L, -2, i + 1);
    }
}

static int optimizer_has(lua_State *L)
{
    const ld_optimizer *o = optimizer(L);
    lua_pushboolean(L, ld_optimizer_has(o, bind_operand(L, 2)));
    return 1;
}

/* The tensors of the state, by name; they share the optimizer's memory. */
static int optimizer_state(lua_State *L)
{
    ld_optimizer *o = optimizer(L);
    lua_newtable(L);
    if (o->moment1) {
        *bind_new_tensor(L) = ld_tensor_ref(o->moment1);
        lua_setfield(L, -2, "moment1");
    }
    if (o->moment2) {
        *bind_new_tensor(L) = ld_tensor_ref(o->moment2);
        lua_setfield(L, -2, "moment2");
    }
    lua_createtable(L, (int)o->n, 0);
    for (int64_t i = 0; i < o->n; i++) {
        lua_pushinteger(L, o->steps[i]);
        lua_rawseti(L, -2, i + 1);
    }
    lua_setfield(L, -2, "steps");
    lua_createtable(L, (int)o->n, 0);
    for (int64_t i = 0; i < o->n; i++) {
        push_shape(L, o->params[i]);
        lua_rawseti(L, -2, i + 1);
    }
    lua_setfield(L, -2, "shapes");
    return 1;
}

static const char *show_shape(lua_State *L, const lua_Integer *shape)
{
    return shape[0] == 1 ? lua_pushfstring(L, "%I", shape[1])
                         : lua_pushfstring(L, "%I x %I", shape[1], shape[2]);
}

/* Fails for the first parameter that has another shape than in the state at 2. */
static void check_shapes(lua_State *L, const ld_optimizer *o)
{
    lua_pushliteral(L, "shapes");
    if (lua_rawget(L, 2) != LUA_TTABLE || (int64_t)lua_rawlen(L, -1) != o->n)
        bind_error(L, "load_state: shapes must be a table of %d shapes", (int)o->n);
    for (int64_t i = 0; i < o->n; i++) {
        lua_Integer shape[SHAPE] = {0};
        if (lua_rawgeti(L, -1, i + 1) != LUA_TTABLE)
            bind_error(L, "load_state: shapes[%d] must be {dimensions, rows, columns}, got %s",
                       (int)i + 1, bind_show(L, -1));
        for (int j = 0; j < SHAPE; j++) {
            lua_rawgeti(L, -1, j + 1);
            shape[j] = lua_tointeger(L, -1);
            lua_pop(L, 1);
        }
        const ld_tensor *p = o->params[i];
        if (shape[0] != p->ndim || shape[1] != p->n_rows || shape[2] != p->n_cols)
            bind_error(L, "load_state: parameter %d is %s, in the state it is %s", (int)i + 1,
                       ld_tensor_shape(p), show_shape(L, shape));
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

/* The tensor `name` of the state at 2, a vector for all parameters; NULL where there is no such
 * moment. */
static const ld_tensor *moment_of_state(lua_State *L, const ld_optimizer *o,
                                        const ld_tensor *moment, const char *name)
{
    if (!moment)
        return NULL;
    lua_pushstring(L, name);
    lua_rawget(L, 2); /* an __index might release what was found before */
    const ld_tensor *given = bind_to_tensor(L, -1);
    if (!given || !ld_tensor_same_shape(given, o->values))
        bind_error(L, "load_state: %s must be a Tensor of %s, got %s", name,
                   ld_tensor_shape(o->values),
                   given ? ld_tensor_shape(given) : luaL_typename(L, -1));
    lua_pop(L, 1); /* the table still holds it */
    return given;
}

/* Everything is checked before anything changes. */
static int optimizer_load_state(lua_State *L)
{
    ld_optimizer *o = optimizer(L);
    bind_check_type(L, 2, LUA_TTABLE);
    lua_settop(L, 2);
    if (lua_getfield(L, 2, "steps") != LUA_TTABLE || (int64_t)lua_rawlen(L, 3) != o->n)
        return bind_error(L, "load_state: steps must be a table of %d integers", (int)o->n);
    for (int64_t i = 0; i < o->n; i++) {
        lua_rawgeti(L, 3, i + 1);
        if (!lua_isinteger(L, -1) || lua_tointeger(L, -1) < 0)
            return bind_error(L, "load_state: steps[%d] must be an integer of 0 or more, got %s",
                              (int)i + 1, bind_show(L, -1));
        lua_pop(L, 1);
    }
    check_shapes(L, o);
    const ld_tensor *moment1 = moment_of_state(L, o, o->moment1, "moment1");
    const ld_tensor *moment2 = moment_of_state(L, o, o->moment2, "moment2");
    bind_check(L, ld_optimizer_set_moments(o, moment1, moment2));
    for (int64_t i = 0; i < o->n; i++) {
        lua_rawgeti(L, 3, i + 1);
        o->steps[i] = lua_tointeger(L, -1);
        lua_pop(L, 1);
    }
    return 0;
}

static int optimizer_get(lua_State *L)
{
    ld_optimizer *o = optimizer(L);
    if (lua_type(L, 2) == LUA_TSTRING && strcmp(lua_tostring(L, 2), "lr") == 0) {
        lua_pushnumber(L, o->options.lr);
        return 1;
    }
    return bind_no_field(L, BIND_OPTIMIZER);
}

static const bind_function functions[] = {
    {"sgd", optim_sgd,
     "ladies.optim.sgd(parameters: Tensor[] [, {lr = 0.01, momentum = 0.0, weight_decay = 0.0}])\n"
     "  -> Optimizer\n"
     "Stochastic gradient descent: v = momentum * v + g + weight_decay * p;  p = p - lr * v."},
    {"adam", optim_adam,
     "ladies.optim.adam(parameters: Tensor[] [, {lr = 0.001, beta1 = 0.9, beta2 = 0.999,\n"
     "  eps = 1e-8, weight_decay = 0.0}]) -> Optimizer\n"
     "Adam (Kingma and Ba 2015, algorithm 1); weight_decay is added to the gradient."},
    {"adamw", optim_adamw,
     "ladies.optim.adamw(parameters: Tensor[] [, {lr = 0.001, beta1 = 0.9, beta2 = 0.999,\n"
     "  eps = 1e-8, weight_decay = 0.01}]) -> Optimizer\n"
     "Adam with decoupled weight decay (Loshchilov and Hutter 2019, algorithm 2)."},
    {NULL, NULL, NULL},
};

static const bind_function methods[] = {
    {"step", optimizer_step,
     "optimizer:step([{clip = number, square = number}]) -> number | nil\n"
     "Updates every parameter that has a gradient and clears the gradients, which accumulate until\n"
     "then. A parameter without one is left as it is; where none has one, and backward is still to come\n"
     "in the open step, it is an error. With `clip` it is by gradients scaled to a joint Euclidean norm\n"
     "of at most that, as optimizer:clip_norm scales them, but in one pass; returns the norm before, and\n"
     "is an error, and no step, when it is not finite. `square` is that of this norm, for an optimizer\n"
     "that keeps a part: the sum of what optimizer:squares gives for all parts."},
    {"accumulate", optimizer_accumulate,
     "optimizer:accumulate(batches: integer [, number: integer]) -> boolean\n"
     "After a backward pass: sets the gradients aside as those of one of so many mini-batches of a\n"
     "step, and tells whether all are there. Then the gradients are the mean of all, and it is\n"
     "time for optimizer:step(). Their sum is taken in a binary tree that depends on the number\n"
     "of mini-batches alone: (1 + 2) + (3 + 4) for four. A parameter that has no gradient in some\n"
     "of them counts as zeros there. They come in their order; the first may have any number, and\n"
     "what is not its part of the step is then elsewhere: see optimizer:sums."},
    {"sums", optimizer_sums,
     "optimizer:sums() -> table, table, Tensor\n"
     "What optimizer:accumulate has added so far, as an array of {first =, last =, sum =} for the\n"
     "mini-batches first .. last, whose sums wait for others (vectors that share the optimizer's\n"
     "memory and are good until it is called again); whether each parameter has a gradient there;\n"
     "and such a vector of the optimizer's own, room for what optimizer:set_mean is given."},
    {"set_mean", optimizer_set_mean,
     "optimizer:set_mean(mean: Tensor, has: boolean[])\n"
     "Makes a vector, of the layout of the sums of optimizer:sums, the gradients of the parameters\n"
     "for which has[i] is true, and forgets what waits: the step of mini-batches some of which were\n"
     "elsewhere."},
    {"part", optimizer_part,
     "optimizer:part(i: integer, n: integer) -> integer, integer\n"
     "The first and the last element of part i of n, about equal ones, of its vectors, whose layout is\n"
     "that of optimizer:sums; the last is less where the part has none."},
    {"keep", optimizer_keep,
     "optimizer:keep(i: integer, n: integer)\n"
     "From now on has moments for that part alone, and a step changes nothing else: other processes\n"
     "have the other parts. optimizer:keep(1, 1) makes it whole, with zeros where it had no moments."},
    {"squares", optimizer_squares,
     "optimizer:squares() -> number[]\n"
     "Sums of squares of the gradients in the part that it keeps. Those of all parts, added up in their\n"
     "order, are the square of the norm by which a whole one clips, by bits."},
    {"values", optimizer_values,
     "optimizer:values() -> Tensor\n"
     "The vector of all parameters, which shares their memory."},
    {"clear", optimizer_clear,
     "optimizer:clear()\nDrops the gradients without using them, those set aside too."},
    {"clip_norm", optimizer_clip_norm,
     "optimizer:clip_norm(most: number) -> number\n"
     "Scales the gradients so that their joint Euclidean norm is at most `most`; returns the norm\n"
     "before. An error when it is not finite."},
    {"set_lr", optimizer_set_lr,
     "optimizer:set_lr(lr: number)\nSets the learning rate, 0 or more and finite in float32."},
    {"has", optimizer_has,
     "optimizer:has(t) -> boolean\nWhether the Tensor t itself is one of the parameters; one that is "
     "equal is not."},
    {"state", optimizer_state,
     "optimizer:state() -> table\n"
     "moment1, moment2 (Tensors, where it has them; they share the optimizer's memory) "
     "and\n"
     "steps (a table of integers), and shapes ({dimensions, rows, columns} of each parameter): all\n"
     "that a checkpoint needs."},
    {"load_state", optimizer_load_state,
     "optimizer:load_state(state: table)\n"
     "Takes over a state that optimizer:state() of a whole optimizer gave, or the part of it that is\n"
     "kept here. Its parameters had the shapes of these."},
    {NULL, NULL, NULL},
};

void bind_open_optim(lua_State *L)
{
    static const luaL_Reg meta[] = {
        {"__gc", optimizer_gc}, {"__tostring", optimizer_tostring}, {NULL, NULL}};
    static const char *const properties[] = {"lr:number", NULL};
    bind_class(L, BIND_OPTIMIZER, methods, meta, properties, optimizer_get);
    bind_functions(L, functions);
}
