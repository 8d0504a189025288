/* A multiple of a tensor plus rows of another one: what a layer makes of its neighbours and of the nodes
 * themselves. Product and sum round each on its own, as they do one after the other. */
#include <inttypes.h>

#include "base/memory.h"
#include "base/simd.h"
#include "base/threads.h"
#include "grad/broadcast.h"
#include "grad/op.h"

enum { CHUNK = 1 << 15 };

/* Which element of y meets which one of x: that of the row rows[i], or with NULL of the same place. */
typedef struct {
    const int32_t *rows;
    int64_t n_cols;
} meeting;

/* Where in y element i of x meets one; in *n how many of those up to `end` follow side by side. */
static inline __attribute__((always_inline)) int64_t place_in_y(const meeting *m, int64_t i,
                                                                int64_t end, int64_t *n)
{
    *n = end - i;
    if (!m->rows)
        return i;
    int64_t row = i / m->n_cols, col = i % m->n_cols, rest = m->n_cols - col;
    *n = rest < *n ? rest : *n;
    return m->rows[row] * m->n_cols + col;
}

typedef struct {
    float *out;
    const float *x, *y;
    float factor;
    meeting at;
} mul_add;

LD_CLONES(forward)
{
    const mul_add *p = ctx;
    const float factor = p->factor;
    for (int64_t i = begin, n; i < end; i += n) {
        const float *y = p->y + place_in_y(&p->at, i, end, &n), *x = p->x + i;
        float *out = p->out + i;
        LD_INDEPENDENT /* out and x may be the same memory */
        for (int64_t j = 0; j < n; j++)
            out[j] = x[j] * factor + y[j];
    }
}

/* Gradients: g of the result, dx and dy, NULL where there is none. */
typedef struct {
    const float *g;
    float *dx, *dy;
    float factor;
    bool add_x, add_y;
    meeting at;
    ld_pieces products; /* of x and g, without memory for their sums where nobody wants them */
} d_mul_add;

LD_CLONES(to_y)
{
    const d_mul_add *p = ctx;
    for (int64_t i = begin, n; i < end; i += n) {
        float *d = p->dy + place_in_y(&p->at, i, end, &n);
        const float *g = p->g + i;
        for (int64_t j = 0; j < n; j++)
            d[j] = p->add_y ? d[j] + g[j] : g[j];
    }
}

LD_CLONES(to_x)
{
    const d_mul_add *p = ctx;
    const float *g = p->g, factor = p->factor;
    float *d = p->dx;
    LD_INDEPENDENT /* the two may be the same memory */
    for (int64_t i = begin; i < end; i++) {
        float v = g[i] * factor;
        d[i] = p->add_x ? d[i] + v : v;
    }
}

/* A piece stays in the nearest cache while it is read three times. What x gets comes last: it may be
 * written over g. */
static void backward(void *ctx, int64_t begin, int64_t end)
{
    d_mul_add *p = ctx;
    for (int64_t k = begin; k < end; k++) {
        int64_t first = k * LD_SUM_PIECE, rest = p->products.size - first;
        int64_t last = first + (rest < LD_SUM_PIECE ? rest : LD_SUM_PIECE);
        if (p->products.sums)
            ld_pieces_sum(&p->products, k, k + 1);
        if (p->dy)
            to_y(p, first, last);
        if (p->dx)
            to_x(p, first, last);
    }
}

/* The memory of what x and y get; that of one of them may be the result's gradient. */
static ld_status find_targets(d_mul_add *p, const ld_node *n)
{
    ld_tensor *x = n->in[0], *y = n->in[2], *grad;
    ld_status st = LD_OK;
    if (ld_wants_grad(y)) {
        p->add_y = true;
        if (n->index)
            LD_TRY(ld_grad_zeroed(y, &grad));
        else if (ld_wants_grad(x) && !x->grad) /* which may need that memory */
            LD_TRY(ld_grad_target(y, &grad, &p->add_y));
        else
            LD_TRY(ld_grad_pass(n, y, &grad, &p->add_y));
        p->dy = grad->data == p->g ? NULL : grad->data;
    }
    if (ld_wants_grad(x)) {
        LD_TRY(ld_grad_pass(n, x, &grad, &p->add_x));
        p->dx = grad->data;
    }
done:
    return st;
}

/* Whether pieces may go side by side: no two of them write to the same element. */
static ld_status are_apart(bool *apart, const ld_node *n, const d_mul_add *p)
{
    ld_status st = LD_OK;
    *apart = true;
    if (n->index && p->dy)
        st = ld_index_is_distinct(apart, n->index);
    *apart = *apart && !(n->index && p->dx == p->dy);
    return st;
}

static ld_status mul_add_backward(ld_node *n)
{
    ld_tensor *x = n->in[0], *factor = n->in[1], *grad;
    const ld_tensor *g = n->out->grad;
    int64_t n_pieces = ld_pieces_count(ld_tensor_size(g));
    d_mul_add p = {.g = g->data,
                   .factor = factor ? factor->data[0] : (float)n->number,
                   .at = {n->index ? n->index->data : NULL, x->n_cols},
                   .products.size = ld_tensor_size(g)};
    bool apart;
    ld_status st;
    LD_TRY(find_targets(&p, n));
    LD_TRY(are_apart(&apart, n, &p));
    if (ld_wants_grad(factor)) {
        LD_TRY(ld_grad_zeroed(factor, &grad));
        LD_TRY(ld_pieces_new(&p.products, g->data, x->data, ld_tensor_size(g)));
    }
    LD_TRY(ld_parallel_for(n_pieces, apart ? 1 : n_pieces, backward, &p));
    if (p.products.sums)
        grad->data[0] += (float)ld_pieces_total(&p.products);
done:
    ld_free(p.products.sums);
    return st;
}

static ld_status check_shapes(const ld_tensor *x, const ld_tensor *factor, const ld_tensor *y,
                              const ld_index *rows)
{
    int64_t n_rows = rows ? rows->size : y->n_rows;
    if (factor && ld_tensor_size(factor) != 1)
        return ld_fail(LD_SHAPE, "mul_add: the factor must have one element, it is %s",
                       ld_tensor_shape(factor));
    if (y->ndim != x->ndim || y->n_cols != x->n_cols || n_rows != x->n_rows) {
        if (rows)
            return ld_fail(LD_SHAPE, "mul_add: %" PRId64 " rows of %s do not fit %s", n_rows,
                           ld_tensor_shape(y), ld_tensor_shape(x));
        return ld_fail(LD_SHAPE, "mul_add: %s does not fit %s", ld_tensor_shape(y),
                       ld_tensor_shape(x));
    }
    return rows ? ld_index_check(rows, 0, y->n_rows, "mul_add: row") : LD_OK;
}

ld_status ld_op_mul_add(ld_tape *tape, ld_tensor **out, ld_tensor *x, ld_tensor *factor,
                        double number, ld_tensor *y, ld_index *rows, bool done)
{
    unsigned x_unread = ld_wants_grad(factor) ? 0 : LD_IN0;
    bool over = done && x_unread && x != y && ld_tape_may_overwrite(tape, x);
    ld_tensor *z = NULL;
    ld_node node = {.name = "mul_add",
                    .backward = mul_add_backward,
                    .unread = x_unread | LD_IN2 | LD_OUT,
                    .in = {x, factor, y},
                    .index = rows,
                    .number = number};
    ld_status st;
    LD_TRY(check_shapes(x, factor, y, rows));
    LD_TRY(over ? ld_tensor_view(&z, x, x->ndim, x->n_rows, x->n_cols) : ld_tensor_like(&z, x));
    mul_add p = {.out = z->data,
                 .x = x->data,
                 .y = y->data,
                 .factor = factor ? factor->data[0] : (float)number,
                 .at = {rows ? rows->data : NULL, x->n_cols}};
    st = ld_parallel_for(ld_tensor_size(z), CHUNK, forward, &p);
    if (over)
        ld_tensor_release(x);
done:
    return ld_tape_finish(tape, out, z, &node, st);
}
