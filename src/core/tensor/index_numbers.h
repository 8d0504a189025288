/* Arithmetic and comparisons of ids, and their conversion from and to tensors. The numbers are
 * those that users see, from 1 on, with 0 for none; in an ld_index each is one less. */
#ifndef LD_TENSOR_INDEX_NUMBERS_H
#define LD_TENSOR_INDEX_NUMBERS_H

#include <stdint.h>

#include "base/status.h"
#include "kernel/map.h"
#include "random/rng.h"
#include "tensor/index.h"
#include "tensor/tensor.h"

/* An operand: the numbers of an index, or one number where `index` is NULL. */
typedef struct {
    const ld_index *index;
    int64_t number; /* -INT32_MAX .. INT32_MAX */
} ld_numbers;

/* The operations. As in Lua a quotient is rounded down, and a remainder has the sign of the
 * divisor. */
typedef enum { LD_INDEX_ADD, LD_INDEX_SUB, LD_INDEX_MUL, LD_INDEX_DIV, LD_INDEX_MOD } ld_id_arith;

/* Computes a op b, element by element; at least one of them is an index. Fails with LD_SHAPE when
 * both are and differ in length, and with the position in LD_VALUE for a division by zero and in
 * LD_RANGE for a result that is no id, 0 .. INT32_MAX. */
ld_status ld_index_arith(ld_index **out, ld_id_arith kind, ld_numbers a, ld_numbers b);

/* Compares elements: gives a vector with 1 where the comparison of an element of x with b holds and
 * 0 elsewhere. Fails with LD_SHAPE as above. */
ld_status ld_index_compare(ld_tensor **out, ld_comparison kind, const ld_index *x, ld_numbers b);

/* Copies the numbers to a vector. Fails with LD_RANGE and the position of a number above 2^24, past
 * which float32 skips integers. */
ld_status ld_index_to_tensor(ld_tensor **out, const ld_index *x);

/* Copies the elements of a vector to an index. Fails with LD_VALUE and the position of one that is
 * no integer 0 .. INT32_MAX. */
ld_status ld_tensor_to_index(ld_index **out, const ld_tensor *t);

/* Draws a uniform number in (0, 1) for each id, a function of the sub-stream and the id alone. */
ld_status ld_uniform_of(ld_tensor **out, const ld_index *ids, ld_rng *rng);

#endif
