/* Unpacks parcels into Lua values; the counterpart of parcel_pack.c. */
#include <string.h>

#include "worker/parcel.h"

typedef struct {
    lua_State *L;
    const bind_parcel *p;
    size_t at; /* in the bytes */
    /* The place on the stack of a table that maps each number to its value; the number of an
     * upvalue to a function that has it, and -number to which of its upvalues it is. */
    int seen;
    lua_Integer n_seen;
} reader;

static void unpack_value(reader *r);

static void take(reader *r, void *out, size_t n)
{
    memcpy(out, r->p->bytes + r->at, n);
    r->at += n;
}

static bind_tag take_tag(reader *r)
{
    char tag;
    take(r, &tag, 1);
    return (bind_tag)tag;
}

static lua_Integer take_integer(reader *r)
{
    lua_Integer n;
    take(r, &n, sizeof n);
    return n;
}

/* Reads a string, pushes it and returns it. */
static const char *take_string(reader *r)
{
    size_t length = (size_t)take_integer(r);
    const char *text = lua_pushlstring(r->L, r->p->bytes + r->at, length);
    r->at += length;
    return text;
}

/* Gives the value on top of the stack the next number, by which the parcel refers to it later. */
static void remember(reader *r)
{
    lua_pushvalue(r->L, -1);
    lua_rawseti(r->L, r->seen, ++r->n_seen);
}

static void unpack_member(reader *r)
{
    lua_State *L = r->L;
    const char *module = take_string(r), *field = module + strlen(module) + 1;
    bind_push_module(L, module);
    if (!lua_istable(L, -1) || lua_getfield(L, -1, field) == LUA_TNIL)
        bind_error(L, "the module '%s' has no '%s' in this state", module, field);
    lua_replace(L, -3);
    lua_pop(L, 1);
}

static void unpack_table(reader *r)
{
    lua_State *L = r->L;
    lua_newtable(L);
    remember(r);
    int table = lua_gettop(L);
    for (; r->p->bytes[r->at] != BIND_END; lua_rawset(L, table)) {
        unpack_value(r);
        unpack_value(r);
    }
    r->at++;
    unpack_value(r);
    lua_setmetatable(L, table);
}

static void unpack_function(reader *r)
{
    lua_State *L = r->L;
    size_t length = (size_t)take_integer(r);
    if (luaL_loadbufferx(L, r->p->bytes + r->at, length, "=function", "b") != LUA_OK)
        lua_error(L);
    r->at += length;
    remember(r);
    int function = lua_gettop(L);
    lua_Integer n = take_integer(r);
    for (int i = 1; i <= n; i++) {
        if (take_tag(r) == BIND_SEEN) {
            lua_Integer upvalue = take_integer(r);
            lua_rawgeti(L, r->seen, upvalue);
            lua_rawgeti(L, r->seen, -upvalue);
            lua_upvaluejoin(L, function, i, function + 1, (int)lua_tointeger(L, -1));
            lua_settop(L, function);
        } else {
            lua_Integer upvalue = ++r->n_seen;
            lua_pushvalue(L, function);
            lua_rawseti(L, r->seen, upvalue);
            lua_pushinteger(L, i);
            lua_rawseti(L, r->seen, -upvalue);
            unpack_value(r);
            lua_setupvalue(L, function, i);
        }
    }
}

static void unpack_object(reader *r)
{
    lua_State *L = r->L;
    const bind_shared_object *o = &r->p->objects[take_integer(r)];
    bind_check(L, o->class->share(bind_new_object(L, o->class->type), o->object));
    remember(r);
}

/* Pushes the next value. */
static void unpack_value(reader *r)
{
    lua_State *L = r->L;
    luaL_checkstack(L, 16, "nested too deeply");
    switch (take_tag(r)) {
    case BIND_FALSE: lua_pushboolean(L, 0); break;
    case BIND_TRUE: lua_pushboolean(L, 1); break;
    case BIND_INTEGER: lua_pushinteger(L, take_integer(r)); break;
    case BIND_NUMBER: {
        lua_Number x;
        take(r, &x, sizeof x);
        lua_pushnumber(L, x);
        break;
    }
    case BIND_STRING: take_string(r); break;
    case BIND_SEEN: lua_rawgeti(L, r->seen, take_integer(r)); break;
    case BIND_MODULE:
        bind_push_module(L, take_string(r));
        lua_remove(L, -2);
        break;
    case BIND_MEMBER: unpack_member(r); break;
    case BIND_TABLE: unpack_table(r); break;
    case BIND_FUNCTION: unpack_function(r); break;
    case BIND_C_FUNCTION: {
        const bind_function *f;
        take(r, &f, sizeof f);
        bind_push_core(L, f);
        break;
    }
    case BIND_OBJECT: unpack_object(r); break;
    case BIND_RNG_STATE: {
        ld_rng rng;
        take(r, &rng, sizeof rng);
        *bind_new_rng(L) = rng;
        remember(r);
        break;
    }
    default: lua_pushnil(L);
    }
}

void bind_unpack(lua_State *L, const bind_parcel *p)
{
    luaL_checkstack(L, 8, NULL);
    lua_newtable(L);
    reader r = {.L = L, .p = p, .seen = lua_gettop(L)};
    for (int i = 0; i < p->n_values; i++)
        unpack_value(&r);
    lua_remove(L, r.seen);
}
