/* The calls of functions that are declared by their documentation: arguments are converted, results
 * are made, and core's errors are raised. */
#include "state/function.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>

#include "state/argument.h"
#include "state/bind.h"
#include "state/signature.h"

/* The registry field of the table from bind_function to this Lua state's function. */
static const char FUNCTIONS[] = "functions of ladies";

/* A function with its signature, which is read once. It is the upvalue of the closure that Lua
 * calls. */
typedef struct {
    const bind_function *function;
    const bind_class *class; /* whose method or operator it is, or NULL */
    const bool *unsettled;   /* see bind_settle */
    int most;                /* arguments, the object of a method among them; INT_MAX for any */
    int slots;               /* on the stack that a call needs */
    bind_signature signature;
} declaration;

/* --- calls ------------------------------------------------------------------------------------ */

/* Pushes a signature, for a message, on one line. */
static const char *push_line(lua_State *L, const char *from, const char *to)
{
    luaL_Buffer line;
    luaL_buffinit(L, &line);
    for (; from < to; from++) {
        bool blank = isspace((unsigned char)*from);
        if (!blank || !isspace((unsigned char)from[1]))
            luaL_addchar(&line, blank ? ' ' : *from);
    }
    luaL_pushresult(&line);
    return lua_tostring(L, -1);
}

static int refuse_surplus(lua_State *L, const declaration *d, int given)
{
    int self = d->signature.is_method, most = d->most - self;
    const char *line = push_line(L, d->function->doc, d->signature.end);
    if (most == 0)
        return bind_error(L, "%s takes no arguments, got %d", line, given - self);
    return bind_error(L, "%s takes at most %d argument%s, got %d", line, most, most == 1 ? "" : "s",
                      given - self);
}

/* Pushes empty userdata for the results that are objects, for core to fill, and nil for the
 * others. */
static void make_results(lua_State *L, const bind_signature *s, bind_call *c)
{
    for (int i = 0; i < s->n_results; i++) {
        bind_result *r = &c->out[i];
        *r = (bind_result){.tensor = NULL};
        switch (s->results[i]) {
        case BIND_TENSOR_TYPE: r->tensor = bind_new_tensor(L); break;
        case BIND_INDEX_TYPE: r->index = bind_new_index(L); break;
        case BIND_MATRIX_TYPE: r->matrix = bind_new_matrix(L); break;
        case BIND_ROWS_TYPE: r->rows = bind_new_rows(L); break;
        case BIND_RNG_TYPE: r->rng = bind_new_rng(L); break;
        default: lua_pushnil(L);
        }
    }
}

/* Pushes the results of a call. Those that are objects are on the stack from place `first` on. */
static int push_results(lua_State *L, const bind_signature *s, const bind_call *c, int first)
{
    for (int i = 0; i < s->n_results; i++) {
        switch (s->results[i]) {
        case BIND_NUMBER: lua_pushnumber(L, c->out[i].number); break;
        case BIND_INTEGER:
        case BIND_COUNT: lua_pushinteger(L, c->out[i].integer); break;
        case BIND_BOOLEAN: lua_pushboolean(L, c->out[i].flag); break;
        case BIND_THE_OBJECT: lua_pushvalue(L, 1); break;
        default: lua_pushvalue(L, first + i);
        }
    }
    return s->n_results;
}

/* Calls the body of a function with the arguments on the stack, and returns how many results it
 * pushed. */
static int call_body(lua_State *L, const declaration *d, int given)
{
    const bind_signature *s = &d->signature;
    bind_call c;
    c.L = L;
    c.class = d->class;
    c.kind = d->function->kind;
    c.given = given;
    c.n_made = s->makes_results ? s->n_results : 0;
    c.n_pushed = s->n_results;
    c.tape = d->function->passes ? bind_tape(L) : NULL;
    if (d->slots > LUA_MINSTACK - 8)
        luaL_checkstack(L, d->slots + 8, NULL);
    bind_take_arguments(L, s, d->class, c.in);
    int first = lua_gettop(L) + 1;
    if (s->makes_results)
        make_results(L, s, &c);
    bind_check(L, d->function->body(&c));
    return s->makes_results ? push_results(L, s, &c, first) : c.n_pushed;
}

/* Calls a function of the library from Lua; it is the C function of every closure made here.
 * Trailing nils are ignored, since Lua does not tell a nil from an argument that is missing. */
static int call(lua_State *L)
{
    const declaration *d = lua_touserdata(L, lua_upvalueindex(1));
    int given = lua_gettop(L);
    while (given > d->most && lua_isnil(L, given))
        lua_settop(L, --given);
    if (given > d->most)
        return refuse_surplus(L, d, given);
    if (*d->unsettled)
        bind_settle(L);
    return d->function->raw ? d->function->raw(L) : call_body(L, d, given);
}

int bind_close(lua_State *L)
{
    const declaration *d = lua_touserdata(L, lua_upvalueindex(1));
    bind_drop(L, bind_check_userdata(L, 1, d->class->name), d->class->drop);
    return 0;
}

int bind_absent(lua_State *L)
{
    const declaration *d = lua_touserdata(L, lua_upvalueindex(1));
    const char *text = luaL_gsub(L, strchr(d->function->doc, '\n') + 1, "\n", " ");
    lua_pushlstring(L, text, strlen(text) - 1); /* without the full stop */
    return bind_error(L, "%s", lua_tostring(L, -1));
}

/* --- registration ----------------------------------------------------------------------------- */

/* Returns true if the parameter's name is one of those in a list with blanks between. */
static bool is_among(const char *list, const bind_parameter *p)
{
    size_t length = (size_t)p->name_length;
    for (; list && *list; list += strcspn(list, " "), list += *list == ' ')
        if (strcspn(list, " ") == length && memcmp(list, p->name, length) == 0)
            return true;
    return false;
}

/* Notes in the signature how the function treats the gradient of each parameter. */
static void set_gradients(bind_signature *s, const bind_function *f)
{
    bool makes_matrix = s->n_results > 0 && s->results[0] == BIND_MATRIX_TYPE;
    for (int i = 0; i < s->n_parameters; i++) {
        bind_parameter *p = &s->parameters[i];
        if (is_among(f->passes, p))
            p->gradient = makes_matrix ? BIND_FACTOR : BIND_PASSES;
        else if (is_among(f->reads, p))
            p->gradient = BIND_READS;
        else if (is_among(f->changes, p))
            p->gradient = BIND_CHANGES;
    }
}

/* Gives the first parameter of a method the type of its class. */
static void set_self(bind_signature *s, const bind_class *class)
{
    static const char *const classes[] = {[BIND_TENSOR_TYPE] = BIND_TENSOR,
                                          [BIND_INDEX_TYPE] = BIND_INDEX,
                                          [BIND_MATRIX_TYPE] = BIND_MATRIX};
    bind_type type = BIND_TENSOR_TYPE;
    while (type <= BIND_MATRIX_TYPE && strcmp(classes[type], class->name) != 0)
        type++;
    s->parameters[0].type = type <= BIND_MATRIX_TYPE ? type : BIND_SELF;
}

static void push(lua_State *L, const bind_function *f, const bind_class *class, bind_signature *s)
{
    size_t unused = (size_t)(BIND_MOST_PARAMETERS - s->n_parameters) * sizeof *s->parameters;
    declaration *d = lua_newuserdatauv(L, sizeof *d - unused, 0);
    set_gradients(s, f);
    if (s->is_method && class)
        set_self(s, class);
    d->function = f;
    d->class = class;
    d->unsettled = bind_unsettled(L);
    d->most = s->any_number ? INT_MAX : s->n_positional;
    d->slots = s->n_parameters + 2 * s->n_results;
    memcpy(&d->signature, s, sizeof *s - unused);
    lua_pushcclosure(L, call, 1);
}

void bind_functions_of(lua_State *L, const bind_function *list, const bind_class *class)
{
    int table = lua_gettop(L);
    bind_push_docs(L);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, FUNCTIONS);
    for (; list->name; list++) {
        bind_signature s;
        const char *why = bind_signature_read(&s, list->doc);
        if (why)
            bind_error(L, "documentation without a signature, %s: %s", why, list->doc);
        push(L, list, class, &s);
        lua_pushvalue(L, -1);
        lua_pushstring(L, list->doc);
        lua_rawset(L, table + 1);
        lua_pushvalue(L, -1);
        lua_rawsetp(L, table + 2, list);
        lua_setfield(L, table, list->name);
    }
    lua_settop(L, table);
}

void bind_functions(lua_State *L, const bind_function *list)
{
    bind_functions_of(L, list, NULL);
}

void bind_push_operator(lua_State *L, const bind_function *f, const bind_class *class)
{
    bind_signature s = {.any_number = true};
    const char *results = strstr(f->doc, "->");
    if (results && results < f->doc + strcspn(f->doc, "\n"))
        bind_signature_read_results(&s, results);
    push(L, f, class, &s);
}

void bind_push_glossary(lua_State *L)
{
    lua_newtable(L);
    for (const bind_meaning *m = bind_glossary; m->names; m++) {
        const char *type = strcmp(m->type, "count") == 0   ? "integer"
                           : strcmp(m->type, "bytes") == 0 ? "string"
                                                           : m->type;
        bool more = lua_getfield(L, -1, type) == LUA_TSTRING;
        lua_pushfstring(L, "%s%s%s", more ? lua_tostring(L, -1) : "", more ? " " : "", m->names);
        lua_setfield(L, -3, type);
        lua_pop(L, 1);
    }
}

const bind_function *bind_to_core(lua_State *L, int at)
{
    lua_getupvalue(L, at, 1);
    const declaration *d = lua_touserdata(L, -1);
    lua_pop(L, 1);
    return d->function;
}

void bind_push_core(lua_State *L, const bind_function *function)
{
    luaL_getsubtable(L, LUA_REGISTRYINDEX, FUNCTIONS);
    lua_rawgetp(L, -1, function);
    lua_remove(L, -2);
}
