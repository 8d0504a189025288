/* Dense products whose factors are rounded to bfloat16 (8 bits of exponent as a float has, 8 of
 * significand), on processors that multiply such numbers many times faster than floats. */
#ifndef LD_KERNEL_BFLOAT16_H
#define LD_KERNEL_BFLOAT16_H

#include <stdint.h>

#include "base/status.h"
#include "kernel/gemm.h"

/* Returns the units that multiply: "AMX", "AVX512-BF16", or NULL where the processor has neither,
 * or LADIES_ISA holds them back (avx512: AMX alone). */
const char *ld_bfloat16_units(void);

/* The message of the error where that is NULL. */
#define LD_NO_BFLOAT16                                                                             \
    "nothing multiplies bfloat16 here (AMX, AVX512-BF16): this processor has neither, or "         \
    "LADIES_ISA holds them back"

/* Computes rows begin .. end-1 of c. Each element of a and b is rounded to the nearest bfloat16,
 * ties to even; sums are floats. Numbers below 2^-126 in size count as 0. The bits depend on the
 * units and on k alone: not on the number of threads nor on the other rows and columns. Fails with
 * LD_STATE without units. */
ld_status ld_bfloat16_rows(const ld_product *p, int64_t begin, int64_t end);

#endif
