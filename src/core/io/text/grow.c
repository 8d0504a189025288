#include "io/text/grow.h"

ld_status ld_grow_more(ld_grow *g, int64_t more, double share, ld_memory_tag tag)
{
    enum { SMALLEST = 128, FURTHEST = 16 }; /* a file that lies gets no more than that many times */
    int64_t count = g->count + more, room = count + count / 8, most = count * FURTHEST;
    double expected = share > 0 ? (double)count / share * (1 + 1.0 / 64) : 0;
    if (count <= g->room)
        return LD_OK;
    if (expected > (double)room)
        room = expected < (double)most ? (int64_t)expected : most;
    room = room < SMALLEST ? SMALLEST : room;
    return ld_resize(&g->cells, &g->room, g->count, room, sizeof *g->cells, tag);
}

void *ld_grow_block(ld_grow *g)
{
    void *block = g->cells;
    *g = (ld_grow){0};
    return block;
}

ld_status ld_grow_index(ld_index **out, ld_grow *g)
{
    int64_t count = g->count;
    return count > 0 ? ld_index_of_block(out, ld_grow_block(g), count) : ld_index_new(out, 0);
}

ld_status ld_grow_tensor(ld_tensor **out, ld_grow *g, int64_t n_cols)
{
    int ndim = n_cols > 0 ? 2 : 1;
    int64_t cols = n_cols > 0 ? n_cols : 1, rows = g->count / cols;
    return g->count > 0 ? ld_tensor_of_block(out, ld_grow_block(g), ndim, rows, cols)
                        : ld_tensor_new(out, ndim, 0, cols);
}

void ld_grow_clear(ld_grow *g)
{
    ld_free(g->cells);
    *g = (ld_grow){0};
}
