/* Classes of Lua: each makes a type of core's, such as ld_tensor, an object with methods, fields
 * and operators. */
#ifndef LD_BIND_CLASS_H
#define LD_BIND_CLASS_H

#include "state/function.h"

/* A class. The userdata of an object is a pointer to a value of core, which `drop` frees. Where
 * there is no `drop` it is the value itself, and the collector calls `release` with it. */
typedef struct bind_class {
    const char *name; /* "ladies.Tensor" */
    void (*drop)(void *object);
    lua_CFunction release;
    bool closes; /* a <close> variable lets go of the object at the end of its scope */

    /* The methods and the operators, which are metamethods. The documentation of the latter is kept
     * in the metatable's __operators. */
    const bind_function *methods, *operators;

    /* The fields as "n_rows:integer" and so on, up to NULL, and the function that pushes the one
     * called `key` of the object at 1. */
    const char *const *fields;
    void (*get)(lua_State *L, const char *key);

    /* Pushes object[key] for a key that is not a string; both are on the stack. */
    bind_body *element;

    /* Pushes one line about an object, for tostring. Objects that are closed read "KIND,
     * closed". */
    void (*describe)(lua_State *L, const void *object);
    const char *closed; /* instead of "closed" */
} bind_class;

/* Registers a class: makes its metatable with all that the table above says. */
void bind_open_class(lua_State *L, const bind_class *class);

/* Add methods or operators to a class that is registered already, for files that extend it. */
void bind_methods(lua_State *L, const bind_class *class, const bind_function *list);
void bind_operators(lua_State *L, const bind_class *class, const bind_function *list);

/* Raises "KIND has no field or method KEY; did you mean ...?" for the key at 2. */
int bind_no_field(lua_State *L, const char *type);

#endif
