/* Values on their way from one Lua state to another. A parcel belongs to neither state: it is
 * bytes, and references of core's objects. So one thread may fill it and another empty it, any
 * number of times, without meeting in a state.
 *
 * nil, booleans, numbers and strings cross as they are. Tables are copied with their metatables,
 * and functions as their code and upvalues, recursively; values that share a table have copies that
 * share one. Loaded modules cross by name, and with them the globals, which are the module _G; C
 * functions cross if they are the library's or fields of a loaded module. Tensors, indices,
 * matrices and alias tables are frozen and shared; generators are copied. Anything else is an error
 * that says where it was found. */
#ifndef LD_BIND_PARCEL_H
#define LD_BIND_PARCEL_H

#include "state/bind.h"

/* A class whose objects several states may hold. Its userdata is one pointer to the object. */
typedef struct {
    const char *type;
    /* Freezes the object and gives another reference. */
    ld_status (*share)(void **out, void *object);
    void (*drop)(void *object);
} bind_shared_class;

/* The classes of shared objects; the list ends with a NULL type. */
extern const bind_shared_class bind_shared_classes[];

typedef struct {
    const bind_shared_class *class;
    void *object;
} bind_shared_object;

typedef struct {
    char *bytes;
    size_t size;
    int64_t capacity;
    bind_shared_object *objects;
    size_t n_objects;
    int64_t object_capacity;
    int n_values;
} bind_parcel;

/* The tags of values: the bytes of a parcel are tags, each followed by its contents. Tables,
 * functions, upvalues and userdata are numbered in the order of their first appearance. */
typedef enum {
    BIND_NIL,
    BIND_FALSE,
    BIND_TRUE,
    BIND_INTEGER,
    BIND_NUMBER,
    BIND_STRING, /* length, bytes */
    BIND_SEEN,   /* the number of a value or an upvalue that came before */
    BIND_MODULE, /* string: what `require` gives for it */
    BIND_MEMBER, /* string: module, a zero byte, the name of its field */
    BIND_TABLE,  /* keys and values, BIND_END, the metatable */
    BIND_END,
    BIND_FUNCTION, /* string: its code; how many upvalues; each as BIND_SEEN or BIND_UPVALUE */
    BIND_UPVALUE,  /* its value */
    BIND_C_FUNCTION,
    BIND_OBJECT, /* its place among the parcel's objects */
    BIND_RNG_STATE
} bind_tag;

/* Packs the n values of the stack from `first` on, and pushes a userdata that owns the parcel. An
 * error reads "upvalue 'cache.file' is a file, which cannot cross WHITHER". */
bind_parcel **bind_pack(lua_State *L, int first, int n, const char *whither);

/* Pushes the values of a parcel, which stays as it is. */
void bind_unpack(lua_State *L, const bind_parcel *p);

/* Pushes a userdata that owns the parcel which the caller puts into it. */
bind_parcel **bind_new_parcel(lua_State *L);

/* Frees a parcel; NULL is allowed. */
void bind_parcel_free(bind_parcel *p);
LD_OWNED_BY(bind_parcel, bind_parcel_free)

/* Append bytes, or an object, to which the parcel takes a reference. */
ld_status bind_parcel_write(bind_parcel *p, const void *bytes, size_t n);
ld_status bind_parcel_add(bind_parcel *p, const bind_shared_class *class, void *object);

#endif
