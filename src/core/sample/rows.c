/* Rows are planned one after the other (where they lie, how many draws they may need), drawn in
 * parallel and collected into a structure, whose columns ld_csr_compact then renames. Where the plan
 * knows how many draws each row will have, they go where they belong at once, a few rows at a time;
 * otherwise into a list for each chunk of rows, and are collected when all are known. Drawing decides
 * on positions alone; what is read at them is fetched ahead. */
#include "sample/rows.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/threads.h"
#include "sample/poisson_keep.h"
#include "sample/row_draw.h"

enum { GRAIN = 1024, POISSON_GRAIN = 64, GROUP = 32, AHEAD = 16 };

typedef enum { UNIFORM, WEIGHTED, POISSON } row_kind;

/* A row to draw from: `degree` entries from `from` on, without the one that is certain. */
typedef struct {
    int64_t place;  /* of its draws: in the structure, or in their list */
    int64_t to;     /* where they are collected from a list */
    int64_t from;   /* first entry */
    int32_t degree; /* entries to draw from */
    int32_t kept;   /* position in the row of the certain entry, or -1 */
    int32_t count;  /* draws made; -1 when they failed */
} row_plan;

/* The draws of a chunk of rows, one row's behind the other's. */
typedef struct {
    ld_row_draw *draws;
    int64_t size, room;
} draw_list;

typedef struct {
    const char *where; /* begins messages */
    row_kind kind;
    ld_csr *a;
    const ld_index *rows, *always;
    const ld_tensor *p, *p_cols; /* WEIGHTED: either */
    const ld_tensor *c;          /* POISSON: c_i of the rows, ... */
    ld_poisson_rule rule;        /* ... and what columns have */
    bool replace, debias, count;
    int64_t k, grain;
    ld_stream stream;
    row_plan *plans;
    int64_t room;      /* for draws */
    draw_list *lists;  /* of the chunks, until they are collected; NULL when that is done at once */
    ld_structure *s;   /* what they become: a's columns and, in `origin`, positions ... */
    ld_tensor *values; /* ... with a's values there, NULL when it has none ... */
    ld_tensor *w;      /* ... and their weights */
    atomic_int stopped; /* LD_NOMEM or LD_CANCELLED in some chunk, or LD_OK */
    atomic_bool failed; /* in some row */
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
    ld_status st;
    snprintf(what, sizeof what, "%s: node", job->where);
    LD_TRY(ld_index_check(job->rows, 0, s->n_rows, what));
    if (first != job->rows) /* else ld_csr_compact sees it */
        LD_TRY(ld_index_check_unique(job->rows, what));
    if (first && first != job->rows) {
        snprintf(what, sizeof what, "%s: first column", job->where);
        LD_TRY(ld_index_check(first, 0, s->n_cols, what));
    } else if (first && s->n_cols < s->n_rows) {
        LD_TRY(ld_index_check(first, 0, s->n_cols, what));
    }
    LD_TRY(ld_check_always(job->where, s, job->rows, job->always));
    LD_TRY(ld_structure_prefetch(s, job->rows));
    if (!(job->plans = ld_alloc_array(n, sizeof *job->plans, LD_MEM_SCRATCH)))
        return LD_NOMEM;
    for (int64_t i = 0; i < n; i++) {
        __builtin_prefetch(&s->offsets[job->rows->data[i + AHEAD < n ? i + AHEAD : i]]);
        plan_row(job, i);
    }
done:
    return st;
}

/* The structure for draws whose numbers are known, with a's columns still to be filled in. */
static ld_status make_structure(rows_job *job, int64_t nnz)
{
    ld_status st;
    LD_TRY(ld_structure_new(&job->s, job->rows->size, job->a->s->n_cols, nnz, true));
    ld_structure_sliced(job->s, job->a);
    LD_TRY(ld_tensor_new(&job->w, 1, nnz, 1));
    if (job->a->values)
        LD_TRY(ld_tensor_new(&job->values, 1, nnz, 1));
done:
    return st;
}

/* --- drawing ---------------------------------------------------------------------------------- */

/* What a chunk of rows works on, in one block. */
typedef struct {
    void *block;
    ld_draw *keys;      /* k, weighted without replacement */
    uint64_t *words;    /* bits for the longest row, uniform without replacement */
    ld_row_draw *draws; /* of a group, when they are collected at once */
    float *p;           /* the longest row, weighted */
} scratch;

/* Places for the draws of the rows begin .. end-1. */
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

/* Position in the row of the j-th of its entries that are drawn from. */
static int64_t position(const row_plan *plan, int64_t j)
{
    return j + (plan->kept >= 0 && j >= plan->kept);
}

/* The row's probabilities in `p`; -1 for their number of positive ones when one is bad. */
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

/* The entries before the certain one, and those behind it. */
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
    s->origin_row[i] = ld_structure_origin(p, job->rows->data[i]);
    for (int64_t j = 0; j < plan->count; j++) {
        int64_t at = plan->from + ld_row_draw_at(draws[j]);
        s->columns[to + j] = p->columns[at];
        s->origin[to + j] = p->origin ? p->origin[at] : ld_row_draw_at(draws[j]);
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

/* Room for so many more draws in a list. */
static bool reserve(draw_list *list, int64_t more)
{
    if (more <= list->room - list->size)
        return true;
    int64_t room = 2 * (list->size + more);
    ld_row_draw *draws = ld_alloc_array(room, sizeof *draws, LD_MEM_SCRATCH);
    if (!draws)
        return false;
    if (list->size > 0)
        memcpy(draws, list->draws, (size_t)list->size * sizeof *draws);
    ld_free(list->draws);
    list->draws = draws;
    list->room = room;
    return true;
}

static void list_rows(void *ctx, int64_t begin, int64_t end)
{
    rows_job *job = ctx;
    draw_list *list = &job->lists[begin / job->grain];
    scratch s;
    bool enough = scratch_new(&s, job, begin, end);
    for (int64_t i = begin; enough && i < end; i++) {
        row_plan *plan = &job->plans[i];
        if (!(enough = reserve(list, most_draws(job, plan))))
            break;
        plan->place = list->size;
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

/* The message for the first row whose draws failed. */
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

/* The draws, which left room between them, as a structure. */
static ld_status collect(rows_job *job)
{
    int64_t nnz = 0;
    ld_status st;
    for (int64_t i = 0; i < job->rows->size; i++) {
        job->plans[i].to = nnz;
        nnz += job->plans[i].count;
    }
    LD_TRY(make_structure(job, nnz));
    LD_TRY(ld_parallel_for(job->rows->size, job->grain, collect_rows, job));
done:
    return st;
}

/* Draws all rows: into the structure, or into lists. */
static ld_status draw_all(rows_job *job)
{
    int64_t n_lists = (job->rows->size + job->grain - 1) / job->grain;
    ld_loop_fn *draw = draw_rows;
    ld_status st = LD_OK;
    if (job->kind == UNIFORM && !job->replace) {
        LD_TRY(make_structure(job, job->room));
    } else {
        if (!(job->lists = ld_calloc_array(n_lists, sizeof *job->lists, LD_MEM_SCRATCH)))
            LD_TRY(LD_NOMEM);
        draw = list_rows;
    }
    if (job->kind == POISSON)
        LD_TRY(ld_poisson_levels(&job->rule, job->a->s->n_cols, job->room));
    LD_TRY(ld_parallel_for(job->rows->size, job->grain, draw, job));
done:
    return st;
}

static void free_draws(rows_job *job)
{
    int64_t n_lists = (job->rows->size + job->grain - 1) / job->grain;
    for (int64_t i = 0; job->lists && i < n_lists; i++)
        ld_free(job->lists[i].draws);
    ld_free(job->lists);
    ld_free(job->plans);
    ld_free(job->rule.levels);
}

static ld_status run(ld_csr **out, ld_index **src, ld_tensor **w, rows_job *job,
                     const ld_index *first, ld_rng *rng)
{
    char what[64];
    ld_status st;
    job->grain = job->kind == POISSON ? POISSON_GRAIN : GRAIN;
    LD_TRY(plan(job, first));
    job->stream = job->rule.stream = ld_rng_next(rng);
    LD_TRY(draw_all(job));
    if ((st = (ld_status)atomic_load(&job->stopped)) != LD_OK) { /* told by another thread, maybe */
        ld_set_message("%s: %s", job->where, st == LD_NOMEM ? "out of memory" : "interrupted");
        goto done;
    }
    if (atomic_load(&job->failed)) {
        st = explain(job);
        goto done;
    }
    if (job->lists)
        LD_TRY(collect(job));
    snprintf(what, sizeof what, "%s: %s", job->where, first == job->rows ? "node" : "first column");
    LD_TRY(ld_csr_compact(out, src, job->a, job->s, job->values, job->rows, first, what));
    *w = ld_tensor_ref(job->w);
done:
    free_draws(job);
    ld_structure_unref(job->s);
    ld_tensor_unref(job->values);
    ld_tensor_unref(job->w);
    return st;
}

/* t, when given, must be a vector of n numbers. */
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
    ld_status st;
    if (k < 0 || k > INT32_MAX)
        return ld_fail(LD_VALUE, "sample_rows: k must be 0 to %d, got %" PRId64, INT32_MAX, k);
    if (o.p && o.p_cols)
        return ld_fail(LD_VALUE, "sample_rows: p and p_cols do not go together");
    if (o.debias && (job.kind == UNIFORM || o.replace))
        return ld_fail(LD_VALUE, "sample_rows: debias is for weighted draws without replacement: "
                                 "the others are unbiased as they are");
    LD_TRY(check_vector("sample_rows", "p", o.p, a->s->nnz, "entry"));
    LD_TRY(check_vector("sample_rows", "p_cols", o.p_cols, a->s->n_cols, "column"));
    st = run(out, src, w, &job, o.first, rng);
done:
    return st;
}

ld_status ld_poisson_rows(ld_csr **out, ld_index **src, ld_tensor **w, ld_csr *a,
                          const ld_index *rows, const ld_tensor *c, ld_poisson_options o,
                          ld_rng *rng)
{
    rows_job job = {
        .where = "poisson_rows", .kind = POISSON, .a = a, .rows = rows, .always = o.always, .c = c};
    ld_status st;
    LD_TRY(check_vector("poisson_rows", "c", c, rows->size, "row"));
    LD_TRY(check_vector("poisson_rows", "pi", o.pi, a->s->n_cols, "column"));
    LD_TRY(check_vector("poisson_rows", "r", o.r, a->s->n_cols, "column"));
    job.rule = (ld_poisson_rule){
        .pi = o.pi ? o.pi->data : NULL, .r = o.r ? o.r->data : NULL, .shared = o.shared};
    st = run(out, src, w, &job, o.first, rng);
done:
    return st;
}
