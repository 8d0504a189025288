/* Adds the classes and functions of a subject to the module ladies_core. */
#include "state/open.h"

#include <lauxlib.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

void bind_add(lua_State *L, const bind_subject *s)
{
    for (size_t i = 0; i < LENGTH(s->classes) && s->classes[i]; i++)
        bind_open_class(L, s->classes[i]);
    for (size_t i = 0; i < LENGTH(s->extends) && s->extends[i].class; i++) {
        if (s->extends[i].methods)
            bind_methods(L, s->extends[i].class, s->extends[i].methods);
        if (s->extends[i].operators)
            bind_operators(L, s->extends[i].class, s->extends[i].operators);
    }
    for (size_t i = 0; i < LENGTH(s->functions) && s->functions[i].list; i++) {
        if (s->functions[i].room)
            luaL_getsubtable(L, -1, s->functions[i].room);
        bind_functions(L, s->functions[i].list);
        if (s->functions[i].room)
            lua_pop(L, 1);
    }
    if (s->more)
        s->more(L);
}

void bind_push_module(lua_State *L, const char *name)
{
    lua_getglobal(L, "require");
    lua_pushstring(L, name);
    lua_call(L, 1, 1);
}
