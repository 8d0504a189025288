/* nearest: which word of a list was meant. */
#include "base/nearest.h"
#include "state/bind.h"

static int nearest(lua_State *L)
{
    enum { BEST = 4 }; /* where the best word's string lies, behind the arguments and `word` */
    int place = 0;
    bind_check_type(L, 2, LUA_TTABLE);
    lua_settop(L, 2);
    const char *word = luaL_tolstring(L, 1, NULL), *best = NULL;
    lua_pushnil(L);
    for (int i = 1; lua_rawgeti(L, 2, i) != LUA_TNIL; i++) {
        const char *candidate = luaL_tolstring(L, -1, NULL);
        if (ld_nearer(word, best, candidate) == candidate) {
            best = candidate;
            place = i;
            lua_replace(L, BEST);
            lua_pop(L, 1);
        } else {
            lua_pop(L, 2);
        }
    }
    if (best)
        lua_rawgeti(L, 2, place);
    else
        lua_pushnil(L);
    return 1;
}

static const bind_function functions[] = {
    {"nearest", nearest,
     "nearest(word: string, list: string[]) -> string | nil\n"
     "The element of a list that was probably meant by a word, or nil when none is near: one edit, or\n"
     "one in three letters, or three behind the same first three, or the beginning of it. Of several\n"
     "the one of the fewest edits, then of the most first letters that are right, then the shortest.\n"
     "The case of letters does not count."},
    {NULL, NULL, NULL},
};

void bind_open_nearest(lua_State *L)
{
    bind_functions(L, functions);
}
