/* Comparisons, which give masks of ones and zeros, and the choice between two tensors by a mask. */
#include "base/threads.h"
#include "grad/broadcast.h"
#include "grad/op.h"

enum { CHUNK = 1 << 15 };

static int64_t row_grain(int64_t n_cols)
{
    return n_cols >= CHUNK ? 1 : n_cols < 1 ? CHUNK : CHUNK / n_cols;
}

typedef struct {
    float *out;
    ld_operand a, b, mask; /* the mask in a choice only */
    int64_t n_cols;
    ld_comparison kind;
} elements;

static void compare_rows(void *ctx, int64_t begin, int64_t end)
{
    const elements *p = ctx;
    for (int64_t r = begin; r < end; r++) {
        const float *a = p->a.data + r * p->a.row, *b = p->b.data + r * p->b.row;
        for (int64_t j = 0; j < p->n_cols; j++) {
            float x = a[j * p->a.col], y = b[j * p->b.col];
            bool holds = p->kind == LD_ABOVE ? x > y : p->kind == LD_BELOW ? x < y : x == y;
            p->out[r * p->n_cols + j] = holds ? 1.0f : 0.0f;
        }
    }
}

static const char *const comparison_names[] = {"above", "below", "equals"};

ld_status ld_compare(ld_tensor **out, ld_comparison kind, ld_tensor *a, ld_tensor *b)
{
    const ld_tensor *shape;
    ld_operand operand[2];
    ld_tensor *y = NULL;
    ld_status st;
    LD_TRY(ld_broadcast(operand, &shape, comparison_names[kind], 2, (ld_tensor *[]){a, b}));
    LD_TRY(ld_tensor_like(&y, shape));
    elements p = {
        .out = y->data, .a = operand[0], .b = operand[1], .n_cols = y->n_cols, .kind = kind};
    LD_TRY(ld_parallel_for(y->n_rows, row_grain(y->n_cols), compare_rows, &p));
    *out = ld_tensor_ref(y);
done:
    ld_tensor_unref(y);
    return st;
}

static void where_rows(void *ctx, int64_t begin, int64_t end)
{
    const elements *p = ctx;
    for (int64_t r = begin; r < end; r++) {
        const float *mask = p->mask.data + r * p->mask.row;
        const float *a = p->a.data + r * p->a.row, *b = p->b.data + r * p->b.row;
        for (int64_t j = 0; j < p->n_cols; j++)
            p->out[r * p->n_cols + j] =
                mask[j * p->mask.col] != 0 ? a[j * p->a.col] : b[j * p->b.col];
    }
}

/* in: mask, a, b. da = dy where the mask is not 0, db = dy elsewhere */
static ld_status where_backward(ld_node *n)
{
    const ld_tensor *out = n->out;
    int64_t n_cols = out->n_cols;
    ld_operand mask, operand;
    ld_tensor *part = NULL;
    ld_status st = LD_OK;
    ld_operand_view(&mask, n->in[0], out);
    for (int i = 1; i <= 2; i++) {
        if (!ld_wants_grad(n->in[i]))
            continue;
        if (!part)
            LD_TRY(ld_tensor_like(&part, out));
        for (int64_t r = 0; r < out->n_rows; r++)
            for (int64_t j = 0; j < n_cols; j++) {
                bool is_a = mask.data[r * mask.row + j * mask.col] != 0;
                part->data[r * n_cols + j] = is_a == (i == 1) ? out->grad->data[r * n_cols + j] : 0;
            }
        ld_operand_view(&operand, n->in[i], out);
        LD_TRY(ld_grad_add_broadcast(n->in[i], &operand, part, NULL));
    }
done:
    ld_tensor_unref(part);
    return st;
}

ld_status ld_op_where(ld_tape *tape, ld_tensor **out, ld_tensor *mask, ld_tensor *a, ld_tensor *b)
{
    const ld_tensor *shape;
    ld_operand operand[3];
    ld_tensor *y = NULL;
    ld_node node = {.name = "where",
                    .backward = where_backward,
                    .unread = LD_IN1 | LD_IN2 | LD_OUT,
                    .in = {mask, a, b}};
    ld_status st;
    LD_TRY(ld_broadcast(operand, &shape, "where", 3, node.in));
    LD_TRY(ld_tensor_like(&y, shape));
    elements p = {
        .out = y->data, .mask = operand[0], .a = operand[1], .b = operand[2], .n_cols = y->n_cols};
    LD_TRY(ld_parallel_for(y->n_rows, row_grain(y->n_cols), where_rows, &p));
done:
    return ld_tape_finish(tape, out, y, &node, st);
}
