/* Lists of edges, and matrices that keep every one of them; lua/ladies/data/edges is what users
 * see. */
#include "graph/edge_list.h"
#include "state/bind.h"

static ld_status edge_order(bind_call *c)
{
    int64_t n;
    ld_index **keys = bind_push_list(c->L, 1, BIND_INDEX, &n);
    return ld_edge_order(c->out[0].index, keys, n);
}

static ld_status edge_one_way(bind_call *c)
{
    int64_t n;
    ld_index **keys = bind_push_list(c->L, 1, BIND_INDEX, &n);
    return ld_edge_one_way(c->out[0].index, keys, n);
}

static ld_status edge_matrix(bind_call *c)
{
    return ld_csr_from_list(c->out[0].matrix, c->out[1].index, c->in[1].integer, c->in[2].integer,
                            c->in[3].index, c->in[4].index, c->in[5].tensor);
}

static ld_status matrix_align(bind_call *c)
{
    return ld_csr_align(c->out[0].index, c->in[0].matrix, c->in[1].matrix);
}

static const bind_function functions[] = {
    {"edge_order", edge_order,
     "ladies.edge_order(keys: Index[]) -> Index\n"
     "The positions in Indexes of equal length, ordered by the elements of the first, then of the\n"
     "second and so on, and where all are equal by position."},
    {"edge_one_way", edge_one_way,
     "ladies.edge_one_way(keys: Index[]) -> Index\n"
     "The ascending positions of the edges without a reverse. The first two Indexes have the ends\n"
     "of edges; further ones, such as types, must be the same in an edge and its reverse. A loop is\n"
     "its own reverse."},
    {"edge_matrix", edge_matrix,
     "ladies.edge_matrix{n_rows=, n_cols=, rows=Index, cols=Index [, values=Tensor]}\n"
     "  -> Matrix, Index\n"
     "A sparse matrix from coordinates that keeps every entry, as ladies.matrix does not: those of\n"
     "one place stand behind each other, in the order in which they are given. Entry e is\n"
     "coordinate order[e] of the Index that comes second."},
    {NULL, NULL, NULL},
};

static ld_status matrix_is_simple(bind_call *c)
{
    c->out[0].flag = ld_structure_is_canonical(c->in[0].matrix->s);
    return LD_OK;
}

static const bind_function methods[] = {
    {"is_simple", matrix_is_simple,
     "A:is_simple() -> boolean\n"
     "Whether the columns of every row ascend, none of them twice: of a graph, whether it has no\n"
     "parallel edges.",
     .reads = "A"},
    {"align", matrix_align,
     "P:align(A: Matrix) -> Index\n"
     "For each entry of P its position in A, or 0 for an entry on the diagonal that A does not\n"
     "have. P is made of A by A:normalize or a similar function, so it has A's entries in A's\n"
     "order; the k-th of parallel entries of P is the k-th of those of A. An error where P has\n"
     "other entries.",
     .reads = "P A"},
    {NULL, NULL, NULL},
};

const bind_subject bind_subject_edge_list = {.extends = {{&bind_matrix_class, methods}},
                                             .functions = {{functions}}};
