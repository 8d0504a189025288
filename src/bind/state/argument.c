/* Converts the arguments and options of a call by the signature of the function; a wrong one is an
 * error that names it. */
#include "state/argument.h"

#include <string.h>

#include "state/bind.h"

static const char *push_text(lua_State *L, const char *text, int length)
{
    return lua_pushlstring(L, text, (size_t)length);
}

/* --- single values ---------------------------------------------------------------------------- */

static ld_tensor *take_tensor(lua_State *L, int at, bind_gradient gradient)
{
    switch (gradient) {
    case BIND_PASSES:
    case BIND_READS: return bind_operand(L, at);
    case BIND_FACTOR: return bind_factor(L, at);
    case BIND_CHANGES: return bind_writable_tensor(L, at);
    default: return bind_tensor(L, at);
    }
}

static ld_csr *take_matrix(lua_State *L, int at, bind_gradient gradient)
{
    switch (gradient) {
    case BIND_PASSES:
    case BIND_FACTOR: return bind_matrix_operand(L, at);
    case BIND_READS: return bind_any_matrix(L, at);
    default: return bind_matrix(L, at);
    }
}

/* Returns the object at `at`, whose class the signature names. */
static void *take_object(lua_State *L, int at, const bind_parameter *p)
{
    lua_settop(L, lua_isnone(L, at) ? at : lua_gettop(L));
    const char *class = lua_pushfstring(L, "ladies.%s", push_text(L, p->text, p->text_length));
    void *object = bind_object(L, at, class);
    lua_pop(L, 2);
    return object;
}

/* Returns the place of the text at `at` among the words of a parameter; -1 where it is none of
 * them. */
static int find_word(lua_State *L, int at, const bind_parameter *p)
{
    size_t length;
    const char *given = lua_type(L, at) == LUA_TSTRING ? lua_tolstring(L, at, &length) : NULL;
    const char *word = p->text, *end = p->text + p->text_length;
    for (int i = 0; given && word && word < end; i++) {
        const char *close = memchr(word + 1, '"', (size_t)(end - word - 1));
        if ((size_t)(close - word - 1) == length && memcmp(word + 1, given, length) == 0)
            return i;
        word = memchr(close + 1, '"', (size_t)(end - close - 1));
    }
    return -1;
}

static int take_word(lua_State *L, int at, const bind_parameter *p)
{
    bind_check_bytes(L, at);
    int place = find_word(L, at, p);
    if (place < 0)
        bind_arg_error(L, at, lua_pushfstring(L, "invalid option '%s'", bind_show(L, at)));
    return place;
}

/* Pushes the beginning of messages about a parameter, as in "sampling.choice: draw". */
static const char *push_name(lua_State *L, const bind_signature *s, const bind_parameter *p)
{
    push_text(L, s->name, s->name_length);
    lua_pushliteral(L, ": ");
    push_text(L, p->name, p->name_length);
    lua_concat(L, 3);
    return lua_tostring(L, -1);
}

static int64_t take_count(lua_State *L, int at, const bind_signature *s, const bind_parameter *p)
{
    int whole;
    lua_Integer n = lua_tointegerx(L, at, &whole);
    if (whole && n >= 0 && n <= INT32_MAX)
        return n;
    lua_settop(L, lua_isnone(L, at) ? at : lua_gettop(L));
    return bind_count(L, at, push_name(L, s, p));
}

static void set_standard(bind_value *v, const bind_parameter *p)
{
    *v = (bind_value){.text = NULL};
    switch (p->type) {
    case BIND_NUMBER: v->number = p->standard; break;
    case BIND_INTEGER:
    case BIND_COUNT:
    case BIND_WORD: v->integer = (lua_Integer)p->standard; break;
    case BIND_BOOLEAN: v->flag = p->standard != 0; break;
    default: break;
    }
}

/* Converts the value at `at`, which is not missing. */
static void take(lua_State *L, int at, const bind_signature *s, const bind_parameter *p,
                 bind_value *v)
{
    switch (p->type) {
    case BIND_TENSOR_TYPE: v->tensor = take_tensor(L, at, p->gradient); break;
    case BIND_INDEX_TYPE: v->index = bind_index(L, at); break;
    case BIND_MATRIX_TYPE: v->matrix = take_matrix(L, at, p->gradient); break;
    case BIND_ROWS_TYPE: v->rows = bind_object(L, at, BIND_ROWS); break;
    case BIND_RNG_TYPE: v->rng = bind_rng(L, at); break;
    case BIND_OBJECT_TYPE: v->object = take_object(L, at, p); break;
    case BIND_NUMBER: v->number = bind_check_number(L, at); break;
    case BIND_INTEGER: v->integer = bind_check_integer(L, at); break;
    case BIND_COUNT: v->integer = take_count(L, at, s, p); break;
    case BIND_BOOLEAN: v->flag = lua_toboolean(L, at); break;
    case BIND_STRING: v->text = bind_check_string(L, at); break;
    case BIND_BYTES: v->text = bind_check_bytes(L, at); break;
    case BIND_WORD: v->integer = take_word(L, at, p); break;
    case BIND_TABLE: bind_check_type(L, at, LUA_TTABLE); break;
    default: break;
    }
}

/* --- options ---------------------------------------------------------------------------------- */

/* Raises an error for a key of the table at `at` that is no option. */
static void check_names(lua_State *L, int at, const bind_signature *s)
{
    const char *names[BIND_MOST_PARAMETERS + 1];
    int n = 0, top = lua_gettop(L);
    for (int i = s->n_positional; i < s->n_parameters; i++)
        names[n++] = push_text(L, s->parameters[i].name, s->parameters[i].name_length);
    names[n] = NULL;
    bind_check_options(L, at, push_text(L, s->name, s->name_length), names);
    lua_settop(L, top);
}

/* Pushes the words of an option as a message lists them: "wor, wr or poisson". */
static const char *push_words(lua_State *L, const bind_parameter *p)
{
    lua_pushliteral(L, "");
    const char *word = p->text, *end = p->text + p->text_length;
    for (const char *next; word; word = next) {
        const char *close = memchr(word + 1, '"', (size_t)(end - word - 1));
        next = memchr(close + 1, '"', (size_t)(end - close - 1));
        const char *before = word == p->text ? "" : next ? ", " : " or ";
        lua_pushstring(L, before);
        push_text(L, word + 1, (int)(close - word - 1));
        lua_concat(L, 3);
    }
    return lua_tostring(L, -1);
}

static bool is_whole(lua_State *L, int at)
{
    int whole = 0;
    lua_tointegerx(L, at, &whole);
    return whole && lua_type(L, at) == LUA_TNUMBER;
}

/* Raises an error where the option at `at` is of another type than its signature says. */
static void check_option(lua_State *L, int at, const bind_signature *s, const bind_parameter *p)
{
    const char *wanted = NULL;
    switch (p->type) {
    case BIND_TENSOR_TYPE:
    case BIND_INDEX_TYPE:
    case BIND_MATRIX_TYPE:
    case BIND_ROWS_TYPE:
    case BIND_RNG_TYPE: {
        static const char *const classes[] = {[BIND_TENSOR_TYPE] = BIND_TENSOR,
                                              [BIND_INDEX_TYPE] = BIND_INDEX,
                                              [BIND_MATRIX_TYPE] = BIND_MATRIX,
                                              [BIND_ROWS_TYPE] = BIND_ROWS,
                                              [BIND_RNG_TYPE] = BIND_RNG};
        if (!luaL_testudata(L, at, classes[p->type]))
            wanted = lua_pushfstring(L, "of class %s", strchr(classes[p->type], '.') + 1);
        break;
    }
    case BIND_NUMBER: wanted = lua_type(L, at) == LUA_TNUMBER ? NULL : "a number"; break;
    case BIND_INTEGER: wanted = is_whole(L, at) ? NULL : "an integer"; break;
    case BIND_STRING:
        if (!bind_is_text(L, at))
            wanted = lua_type(L, at) == LUA_TSTRING ? "a string without zero bytes" : "a string";
        break;
    case BIND_TABLE: wanted = lua_istable(L, at) ? NULL : "a table"; break;
    case BIND_WORD: wanted = find_word(L, at, p) >= 0 ? NULL : push_words(L, p); break;
    default: break;
    }
    if (wanted && lua_isnil(L, at))
        bind_error(L, "%s: the option %s is missing%s", push_text(L, s->name, s->name_length),
                   push_text(L, p->name, p->name_length),
                   p->type == BIND_RNG_TYPE ? "; ladies.rng(seed) makes one" : "");
    bool is_value = p->type >= BIND_NUMBER && p->type <= BIND_TABLE;
    if (wanted)
        bind_error(L, "%s must be %s, got %s%s", push_name(L, s, p), wanted, is_value ? "a " : "",
                   is_value ? luaL_typename(L, at) : bind_show(L, at));
}

/* Pushes the options in the table at place n_positional, in the order of the signature, and
 * converts them. */
static void take_options(lua_State *L, const bind_signature *s, bind_value *in)
{
    int table = s->n_positional;
    bool given = !lua_isnil(L, table);
    if (given)
        check_names(L, table, s);
    for (int i = table; i < s->n_parameters; i++) {
        const bind_parameter *p = &s->parameters[i];
        bool is_there = false;
        if (given) {
            push_text(L, p->name, p->name_length);
            is_there = lua_gettable(L, table) != LUA_TNIL;
        } else {
            lua_pushnil(L);
        }
        set_standard(&in[i], p);
        if (!is_there && p->optional)
            continue;
        check_option(L, i + 1, s, p);
        take(L, i + 1, s, p, &in[i]);
    }
}

/* --- all -------------------------------------------------------------------------------------- */

/* Returns the object of a method, of a class that is no bind_type. */
static void *take_self(lua_State *L, const bind_class *class)
{
    return class->drop ? bind_object(L, 1, class->name) : bind_check_userdata(L, 1, class->name);
}

void bind_take_arguments(lua_State *L, const bind_signature *s, const bind_class *class,
                         bind_value *in)
{
    int n = s->n_positional;
    for (int i = 0; i < n; i++) {
        const bind_parameter *p = &s->parameters[i];
        if (p->type == BIND_SELF)
            in[i].object = take_self(L, class);
        else if (p->optional && lua_isnoneornil(L, i + 1))
            set_standard(&in[i], p);
        else
            take(L, i + 1, s, p, &in[i]);
    }
    if (!s->any_number)
        lua_settop(L, n);
    if (s->n_parameters > n)
        take_options(L, s, in);
    in[s->n_parameters].text = NULL; /* a body that functions share may ask for one more */
}
