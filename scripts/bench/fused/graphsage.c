/* GraphSAGE, mean form, without replacement: a node's loop, which is kept, and k of its other
 * neighbours, weighted with P and divided by their sum. Rows are drawn in parallel, each into places
 * of its own; then one pass renames the columns, whose marks were fetched ahead. */
#include "fused.h"
#include "system/threads.h"

enum { GRAIN = 1024, GROUP = 64, ROWS_AHEAD = 4 };

typedef struct {
    const ld_csr *P;
    const int32_t *loops, *rows; /* loops: places in their rows */
    int64_t k;
    ld_stream stream;
    int32_t *at;     /* k + 1 places a row: positions in P, ascending, then their columns */
    float *weights;  /* the same places */
    int32_t *counts; /* of each row */
} draw;

ld_status fused_prepare_graphsage(fused_sampler *f)
{
    return ld_csr_diagonal(&f->loops, f->P);
}

/* Floyd's k of d, kept in order while they are few. */
static void draw_positions(int32_t *at, int64_t d, int64_t k, ld_stream stream, uint64_t first)
{
    uint32_t r[4];
    for (int64_t i = 0; i < k; i++) {
        if (i % 2 == 0)
            ld_philox(r, stream, first + (uint64_t)i / 2);
        uint64_t bits = (uint64_t)r[i % 2 * 2 + 1] << 32 | r[i % 2 * 2];
        int64_t last = d - k + i, j = i;
        int32_t t = (int32_t)((unsigned __int128)bits * (uint64_t)(last + 1) >> 64);
        for (int64_t other = 0; other < i; other++)
            if (at[other] == t)
                t = (int32_t)last;
        for (; j > 0 && at[j - 1] > t; j--)
            at[j] = at[j - 1];
        at[j] = t;
    }
}

/* What is known of a row before it is drawn. */
typedef struct {
    int32_t row, from, end, loop;
    float scale;
} row_plan;

static void plan_rows(row_plan *plans, const draw *job, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++) {
        int32_t r = job->rows[i], from = (int32_t)job->P->s->offsets[r], loop = job->loops[r];
        plans[i - begin] = (row_plan){
            .row = r,
            .from = from,
            .end = (int32_t)job->P->s->offsets[r + 1],
            .loop = loop < 0 ? -1 : from + loop,
            .scale = job->P->row_scale ? job->P->row_scale->data[r] : 1.0f,
        };
    }
}

static int32_t draw_row(int32_t *at, const row_plan *plan, const draw *job)
{
    int32_t from = plan->from, end = plan->end, loop = plan->loop, count = 0;
    int64_t d = end - from - (loop >= 0), k = job->k;
    if (d <= k) {
        for (int32_t e = from; e < end; e++)
            at[count++] = e;
    } else {
        draw_positions(at, d, k, job->stream, (uint64_t)plan->row << 32);
        count = (int32_t)k;
        for (int64_t j = 0; j < k; j++)
            at[j] += from + (loop >= 0 && at[j] >= loop - from);
        if (loop >= 0) {
            for (; count > 0 && at[count - 1] > loop; count--)
                at[count] = at[count - 1];
            at[count] = loop;
            count = (int32_t)k + 1;
        }
    }
    for (int32_t j = 0; j < count; j++)
        __builtin_prefetch(&job->P->s->columns[at[j]]);
    return count;
}

/* The weights of a row, and its columns in place of their positions. */
static void finish_row(int32_t *at, float *w, int32_t count, float scale, const draw *job)
{
    double sum = 0;
    for (int32_t j = 0; j < count; j++) {
        w[j] = job->P->values ? scale * job->P->values->data[at[j]] : scale;
        at[j] = job->P->s->columns[at[j]];
        if (job->P->col_scale)
            w[j] *= job->P->col_scale->data[at[j]];
        sum += w[j];
    }
    float factor = sum != 0 ? (float)(1.0 / sum) : 1.0f;
    for (int32_t j = 0; j < count; j++)
        w[j] *= factor;
}

static void draw_rows(void *ctx, int64_t begin, int64_t end)
{
    const draw *job = ctx;
    int64_t room = job->k + 1;
    row_plan plans[GROUP];
    for (int64_t group = begin; group < end; group += GROUP) {
        int64_t last = group + GROUP < end ? group + GROUP : end;
        plan_rows(plans, job, group, last);
        for (int64_t i = group; i < last; i++)
            job->counts[i] = draw_row(job->at + i * room, &plans[i - group], job);
        for (int64_t i = group; i < last; i++)
            finish_row(job->at + i * room, job->weights + i * room, job->counts[i],
                       plans[i - group].scale, job);
    }
}

/* The drawn columns, renamed, without gaps. */
static void rename_columns(ld_structure *s, float *values, ld_index *src, ld_marker *renamed,
                           const draw *job)
{
    int32_t n = (int32_t)src->size;
    for (int64_t i = 0, to = 0; i < s->n_rows; i++) {
        const int32_t *columns = job->at + i * (job->k + 1);
        const float *w = job->weights + i * (job->k + 1);
        const int32_t *later =
            i + ROWS_AHEAD < s->n_rows ? columns + ROWS_AHEAD * (job->k + 1) : NULL;
        for (int32_t j = 0; later && j < job->counts[i + ROWS_AHEAD]; j++)
            __builtin_prefetch(&renamed->marks[later[j]]);
        for (int32_t j = 0; j < job->counts[i]; j++, to++) {
            int32_t name = ld_marker_get(renamed, columns[j]);
            if (name < 0) {
                name = n++;
                ld_marker_set(renamed, columns[j], name);
                src->data[name] = columns[j];
            }
            s->columns[to] = name;
            values[to] = w[j];
        }
        s->offsets[i + 1] = to;
    }
    s->n_cols = src->size = n;
}

ld_status fused_graphsage(fused_block *out, fused_sampler *f, const ld_index *dst, ld_rng *rng)
{
    int64_t n = dst->size, places = n * (f->size + 1), nnz = 0;
    ld_structure *s = NULL;
    ld_tensor *values = NULL;
    ld_index *src = NULL;
    ld_status st = LD_NOMEM;
    draw job = {.P = f->P,
                .loops = f->loops->data,
                .rows = dst->data,
                .k = f->size,
                .stream = ld_rng_next(rng)};
    if (!(job.at = fused_room(&f->work[0], places * (int64_t)sizeof *job.at)) ||
        !(job.weights = fused_room(&f->work[1], places * (int64_t)sizeof *job.weights)) ||
        !(job.counts = fused_room(&f->work[2], n * (int64_t)sizeof *job.counts)))
        return st;
    LD_TRY(ld_parallel_for(n, GRAIN, draw_rows, &job));
    for (int64_t i = 0; i < n; i++)
        nnz += job.counts[i];
    LD_TRY(ld_structure_new(&s, n, 0, nnz, false));
    LD_TRY(ld_tensor_new(&values, 1, nnz, 1));
    LD_TRY(ld_index_new(&src, nnz + n < f->P->s->n_cols ? nnz + n : f->P->s->n_cols));
    ld_marker_clear(f->renamed);
    for (src->size = 0; src->size < n; src->size++) {
        src->data[src->size] = dst->data[src->size];
        ld_marker_set(f->renamed, dst->data[src->size], (int32_t)src->size);
    }
    rename_columns(s, values->data, src, f->renamed, &job);
    LD_TRY(ld_csr_new(&out->adj, s, values, NULL, NULL));
    out->src = ld_index_ref(src);
done:
    ld_structure_unref(s);
    ld_tensor_unref(values);
    ld_index_unref(src);
    return st;
}
