/* Optimizers: SGD, Adam and AdamW over the parameters of a model. */
#include <math.h>

#include "optim/optimizer.h"
#include "state/bind.h"

#define BIND_OPTIMIZER "ladies.Optimizer"

/* Pushes a userdata with the n parameters in the table at `at` and returns it. */
static ld_tensor **parameters(lua_State *L, int at, const char *where, int64_t *n)
{
    bind_check_type(L, at, LUA_TTABLE);
    *n = (int64_t)lua_rawlen(L, at);
    if (*n == 0)
        bind_error(L, "%s: there are no parameters; those of a model are model:parameters()",
                   where);
    ld_tensor **params = lua_newuserdatauv(L, (size_t)*n * sizeof(ld_tensor *), 0);
    for (int64_t i = 0; i < *n; i++) {
        lua_rawgeti(L, at, i + 1);
        if (!(params[i] = bind_to_operand(L, -1)))
            bind_error(L, "%s: parameter %d must be a Tensor, got a %s", where, (int)i + 1,
                       luaL_typename(L, -1));
        lua_pop(L, 1);
    }
    return params;
}

/* Returns the parameters after a collection if one of them has a view. A view that nobody holds any
 * more, such as one that was made to be printed, would otherwise keep an optimizer from joining the
 * parameters in one block. */
static ld_tensor **parameters_alone(lua_State *L, const char *where, int64_t *n)
{
    ld_tensor **params = parameters(L, 1, where, n);
    for (int64_t i = 0; i < *n; i++) {
        if (!ld_tensor_has_views(params[i]))
            continue;
        lua_gc(L, LUA_GCCOLLECT);
        bind_settle(L);
        return parameters(L, 1, where, n);
    }
    return params;
}

static ld_status optimizer_new(bind_call *c)
{
    static const char *const names[] = {[LD_SGD] = "sgd", [LD_ADAM] = "adam", [LD_ADAMW] = "adamw"};
    bool is_sgd = c->kind == LD_SGD;
    ld_optimizer_options options = {.lr = c->in[2].number};
    if (is_sgd) {
        options.momentum = c->in[3].number;
        options.weight_decay = c->in[4].number;
    } else {
        options.beta1 = c->in[3].number;
        options.beta2 = c->in[4].number;
        options.eps = c->in[5].number;
        options.weight_decay = c->in[6].number;
    }
    int64_t n;
    ld_tensor **params = parameters_alone(c->L, names[c->kind], &n);
    return ld_optimizer_new((ld_optimizer **)bind_new_object(c->L, BIND_OPTIMIZER),
                            (ld_optimizer_kind)c->kind, &options, params, n);
}

static void optimizer_describe(lua_State *L, const void *object)
{
    static const char *const names[] = {"SGD", "Adam", "AdamW"};
    const ld_optimizer *o = object;
    lua_pushfstring(L, "%s of %d parameters%s, lr %f", names[o->kind], (int)o->n,
                    o->n_groups > 1 ? lua_pushfstring(L, " in %d groups", (int)o->n_groups) : "",
                    o->options.lr);
}

/* Raises an error in a step with recorded operations where no parameter has a gradient: the call of
 * backward was forgotten. */
static void check_went_back(lua_State *L, const ld_optimizer *o)
{
    const ld_tape *tape = bind_tape(L);
    if (ld_tape_records(tape) && ld_tape_length(tape) > 0 && !ld_optimizer_has_gradient(o))
        bind_error(L, "step: no parameter has a gradient; loss:backward() comes before");
}

static ld_status optimizer_step(bind_call *c)
{
    ld_optimizer *o = c->in[0].object;
    check_went_back(c->L, o);
    if (lua_isnil(c->L, 2)) {
        c->n_pushed = 0;
        return ld_optimizer_step(o);
    }
    double norm = 0, most = c->in[2].number == 0 ? INFINITY : c->in[2].number;
    bool given = !lua_isnil(c->L, 4) && !(c->in[3].number < 0); /* NaN: gradients were NaN */
    ld_status st = given ? ld_optimizer_step_of(o, most, c->in[3].number, &norm)
                         : ld_optimizer_step_clipped(o, most, &norm);
    lua_pushnumber(c->L, norm);
    return st;
}

/* The decay in a group's options at `at` and behind it, weight_decay and decoupled_decay, of which the
 * optimizer has one; its own where neither is given. */
static double decay_of(const bind_call *c, const ld_optimizer *o, int at)
{
    bool is_decoupled = o->kind == LD_ADAMW;
    if (!lua_isnil(c->L, is_decoupled ? at : at + 1))
        bind_error(c->L, "group: the optimizer has %s",
                   is_decoupled
                       ? "decoupled_decay, AdamW's, and no weight_decay, which adds to gradients"
                       : "weight_decay, and no decoupled_decay, which is AdamW's");
    int own = is_decoupled ? at + 1 : at;
    return lua_isnil(c->L, own) ? o->options.weight_decay : c->in[own - 1].number;
}

static ld_status optimizer_group(bind_call *c)
{
    ld_optimizer *o = c->in[0].object;
    double lr = lua_isnil(c->L, 4) ? o->options.lr : c->in[3].number;
    double decay = decay_of(c, o, 5);
    int64_t n;
    ld_tensor **params = parameters(c->L, 2, "group", &n);
    return ld_optimizer_add_group(o, params, n, lr, decay, c->in[6].number);
}

static ld_status optimizer_groups(bind_call *c)
{
    lua_State *L = c->L;
    const ld_optimizer *o = c->in[0].object;
    lua_createtable(L, (int)o->n_groups, 0);
    for (int64_t g = 0; g < o->n_groups; g++) {
        const ld_optimizer_group *group = &o->groups[g];
        lua_createtable(L, 0, 4);
        lua_pushnumber(L, o->options.lr * group->rate);
        lua_setfield(L, -2, "lr");
        lua_pushnumber(L, group->weight_decay);
        lua_setfield(L, -2, o->kind == LD_ADAMW ? "decoupled_decay" : "weight_decay");
        lua_pushnumber(L, group->clip);
        lua_setfield(L, -2, "clip");
        lua_newtable(L);
        for (int64_t i = 0; i < o->n; i++) {
            if (o->group[i] != g)
                continue;
            lua_pushinteger(L, i + 1);
            lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
        }
        lua_setfield(L, -2, "parameters");
        lua_rawseti(L, -2, g + 1);
    }
    return LD_OK;
}

static ld_status optimizer_clear(bind_call *c)
{
    ld_optimizer_clear(c->in[0].object);
    return LD_OK;
}

static ld_status optimizer_accumulate(bind_call *c)
{
    ld_optimizer *o = c->in[0].object;
    int64_t next = o->n_sums > 0 ? o->sums[0].leaves.first + ld_optimizer_waiting(o) : 0;
    int64_t place = lua_isnil(c->L, 3) ? next + 1 : c->in[2].integer;
    place = place < 0 ? 0 : place; /* core refuses it, and the difference does not overflow */
    return ld_optimizer_accumulate(o, place - 1, c->in[1].integer, &c->out[0].flag);
}

/* Pushes a table that says for each parameter if it has a gradient in the sums that wait. */
static void push_in_sum(lua_State *L, const ld_optimizer *o)
{
    lua_createtable(L, (int)o->n, 0);
    for (int64_t i = 0; i < o->n; i++) {
        lua_pushboolean(L, o->in_sum[i]);
        lua_rawseti(L, -2, i + 1);
    }
}

static ld_status optimizer_sums(bind_call *c)
{
    lua_State *L = c->L;
    const ld_optimizer *o = c->in[0].object;
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
    return LD_OK;
}

static ld_status optimizer_set_mean(bind_call *c)
{
    ld_optimizer *o = c->in[0].object;
    bool *has = lua_newuserdatauv(c->L, (size_t)o->n * sizeof *has, 0);
    for (int64_t i = 0; i < o->n; i++) {
        has[i] = lua_rawgeti(c->L, 3, i + 1) == LUA_TBOOLEAN && lua_toboolean(c->L, -1);
        lua_pop(c->L, 1);
    }
    return ld_optimizer_set_mean(o, c->in[1].tensor, has);
}

/* Returns the number of a part, which Lua counts from 1, counted from 0. A number below 1 becomes
 * -1, which core refuses. */
static int64_t part_number(const bind_call *c)
{
    return c->in[1].integer > 0 ? c->in[1].integer - 1 : -1;
}

static ld_status optimizer_part(bind_call *c)
{
    ld_part part = {0};
    ld_status st = ld_optimizer_part(&part, c->in[0].object, part_number(c), c->in[2].integer);
    c->out[0].integer = part.first + 1;
    c->out[1].integer = part.end;
    return st;
}

static ld_status optimizer_keep(bind_call *c)
{
    return ld_optimizer_keep(c->in[0].object, part_number(c), c->in[2].integer);
}

static ld_status optimizer_squares(bind_call *c)
{
    const ld_optimizer *o = c->in[0].object;
    double *sums = lua_newuserdatauv(c->L, (size_t)ld_optimizer_most_squares(o) * sizeof *sums, 0);
    int64_t n;
    bind_check(c->L, ld_optimizer_squares(sums, &n, o));
    lua_createtable(c->L, (int)n, 0);
    for (int64_t i = 0; i < n; i++) {
        lua_pushnumber(c->L, sums[i]);
        lua_rawseti(c->L, -2, i + 1);
    }
    return LD_OK;
}

static ld_status optimizer_padded_values(bind_call *c)
{
    const ld_optimizer *o = c->in[0].object;
    bind_check(c->L, ld_optimizer_check_slabs(o, "padded_values"));
    *c->out[0].tensor = ld_tensor_ref(o->values);
    return LD_OK;
}

static ld_status optimizer_clip_norm(bind_call *c)
{
    double norm = 0;
    ld_status st = ld_optimizer_clip(c->in[0].object, c->in[1].number, &norm);
    c->out[0].number = norm;
    return st;
}

static ld_status optimizer_set_lr(bind_call *c)
{
    return ld_optimizer_set_lr(c->in[0].object, c->in[1].number);
}

static ld_status optimizer_has(bind_call *c)
{
    c->out[0].flag = ld_optimizer_has(c->in[0].object, c->in[1].tensor);
    return LD_OK;
}

/* --- states ----------------------------------------------------------------------------------- */

enum { SHAPE = 3 };

/* Pushes a shape as a state has it: {dimensions, rows, columns}. */
static void push_shape(lua_State *L, const ld_tensor *t)
{
    const int64_t shape[SHAPE] = {t->ndim, t->n_rows, t->n_cols};
    lua_createtable(L, SHAPE, 0);
    for (int i = 0; i < SHAPE; i++) {
        lua_pushinteger(L, shape[i]);
        lua_rawseti(L, -2, i + 1);
    }
}

/* Pushes the optimizer's state: tables and tensors by name. The tensors share its memory. */
static ld_status optimizer_state(bind_call *c)
{
    lua_State *L = c->L;
    const ld_optimizer *o = c->in[0].object;
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
    return LD_OK;
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

/* Returns the tensor `name` of the state at 2, a vector for all parameters. Returns NULL where this
 * kind of optimizer has no such moment. */
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

/* Loads a state. All of it is checked before anything changes, so that a wrong one leaves the
 * optimizer as it was. */
static ld_status optimizer_load_state(bind_call *c)
{
    lua_State *L = c->L;
    ld_optimizer *o = c->in[0].object;
    if (lua_getfield(L, 2, "steps") != LUA_TTABLE || (int64_t)lua_rawlen(L, 3) != o->n)
        bind_error(L, "load_state: steps must be a table of %d integers", (int)o->n);
    for (int64_t i = 0; i < o->n; i++) {
        lua_rawgeti(L, 3, i + 1);
        if (!lua_isinteger(L, -1) || lua_tointeger(L, -1) < 0)
            bind_error(L, "load_state: steps[%d] must be an integer of 0 or more, got %s",
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
    return LD_OK;
}

static void optimizer_field(lua_State *L, const char *key)
{
    (void)key;
    lua_pushnumber(L, ((const ld_optimizer *)bind_object(L, 1, BIND_OPTIMIZER))->options.lr);
}

static const bind_function functions[] = {
    {"sgd", optimizer_new,
     "ladies.optim.sgd(parameters: Tensor[] [, {lr = 0.01, momentum = 0.0, weight_decay = 0.0}])\n"
     "  -> Optimizer\n"
     "Stochastic gradient descent: v = momentum * v + g + weight_decay * p;  p = p - lr * v. Its\n"
     "weight_decay is an L2 penalty, weight_decay / 2 times the sum of squares, added to the loss.",
     .kind = LD_SGD},
    {"adam", optimizer_new,
     "ladies.optim.adam(parameters: Tensor[] [, {lr = 0.001, beta1 = 0.9, beta2 = 0.999,\n"
     "  eps = 1e-8, weight_decay = 0.0}]) -> Optimizer\n"
     "Adam (Kingma and Ba 2015, algorithm 1). Its weight_decay is an L2 penalty: weight_decay * p is added\n"
     "to the gradient, and so is scaled by the moments like the rest of it. ladies.optim.adamw has the\n"
     "decay that is not.",
     .kind = LD_ADAM},
    {"adamw", optimizer_new,
     "ladies.optim.adamw(parameters: Tensor[] [, {lr = 0.001, beta1 = 0.9, beta2 = 0.999,\n"
     "  eps = 1e-8, decoupled_decay = 0.01}]) -> Optimizer\n"
     "Adam with decoupled weight decay (Loshchilov and Hutter 2019, algorithm 2): a step takes\n"
     "lr * decoupled_decay of each weight off it, whatever its moments. PyTorch's AdamW calls it\n"
     "weight_decay, as it does the L2 penalty of its Adam, which is another thing.",
     .kind = LD_ADAMW},
    {NULL, NULL, NULL},
};

static const bind_function methods[] = {
    {"step", optimizer_step,
     "optimizer:step([{clip = number, square = number}]) -> number | nil\n"
     "Updates every parameter that has a gradient and clears the gradients, which accumulate until\n"
     "then. A parameter without one is left as it is; where none has one, and backward is still to come\n"
     "in the open step, it is an error. With options it is by gradients scaled to a joint Euclidean\n"
     "norm of at most `clip` (0: no bound), as optimizer:clip_norm scales them, but in one pass; it\n"
     "returns the norm before, and is an error, and no step, when that is not finite. `square` is that\n"
     "of this norm, for an optimizer that keeps a part: the sum of what optimizer:squares gives for all\n"
     "parts."},
    {"group", optimizer_group,
     "optimizer:group(parameters: Tensor[] [, {lr = number, weight_decay = number,\n"
     "  decoupled_decay = number, clip = 0.0}])\n"
     "Makes a group of some of its parameters, which leave the one that they were in; what is not given\n"
     "is as in the whole. `lr` is the learning rate of these now, and stays the same multiple of\n"
     "optimizer.lr, so that schedules change all groups alike; the decay goes by its name in the\n"
     "optimizer: decoupled_decay of AdamW, weight_decay of the others. `clip` bounds the Euclidean norm\n"
     "of the gradients of the group, before that of all is bounded; 0: no bound."},
    {"groups", optimizer_groups,
     "optimizer:groups() -> table[]\n"
     "Its groups as {lr =, weight_decay = (of AdamW decoupled_decay), clip =, parameters = numbers of the\n"
     "parameters}, first those that are in no other."},
    {"accumulate", optimizer_accumulate,
     "optimizer:accumulate(batches: integer [, number: integer]) -> boolean\n"
     "After a backward pass: sets the gradients aside as those of one of so many mini-batches of\n"
     "a step. Returns true when all are there. Then the gradients are the mean of all, and it is\n"
     "time for optimizer:step(). Their sum is taken in a binary tree that depends on the number\n"
     "of mini-batches alone: (1 + 2) + (3 + 4) for four. A parameter that has no gradient in some\n"
     "of them counts as zeros there. They come in their order; the first may have any number, and\n"
     "what is not its part of the step is then elsewhere: see optimizer:sums."},
    {"sums", optimizer_sums,
     "optimizer:sums() -> table, table, Tensor\n"
     "Returns three things for a step whose mini-batches are spread over processes. The first are\n"
     "the sums of gradients that optimizer:accumulate has made so far, as an array of {first =,\n"
     "last =, sum =} for the mini-batches first .. last, which wait for those of other\n"
     "mini-batches; they are vectors that share the optimizer's memory and are good until it is\n"
     "called again. The second tells for each parameter if it has a gradient there. The third is\n"
     "such a vector of the optimizer's own, room for what optimizer:set_mean is given."},
    {"set_mean", optimizer_set_mean,
     "optimizer:set_mean(mean: Tensor, has: boolean[])\n"
     "Makes a vector, of the layout of the sums of optimizer:sums, the gradients of the\n"
     "parameters for which has[i] is true, and forgets the sums that wait. It ends a step of\n"
     "mini-batches some of which were elsewhere."},
    {"part", optimizer_part,
     "optimizer:part(i: integer, n: integer) -> integer, integer\n"
     "The first and the last element of part i when the optimizer's vectors, of the layout of\n"
     "optimizer:sums, are cut into n parts of about equal size. The last is less than the first\n"
     "where the part has no element."},
    {"keep", optimizer_keep,
     "optimizer:keep(i: integer, n: integer)\n"
     "Keeps the moments of that part alone from now on, and a step changes nothing else, since\n"
     "other processes have the other parts. optimizer:keep(1, 1) makes it whole, with zeros where\n"
     "it had no moments."},
    {"squares", optimizer_squares,
     "optimizer:squares() -> number[]\n"
     "Sums of squares of the gradients in the part that the optimizer keeps. The sums of all\n"
     "parts, added up in their order, are the square of the norm by which a whole optimizer\n"
     "clips, to the bit."},
    {"padded_values", optimizer_padded_values,
     "optimizer:padded_values() -> Tensor\n"
     "The vector of all parameters, which shares their memory. Each begins at a multiple of 16 elements,\n"
     "with zeros between it and the end of the one before."},
    {"clear", optimizer_clear,
     "optimizer:clear()\nDrops the gradients without using them, those set aside too."},
    {"clip_norm", optimizer_clip_norm,
     "optimizer:clip_norm(most: number) -> number\n"
     "Scales the gradients so that their joint Euclidean norm is at most `most`; returns the norm\n"
     "before. Those of groups with a bound of their own come within it first. An error when a norm is not\n"
     "finite."},
    {"set_lr", optimizer_set_lr,
     "optimizer:set_lr(lr: number)\n"
     "Sets the learning rate, 0 or more and finite in float32. Groups keep their multiples of it."},
    {"has", optimizer_has,
     "optimizer:has(t) -> boolean\n"
     "True if the Tensor t itself is one of the parameters; one that is equal is not.",
     .reads = "t"},
    {"state", optimizer_state,
     "optimizer:state() -> table\n"
     "moment1, moment2 (Tensors, where it has them; they share the optimizer's memory) "
     "and\n"
     "steps (a table of integers), and shapes ({dimensions, rows, columns} of each parameter): all\n"
     "that a checkpoint needs."},
    {"load_state", optimizer_load_state,
     "optimizer:load_state(state: table)\n"
     "Takes over a state that optimizer:state() of a whole optimizer gave, or the part of it that\n"
     "is kept here. The parameters must have the shapes of the state."},
    {NULL, NULL, NULL},
};

static const char *const fields[] = {"lr:number", NULL};

static const bind_class class = {
    .name = BIND_OPTIMIZER,
    .drop = ld_optimizer_drop,
    .methods = methods,
    .fields = fields,
    .get = optimizer_field,
    .describe = optimizer_describe,
};

const bind_subject bind_subject_optim = {.classes = {&class}, .functions = {{functions}}};
