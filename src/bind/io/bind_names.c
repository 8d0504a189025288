/* text.names: names of nodes, such as strings in a file of edges, numbered in order of first
 * appearance. */
#include "io/text/names.h"

#include "state/bind.h"

static ld_status names_new(bind_call *c)
{
    return ld_names_new((ld_names **)bind_new_object(c->L, BIND_NAMES));
}

static ld_status names_length(bind_call *c)
{
    c->out[0].integer = ld_names_count(bind_object(c->L, 1, BIND_NAMES));
    return LD_OK;
}

static ld_status names_find(bind_call *c)
{
    int64_t length = (int64_t)lua_rawlen(c->L, 2);
    int32_t id = ld_names_find(c->in[0].object, c->in[1].text, length);
    if (id < 0)
        lua_pushnil(c->L);
    else
        lua_pushinteger(c->L, (lua_Integer)id + 1);
    return LD_OK;
}

static ld_status names_add(bind_call *c)
{
    int64_t length = (int64_t)lua_rawlen(c->L, 2);
    int32_t id = 0;
    bind_arg_check(c->L, length < INT32_MAX, 2, "a name must have less than 2^31 bytes");
    ld_status st = ld_names_add(c->in[0].object, &id, c->in[1].text, length);
    c->out[0].integer = (lua_Integer)id + 1;
    return st;
}

static ld_status names_lines(bind_call *c)
{
    const ld_names *x = c->in[0].object;
    luaL_Buffer lines;
    luaL_buffinit(c->L, &lines);
    for (int64_t i = 0, length; i < ld_names_count(x); i++) {
        const char *text = ld_names_text(x, i, &length);
        luaL_addlstring(&lines, text, (size_t)length);
        luaL_addchar(&lines, '\n');
    }
    luaL_pushresult(&lines);
    return LD_OK;
}

static ld_status names_element(bind_call *c)
{
    const ld_names *x = bind_object(c->L, 1, BIND_NAMES);
    int64_t length;
    if (lua_type(c->L, 2) != LUA_TNUMBER)
        bind_no_field(c->L, BIND_NAMES);
    int64_t i = bind_position(c->L, 2, ld_names_count(x), "Names");
    const char *text = ld_names_text(x, i, &length);
    lua_pushlstring(c->L, text, (size_t)length);
    return LD_OK;
}

static void names_describe(lua_State *L, const void *object)
{
    lua_pushfstring(L, "Names %I", (LUAI_UACINT)ld_names_count(object));
}

static ld_status line_starts(bind_call *c)
{
    return ld_names_in_lines(c->out[0].index, c->in[0].text, (int64_t)lua_rawlen(c->L, 1));
}

static const bind_function functions[] = {
    {"names", names_new,
     "text.names() -> Names\n"
     "An empty list of names: texts numbered 1, 2, ... in order of first appearance, as a column\n"
     "for text.read. names[i] is the i-th, #names their number."},
    {"line_starts", line_starts,
     "text.line_starts(text) -> Index\n"
     "The position behind each line end of a text of less than 2^31 bytes: what lies between two of\n"
     "them, starts, is text:sub(starts[i], starts[i + 1] - 2)."},
    {NULL, NULL, NULL},
};

static const bind_function methods[] = {
    {"find", names_find,
     "names:find(text) -> integer | nil\nThe number of a name; nil if it is not in the list."},
    {"add", names_add,
     "names:add(text) -> integer\nThe number of a name, which is added if it is new. With \"\" among\n"
     "them a field of a column may be empty."},
    {"lines", names_lines, "names:lines() -> string\nAll names in order, a line each."},
    {NULL, NULL, NULL},
};

static const bind_function operators[] = {
    {"__index", NULL, "names[i] -> string\nThe i-th name; an error outside of 1 .. #names."},
    {"__len", names_length, "#names -> integer\nHow many there are."},
    {NULL, NULL, NULL},
};

static const bind_class class = {
    .name = BIND_NAMES,
    .drop = ld_names_drop,
    .methods = methods,
    .operators = operators,
    .element = names_element,
    .describe = names_describe,
};

const bind_subject bind_subject_names = {.classes = {&class}, .functions = {{functions, "text"}}};
