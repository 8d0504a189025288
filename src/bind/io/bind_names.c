#include "io/bind_names.h"

ld_names *bind_names(lua_State *L, int arg)
{
    return bind_object(L, arg, BIND_NAMES);
}

ld_names *bind_to_names(lua_State *L, int arg)
{
    return bind_to_object(L, arg, BIND_NAMES);
}

ld_names *bind_new_names(lua_State *L)
{
    ld_names **x = lua_newuserdatauv(L, sizeof *x, 0);
    *x = NULL;
    luaL_setmetatable(L, BIND_NAMES);
    bind_check(L, ld_names_new(x));
    return *x;
}

static void drop(void *names)
{
    ld_names_free(names);
}

static int names_gc(lua_State *L)
{
    bind_drop(L, bind_check_userdata(L, 1, BIND_NAMES), drop);
    return 0;
}

static int names_new(lua_State *L)
{
    bind_new_names(L);
    return 1;
}

static int names_length(lua_State *L)
{
    lua_pushinteger(L, ld_names_count(bind_names(L, 1)));
    return 1;
}

static int names_find(lua_State *L)
{
    size_t length;
    const ld_names *x = bind_names(L, 1);
    const char *text = bind_check_lstring(L, 2, &length);
    int32_t id = ld_names_find(x, text, (int64_t)length);
    if (id < 0)
        lua_pushnil(L);
    else
        lua_pushinteger(L, (lua_Integer)id + 1);
    return 1;
}

static int names_add(lua_State *L)
{
    size_t length;
    int32_t id;
    ld_names *x = bind_names(L, 1);
    const char *text = bind_check_lstring(L, 2, &length);
    bind_arg_check(L, length < INT32_MAX, 2, "a name must have less than 2^31 bytes");
    bind_check(L, ld_names_add(x, &id, text, (int64_t)length));
    lua_pushinteger(L, (lua_Integer)id + 1);
    return 1;
}

static int names_lines(lua_State *L)
{
    const ld_names *x = bind_names(L, 1);
    luaL_Buffer lines;
    luaL_buffinit(L, &lines);
    for (int64_t i = 0, length; i < ld_names_count(x); i++) {
        const char *text = ld_names_text(x, i, &length);
        luaL_addlstring(&lines, text, (size_t)length);
        luaL_addchar(&lines, '\n');
    }
    luaL_pushresult(&lines);
    return 1;
}

static int names_get(lua_State *L)
{
    const ld_names *x = bind_names(L, 1);
    int64_t length;
    if (lua_type(L, 2) != LUA_TNUMBER)
        return bind_no_field(L, BIND_NAMES);
    int64_t i = bind_position(L, 2, ld_names_count(x), "Names");
    const char *text = ld_names_text(x, i, &length);
    lua_pushlstring(L, text, (size_t)length);
    return 1;
}

static int names_tostring(lua_State *L)
{
    if (!bind_push_closed(L, 1, BIND_NAMES))
        lua_pushfstring(L, "Names %I", (LUAI_UACINT)ld_names_count(bind_names(L, 1)));
    return 1;
}

static int line_starts(lua_State *L)
{
    size_t length;
    const char *text = bind_check_lstring(L, 1, &length);
    bind_check(L, ld_names_in_lines(bind_new_index(L), text, (int64_t)length));
    return 1;
}

static const bind_function functions[] = {
    {"names", names_new,
     "text.names() -> Names\n"
     "No names yet: texts numbered 1, 2, ... in order of first appearance, as a column for\n"
     "text.read. names[i] is the i-th, #names their number."},
    {"line_starts", line_starts,
     "text.line_starts(s: string) -> Index\n"
     "The position behind each line end of a text of less than 2^31 bytes: with starts =\n"
     "text.line_starts(s) what lies between two of them is s:sub(starts[i], starts[i + 1] - 2)."},
    {NULL, NULL, NULL},
};

static const bind_function methods[] = {
    {"find", names_find,
     "names:find(text) -> integer | nil\nThe number of a name; nil when it is none."},
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

void bind_open_names(lua_State *L)
{
    static const luaL_Reg meta[] = {
        {"__gc", names_gc}, {"__tostring", names_tostring}, {NULL, NULL}};
    static const char *const properties[] = {NULL};
    bind_functions(L, functions);
    bind_class(L, BIND_NAMES, methods, meta, properties, names_get);
    bind_operators(L, BIND_NAMES, operators);
}
