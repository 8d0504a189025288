#include <inttypes.h>
#include <math.h>

#include "base/fastmath.h"
#include "grad/op.h"
#include "kernel/exponential.h"
#include "memory/memory.h"
#include "system/simd.h"
#include "system/threads.h"

enum { ROW_GRAIN = 64 };

/* Backward of the cross-entropy: dlogits = weight * (softmax - one-hot). The node's inputs are the
 * logits, weights and class weights; saved[0] holds the log-probabilities; every row's weight is
 * multiplied by its number. */
typedef struct {
    const ld_node *n;
    float *grad;
    bool accumulate;
    double g;
} cross_entropy_d;

static double row_weight(const ld_tensor *weights, const ld_tensor *class_weights, int64_t r,
                         int32_t label)
{
    return (weights ? weights->data[r] : 1.0) * (class_weights ? class_weights->data[label] : 1.0);
}

LD_CLONES(cross_entropy_d_rows)
{
    const cross_entropy_d *p = ctx;
    const ld_node *n = p->n;
    int64_t k = n->saved[0]->n_cols;
    for (int64_t r = begin; r < end; r++) {
        int32_t label = n->index->data[r];
        float w = (float)(p->g * n->number * row_weight(n->in[1], n->in[2], r, label));
        const float *log_p = n->saved[0]->data + r * k;
        float *d = p->grad + r * k;
        for (int64_t j = 0; j < k; j++) {
            float v = w * (ld_exp_as_libm(log_p[j]) - (j == label ? 1.0f : 0.0f));
            d[j] = p->accumulate ? d[j] + v : v;
        }
    }
}

static ld_status cross_entropy_backward(ld_node *n)
{
    ld_tensor *grad;
    cross_entropy_d p = {.n = n, .g = n->out->grad->data[0]};
    if (!ld_wants_grad(n->in[0]))
        return LD_OK;
    LD_CHECK(ld_grad_target(n->in[0], &grad, &p.accumulate));
    p.grad = grad->data;
    return ld_parallel_for(grad->n_rows, ROW_GRAIN, cross_entropy_d_rows, &p);
}

ld_status ld_op_cross_entropy(ld_tape *tape, ld_tensor **out, ld_tensor *logits, ld_index *labels,
                              ld_tensor *weights, ld_tensor *class_weights)
{
    if (logits->n_rows == 0)
        return ld_fail(LD_SHAPE, "cross_entropy: there are no rows");
    if (labels->size != logits->n_rows)
        return ld_fail(LD_SHAPE, "cross_entropy: %" PRId64 " labels for logits of %s", labels->size,
                       ld_tensor_shape(logits));
    if (weights && (weights->ndim != 1 || weights->n_rows != logits->n_rows))
        return ld_fail(LD_SHAPE, "cross_entropy: weights of %s for logits of %s",
                       ld_tensor_shape(weights), ld_tensor_shape(logits));
    if (class_weights && (class_weights->ndim != 1 || class_weights->n_rows != logits->n_cols))
        return ld_fail(LD_SHAPE, "cross_entropy: class weights of %s for %" PRId64 " classes",
                       ld_tensor_shape(class_weights), logits->n_cols);
    LD_OWN(ld_tensor) *log_p = NULL, *loss = NULL;
    ld_node node = {.name = "cross_entropy",
                    .backward = cross_entropy_backward,
                    .unread = LD_IN0 | LD_OUT,
                    .in = {logits, weights, class_weights},
                    .index = labels};
    LD_CHECK(ld_index_check(labels, 0, logits->n_cols, "cross_entropy: label"));
    LD_CHECK(ld_log_softmax_of(&log_p, logits, "cross_entropy"));
    LD_CHECK(ld_tensor_new(&loss, 1, 1, 1));
    double sum = 0, total = 0;
    for (int64_t r = 0; r < logits->n_rows; r++) {
        double w = row_weight(weights, class_weights, r, labels->data[r]);
        sum -= w * log_p->data[r * logits->n_cols + labels->data[r]];
        total += w;
    }
    node.saved[0] = log_p;
    node.number = weights ? 1.0 : 1.0 / total;
    loss->data[0] = (float)(sum * node.number);
    return ld_tape_finish(tape, out, loss, &node);
}

/* The binary cross-entropy and its backward. The node's inputs are the logits x, targets t and
 * weights; every row's weight is multiplied by its number. */
typedef struct {
    const ld_node *n;
    float *grad;
    bool accumulate;
    double g;
    double *sums; /* the losses of the rows */
} binary;

static double weight_of_row(const ld_node *n, int64_t r)
{
    return n->in[2] ? n->in[2]->data[r] : 1.0;
}

/* max(x, 0) - x t + log(1 + exp(-|x|)) for each element: no overflow for either sign */
LD_CLONES(binary_rows)
{
    enum { TILE = 256 };
    const binary *p = ctx;
    int64_t k = p->n->in[0]->n_cols;
    float v[TILE];
    for (int64_t r = begin; r < end; r++) {
        double sum = 0;
        for (int64_t first = 0; first < k; first += TILE) {
            int64_t n = k - first < TILE ? k - first : TILE;
            const float *x = p->n->in[0]->data + r * k + first;
            const float *t = p->n->in[1]->data + r * k + first;
            for (int64_t j = 0; j < n; j++)
                v[j] = (x[j] < 0 ? 0 : x[j]) - x[j] * t[j] + ld_log1pf(ld_expf(-fabsf(x[j])));
            for (int64_t j = 0; j < n; j++)
                sum += v[j];
        }
        p->sums[r] = sum;
    }
}

/* dx = weight * (sigmoid(x) - t) */
static LD_INLINE void binary_d_row(const binary *p, int64_t r, bool add)
{
    int64_t k = p->n->in[0]->n_cols;
    const float *x = p->n->in[0]->data + r * k, *t = p->n->in[1]->data + r * k;
    float *d = p->grad + r * k, w = (float)(p->g * p->n->number * weight_of_row(p->n, r));
    LD_INDEPENDENT
    for (int64_t j = 0; j < k; j++) {
        float v = w * (1.0f / (1.0f + ld_expf(-x[j])) - t[j]);
        d[j] = add ? d[j] + v : v;
    }
}

LD_CLONES(binary_d_rows)
{
    const binary *p = ctx;
    for (int64_t r = begin; r < end; r++) {
        if (p->accumulate)
            binary_d_row(p, r, true);
        else
            binary_d_row(p, r, false);
    }
}

static ld_status binary_cross_entropy_backward(ld_node *n)
{
    ld_tensor *grad;
    binary p = {.n = n, .g = n->out->grad->data[0]};
    if (!ld_wants_grad(n->in[0]))
        return LD_OK;
    LD_CHECK(ld_grad_target(n->in[0], &grad, &p.accumulate));
    p.grad = grad->data;
    return ld_parallel_for(grad->n_rows, ROW_GRAIN, binary_d_rows, &p);
}

ld_status ld_op_binary_cross_entropy(ld_tape *tape, ld_tensor **out, ld_tensor *logits,
                                     ld_tensor *targets, ld_tensor *weights)
{
    if (!ld_tensor_same_shape(logits, targets) || ld_tensor_size(logits) == 0)
        return ld_fail(LD_SHAPE, "binary_cross_entropy: logits of %s against targets of %s",
                       ld_tensor_shape(logits), ld_tensor_shape(targets));
    if (weights && (weights->ndim != 1 || weights->n_rows != logits->n_rows))
        return ld_fail(LD_SHAPE, "binary_cross_entropy: weights of %s for logits of %s",
                       ld_tensor_shape(weights), ld_tensor_shape(logits));
    LD_OWN(ld_tensor) *loss = NULL;
    ld_node node = {.name = "binary_cross_entropy",
                    .backward = binary_cross_entropy_backward,
                    .unread = LD_OUT,
                    .in = {logits, targets, weights}};
    node.number = 1.0 / (double)(weights ? logits->n_cols : ld_tensor_size(logits));
    double sum = 0;
    LD_FREED double *sums = ld_alloc_array(logits->n_rows, sizeof *sums, LD_MEM_SCRATCH);
    binary p = {.n = &node, .sums = sums};
    if (!sums)
        return LD_NOMEM;
    LD_CHECK(ld_tensor_new(&loss, 1, 1, 1));
    LD_CHECK(ld_parallel_for(logits->n_rows, ROW_GRAIN, binary_rows, &p));
    for (int64_t r = 0; r < logits->n_rows; r++)
        sum += sums[r] * weight_of_row(&node, r);
    loss->data[0] = (float)(sum * node.number);
    return ld_tape_finish(tape, out, loss, &node);
}
