/* Node-wise sampling: draws from rows in parallel.
 *
 * Rows are planned one after the other (where they lie, how many draws they may need), drawn in
 * parallel and collected into a structure, whose columns ld_csr_compact then renames. Where the
 * plan knows how many draws each row will have, they go to their place at once, a few rows at a
 * time; otherwise into a list for each chunk of rows, and are collected when all are known. Drawing
 * needs only positions; memory is asked ahead for the columns and values there. */
#include "sample/rows.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>

#include "kernel/poisson_keep.h"
#include "kernel/row_draw.h"
#include "memory/memory.h"
#include "system/threads.h"

enum { GRAIN = 1024, POISSON_GRAIN = 64, GROUP = 32, AHEAD = 16, ROWS_AHEAD = 2 };

typedef enum { UNIFORM, WEIGHTED, POISSON } row_kind;

/* A row to draw from: `degree` entries from `from` on, without the one that is certain. */
typedef struct {
    int64_t place;  /* where its draws go: in the structure, or in their list */
    int64_t to;     /* where its draws go from a list */
    int64_t from;   /* first entry */
    int32_t degree; /* entries to draw from */
    int32_t kept;   /* position in the row of the certain entry, or -1 */
    int32_t count;  /* draws made; -1 when they failed */
} row_plan;

/* The draws of a chunk of rows, those of one row behind those of another. */
typedef struct {
    ld_row_draw *draws;
    int64_t size, room;
} draw_list;

typedef struct {
    const char *where; /* begins messages */
    row_kind kind;
    ld_csr *a;
    const ld_index *rows, *always;
    const ld_tensor *p, *p_cols; /* WEIGHTED: one of them */
    const ld_tensor *c;          /* POISSON: c_i of the rows, ... */
    ld_poisson_rule rule;        /* ... and what columns have */
    bool replace, debias, count;
    int64_t k, grain;
    ld_stream stream;
    row_plan *plans;
    int64_t room;       /* for draws */
    draw_list *lists;   /* one for each chunk; NULL when draws go into `s` at once */
    ld_structure *s;    /* the result: a's columns and, in `origin`, positions ... */
    ld_tensor *values;  /* ... with a's values there, NULL when it has none ... */
    ld_tensor *w;       /* ... and their weights */
    atomic_int stopped; /* LD_NOMEM or LD_CANCELLED in some chunk, or LD_OK */
    atomic_bool failed; /* true if the draws of some row did */
} rows_job;

/* --- planning --------------------------------------------------------------------------------- */

ld_status ld_check_always(const char *where, const ld_structure *s, const ld_index *rows,
                          const ld_index *always)
{
    if (always && always->size != s->n_rows)
        return ld_fail(LD_SHAPE, "%s: always has %" PRId64 " elements for %" PRId64 " rows", where,
                       always->size, s->n_rows);
    for (int64_t i = 0; always && i < rows->size; i++) {
        int64_t r = rows->data[i], degree = s->offsets[r + 1] - s->offsets[r];
        if (always->data[r] >= degree)
            return ld_fail(LD_RANGE,
                           "%s: always has place %" PRId64 " for row %" PRId64
                           ", which has %" PRId64 " entries",
                           where, (int64_t)always->data[r] + 1, r + 1, degree);
    }
    return LD_OK;
}

static int64_t most_draws(const rows_job *job, const row_plan *plan)
{
    bool k = plan->degree > 0 && job->kind != POISSON && (job->replace || job->k < plan->degree);
    return (k ? job->k : plan->degree) + (plan->kept >= 0);
}

static void plan_row(rows_job *job, int64_t i)
{
    const int64_t *offsets = job->a->s->offsets;
    int64_t r = job->rows->data[i], from = offsets[r], end = offsets[r + 1];
    int32_t kept = job->always ? job->always->data[r] : -1;
    row_plan *plan = &job->plans[i];
    *plan = (row_plan){.place = job->room,
                       .from = from,
                       .degree = (int32_t)(end - from - (kept >= 0)),
                       .kept = kept >= 0 ? kept : -1};
    job->room += most_draws(job, plan);
}

static ld_status plan(rows_job *job, const ld_index *first)
{
    const ld_structure *s = job->a->s;
    int64_t n = job->rows->size;
    char what[64];
    snprintf(what, sizeof what, "%s: node", job->where);
    LD_CHECK(ld_index_check(job->rows, 0, s->n_rows, what));
    if (first != job->rows) /* else ld_csr_compact sees it */
        LD_CHECK(ld_index_check_unique(job->rows, what));
    if (first && first != job->rows) {
        snprintf(what, sizeof what, "%s: first column", job->where);
        LD_CHECK(ld_index_check(first, 0, s->n_cols, what));
    } else if (first && s->n_cols < s->n_rows) {
        LD_CHECK(ld_index_check(first, 0, s->n_cols, what));
    }
    LD_CHECK(ld_check_always(job->where, s, job->rows, job->always));
    LD_CHECK(ld_structure_prefetch(s, job->rows));
    if (!(job->plans = ld_alloc_array(n, sizeof *job->plans, LD_MEM_SCRATCH)))
        return LD_NOMEM;
    for (int64_t i = 0; i < n; i++) {
        __builtin_prefetch(&s->offsets[job->rows->data[i + AHEAD < n ? i + AHEAD : i]]);
        plan_row(job, i);
    }
    return LD_OK;
}

/* Makes the structure for draws whose numbers are known, with a's columns still to be filled in. */
static ld_status make_structure(rows_job *job, int64_t nnz)
{
    LD_CHECK(ld_structure_new(&job->s, job->rows->size, job->a->s->n_cols, nnz, true));
    ld_structure_sliced(job->s, job->a);
    LD_CHECK(ld_tensor_new(&job->w, 1, nnz, 1));
    if (job->a->values)
        LD_CHECK(ld_tensor_new(&job->values, 1, nnz, 1));
    return LD_OK;
}

/* --- drawing ---------------------------------------------------------------------------------- */

/* The working memory of a chunk of rows, in one block. */
typedef struct {
    void *block;
    ld_draw *keys;      /* k, weighted without replacement */
    uint64_t *words;    /* bits for the longest row, uniform without replacement */
    ld_row_draw *draws; /* the draws of a group of rows, when there are no lists */
    float *p;           /* probabilities of the longest row, weighted */
} scratch;

/* Counts the places that the draws of rows begin .. end-1 need. */
static int64_t places(const rows_job *job, int64_t begin, int64_t end)
{
    return (end < job->rows->size ? job->plans[end].place : job->room) - job->plans[begin].place;
}

static bool scratch_new(scratch *s, const rows_job *job, int64_t begin, int64_t end)
{
    int64_t longest = 0, n_keys = 0, n_words = 0, n_draws = 0, n_p = 0;
    for (int64_t i = begin; i < end; i++)
        longest = job->plans[i].degree > longest ? job->plans[i].degree : longest;
    for (int64_t i = begin; !job->lists && i < end; i += GROUP) {
        int64_t n = places(job, i, end - i < GROUP ? end : i + GROUP);
        n_draws = n > n_draws ? n : n_draws;
    }
    if (job->kind == WEIGHTED)
        n_p = longest;
    else if (job->kind == UNIFORM && !job->replace)
        n_words = longest / 64 + 1;
    if (job->kind == WEIGHTED && !job->replace)
        n_keys = job->k < longest ? job->k : longest;
    size_t size = (size_t)n_keys * sizeof *s->keys + (size_t)n_words * sizeof *s->words +
                  (size_t)n_draws * sizeof *s->draws + (size_t)n_p * sizeof *s->p;
    s->block = ld_alloc(size > 0 ? size : 1, LD_MEM_SCRATCH);
    if (!s->block)
        return false;
    s->keys = s->block;
    s->words = (uint64_t *)(s->keys + n_keys);
    s->draws = s->words + n_words;
    s->p = (float *)(s->draws + n_draws);
    return true;
}

/* Returns the position in the row of the j-th entry that may be drawn: one that is certain is left
 * out. */
static int64_t position(const row_plan *plan, int64_t j)
{
    return j + (plan->kept >= 0 && j >= plan->kept);
}

/* Copies the row's probabilities to `p` and returns how many are positive, -1 when one is bad. */
static int64_t gather(float *p, double *total, const rows_job *job, const row_plan *plan)
{
    int64_t support = 0;
    *total = 0.0;
    for (int64_t j = 0; j < plan->degree; j++) {
        int64_t e = plan->from + position(plan, j);
        p[j] = job->p ? job->p->data[e] : job->p_cols->data[job->a->s->columns[e]];
        if (!(p[j] >= 0.0f && p[j] <= FLT_MAX)) /* NaN fails every comparison */
            return -1;
        support += p[j] > 0.0f;
        *total += p[j];
    }
    return support;
}

static int64_t draw_weighted(rows_job *job, const row_plan *plan, ld_row_draw *out, ld_row_rng rng,
                             scratch *s)
{
    double total;
    int64_t count = 0, support = gather(s->p, &total, job, plan);
    if (support <= 0)
        return support;
    if (job->replace)
        return ld_row_repeated(out, plan->degree, job->k, rng, job->count, s->p, total);
    ld_status st = ld_row_successive(out, &count, plan->degree, job->k, rng, s->p, total, support,
                                     job->debias, job->count, s->keys);
    if (st != LD_OK)
        atomic_store(&job->stopped, st);
    return count;
}

/* Draws from the entries before the certain one, and from those behind it. */
static int64_t draw_poisson(const rows_job *job, const row_plan *plan, int64_t i, ld_row_draw *out,
                            ld_row_rng rng)
{
    const int32_t *columns = job->a->s->columns + plan->from;
    double c = job->c->data[i];
    int64_t before = plan->kept >= 0 ? plan->kept : plan->degree, behind = plan->degree - before;
    int64_t count = ld_poisson_keep(out, &job->rule, columns, before, c, 0, rng.first);
    if (count < 0 || behind == 0)
        return count;
    int64_t more = ld_poisson_keep(out + count, &job->rule, columns + before + 1, behind, c, before,
                                   rng.first + (uint64_t)before);
    return more < 0 ? -1 : count + more;
}

/* Puts the certain entry into its place among the draws. */
static int64_t keep(ld_row_draw *out, int64_t count, int32_t kept)
{
    int64_t i = count;
    for (; i > 0 && ld_row_draw_at(out[i - 1]) >= kept; i--)
        out[i] = out[i - 1] + ((uint64_t)1 << 32);
    out[i] = ld_row_draw_of(kept, 1.0);
    return count + 1;
}

static void draw_row(rows_job *job, int64_t i, ld_row_draw *out, scratch *s)
{
    row_plan *plan = &job->plans[i];
    int64_t id = ld_structure_row_id(job->a->s, job->rows->data[i]);
    ld_row_rng rng = {job->stream, (uint64_t)id << 32};
    int64_t d = plan->degree, count = 0;
    if (d == 0 || (job->k == 0 && job->kind != POISSON))
        count = 0;
    else if (job->kind == POISSON)
        count = draw_poisson(job, plan, i, out, rng);
    else if (job->kind == WEIGHTED)
        count = draw_weighted(job, plan, out, rng, s);
    else if (job->replace)
        count = ld_row_repeated(out, d, job->k, rng, job->count, NULL, 0.0);
    else if (job->k < d)
        count = ld_row_uniform(out, d, job->k, rng, job->count, s->words);
    else
        count = ld_row_all(out, d);
    if (count < 0)
        atomic_store(&job->failed, true);
    else if (plan->kept >= 0)
        count = keep(out, count, plan->kept);
    plan->count = (int32_t)count;
}

static void prefetch_row(const rows_job *job, int64_t i, const ld_row_draw *draws)
{
    const row_plan *plan = &job->plans[i];
    for (int64_t j = 0; j < plan->count; j++)
        __builtin_prefetch(&job->a->s->columns[plan->from + ld_row_draw_at(draws[j])]);
}

/* Puts the draws of row i into the structure, from place `to` on. */
static void collect_row(const rows_job *job, int64_t i, const ld_row_draw *draws, int64_t to)
{
    const ld_structure *p = job->a->s;
    ld_structure *s = job->s;
    const row_plan *plan = &job->plans[i];
    s->from.rows[i] = ld_structure_origin(p, job->rows->data[i]);
    for (int64_t j = 0; j < plan->count; j++) {
        int64_t at = plan->from + ld_row_draw_at(draws[j]);
        s->columns[to + j] = p->columns[at];
        s->from.places[to + j] = p->from.places ? p->from.places[at] : ld_row_draw_at(draws[j]);
        job->w->data[to + j] = ld_row_draw_weight(draws[j]);
        if (job->values)
            job->values->data[to + j] = job->a->values->data[at];
    }
    s->offsets[i + 1] = to + plan->count;
}

static void draw_rows(void *ctx, int64_t begin, int64_t end)
{
    rows_job *job = ctx;
    scratch s;
    if (!scratch_new(&s, job, begin, end)) {
        atomic_store(&job->stopped, LD_NOMEM);
        return;
    }
    for (int64_t group = begin; group < end; group += GROUP) {
        int64_t last = end - group < GROUP ? end : group + GROUP;
        for (int64_t i = group; i < last; i++) {
            draw_row(job, i, s.draws + places(job, group, i), &s);
            prefetch_row(job, i, s.draws + places(job, group, i));
        }
        for (int64_t i = group; i < last; i++)
            collect_row(job, i, s.draws + places(job, group, i), job->plans[i].place);
    }
    ld_free(s.block);
}

static void list_rows(void *ctx, int64_t begin, int64_t end)
{
    rows_job *job = ctx;
    draw_list *list = &job->lists[begin / job->grain];
    scratch s;
    bool enough = scratch_new(&s, job, begin, end);
    for (int64_t i = begin; enough && i < end; i++) {
        row_plan *plan = &job->plans[i];
        enough = ld_reserve(&list->draws, &list->room, list->size, most_draws(job, plan),
                            sizeof *list->draws, LD_MEM_SCRATCH) == LD_OK;
        if (!enough)
            break;
        plan->place = list->size;
        if (job->kind == POISSON && i + ROWS_AHEAD < end)
            ld_poisson_ask(job->a->s->columns + plan[ROWS_AHEAD].from, plan[ROWS_AHEAD].degree);
        draw_row(job, i, list->draws + list->size, &s);
        list->size += plan->count > 0 ? plan->count : 0;
    }
    if (!enough)
        atomic_store(&job->stopped, LD_NOMEM);
    ld_free(s.block);
}

static void collect_rows(void *ctx, int64_t begin, int64_t end)
{
    const rows_job *job = ctx;
    const ld_row_draw *draws = job->lists[begin / job->grain].draws;
    for (int64_t i = begin; i < end; i++)
        prefetch_row(job, i, draws + job->plans[i].place);
    for (int64_t i = begin; i < end; i++)
        collect_row(job, i, draws + job->plans[i].place, job->plans[i].to);
}

/* --- messages --------------------------------------------------------------------------------- */

static bool bad(double p)
{
    return !(p >= 0.0 && p <= FLT_MAX);
}

/* Makes the message about the first row whose draws failed. */
static ld_status explain(const rows_job *job)
{
    int64_t i = 0;
    while (job->plans[i].count >= 0)
        i++;
    const row_plan *plan = &job->plans[i];
    const float *of_columns = job->p_cols ? job->p_cols->data : job->rule.pi;
    int64_t r = ld_structure_row_id(job->a->s, job->rows->data[i]) + 1;
    if (job->kind == POISSON && !(job->c->data[i] >= 0.0f))
        return ld_fail(LD_VALUE, "%s: c must be at least 0, got %g at position %" PRId64,
                       job->where, isnan(job->c->data[i]) ? (double)NAN : job->c->data[i], i + 1);
    for (int64_t j = 0; j < plan->degree; j++) {
        int64_t e = plan->from + position(plan, j), u = job->a->s->columns[e];
        double p = of_columns ? of_columns[u] : job->p ? job->p->data[e] : 1.0;
        if (bad(p) || (of_columns && bad(p * (job->c ? job->c->data[i] : 1.0))))
            return ld_fail(LD_VALUE,
                           "%s: a probability must be finite and at least 0, got %g for %s %" PRId64
                           " (row %" PRId64 ")",
                           job->where, isnan(p) ? (double)NAN : p, of_columns ? "column" : "entry",
                           (of_columns ? u : e) + 1, r);
    }
    return ld_fail(LD_VALUE,
                   "%s: a weight in row %" PRId64
                   " passes float32: the probability of its entry is too small",
                   job->where, r);
}

/* --- the calls -------------------------------------------------------------------------------- */

/* Makes the structure from the lists, in which the rows' draws have gaps between them. */
static ld_status collect(rows_job *job)
{
    int64_t nnz = 0;
    for (int64_t i = 0; i < job->rows->size; i++) {
        job->plans[i].to = nnz;
        nnz += job->plans[i].count;
    }
    LD_CHECK(make_structure(job, nnz));
    return ld_parallel_for(job->rows->size, job->grain, collect_rows, job);
}

/* Draws from all rows, into the structure or into lists. */
static ld_status draw_all(rows_job *job)
{
    int64_t n_lists = (job->rows->size + job->grain - 1) / job->grain;
    ld_loop_fn *draw = draw_rows;
    if (job->kind == UNIFORM && !job->replace) {
        LD_CHECK(make_structure(job, job->room));
    } else {
        if (!(job->lists = ld_calloc_array(n_lists, sizeof *job->lists, LD_MEM_SCRATCH)))
            return LD_NOMEM;
        draw = list_rows;
    }
    if (job->kind == POISSON)
        LD_CHECK(ld_poisson_levels(&job->rule, job->a->s->n_cols, job->room));
    return ld_parallel_for(job->rows->size, job->grain, draw, job);
}

static void rows_job_clear(rows_job *job)
{
    int64_t n_lists = job->lists ? (job->rows->size + job->grain - 1) / job->grain : 0;
    for (int64_t i = 0; i < n_lists; i++)
        ld_free(job->lists[i].draws);
    ld_free(job->lists);
    ld_free(job->plans);
    ld_free(job->rule.levels);
    ld_structure_unref(job->s);
    ld_tensor_unref(job->values);
    ld_tensor_unref(job->w);
}

static ld_status run(ld_csr **out, ld_index **src, ld_tensor **w, rows_job *job,
                     const ld_index *first, ld_rng *rng)
{
    char what[64];
    job->grain = job->kind == POISSON ? POISSON_GRAIN : GRAIN;
    LD_CHECK(plan(job, first));
    job->stream = job->rule.stream = ld_rng_next(rng);
    LD_CHECK(draw_all(job));
    ld_status st = (ld_status)atomic_load(&job->stopped); /* told by another thread, maybe */
    if (st != LD_OK)
        return ld_fail(st, "%s: %s", job->where, st == LD_NOMEM ? "out of memory" : "interrupted");
    if (atomic_load(&job->failed))
        return explain(job);
    if (job->lists)
        LD_CHECK(collect(job));
    snprintf(what, sizeof what, "%s: %s", job->where, first == job->rows ? "node" : "first column");
    LD_CHECK(ld_csr_compact(out, src, job->a, job->s, job->values, job->rows, first, what));
    *w = ld_take(&job->w);
    return LD_OK;
}

/* Fails unless t, when it is given, is a vector of n numbers. */
static ld_status check_vector(const char *where, const char *name, const ld_tensor *t, int64_t n,
                              const char *of)
{
    if (t && (t->ndim != 1 || t->n_rows != n))
        return ld_fail(LD_SHAPE, "%s: %s must be a vector of %" PRId64 ", one for every %s, got %s",
                       where, name, n, of, ld_tensor_shape(t));
    return LD_OK;
}

ld_status ld_sample_rows(ld_csr **out, ld_index **src, ld_tensor **w, ld_csr *a,
                         const ld_index *rows, int64_t k, ld_sample_options o, ld_rng *rng)
{
    LD_CLEANED(rows_job_clear)
    rows_job job = {.where = "sample_rows",
                    .kind = o.p || o.p_cols ? WEIGHTED : UNIFORM,
                    .a = a,
                    .rows = rows,
                    .always = o.always,
                    .p = o.p,
                    .p_cols = o.p_cols,
                    .replace = o.replace,
                    .debias = o.debias,
                    .count = o.count,
                    .k = k};
    if (k < 0 || k > INT32_MAX)
        return ld_fail(LD_VALUE, "sample_rows: k must be 0 to %d, got %" PRId64, INT32_MAX, k);
    if (o.p && o.p_cols)
        return ld_fail(LD_VALUE, "sample_rows: p and p_cols do not go together");
    if (o.debias && (job.kind == UNIFORM || o.replace))
        return ld_fail(LD_VALUE, "sample_rows: debias is for weighted draws without replacement: "
                                 "the others are unbiased as they are");
    LD_CHECK(check_vector("sample_rows", "p", o.p, a->s->nnz, "entry"));
    LD_CHECK(check_vector("sample_rows", "p_cols", o.p_cols, a->s->n_cols, "column"));
    return run(out, src, w, &job, o.first, rng);
}

ld_status ld_poisson_rows(ld_csr **out, ld_index **src, ld_tensor **w, ld_csr *a,
                          const ld_index *rows, const ld_tensor *c, ld_poisson_options o,
                          ld_rng *rng)
{
    LD_CLEANED(rows_job_clear)
    rows_job job = {
        .where = "poisson_rows", .kind = POISSON, .a = a, .rows = rows, .always = o.always, .c = c};
    LD_CHECK(check_vector("poisson_rows", "c", c, rows->size, "row"));
    LD_CHECK(check_vector("poisson_rows", "pi", o.pi, a->s->n_cols, "column"));
    LD_CHECK(check_vector("poisson_rows", "r", o.r, a->s->n_cols, "column"));
    job.rule = (ld_poisson_rule){
        .pi = o.pi ? o.pi->data : NULL, .r = o.r ? o.r->data : NULL, .shared = o.shared};
    return run(out, src, w, &job, o.first, rng);
}
