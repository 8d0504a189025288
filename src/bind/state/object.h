/* Finds objects of core on the Lua stack and makes new ones there.
 *
 * Objects are userdata that hold one counted reference. A function first pushes the userdata of its
 * result, then lets core fill it, then raises an error if core failed. So nothing is left hanging
 * when Lua unwinds. */
#ifndef LD_BIND_OBJECT_H
#define LD_BIND_OBJECT_H

#include <lua.h>

#include "graph/csr.h"
#include "random/rng.h"
#include "tensor/index.h"
#include "tensor/stored_rows.h"
#include "tensor/tensor.h"

#define BIND_TENSOR "ladies.Tensor"
#define BIND_INDEX  "ladies.Index"
#define BIND_ROWS   "ladies.Rows"
#define BIND_MATRIX "ladies.Matrix"
#define BIND_RNG    "ladies.Rng"
#define BIND_ALIAS  "ladies.Alias"
#define BIND_NAMES  "ladies.Names"
#define BIND_INPUT  "ladies.Input"  /* a file that may be packed: ld_gz */
#define BIND_BUFFER "ladies.Buffer" /* memory of ld_alloc, which an error frees */

/* Return the object at arg, which must be of a class whose userdata is a pointer to it. A value of
 * another class is an error in bind_object and NULL in bind_to_object. A closed object is an error
 * in both; its finalizer closes it, too. */
void *bind_object(lua_State *L, int arg, const char *type);
void *bind_to_object(lua_State *L, int arg, const char *type);

/* Push an empty userdata of such a class and return the place of its object, for core to fill. */
void **bind_new_object(lua_State *L, const char *type);
ld_tensor **bind_new_tensor(lua_State *L);
ld_index **bind_new_index(lua_State *L);
ld_rows **bind_new_rows(lua_State *L);
ld_csr **bind_new_matrix(lua_State *L);
ld_rng *bind_new_rng(lua_State *L);

/* Return the object at a stack position; anything else there is an argument error, and so is a
 * tensor of a closed step. These are for functions that pass no gradient on. They refuse a tensor
 * or a matrix that carries one while a step records, and a matrix where bind_expects_step, so that
 * no gradient is lost without a word. */
ld_tensor *bind_tensor(lua_State *L, int arg);
ld_index *bind_index(lua_State *L, int arg);
ld_csr *bind_matrix(lua_State *L, int arg);
ld_rng *bind_rng(lua_State *L, int arg);

/* Return a tensor or a matrix with a gradient or without. They are for functions that pass it on,
 * that use no values, or that make neither a tensor nor a matrix. */
ld_tensor *bind_operand(lua_State *L, int arg);
ld_csr *bind_any_matrix(lua_State *L, int arg);

/* Return a matrix, and a tensor that becomes a factor of one, for operations that pass a gradient
 * on. Matrices are kept and used in later steps. So one that carries a gradient is an error where
 * bind_expects_step: the result would be a constant, and later steps would miss the gradient. */
ld_csr *bind_matrix_operand(lua_State *L, int arg);
ld_tensor *bind_factor(lua_State *L, int arg);

/* Returns a tensor that may be changed in place. It is an error if a tape may still need the tensor
 * as it is, or if workers share it. */
ld_tensor *bind_writable_tensor(lua_State *L, int arg);

/* Return the object, or NULL when the value is of any other type. */
ld_tensor *bind_to_tensor(lua_State *L, int arg);
ld_tensor *bind_to_operand(lua_State *L, int arg);
ld_index *bind_to_index(lua_State *L, int arg);

/* Returns true if gradients flow through t here: it carries one, and a step records. */
bool bind_passes_gradient(lua_State *L, const ld_tensor *t);

/* Raises an error that begins with `where` when the value is a tensor that carries a gradient while
 * a step records, or a matrix that carries one then or where bind_expects_step. */
void bind_check_constant(lua_State *L, int arg, const char *where);

/* Pushes a userdata with the objects in the Lua array at arg, which must be of one class, and
 * returns it; *n is their number. Tensors may carry a gradient, and matrices may not. */
void *bind_push_list(lua_State *L, int arg, const char *type, int64_t *n);

/* Pushes a userdata with the bounds of ranks at arg and returns it: element r is the number of rows
 * before those of rank r, and the last the number of all rows. For nil it pushes nothing and
 * returns NULL, with *n_owners = 0. */
int64_t *bind_push_bounds(lua_State *L, int arg, int *n_owners);

/* Pushes a hash as 16 hexadecimal digits and returns these. */
const char *bind_push_hash(lua_State *L, uint64_t hash);

#endif
