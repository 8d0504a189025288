/* Makes functions of C callable from Lua. The documentation of a function is its declaration: by
 * the signature in it, arguments are checked and converted before the call, and results are made.
 * So the function itself is one call of core. */
#ifndef LD_BIND_FUNCTION_H
#define LD_BIND_FUNCTION_H

#include <lauxlib.h>
#include <lua.h>

#include "base/status.h"
#include "grad/tape.h"
#include "graph/csr.h"
#include "random/rng.h"
#include "tensor/index.h"
#include "tensor/stored_rows.h"
#include "tensor/tensor.h"

/* The value of an argument or an option, by its type. One that is left out has its default, or else
 * NULL, 0 or false. A word is its place among the words of the signature. A value of another type,
 * or of one of several types, is only on the stack. */
typedef union {
    ld_tensor *tensor;
    ld_index *index;
    ld_csr *matrix;
    ld_rows *rows;
    ld_rng *rng;
    void *object; /* an object of another class; for a method's own see bind_class */
    lua_Number number;
    lua_Integer integer; /* BIND_COUNT and BIND_WORD, too */
    const char *text;
    bool flag;
} bind_value;

/* A result: the place in a userdata that core is to fill, or the value itself. */
typedef union {
    ld_tensor **tensor;
    ld_index **index;
    ld_csr **matrix;
    ld_rows **rows;
    ld_rng *rng;
    lua_Number number;
    lua_Integer integer;
    bool flag;
} bind_result;

/* Tables of functions and classes leave out what does not apply to one. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

struct bind_class;

/* A call of a function. Argument i is in[i] and at place i + 1 of the stack; the object of a method
 * is argument 0. The options come behind the arguments, in the order of the signature. */
typedef struct {
    lua_State *L;
    ld_tape *tape; /* bind_tape's for functions that pass gradients on, else NULL */
    const struct bind_class *class;
    int kind;             /* the function's own, of bind_function */
    int given;            /* the number of arguments in the call */
    int n_made, n_pushed; /* results made before the body runs; pushed by it */
    bind_value in[17];
    bind_result out[4];
} bind_call;

typedef ld_status bind_body(bind_call *c);

/* The declaration of a function, a method or an operator. `doc` is the text that help() shows: the
 * signature (state/signature.h), then what the function does, shapes, errors and the source of a
 * formula.
 *
 * The body fills c->out. Where a result has a type that bind_result lacks, the body pushes all
 * results, as many as the signature has or c->n_pushed. More arguments than the signature has are
 * an error, unless they are nil.
 *
 * Tensors and matrices that carry a gradient are refused while a step records, so that no function
 * loses one without a word. Three lists of parameters, by their names with blanks between, make
 * exceptions: the function `passes` their gradient on; it only `reads` them, because it makes
 * neither a tensor nor a matrix of them or does not use their values; or it `changes` a Tensor in
 * place. */
typedef struct {
    const char *name;
    bind_body *body;
    const char *doc;
    const char *passes, *reads, *changes;
    int kind;          /* tells functions with one body apart */
    lua_CFunction raw; /* instead of a body: reads its arguments from the stack itself */
} bind_function;

/* Adds functions to the table on top of the stack; the list ends with a NULL name. */
void bind_functions(lua_State *L, const bind_function *list);

/* Adds the methods of a class to the table on top of the stack. */
void bind_functions_of(lua_State *L, const bind_function *list, const struct bind_class *class);

/* The raw function of operators that a class lacks: an error, the text below the first line of the
 * documentation, which says what there is in their place. */
int bind_absent(lua_State *L);

/* The raw function of methods that close an object; closing it a second time does nothing. */
int bind_close(lua_State *L);

/* Pushes an operator, whose documentation begins with how it is written: "t + u -> Tensor". */
void bind_push_operator(lua_State *L, const bind_function *f, const struct bind_class *class);

/* Pushes the glossary of signatures, a table from a type to the names that have it, with blanks
 * between. */
void bind_push_glossary(lua_State *L);

/* Return the entry of bind_functions that the function at `at` was made of, and push the function
 * that this Lua state has for an entry. By these, functions pass from one state to another. */
const bind_function *bind_to_core(lua_State *L, int at);
void bind_push_core(lua_State *L, const bind_function *function);

#endif
