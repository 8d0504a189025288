#include <inttypes.h>
#include <string.h>

#include "base/simd.h"
#include "base/threads.h"
#include "grad/op.h"

enum { ROW_GRAIN = 64, CHUNK = 1 << 14 };

/* dst[i] = src[rows[i]] */
typedef struct {
    float *dst;
    const float *src;
    const int32_t *rows;
    int64_t n_cols;
    bool accumulate;
} row_copy;

static void gather_rows(void *ctx, int64_t begin, int64_t end)
{
    row_copy *p = ctx;
    for (int64_t i = begin; i < end; i++) {
        const float *src = p->src + p->rows[i] * p->n_cols;
        float *dst = p->dst + i * p->n_cols;
        if (!p->accumulate)
            memcpy(dst, src, (size_t)p->n_cols * sizeof(float));
        else
            for (int64_t j = 0; j < p->n_cols; j++)
                dst[j] += src[j];
    }
}

typedef struct {
    float *to;
    const float *from;
    const int32_t *rows;
    int64_t n_cols;
} row_sums;

LD_CLONES(add_rows)
{
    const row_sums *p = ctx;
    for (int64_t i = begin; i < end; i++) {
        const float *from = p->from + i * p->n_cols;
        float *to = p->to + p->rows[i] * p->n_cols;
        for (int64_t j = 0; j < p->n_cols; j++)
            to[j] += from[j];
    }
}

ld_status ld_add_to_rows(float *to, const float *from, const ld_index *rows, int64_t n_cols,
                         bool distinct)
{
    row_sums p = {to, from, rows->data, n_cols};
    return ld_parallel_for(rows->size, distinct ? ROW_GRAIN : rows->size + 1, add_rows, &p);
}

static ld_status gather_backward(ld_node *n)
{
    ld_tensor *grad;
    ld_status st = ld_grad_zeroed(n->in[0], &grad);
    if (st == LD_OK)
        st = ld_add_to_rows(grad->data, n->out->grad->data, n->index, grad->n_cols, false);
    return st;
}

ld_status ld_op_gather(ld_tape *tape, ld_tensor **out, ld_tensor *x, ld_index *rows)
{
    ld_tensor *y = NULL;
    ld_node node = {.name = "gather",
                    .backward = gather_backward,
                    .unread = LD_IN0 | LD_OUT,
                    .in = {x},
                    .index = rows};
    ld_status st;
    LD_TRY(ld_index_check(rows, 0, x->n_rows, "gather: row"));
    LD_TRY(ld_tensor_new(&y, x->ndim, rows->size, x->n_cols));
    row_copy p = {y->data, x->data, rows->data, x->n_cols, false};
    LD_TRY(ld_parallel_for(rows->size, ROW_GRAIN, gather_rows, &p));
done:
    return ld_tape_finish(tape, out, y, &node, st);
}

static ld_status scatter_backward(ld_node *n)
{
    ld_tensor *grad;
    bool accumulate;
    ld_status st = ld_grad_target(n->in[0], &grad, &accumulate);
    if (st != LD_OK)
        return st;
    row_copy p = {grad->data, n->out->grad->data, n->index->data, grad->n_cols, accumulate};
    return ld_parallel_for(n->index->size, ROW_GRAIN, gather_rows, &p);
}

ld_status ld_op_scatter_add(ld_tape *tape, ld_tensor **out, ld_tensor *x, ld_index *rows,
                            int64_t n_rows)
{
    ld_tensor *y = NULL;
    ld_node node = {.name = "scatter_add",
                    .backward = scatter_backward,
                    .unread = LD_IN0 | LD_OUT,
                    .in = {x},
                    .index = rows};
    ld_status st;
    if (rows->size != x->n_rows)
        return ld_fail(LD_SHAPE, "scatter_add: %" PRId64 " positions for %" PRId64 " rows",
                       rows->size, x->n_rows);
    LD_TRY(ld_index_check(rows, 0, n_rows, "scatter_add: row"));
    LD_TRY(ld_tensor_full(&y, x->ndim, n_rows, x->n_cols, 0.0f));
    st = ld_add_to_rows(y->data, x->data, rows, x->n_cols, false);
done:
    return ld_tape_finish(tape, out, y, &node, st);
}

/* z = (x, y) */
typedef struct {
    float *z;
    const float *x, *y;
    int64_t x_cols, y_cols;
} sides;

static void concat_rows(void *ctx, int64_t begin, int64_t end)
{
    const sides *p = ctx;
    for (int64_t r = begin; r < end; r++) {
        float *z = p->z + r * (p->x_cols + p->y_cols);
        memcpy(z, p->x + r * p->x_cols, (size_t)p->x_cols * sizeof(float));
        memcpy(z + p->x_cols, p->y + r * p->y_cols, (size_t)p->y_cols * sizeof(float));
    }
}

typedef struct {
    float *part;
    const float *whole; /* from the part's first column on */
    int64_t part_cols, whole_cols;
    bool accumulate;
} columns;

LD_CLONES(take_rows)
{
    const columns *p = ctx;
    for (int64_t r = begin; r < end; r++) {
        const float *whole = p->whole + r * p->whole_cols;
        float *part = p->part + r * p->part_cols;
        if (!p->accumulate)
            memcpy(part, whole, (size_t)p->part_cols * sizeof(float));
        else
            for (int64_t j = 0; j < p->part_cols; j++)
                part[j] += whole[j];
    }
}

/* Columns first .. first + part->n_cols - 1 of `whole` are part's gradient, or a term of it. */
static ld_status take_columns(ld_tensor *part, const ld_tensor *whole, int64_t first)
{
    ld_tensor *grad;
    columns p = {
        .whole = whole->data + first, .whole_cols = whole->n_cols, .part_cols = part->n_cols};
    ld_status st = ld_grad_target(part, &grad, &p.accumulate);
    if (st != LD_OK)
        return st;
    p.part = grad->data;
    return ld_parallel_for(part->n_rows, ROW_GRAIN, take_rows, &p);
}

static ld_status concat_backward(ld_node *n)
{
    ld_tensor *x = n->in[0], *y = n->in[1];
    ld_status st = LD_OK;
    if (ld_wants_grad(x))
        LD_TRY(take_columns(x, n->out->grad, 0));
    if (ld_wants_grad(y))
        LD_TRY(take_columns(y, n->out->grad, x->n_cols));
done:
    return st;
}

ld_status ld_op_concat(ld_tape *tape, ld_tensor **out, ld_tensor *x, ld_tensor *y)
{
    if (x->n_rows != y->n_rows)
        return ld_fail(LD_SHAPE, "concat: %s beside %s", ld_tensor_shape(x), ld_tensor_shape(y));
    ld_tensor *z = NULL;
    ld_node node = {.name = "concat",
                    .backward = concat_backward,
                    .unread = LD_IN0 | LD_IN1 | LD_OUT,
                    .in = {x, y}};
    ld_status st;
    LD_TRY(ld_tensor_new(&z, 2, x->n_rows, x->n_cols + y->n_cols));
    sides p = {z->data, x->data, y->data, x->n_cols, y->n_cols};
    LD_TRY(ld_parallel_for(z->n_rows, ROW_GRAIN, concat_rows, &p));
done:
    return ld_tape_finish(tape, out, z, &node, st);
}

/* A tensor and a part of it, from position `first` to before `last`. */
typedef struct {
    float *whole;
    const float *part;
    int64_t first, last;
} placement;

/* whole = the part, among zeros */
static void place_part(void *ctx, int64_t begin, int64_t end)
{
    const placement *p = ctx;
    int64_t first = p->first < begin ? begin : p->first < end ? p->first : end;
    int64_t last = p->last < first ? first : p->last < end ? p->last : end;
    memset(p->whole + begin, 0, (size_t)(first - begin) * sizeof(float));
    if (first < last)
        memcpy(p->whole + first, p->part + (first - p->first),
               (size_t)(last - first) * sizeof(float));
    memset(p->whole + last, 0, (size_t)(end - last) * sizeof(float));
}

/* The same, added. */
LD_CLONES(add_part)
{
    const placement *p = ctx;
    for (int64_t i = begin; i < end; i++)
        p->whole[p->first + i] += p->part[i];
}

/* number: where the view, or copy, begins in x, in elements */
static ld_status view_backward(ld_node *n)
{
    ld_tensor *grad;
    const ld_tensor *g = n->out->grad;
    bool accumulate;
    ld_status st = ld_grad_pass(n, n->in[0], &grad, &accumulate);
    if (st != LD_OK || grad == g)
        return st;
    int64_t first = (int64_t)n->number, size = ld_tensor_size(g);
    placement p = {grad->data, g->data, first, first + size};
    return accumulate ? ld_parallel_for(size, CHUNK, add_part, &p)
                      : ld_parallel_for(ld_tensor_size(grad), CHUNK, place_part, &p);
}

ld_status ld_op_reshape(ld_tape *tape, ld_tensor **out, ld_tensor *x, int ndim, int64_t n_rows,
                        int64_t n_cols)
{
    ld_tensor *y = NULL;
    ld_node node = {
        .name = "reshape", .backward = view_backward, .unread = LD_IN0 | LD_OUT, .in = {x}};
    ld_status st = ld_tensor_view(&y, x, ndim, n_rows, n_cols);
    return ld_tape_finish(tape, out, y, &node, st);
}

ld_status ld_op_slice(ld_tape *tape, ld_tensor **out, ld_tensor *x, int64_t first, int64_t count)
{
    ld_tensor *y = NULL;
    ld_node node = {.name = "slice",
                    .backward = view_backward,
                    .unread = LD_IN0 | LD_OUT,
                    .in = {x},
                    .number = (double)(first * x->n_cols)};
    ld_status st = ld_tensor_slice(&y, x, first, count);
    return ld_tape_finish(tape, out, y, &node, st);
}

ld_status ld_op_clone(ld_tape *tape, ld_tensor **out, ld_tensor *x)
{
    ld_tensor *y = NULL;
    ld_node node = {
        .name = "clone", .backward = view_backward, .unread = LD_IN0 | LD_OUT, .in = {x}};
    ld_status st = ld_tensor_clone(&y, x);
    return ld_tape_finish(tape, out, y, &node, st);
}

ld_status ld_op_element(ld_tape *tape, ld_tensor **out, ld_tensor *x, int64_t position)
{
    ld_tensor *y = NULL;
    ld_node node = {.name = "element",
                    .backward = view_backward,
                    .unread = LD_IN0 | LD_OUT,
                    .in = {x},
                    .number = (double)position};
    ld_status st = ld_tensor_full(&y, 1, 1, 1, x->data[position]);
    return ld_tape_finish(tape, out, y, &node, st);
}
