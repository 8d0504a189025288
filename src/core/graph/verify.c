/* Checks a structure whose arrays come from a file, row by row and in parallel: each page is read
 * once, in order. */
#include <inttypes.h>

#include "graph/csr.h"
#include "system/threads.h"

enum { GRAIN = 1 << 14 };

typedef struct {
    const ld_structure *s;
    _Atomic int64_t bad; /* the least row that is wrong, or n_rows */
    atomic_bool unlooped;
} verification;

/* Returns the first entry of a row that is out of range or out of order, or the row's end. *looped
 * becomes true if it has an entry on the diagonal. */
static int64_t first_wrong(const ld_structure *s, int64_t r, bool *looped)
{
    int64_t e = s->offsets[r], end = s->offsets[r + 1], last = -1;
    for (; e < end && s->columns[e] > last && s->columns[e] < s->n_cols; e++) {
        last = s->columns[e];
        *looped |= last == r;
    }
    return e;
}

static void verify_rows(void *ctx, int64_t begin, int64_t end)
{
    verification *v = ctx;
    for (int64_t r = begin; r < end && r < v->bad; r++) {
        bool looped = false;
        if (first_wrong(v->s, r, &looped) == v->s->offsets[r + 1]) {
            if (!looped)
                v->unlooped = true;
            continue;
        }
        ld_note_least(&v->bad, r);
    }
}

/* Checks the offsets, before any column is read: they say where the columns are. */
static ld_status verify_offsets(const ld_structure *s)
{
    if (s->offsets[0] != 0 || s->offsets[s->n_rows] != s->nnz)
        return ld_fail(LD_RANGE,
                       "the offsets run from %" PRId64 " to %" PRId64 "; from 0 to %" PRId64
                       ", the number of columns, expected",
                       s->offsets[0], s->offsets[s->n_rows], s->nnz);
    for (int64_t r = 0; r < s->n_rows; r++)
        if (s->offsets[r + 1] < s->offsets[r])
            return ld_fail(LD_RANGE,
                           "offset %" PRId64 " is %" PRId64 ", less than the %" PRId64 " before it",
                           r + 1, s->offsets[r + 1], s->offsets[r]);
    return LD_OK;
}

static ld_status explain(const ld_structure *s, int64_t r)
{
    bool looped = false;
    int64_t e = first_wrong(s, r, &looped);
    if (s->columns[e] < 0 || s->columns[e] >= s->n_cols)
        return ld_fail(LD_RANGE,
                       "column %" PRId32 " at position %" PRId64 ", in row %" PRId64
                       ", must be in 0..%" PRId64,
                       s->columns[e], e, r, s->n_cols - 1);
    return ld_fail(LD_RANGE,
                   "column %" PRId32 " at position %" PRId64 ", in row %" PRId64
                   ", follows %" PRId32 "; ascending ones, each once, expected",
                   s->columns[e], e, r, s->columns[e - 1]);
}

ld_status ld_structure_verify(ld_structure *s)
{
    verification v = {.s = s};
    ld_status st;
    atomic_init(&v.bad, s->n_rows);
    atomic_init(&v.unlooped, false);
    LD_TRY(verify_offsets(s));
    ld_structure_advise(s, LD_ACCESS_SEQUENTIAL);
    LD_TRY(ld_parallel_for(s->n_rows, GRAIN, verify_rows, &v));
    if (v.bad < s->n_rows)
        LD_TRY(explain(s, v.bad));
    s->canonical = true;
    s->looped = s->n_rows == s->n_cols && !v.unlooped;
done:
    ld_structure_advise(s, LD_ACCESS_RANDOM);
    return st;
}
