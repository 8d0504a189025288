/* Dropout (Srivastava et al. 2014), inverted. The mask is a function of the rng's sub-stream and the
 * element's position: backward makes it again instead of keeping it. One Philox block gives eight
 * elements 16 bits each; sixteen blocks are made together so that the loops vectorise. */
#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "base/threads.h"
#include "grad/op.h"

enum { LANES = 16, GROUP = 8 * LANES, CHUNK = 128 * GROUP };

/* 16 random bits for each of the GROUP elements of group `g`. */
static inline __attribute__((always_inline)) void random_group(uint16_t bits[GROUP], ld_stream s,
                                                               uint64_t g)
{
    uint32_t out[LANES][4];
    for (int i = 0; i < LANES; i++)
        ld_philox(out[i], s, g * LANES + (uint64_t)i);
    memcpy(bits, out, sizeof out);
}

typedef struct {
    float *out;
    const float *in;
    int64_t size;
    ld_stream stream;
    uint32_t threshold; /* an element is dropped when its bits are below */
    float scale;
    bool accumulate;
} dropout;

LD_CLONES static void dropout_groups(void *ctx, int64_t begin, int64_t end)
{
    const dropout *p = ctx;
    for (int64_t first = begin; first < end; first += GROUP) {
        uint16_t bits[GROUP];
        float factor[GROUP];
        random_group(bits, p->stream, (uint64_t)(first / GROUP));
        for (int i = 0; i < GROUP; i++)
            factor[i] = bits[i] < p->threshold ? 0.0f : p->scale;
        int64_t n = end - first < GROUP ? end - first : GROUP;
        float *out = p->out + first;
        const float *in = p->in + first;
        if (p->accumulate)
            for (int64_t i = 0; i < n; i++)
                out[i] += factor[i] * in[i];
        else
            for (int64_t i = 0; i < n; i++)
                out[i] = factor[i] * in[i];
    }
}

static ld_status run(ld_tensor *out, const ld_tensor *in, ld_stream stream, double p,
                     bool accumulate)
{
    uint32_t threshold = (uint32_t)lrint(p * 65536);
    dropout d = {out->data, in->data, ld_tensor_size(out), stream, threshold,
                 65536.0f / (float)(65536 - threshold), accumulate};
    return ld_parallel_for(ld_tensor_size(out), CHUNK, dropout_groups, &d);
}

static ld_status dropout_backward(ld_node *n)
{
    ld_tensor *grad;
    bool accumulate;
    ld_status st = ld_grad_target(n->in[0], &grad, &accumulate);
    return st != LD_OK ? st : run(grad, n->out->grad, n->stream, n->number, accumulate);
}

ld_status ld_op_dropout(ld_tape *tape, ld_tensor **out, ld_tensor *x, double p, ld_rng *rng)
{
    if (!(p >= 0 && lrint(p * 65536) < 65536))
        return ld_fail(LD_VALUE, "dropout: the probability must be in [0, 1), got %g", p);
    ld_tensor *y = NULL;
    ld_node node = {
        .backward = dropout_backward, .in = {x}, .number = p, .stream = ld_rng_next(rng)};
    ld_status st = ld_tensor_like(&y, x);
    if (st == LD_OK)
        st = run(y, x, node.stream, p, false);
    return ld_tape_finish(tape, out, y, &node, st);
}
