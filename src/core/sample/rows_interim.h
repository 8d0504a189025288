/* A minimal A:sample_rows, until the whole one is there. */
#ifndef LD_SAMPLE_ROWS_INTERIM_H
#define LD_SAMPLE_ROWS_INTERIM_H

#include "base/rng.h"
#include "graph/csr.h"

/* At most k entries of each of the rows, as ld_csr_slice gives them. */
ld_status ld_sample_rows_interim(ld_csr **out, ld_index **src, ld_csr *a, const ld_index *rows,
                                 int64_t k, const ld_index *first, ld_rng *rng);

#endif
