/* The store of markers, from which threads take them and to which they give them back. */
#include "graph/marker.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "memory/memory.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static ld_marker *store;

static ld_marker *take_stored(int64_t n)
{
    pthread_mutex_lock(&lock);
    ld_marker **link = &store;
    while (*link && (*link)->size < n)
        link = &(*link)->next;
    ld_marker *m = *link;
    if (m)
        *link = m->next;
    pthread_mutex_unlock(&lock);
    return m;
}

ld_status ld_marker_take(ld_marker **out, int64_t n)
{
    ld_marker *m = take_stored(n);
    if (!m) {
        m = ld_alloc(sizeof *m, LD_MEM_SCRATCH);
        if (!m)
            return LD_NOMEM;
        m->size = n < 1024 ? 1024 : n;
        m->round = 0;
        m->marks = ld_calloc_array(m->size, sizeof *m->marks, LD_MEM_SCRATCH);
        if (!m->marks) {
            ld_free(m);
            return LD_NOMEM;
        }
    }
    ld_marker_clear(m);
    *out = m;
    return LD_OK;
}

void ld_marker_put(ld_marker *m)
{
    if (!m)
        return;
    pthread_mutex_lock(&lock);
    ld_marker **link = &store; /* smallest first, so that the best fit is found first */
    while (*link && (*link)->size < m->size)
        link = &(*link)->next;
    m->next = *link;
    *link = m;
    pthread_mutex_unlock(&lock);
}

void ld_marker_clear(ld_marker *m)
{
    if (++m->round == 0) {
        memset(m->marks, 0, (size_t)m->size * sizeof *m->marks);
        m->round = 1;
    }
}

void ld_marker_trim(void)
{
    pthread_mutex_lock(&lock);
    while (store) {
        ld_marker *m = store;
        store = m->next;
        ld_free(m->marks);
        ld_free(m);
    }
    pthread_mutex_unlock(&lock);
}
