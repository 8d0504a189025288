/* FastGCN: t draws with replacement from the squared column norms of P, and the entries of the rows
 * dst in the drawn columns. A bit for each node, small enough to stay in the cache, dismisses nearly
 * all other entries. */
#include "fused.h"
#include "memory/memory.h"

enum { AHEAD = 8 };

ld_status fused_prepare_fastgcn(fused_sampler *f)
{
    ld_tensor *q = NULL;
    ld_status st;
    LD_TRY(ld_csr_col_sums(&q, f->P, 2));
    LD_TRY(ld_alias_new(&f->table, q));
    f->bits = ld_calloc_array(f->P->s->n_cols / 64 + 1, sizeof *f->bits, LD_MEM_SCRATCH);
    st = f->bits ? LD_OK : LD_NOMEM;
done:
    ld_tensor_unref(q);
    return st;
}

/* The drawn nodes in `src`, which has room for f->size, and how often they were drawn. */
static void draw_nodes(ld_index *src, float *times, fused_sampler *f, ld_stream stream)
{
    int32_t group[LD_ALIAS_GROUP];
    ld_marker_clear(f->renamed);
    src->size = 0;
    for (int64_t first = 0; first < f->size; first += LD_ALIAS_GROUP) {
        int64_t count = f->size - first < LD_ALIAS_GROUP ? f->size - first : LD_ALIAS_GROUP;
        ld_alias_draw_group(group, f->table, stream, (uint64_t)first, count);
        for (int64_t i = 0; i < count; i++)
            __builtin_prefetch(&f->renamed->marks[group[i]]);
        for (int64_t i = 0; i < count; i++) {
            int32_t u = group[i], place = ld_marker_get(f->renamed, u);
            if (place < 0) {
                place = (int32_t)src->size++;
                ld_marker_set(f->renamed, u, place);
                f->bits[u / 64] |= (uint64_t)1 << u % 64;
                src->data[place] = u;
                times[place] = 0;
            }
            times[place]++;
        }
    }
}

ld_status fused_fastgcn(fused_block *out, fused_sampler *f, const ld_index *dst, ld_rng *rng)
{
    const ld_structure *p = f->P->s;
    int64_t n = dst->size, most = 0, kept = 0;
    ld_index *src = NULL;
    ld_status st = LD_NOMEM;
    for (int64_t i = 0; i < n; i++)
        most += p->offsets[dst->data[i] + 1] - p->offsets[dst->data[i]];
    int64_t *offsets = fused_room(&f->work[0], (n + 1) * (int64_t)sizeof *offsets);
    int32_t *columns = fused_room(&f->work[1], most * (int64_t)sizeof *columns);
    float *values = fused_room(&f->work[2], most * (int64_t)sizeof *values);
    float *w = fused_room(&f->work[3], f->size * (int64_t)sizeof *w);
    if (!offsets || !columns || !values || !w || (st = ld_index_new(&src, f->size)) != LD_OK)
        return st;
    draw_nodes(src, w, f, ld_rng_next(rng));
    for (int64_t j = 0; j < src->size; j++) {
        int32_t u = src->data[j];
        w[j] *= (float)(f->table->total / ((double)f->size * f->table->p->data[u]));
        if (f->P->col_scale)
            w[j] *= f->P->col_scale->data[u];
    }
    offsets[0] = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t r = dst->data[i];
        float scale = f->P->row_scale ? f->P->row_scale->data[r] : 1.0f;
        if (i + AHEAD < n)
            __builtin_prefetch(&p->columns[p->offsets[dst->data[i + AHEAD]]]);
        for (int64_t e = p->offsets[r]; e < p->offsets[r + 1]; e++) {
            int32_t u = p->columns[e];
            if (f->bits[u / 64] >> u % 64 & 1) {
                int32_t place = ld_marker_get(f->renamed, u);
                columns[kept] = place;
                values[kept++] = scale * w[place] * (f->P->values ? f->P->values->data[e] : 1.0f);
            }
        }
        offsets[i + 1] = kept;
    }
    for (int64_t j = 0; j < src->size; j++)
        f->bits[src->data[j] / 64] = 0;
    return fused_block_new(out, n, offsets, columns, values, src);
}
