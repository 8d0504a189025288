/* Sorts the entries of a matrix that memory does not hold into rows, by temporary files.
 *
 * A run, and then a range of it, is ordered by counting: once to find where each range, or row,
 * begins, and once to write the entries there. Ranges are small enough for a cache where the graph
 * is not too large for that, and independent of each other, so threads take one each. */
#include "large/edge_runs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/sort.h"
#include "memory/memory.h"
#include "system/platform.h"
#include "system/threads.h"
#include "system/transfer.h"

/* Packs an entry as it is in the file. */
static uint64_t pack(int32_t row, int32_t column)
{
    return (uint64_t)(uint32_t)row << 32 | (uint32_t)column;
}

ld_status ld_edge_runs_new(ld_edge_runs **out, const char *folder, int64_t n_rows, int64_t n_cols)
{
    LD_CHECK(ld_structure_check(n_rows, n_cols, 0));
    LD_OWN(ld_edge_runs) *r = ld_calloc_array(1, sizeof *r, LD_MEM_MATRIX);
    if (!r)
        return LD_NOMEM;
    r->n_rows = n_rows;
    r->n_cols = n_cols;
    while (n_rows > (int64_t)LD_EDGE_RANGES << r->shift)
        r->shift++;
    r->n_ranges = n_rows > 0 ? ((n_rows - 1) >> r->shift) + 1 : 0;
    r->file = ld_platform_temporary_file(folder);
    if (r->file < 0)
        return ld_fail(LD_IO, "%s: the temporary file cannot be created: %s", folder,
                       strerror(errno));
    snprintf(r->name, sizeof r->name, "%s: the temporary file", folder);
    *out = ld_take(&r);
    return LD_OK;
}

void ld_edge_runs_free(ld_edge_runs *r)
{
    if (!r)
        return;
    for (int64_t i = 0; i < r->n_runs; i++)
        ld_free(r->runs[i].starts);
    ld_free(r->runs);
    if (r->file >= 0)
        close(r->file);
    ld_free(r);
}

/* --- runs ------------------------------------------------------------------------------------- */

/* Orders a run by ranges: `starts` gets the number of entries before each range, and `keys`, which
 * has room for them, the entries in this order. */
static void order_run(const ld_edge_runs *r, uint64_t *keys, int64_t *starts, const int32_t *rows,
                      const int32_t *columns, int64_t n, bool both)
{
    int64_t next[LD_EDGE_RANGES];
    for (int64_t i = 0; i < n; i++) {
        starts[(rows[i] >> r->shift) + 1]++;
        if (both && rows[i] != columns[i])
            starts[(columns[i] >> r->shift) + 1]++;
    }
    for (int64_t k = 0; k < r->n_ranges; k++) {
        next[k] = starts[k];
        starts[k + 1] += starts[k];
    }
    for (int64_t i = 0; i < n; i++) {
        keys[next[rows[i] >> r->shift]++] = pack(rows[i], columns[i]);
        if (both && rows[i] != columns[i])
            keys[next[columns[i] >> r->shift]++] = pack(columns[i], rows[i]);
    }
}

/* Adds a run, which takes *starts over. */
static ld_status append(ld_edge_runs *r, int64_t position, int64_t **starts)
{
    LD_CHECK(ld_hold(&r->held));
    ld_status st = ld_reserve(&r->runs, &r->room, r->n_runs, 1, sizeof *r->runs, LD_MEM_MATRIX);
    if (st == LD_OK)
        r->runs[r->n_runs++] = (ld_edge_run){position, ld_take(starts)};
    ld_unhold(&r->held);
    return st;
}

ld_status ld_edge_runs_put(ld_edge_runs *r, const int32_t *rows, const int32_t *columns, int64_t n,
                           bool both)
{
    LD_FREED int64_t *starts = NULL;
    LD_FREED uint64_t *keys = NULL;
    if (n == 0)
        return LD_OK;
    if (!(starts = ld_calloc_array(r->n_ranges + 1, sizeof *starts, LD_MEM_MATRIX)) ||
        !(keys = ld_alloc_array(both ? 2 * n : n, sizeof *keys, LD_MEM_SCRATCH)))
        return LD_NOMEM;
    order_run(r, keys, starts, rows, columns, n, both);
    int64_t size = starts[r->n_ranges] * (int64_t)sizeof *keys;
    int64_t position = atomic_fetch_add(&r->end, size);
    LD_CHECK(ld_write_at(r->file, r->name, keys, position, size));
    return append(r, position, &starts);
}

ld_status ld_edge_runs_add(ld_edge_runs *r, const ld_index *rows, const ld_index *columns,
                           bool both)
{
    int64_t n_rows = both && r->n_cols < r->n_rows ? r->n_cols : r->n_rows;
    int64_t n_cols = both && r->n_rows < r->n_cols ? r->n_rows : r->n_cols;
    if (rows->size != columns->size)
        return ld_fail(LD_SHAPE, "edge_runs: %" PRId64 " rows and %" PRId64 " columns", rows->size,
                       columns->size);
    LD_CHECK(ld_index_check(rows, 0, n_rows, "edge_runs: row"));
    LD_CHECK(ld_index_check(columns, 0, n_cols, "edge_runs: column"));
    return ld_edge_runs_put(r, rows->data, columns->data, rows->size, both);
}

int64_t ld_edge_runs_count(const ld_edge_runs *r, int64_t range)
{
    int64_t n = 0;
    for (int64_t i = 0; i < r->n_runs; i++)
        n += r->runs[i].starts[range + 1] - r->runs[i].starts[range];
    return n;
}

/* --- ranges ----------------------------------------------------------------------------------- */

/* Keeps the keys of entries right of the diagonal, and returns how many these are. */
static int64_t keep_upper(uint64_t *keys, int64_t n)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < n; i++) {
        keys[kept] = keys[i];
        kept += (uint32_t)keys[i] > keys[i] >> 32;
    }
    return kept;
}

/* Reads all entries of a range into a new block; with `upper` only those right of the diagonal. */
static ld_status read_range(uint64_t **out, int64_t *count, const ld_edge_runs *r, int64_t range,
                            bool upper)
{
    ld_status st = LD_OK;
    int64_t n = 0;
    if (!(*out = ld_alloc_array(ld_edge_runs_count(r, range), sizeof **out, LD_MEM_SCRATCH)))
        return LD_NOMEM;
    for (int64_t i = 0; i < r->n_runs && st == LD_OK; i++) {
        const ld_edge_run *run = &r->runs[i];
        int64_t begin = run->starts[range], size = run->starts[range + 1] - begin;
        st = ld_read_at(r->file, r->name, *out + n, run->position + begin * (int64_t)sizeof **out,
                        size * (int64_t)sizeof **out);
        n += upper && st == LD_OK ? keep_upper(*out + n, size) : size;
    }
    *count = n;
    return st;
}

/* Brings the entries into rows: e->offsets, and the columns of each, unsorted. */
static void to_rows(ld_edge_range *e, const uint64_t *keys, int64_t n)
{
    /* One place further on than usual: writing a row moves its start to where it belongs. */
    int64_t *starts = e->offsets;
    for (int64_t i = 0; i < n; i++)
        starts[(int64_t)(keys[i] >> 32) - e->first + 2]++;
    for (int64_t k = 0; k < e->n_rows; k++)
        starts[k + 2] += starts[k + 1];
    for (int64_t i = 0; i < n; i++)
        e->columns[starts[(int64_t)(keys[i] >> 32) - e->first + 1]++] = (int32_t)(uint32_t)keys[i];
}

/* Sorts each row and keeps every column once, unless the range `without` has it. */
static void settle_rows(ld_edge_range *e, const ld_edge_range *without)
{
    int64_t from = 0, at = 0;
    for (int64_t k = 0; k < e->n_rows; k++) {
        int64_t end = e->offsets[k + 1], out = without ? without->offsets[k] : 0;
        int64_t last_out = without ? without->offsets[k + 1] : 0;
        int32_t last = -1;
        ld_sort_int32(e->columns + from, end - from);
        for (; from < end; from++) {
            int32_t column = e->columns[from];
            while (out < last_out && without->columns[out] < column)
                out++;
            if (column != last && !(out < last_out && without->columns[out] == column))
                e->columns[at++] = column;
            last = column;
        }
        e->offsets[k + 1] = at;
    }
}

/* Brings a range together, without the entries that are in `without` too, which may be NULL; with
 * `upper` only what lies right of the diagonal. */
static ld_status load(ld_edge_range *out, const ld_edge_runs *r, const ld_edge_runs *without,
                      int64_t range, bool upper)
{
    LD_CLEANED(ld_edge_range_clear) ld_edge_range gone = {0};
    LD_FREED uint64_t *keys = NULL;
    int64_t n, first = range << r->shift;
    int64_t n_rows =
        r->n_rows - first < (int64_t)1 << r->shift ? r->n_rows - first : (int64_t)1 << r->shift;
    *out = (ld_edge_range){.first = first, .n_rows = n_rows};
    if (without)
        LD_CHECK(load(&gone, without, NULL, range, upper));
    LD_CHECK(read_range(&keys, &n, r, range, upper));
    if (!(out->offsets = ld_calloc_array(n_rows + 2, sizeof *out->offsets, LD_MEM_SCRATCH)) ||
        !(out->columns = ld_alloc_array(n, sizeof *out->columns, LD_MEM_SCRATCH)))
        return LD_NOMEM;
    to_rows(out, keys, n);
    settle_rows(out, without ? &gone : NULL);
    return LD_OK;
}

ld_status ld_edge_runs_upper(ld_edge_range *out, const ld_edge_runs *r, int64_t range)
{
    return load(out, r, NULL, range, true);
}

void ld_edge_range_clear(ld_edge_range *e)
{
    ld_free(e->offsets);
    ld_free(e->columns);
    *e = (ld_edge_range){0};
}

/* --- matrices --------------------------------------------------------------------------------- */

typedef struct {
    const ld_edge_runs *runs, *without;
    int64_t first, count;
    ld_edge_range *ranges;
    ld_structure *s;
    ld_loop_failure failure;
} assembly;

static void assembly_clear(assembly *a)
{
    for (int64_t k = 0; a->ranges && k < a->count; k++)
        ld_edge_range_clear(&a->ranges[k]);
    ld_free(a->ranges);
    ld_structure_unref(a->s);
}

static void load_ranges(void *ctx, int64_t begin, int64_t end)
{
    assembly *a = ctx;
    for (int64_t k = begin; k < end && atomic_load(&a->failure.status) == LD_OK; k++)
        ld_loop_note(&a->failure, load(&a->ranges[k], a->runs, a->without, a->first + k, false));
}

/* Puts the ranges behind each other. */
static void join_ranges(assembly *a)
{
    int64_t row = 0, at = 0;
    for (int64_t k = 0; k < a->count; k++) {
        ld_edge_range *e = &a->ranges[k];
        int64_t n = e->offsets[e->n_rows];
        for (int64_t i = 0; i < e->n_rows; i++)
            a->s->offsets[++row] = at + e->offsets[i + 1];
        if (n > 0)
            memcpy(a->s->columns + at, e->columns, (size_t)n * sizeof *e->columns);
        at += n;
        ld_edge_range_clear(e);
    }
}

ld_status ld_edge_runs_matrix(ld_csr **out, const ld_edge_runs *r, const ld_edge_runs *without,
                              int64_t first, int64_t count)
{
    LD_CLEANED(assembly_clear)
    assembly a = {.runs = r, .without = without, .first = first, .count = count};
    int64_t nnz = 0, n_rows = 0;
    if (first < 0 || count < 0 || first > r->n_ranges - count)
        return ld_fail(LD_RANGE, "edge_runs: ranges %" PRId64 "..%" PRId64 " of %" PRId64,
                       first + 1, first + count, r->n_ranges);
    if (!(a.ranges = ld_calloc_array(count, sizeof *a.ranges, LD_MEM_SCRATCH)))
        return LD_NOMEM;
    LD_CHECK(ld_loop_result(&a.failure, ld_parallel_for(count, 1, load_ranges, &a)));
    for (int64_t k = 0; k < count; k++) {
        nnz += a.ranges[k].offsets[a.ranges[k].n_rows];
        n_rows += a.ranges[k].n_rows;
    }
    LD_CHECK(ld_structure_new(&a.s, n_rows, r->n_cols, nnz, false));
    a.s->offsets[0] = 0;
    join_ranges(&a);
    return ld_csr_new(out, a.s, NULL, NULL, NULL);
}
