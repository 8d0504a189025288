/* Random graphs that do not fit in memory; this needs the plugin for such graphs. */
#ifndef LD_GENERATE_CHUNG_LU_RUNS_H
#define LD_GENERATE_CHUNG_LU_RUNS_H

#include "generate/generate.h"
#include "large/edge_runs.h"

/* Makes the graph of ld_generate_chung_lu in bounded memory: `runs`, without the entries of
 * `dropped`, are its entries; both are new ones of labels->size rows and columns, whose folder has
 * room for 16 bytes for each edge and a quarter. Memory meanwhile: 28 bytes a node, a bit for each
 * edge, and about `memory`, or 24 bytes for each entry of a range and thread where that is more. */
ld_status ld_generate_chung_lu_runs(ld_edge_runs *runs, ld_edge_runs *dropped,
                                    const ld_tensor *weights, const ld_index *labels,
                                    int64_t entries, double inside, int64_t memory, ld_rng *rng);

#endif
