/* Matrix: questions about pairs of nodes. */
#include "graph/csr.h"
#include "state/bind.h"

static ld_status matrix_find(bind_call *c)
{
    return ld_csr_find(c->out[0].index, c->in[0].matrix, c->in[1].index, c->in[2].index);
}

static ld_status matrix_has(bind_call *c)
{
    return ld_csr_has(c->out[0].tensor, c->in[0].matrix, c->in[1].index, c->in[2].index);
}

static ld_status matrix_common_neighbours(bind_call *c)
{
    return ld_csr_common(c->out[0].tensor, c->in[0].matrix, c->in[1].index, c->in[2].index,
                         c->in[3].tensor);
}

static const bind_function methods[] = {
    {"find", matrix_find,
     "A:find(rows: Index, cols: Index) -> Index\n"
     "For each pair (rows[i], cols[i]) the position of its entry among those of A, 0 where A has\n"
     "none: A:entry_values()[at] are their values where there are. A pair costs the logarithm of the\n"
     "entries in its row; in a slice, whose rows may be in any order, these entries.",
     .reads = "A"},
    {"has", matrix_has,
     "A:has(rows: Index, cols: Index) -> Tensor\n"
     "1 for each pair (rows[i], cols[i]) that A has an entry for, 0 for the others: whether there is\n"
     "an edge from node cols[i] to node rows[i]. Costs as A:find, and is a mask as t:above gives.",
     .reads = "A"},
    {"common_neighbours", matrix_common_neighbours,
     "A:common_neighbours(a: Index, b: Index [, w]) -> Tensor\n"
     "For each pair of rows a[i] and b[i] the number of columns that both have an entry in; with the\n"
     "vector w the sum of these columns' elements of it: w = 1 / log(degree) is the index of Adamic\n"
     "and Adar (2003), w = 1 / degree resource allocation (Zhou et al. 2009). A's values do not\n"
     "matter; w is a constant. Costs the entries of both rows, or less where one is far shorter.",
     .reads = "A"},
    {NULL, NULL, NULL},
};

const bind_subject bind_subject_pairs = {.extends = {{&bind_matrix_class, methods}}};
