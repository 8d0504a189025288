/* LADIES without replacement, rows normalised. The first pass over P's rows dst names the columns in
 * order of first touch and adds up their squared norms; the second, over the names, keeps the entries
 * of drawn columns. */
#include "fused.h"
#include "kernel/keys.h"

enum { AHEAD = 16 };

typedef struct {
    int32_t *names; /* of the entries of the rows dst, one row after the other */
    double *norms;  /* squared, of the named columns, in terms of P without its column scale */
    int32_t *nodes; /* that the names stand for */
    int64_t n_names;
} touched;

static void touch_rows(touched *t, fused_sampler *f, const ld_index *dst)
{
    const ld_structure *p = f->P->s;
    int32_t n = 0;
    int64_t to = 0;
    ld_marker_clear(f->renamed);
    for (int64_t i = 0; i < dst->size; i++) {
        int64_t r = dst->data[i], end = p->offsets[r + 1];
        double scale = f->P->row_scale ? f->P->row_scale->data[r] : 1.0;
        for (int64_t e = p->offsets[r]; e < end; e++) {
            int32_t u = p->columns[e], name = ld_marker_get(f->renamed, u);
            double v = f->P->values ? scale * f->P->values->data[e] : scale;
            if (e + AHEAD < end)
                __builtin_prefetch(&f->renamed->marks[p->columns[e + AHEAD]]);
            if (name < 0) {
                name = n++;
                ld_marker_set(f->renamed, u, name);
                t->nodes[name] = u;
                t->norms[name] = 0;
            }
            t->norms[name] += v * v;
            t->names[to++] = name;
        }
    }
    t->n_names = n;
}

/* The kept entries of every row, divided by their sum. `place` is a name's place among the drawn, or
 * -1; `w` their weights times the column scales. */
static void keep_drawn(int64_t *offsets, int32_t *columns, float *values, const fused_sampler *f,
                       const ld_index *dst, const touched *t, const int32_t *place, const float *w)
{
    const ld_structure *p = f->P->s;
    const int32_t *name = t->names;
    int64_t kept = 0;
    offsets[0] = 0;
    for (int64_t i = 0; i < dst->size; i++) {
        double sum = 0;
        for (int64_t e = p->offsets[dst->data[i]]; e < p->offsets[dst->data[i] + 1]; e++) {
            int32_t at = place[*name++];
            if (at < 0)
                continue;
            columns[kept] = at;
            values[kept] = f->P->values ? f->P->values->data[e] * w[at] : w[at];
            sum += values[kept++];
        }
        float factor = sum != 0 ? (float)(1.0 / sum) : 1.0f;
        for (int64_t e = offsets[i]; e < kept; e++)
            values[e] *= factor;
        offsets[i + 1] = kept;
    }
}

/* The pieces of one buffer, in which every entry and every name has its place. */
typedef struct {
    touched t;
    int32_t *place, *columns;
    float *p, *w, *values;
    ld_draw *draws;
    int64_t *offsets;
} pieces;

static ld_status lay_out(pieces *x, fused_sampler *f, int64_t n, int64_t nnz)
{
    char *at = fused_room(&f->work[0], nnz * (int64_t)(sizeof(double) + 6 * sizeof(int32_t)));
    x->draws = fused_room(&f->work[1], f->size * (int64_t)sizeof *x->draws);
    x->w = fused_room(&f->work[2], nnz * (int64_t)sizeof *x->w);
    x->offsets = fused_room(&f->work[3], (n + 1) * (int64_t)sizeof *x->offsets);
    if (!at || !x->draws || !x->w || !x->offsets)
        return LD_NOMEM;
    x->t.norms = (double *)at;
    x->t.names = (int32_t *)(x->t.norms + nnz);
    x->t.nodes = x->t.names + nnz;
    x->place = x->t.nodes + nnz;
    x->columns = x->place + nnz;
    x->p = (float *)(x->columns + nnz);
    x->values = x->p + nnz;
    return LD_OK;
}

ld_status fused_ladies(fused_block *out, fused_sampler *f, const ld_index *dst, ld_rng *rng)
{
    const float *col_scale = f->P->col_scale ? f->P->col_scale->data : NULL;
    const int64_t *offsets = f->P->s->offsets;
    int64_t nnz = 0, support = 0;
    double rest;
    ld_index *src = NULL;
    ld_stream stream = ld_rng_next(rng);
    pieces x;
    ld_status st;
    for (int64_t i = 0; i < dst->size; i++)
        nnz += offsets[dst->data[i] + 1] - offsets[dst->data[i]];
    LD_TRY(lay_out(&x, f, dst->size, nnz));
    touch_rows(&x.t, f, dst);
    for (int64_t c = 0; c < x.t.n_names; c++) {
        double w = col_scale ? col_scale[x.t.nodes[c]] : 1.0;
        x.p[c] = (float)(x.t.norms[c] * (w * w));
        x.place[c] = -1;
        support += x.p[c] > 0;
    }
    int64_t k = f->size < support ? f->size : support;
    LD_TRY(ld_smallest_keys(x.draws, &rest, x.p, x.t.n_names, k, &stream, 0));
    LD_TRY(ld_index_new(&src, k));
    for (int32_t j = 0; j < k; j++) { /* the rows are divided by their sums: 1/p is weight enough */
        int32_t c = x.draws[j].at;
        x.place[c] = j;
        src->data[j] = x.t.nodes[c];
        x.w[j] = (float)(1.0 / x.p[c]) * (col_scale ? col_scale[src->data[j]] : 1.0f);
    }
    keep_drawn(x.offsets, x.columns, x.values, f, dst, &x.t, x.place, x.w);
    return fused_block_new(out, dst->size, x.offsets, x.columns, x.values, src);
done:
    return st;
}
