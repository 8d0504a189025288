/* A marker remembers a position for each of n ids, with O(1) clearing: every entry carries the
 * round in which it was written. It makes relabelling, de-duplication and membership cost time in
 * proportion to the ids touched rather than to n. Markers come from a shared store and keep their
 * memory (8 bytes per id), so taking one is cheap. */
#ifndef LD_GRAPH_MARKER_H
#define LD_GRAPH_MARKER_H

#include <stdint.h>

#include "base/own.h"
#include "base/status.h"

typedef struct {
    uint32_t round;
    int32_t position;
} ld_mark;

typedef struct ld_marker {
    ld_mark *marks;
    int64_t size;
    uint32_t round;
    struct ld_marker *next;
} ld_marker;

/* Takes a cleared marker for ids 0 .. n-1, which is given back with ld_marker_put. */
ld_status ld_marker_take(ld_marker **out, int64_t n);

/* Gives a marker back to the store; NULL is allowed. */
void ld_marker_put(ld_marker *m);
LD_OWNED_BY(ld_marker, ld_marker_put)

/* Forgets everything that is marked. */
void ld_marker_clear(ld_marker *m);

/* Frees the store. */
void ld_marker_trim(void);

/* Returns the position stored for an id, or -1. */
static inline int32_t ld_marker_get(const ld_marker *m, int32_t id)
{
    return m->marks[id].round == m->round ? m->marks[id].position : -1;
}

static inline void ld_marker_set(ld_marker *m, int32_t id, int32_t position)
{
    m->marks[id] = (ld_mark){m->round, position};
}

#endif
