/* Functions of texts: making control characters visible, hashing, and finding the word that a
 * misspelt one was meant to be. */
#include <stdlib.h>

#include "memory/hash.h"
#include "state/bind.h"
#include "text/nearest.h"

static ld_status printable(bind_call *c)
{
    bind_printable(c->L, 1, c->in[1].flag);
    return LD_OK;
}

static ld_status hash(bind_call *c)
{
    uint64_t value = strtoull(c->in[1].text ? c->in[1].text : "0", NULL, 16);
    ld_status st = ld_hash_bytes(&value, c->in[0].text, lua_rawlen(c->L, 1));
    bind_push_hash(c->L, value);
    return st;
}

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
    {"hash", hash,
     "ladies_core.hash(text [, before: string]) -> string\n"
     "16 hexadecimal digits that depend on every byte of a text, and on the hash of what was before."},
    {"printable", printable,
     "ladies_core.printable(text [, lines: boolean]) -> string\n"
     "The text with what must not reach a terminal, an axis or a table made visible: control\n"
     "characters, those that turn the direction of text, and bytes that are no UTF-8, as \\n and\n"
     "\\x1b. With lines = true, ends of lines and tabs stay."},
    {"nearest", NULL,
     "nearest(word: string, list: string[]) -> string | nil\n"
     "The element of a list that was probably meant by a word, or nil when none is near: one edit, or\n"
     "one in three letters, or three behind the same first three, or the beginning of it. Of several\n"
     "the one of the fewest edits, then of the most first letters that are right, then the shortest.\n"
     "The case of letters does not count.",
     .raw = nearest},
    {NULL, NULL, NULL},
};

const bind_subject bind_subject_texts = {.functions = {{functions}}};
