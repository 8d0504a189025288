/* Packs Lua values into a parcel by a walk through tables and functions. Each value gets a number
 * when it is met first; later it is packed as that number. The walk keeps the way it came, so that
 * the error about a value that cannot cross says where that is. */
#include <stdio.h>
#include <string.h>

#include "memory/memory.h"
#include "worker/parcel.h"

enum { DEEPEST = 2000 };

/* A step of the way from the values to be packed to the one that is being packed. */
typedef struct step {
    const struct step *above; /* NULL for the first one */
    enum { FIELD, ELEMENT, UPVALUE } kind;
    const char *name;
    lua_Integer element;
} step;

typedef struct {
    lua_State *L;
    bind_parcel *p;
    const char *whither;
    int seen;      /* place on the stack of the table value -> number, */
    int modules;   /* of the table value -> name (push_modules), */
    int functions; /* and of C function -> name (push_functions), nil until it is needed */
    lua_Integer n_seen;
    int depth;
} packer;

/* --- errors ----------------------------------------------------------------------------------- */

/* Appends the way to a value, as in "upvalue 'draw', upvalue 'cache[2].file", without the last
 * quote. */
static void add_way(luaL_Buffer *text, const step *at)
{
    if (!at)
        return;
    add_way(text, at->above);
    if (at->kind == UPVALUE || !at->above) {
        if (at->above)
            luaL_addstring(text, "', ");
        luaL_addstring(text, at->kind == UPVALUE ? "upvalue '" : "field '");
    } else if (at->kind == FIELD) {
        luaL_addchar(text, '.');
    }
    char number[32];
    snprintf(number, sizeof number, "[%lld]", (long long)at->element);
    luaL_addstring(text, at->kind == ELEMENT ? number : at->name);
}

static void refuse(packer *k, const step *at, const char *what)
{
    luaL_Buffer text;
    luaL_buffinit(k->L, &text);
    add_way(&text, at);
    luaL_addstring(&text, at ? "' is " : "it is ");
    luaL_addstring(&text, what);
    luaL_addstring(&text, ", which cannot cross ");
    luaL_addstring(&text, k->whither);
    luaL_pushresult(&text);
    lua_error(k->L);
}

/* Pushes how messages call a userdata that cannot cross. */
static const char *push_kind(lua_State *L, int at)
{
    if (luaL_testudata(L, at, LUA_FILEHANDLE))
        return lua_pushliteral(L, "a file");
    if (luaL_getmetafield(L, at, "__name") != LUA_TSTRING)
        return lua_pushliteral(L, "a userdata");
    const char *name = lua_tostring(L, -1), *dot = strrchr(name, '.');
    return lua_pushfstring(L, "an object of class %s", dot ? dot + 1 : name);
}

/* --- names ------------------------------------------------------------------------------------ */

/* Adds the C functions among a module's fields to the table at `names`, as "MODULE\0FIELD". */
static void add_members(lua_State *L, int names, const char *module, int at)
{
    for (lua_pushnil(L); lua_next(L, at); lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING || !lua_iscfunction(L, -1))
            continue;
        lua_pushvalue(L, -1);
        lua_pushfstring(L, "%s%c%s", module, 0, lua_tostring(L, -3));
        lua_rawset(L, names);
    }
}

/* Pushes a table from the values of loaded modules, tables or functions, to their names. */
static void push_modules(lua_State *L)
{
    lua_newtable(L);
    int modules = lua_gettop(L);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    for (lua_pushnil(L); lua_next(L, modules + 1); lua_pop(L, 1)) {
        bool named = lua_type(L, -2) == LUA_TSTRING;
        if (!named || (!lua_istable(L, -1) && !lua_isfunction(L, -1)))
            continue;
        lua_pushvalue(L, -1);
        lua_pushvalue(L, -3);
        lua_rawset(L, modules);
    }
    lua_settop(L, modules);
}

/* Pushes a table from C functions that are fields of loaded modules to module and field, and from
 * the library's own C functions to true. The table is large, so it is made only when a function is
 * packed; parcels of mini-batches have none. */
static void push_functions(lua_State *L)
{
    lua_newtable(L);
    int names = lua_gettop(L);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    int loaded = names + 1;
    /* The globals first: a function that is a field elsewhere has its lasting name there. */
    lua_pushglobaltable(L);
    add_members(L, names, LUA_GNAME, names + 2);
    lua_pop(L, 1);
    for (lua_pushnil(L); lua_next(L, loaded); lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING)
            continue;
        const char *module = lua_tostring(L, -2);
        if (lua_istable(L, -1) && strcmp(module, LUA_GNAME) != 0)
            add_members(L, names, module, lua_gettop(L));
    }
    bind_push_docs(L);
    for (lua_pushnil(L); lua_next(L, names + 2); lua_pop(L, 1)) {
        lua_pushvalue(L, -2);
        lua_pushboolean(L, 1);
        lua_rawset(L, names);
    }
    lua_settop(L, names);
}

/* --- values ----------------------------------------------------------------------------------- */

static void pack_value(packer *k, int at, const step *where);

static void put(packer *k, const void *bytes, size_t n)
{
    bind_check(k->L, bind_parcel_write(k->p, bytes, n));
}

static void put_tag(packer *k, bind_tag tag)
{
    put(k, &(char){(char)tag}, 1);
}

static void put_integer(packer *k, bind_tag tag, lua_Integer n)
{
    put_tag(k, tag);
    put(k, &n, sizeof n);
}

static void put_string(packer *k, bind_tag tag, int at)
{
    size_t length;
    const char *text = lua_tolstring(k->L, at, &length);
    put_integer(k, tag, (lua_Integer)length);
    put(k, text, length);
}

/* Packs the number of a value that was met before and returns true; or gives it the next number and
 * returns false. Its key in `seen` is on top of the stack, and is popped. */
static bool put_seen(packer *k)
{
    lua_State *L = k->L;
    lua_pushvalue(L, -1);
    if (lua_rawget(L, k->seen) == LUA_TNUMBER) {
        put_integer(k, BIND_SEEN, lua_tointeger(L, -1));
        lua_pop(L, 2);
        return true;
    }
    lua_pop(L, 1);
    lua_pushinteger(L, ++k->n_seen);
    lua_rawset(L, k->seen);
    return false;
}

/* Pushes the name by which a table or a function crosses; true for a C function of the library; nil
 * for others. */
static void push_name(packer *k, int at)
{
    lua_State *L = k->L;
    lua_pushvalue(L, at);
    if (lua_rawget(L, k->modules) != LUA_TNIL || !lua_iscfunction(L, at))
        return;
    lua_pop(L, 1);
    if (lua_isnil(L, k->functions)) {
        push_functions(L);
        lua_replace(L, k->functions);
    }
    lua_pushvalue(L, at);
    lua_rawget(L, k->functions);
}

static bool put_name(packer *k, int at)
{
    lua_State *L = k->L;
    push_name(k, at);
    bool named = lua_type(L, -1) == LUA_TSTRING;
    if (named) {
        size_t length;
        const char *name = lua_tolstring(L, -1, &length);
        put_string(k, strlen(name) < length ? BIND_MEMBER : BIND_MODULE, -1);
    } else if (lua_toboolean(L, -1)) {
        const bind_function *f = bind_to_core(L, at);
        put_tag(k, BIND_C_FUNCTION);
        put(k, &f, sizeof f);
        named = true;
    }
    lua_pop(L, 1);
    return named;
}

static void pack_table(packer *k, int at, const step *where)
{
    lua_State *L = k->L;
    put_tag(k, BIND_TABLE);
    for (lua_pushnil(L); lua_next(L, at); lua_pop(L, 1)) {
        int key = lua_gettop(L) - 1;
        step field = {where, FIELD, "?", 0};
        if (lua_type(L, key) == LUA_TSTRING)
            field.name = lua_tostring(L, key);
        else if (lua_isinteger(L, key))
            field = (step){where, ELEMENT, NULL, lua_tointeger(L, key)};
        pack_value(k, key, &field);
        pack_value(k, key + 1, &field);
    }
    put_tag(k, BIND_END);
    if (!lua_getmetatable(L, at)) {
        put_tag(k, BIND_NIL);
        return;
    }
    lua_pushliteral(L, "__gc");
    if (lua_rawget(L, -2) != LUA_TNIL)
        refuse(k, where, "a table with a finalizer");
    lua_pop(L, 1);
    pack_value(k, lua_gettop(L), &(step){where, FIELD, "metatable", 0});
    lua_pop(L, 1);
}

static int append_code(lua_State *L, const void *bytes, size_t n, void *parcel)
{
    (void)L;
    return bind_parcel_write(parcel, bytes, n);
}

static void pack_function(packer *k, int at, const step *where)
{
    lua_State *L = k->L;
    if (lua_iscfunction(L, at))
        refuse(k, where, "a C function of no loaded module");
    put_integer(k, BIND_FUNCTION, 0);
    size_t begin = k->p->size;
    lua_pushvalue(L, at);
    bind_check(L, (ld_status)lua_dump(L, append_code, k->p, 0));
    lua_pop(L, 1);
    lua_Integer length = (lua_Integer)(k->p->size - begin), n = 0;
    memcpy(k->p->bytes + begin - sizeof length, &length, sizeof length);
    while (lua_getupvalue(L, at, (int)n + 1)) {
        lua_pop(L, 1);
        n++;
    }
    put(k, &n, sizeof n);
    for (int i = 1; i <= n; i++) {
        lua_pushlightuserdata(L, lua_upvalueid(L, at, i));
        if (put_seen(k))
            continue;
        put_tag(k, BIND_UPVALUE);
        const char *name = lua_getupvalue(L, at, i);
        pack_value(k, lua_gettop(L), &(step){where, UPVALUE, name, 0});
        lua_pop(L, 1);
    }
}

static void pack_userdata(packer *k, int at, const step *where)
{
    lua_State *L = k->L;
    const ld_rng *rng = luaL_testudata(L, at, BIND_RNG);
    if (rng) {
        put_tag(k, BIND_RNG_STATE);
        put(k, rng, sizeof *rng);
        return;
    }
    for (const bind_shared_class *class = bind_shared_classes; class->type; class ++) {
        void **object = luaL_testudata(L, at, class->type);
        if (!object)
            continue;
        put_integer(k, BIND_OBJECT, (lua_Integer)k->p->n_objects);
        ld_status st = *object ? bind_parcel_add(k->p, class, *object)
                               : ld_fail(LD_STATE, "it has been released");
        if (st == LD_STATE)
            refuse(k, where, lua_pushfstring(L, "%s (%s)", push_kind(L, at), ld_message()));
        bind_check(L, st);
        return;
    }
    refuse(k, where, push_kind(L, at));
}

/* Packs the value at this place of the stack. */
static void pack_value(packer *k, int at, const step *where)
{
    lua_State *L = k->L;
    luaL_checkstack(L, 16, "nested too deeply");
    if (++k->depth > DEEPEST)
        bind_error(L, "tables nested deeper than %d cannot cross %s", DEEPEST, k->whither);
    switch (lua_type(L, at)) {
    case LUA_TNIL: put_tag(k, BIND_NIL); break;
    case LUA_TBOOLEAN: put_tag(k, lua_toboolean(L, at) ? BIND_TRUE : BIND_FALSE); break;
    case LUA_TSTRING: put_string(k, BIND_STRING, at); break;
    case LUA_TNUMBER:
        if (lua_isinteger(L, at)) {
            put_integer(k, BIND_INTEGER, lua_tointeger(L, at));
        } else {
            lua_Number x = lua_tonumber(L, at);
            put_tag(k, BIND_NUMBER);
            put(k, &x, sizeof x);
        }
        break;
    case LUA_TTHREAD: refuse(k, where, "a coroutine"); break;
    case LUA_TLIGHTUSERDATA: refuse(k, where, "a pointer"); break;
    default:
        if (put_name(k, at))
            break;
        lua_pushvalue(L, at);
        if (put_seen(k))
            break;
        if (lua_istable(L, at))
            pack_table(k, at, where);
        else if (lua_isfunction(L, at))
            pack_function(k, at, where);
        else
            pack_userdata(k, at, where);
    }
    k->depth--;
}

bind_parcel **bind_pack(lua_State *L, int first, int n, const char *whither)
{
    luaL_checkstack(L, 8, NULL);
    bind_parcel **p = bind_new_parcel(L);
    if (!(*p = ld_calloc_array(1, sizeof **p, LD_MEM_SCRATCH)))
        bind_error(L, "%s", ld_message());
    int top = lua_gettop(L);
    packer k = {.L = L, .p = *p, .whither = whither};
    lua_newtable(L);
    k.seen = lua_gettop(L);
    push_modules(L);
    k.modules = lua_gettop(L);
    lua_pushnil(L);
    k.functions = lua_gettop(L);
    for (int i = 0; i < n; i++)
        pack_value(&k, first + i, NULL);
    (*p)->n_values = n;
    lua_settop(L, top);
    return p;
}
