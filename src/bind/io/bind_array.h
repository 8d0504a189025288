/* Converts Lua values to .npy arrays (bind_array.c), and arrays to Lua values
 * (bind_array_read.c). */
#ifndef LD_BIND_ARRAY_H
#define LD_BIND_ARRAY_H

#include "io/array/npy.h"
#include "state/bind.h"

/* The class of numbers or texts that are ready to be written; npz.int16 and its like make them. */
#define BIND_ARRAY "ladies.Array"

/* The `kind` of the function that makes an Array of bfloat16. */
enum { BIND_BFLOAT16 = 12 };

/* Pushes a value that bind_to_array takes: the value at `arg` itself when it is a Tensor, Index,
 * Rows, Array or string, else an Array of the numbers or texts in it. `where` begins the
 * messages. */
void bind_push_array(lua_State *L, int arg, const char *where);

/* Returns the array of such a value; its elements are the value's, so nothing is allocated. */
ld_npy_array bind_to_array(lua_State *L, int arg);

/* Converts a table of arrays by name at `arg`. Pushes a table that keeps the arrays alive and the
 * list that core takes, and returns the list and its length. `where` begins the messages. */
ld_npy_array *bind_push_arrays(lua_State *L, int64_t *count, int arg, const char *where);

/* The body of npz.int16 and its like, which make an Array of the type in their name. */
ld_status bind_convert_array(bind_call *c);

/* A kind of Lua value that an array can be read as. */
typedef struct {
    const char *name;
    const char *type; /* the class of the object whose place load fills */
    ld_status (*load)(void *place, const ld_npy_header *h, ld_source *s);
    /* Replaces the userdata on top of the stack by the result; NULL when it is the result. */
    void (*convert)(lua_State *L, const ld_npy_header *h, void *place);
} bind_form;

enum {
    BIND_FORM_TENSOR,
    BIND_FORM_INDEX,
    BIND_FORM_NUMBERS,
    BIND_FORM_STRINGS,
    BIND_FORM_TEXT,
    BIND_FORM_ROWS,
    BIND_FORMS
};

extern const bind_form bind_forms[BIND_FORMS];

/* The class of open .npz archives. */
#define BIND_NPZ "ladies.Npz"

/* The bodies of methods f(name) of open .npz and safetensors files. They push an array in the form
 * `kind` of the method, its dimensions as a table, and its type as NumPy prints it. */
ld_status bind_read_array(bind_call *c);
ld_status bind_read_shape(bind_call *c);
ld_status bind_read_dtype(bind_call *c);

/* Pushes the dimensions of an array as a table. */
void bind_push_shape(lua_State *L, const ld_npy_header *h);

/* Reads the array of this header in that form, into the result of the call or onto the stack. */
ld_status bind_load(bind_call *c, const bind_form *as, const ld_npy_header *h, ld_source *s);

/* Returns the form that an array has where the user asks for none. */
const bind_form *bind_natural_form(const ld_npy_header *h);

#endif
