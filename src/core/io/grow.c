#include "io/grow.h"

#include <string.h>

#include "base/memory.h"

enum { SMALLEST = 128, LARGEST = 1 << 16 };

ld_status ld_grow_more(ld_grow *g)
{
    int64_t room = g->count / 8;
    room = room < SMALLEST ? SMALLEST : room > LARGEST ? LARGEST : room;
    ld_piece *p = ld_alloc(sizeof *p + (size_t)room * sizeof(ld_cell), LD_MEM_IO);
    if (!p)
        return LD_NOMEM;
    p->next = NULL;
    p->at = p->cells;
    p->end = p->cells + room;
    if (g->last)
        g->last->next = p;
    else
        g->first = p;
    g->last = p;
    g->count += room;
    return LD_OK;
}

static void drop_first(ld_grow *g)
{
    ld_piece *p = g->first;
    g->first = p->next;
    ld_free(p);
}

static void drain(ld_grow *g, void *out)
{
    for (char *to = out; g->first; drop_first(g)) {
        size_t size = (size_t)(g->first->at - g->first->cells) * sizeof(ld_cell);
        memcpy(to, g->first->cells, size);
        to += size;
    }
    *g = (ld_grow){0};
}

ld_status ld_grow_index(ld_index **out, ld_grow *g)
{
    ld_status st = ld_index_new(out, ld_grow_count(g));
    if (st == LD_OK)
        drain(g, (*out)->data);
    return st;
}

ld_status ld_grow_tensor(ld_tensor **out, ld_grow *g, int64_t n_cols)
{
    int64_t count = ld_grow_count(g);
    ld_status st = n_cols > 0 ? ld_tensor_new(out, 2, count / n_cols, n_cols)
                              : ld_tensor_new(out, 1, count, 1);
    if (st == LD_OK)
        drain(g, (*out)->data);
    return st;
}

void ld_grow_clear(ld_grow *g)
{
    while (g->first)
        drop_first(g);
    *g = (ld_grow){0};
}
