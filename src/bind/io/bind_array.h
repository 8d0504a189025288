/* Lua values as .npy arrays (bind_array.c), and arrays as Lua values (bind_form.c). */
#ifndef LD_BIND_ARRAY_H
#define LD_BIND_ARRAY_H

#include "io/array/npy.h"
#include "state/bind.h"

/* Numbers or texts that are ready to be written; made by npz.int16(...) and its like. */
#define BIND_ARRAY "ladies.Array"

/* Pushes something that bind_to_array takes: the value at `arg` itself when it is a Tensor, Index,
 * Array or string, else an Array of the numbers or texts in it. `where` begins the messages. */
void bind_push_array(lua_State *L, int arg, const char *where);

/* The array of such a value; its data is the value's. Allocates nothing. */
ld_npy_array bind_to_array(lua_State *L, int arg);

/* Pushes what the table of arrays by name at `arg` holds, as a table that keeps it alive and the
 * list that core takes, and returns that and its length. `where` begins the messages. */
ld_npy_array *bind_push_arrays(lua_State *L, int64_t *count, int arg, const char *where);

/* Pushes the Tensor, Index, number or table at 1 as an Array of the type of this name; the function
 * that is called so is ROOM.NAME. */
int bind_convert_array(lua_State *L, const char *room, const char *name);

/* What an array can be read as. */
typedef struct {
    const char *name;
    /* Pushes a userdata and returns the place in it that load fills. */
    void *(*prepare)(lua_State *L);
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

/* Begins to read the array of this name in an open file. */
typedef ld_status bind_begin_array(ld_npy_header *h, ld_source **s, void *file, const char *name);

/* Pushes the array whose name is at 2 in that form: what methods of files of arrays do. */
int bind_read_array(lua_State *L, void *file, bind_begin_array *begin, int form);

/* Push its dimensions, a table, and its type as NumPy prints it. */
int bind_read_shape(lua_State *L, void *file, bind_begin_array *begin);
int bind_read_dtype(lua_State *L, void *file, bind_begin_array *begin);

/* What fits an array of this type best. */
const bind_form *bind_natural_form(const ld_npy_header *h);

void bind_open_forms(lua_State *L);

/* Registers the class, and adds int16 and its like to the table on top of the stack. */
void bind_open_array(lua_State *L);

#endif
