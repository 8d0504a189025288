/* Helpers that several files of functions of tensors share: arguments and results. */
#ifndef LD_BIND_TENSOR_H
#define LD_BIND_TENSOR_H

#include "state/bind.h"

/* Returns the optional argument `dim` of a function of t: 1 for results over the rows, 2 for those
 * over the columns, 0 where it is not given. */
int bind_dimension(bind_call *c, const ld_tensor *t);

/* Returns the argument `power`, which must be 1 or 2. */
int bind_power(bind_call *c);

/* Pushes an element as a number, or as a tensor of one element where a gradient must go on. */
ld_status bind_push_element(bind_call *c, ld_tensor *t, int64_t position);

/* Pushes true where `at`, the position of an element that is not finite, is less than 0. Otherwise
 * pushes false, the element, its row and its column, in rows of n_cols elements. */
void bind_push_finite(bind_call *c, int64_t at, float value, int64_t n_cols);

/* Pushes an Index of the positions at which a mask is not 0, and returns it. The mask is at arg, a
 * vector of n elements. */
ld_index *bind_push_positions(lua_State *L, int arg, int64_t n);

#endif
