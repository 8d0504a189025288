/* Dropout (Srivastava et al. 2014), inverted. The mask is a function of the rng's sub-stream and the
 * element's or entry's position: backward makes it again instead of keeping it. One Philox block gives eight
 * elements 16 bits each; 64 blocks are made together so that the loops vectorise. */
#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "base/threads.h"
#include "grad/op.h"

enum { LANES = 64, GROUP = 8 * LANES, CHUNK = 32 * GROUP };

/* 16 random bits for each of the GROUP elements of group `g`: ld_philox, all lanes side by side. */
static inline __attribute__((always_inline)) void random_group(uint16_t bits[GROUP], ld_stream s,
                                                               uint64_t g)
{
    uint32_t c0[LANES], c1[LANES], c2[LANES], c3[LANES];
    uint32_t k0 = (uint32_t)s.key, k1 = (uint32_t)(s.key >> 32);
    for (int i = 0; i < LANES; i++) {
        uint64_t position = g * LANES + (uint64_t)i;
        c0[i] = (uint32_t)position;
        c1[i] = (uint32_t)(position >> 32);
        c2[i] = (uint32_t)s.id;
        c3[i] = (uint32_t)(s.id >> 32);
    }
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < LANES; i++) {
            uint32_t a = c0[i], b = c2[i];
            c0[i] = (uint32_t)((uint64_t)LD_PHILOX_M1 * b >> 32) ^ c1[i] ^ k0;
            c1[i] = LD_PHILOX_M1 * b;
            c2[i] = (uint32_t)((uint64_t)LD_PHILOX_M0 * a >> 32) ^ c3[i] ^ k1;
            c3[i] = LD_PHILOX_M0 * a;
        }
        k0 += LD_PHILOX_W0;
        k1 += LD_PHILOX_W1;
    }
    memcpy(bits, c0, sizeof c0);
    memcpy(bits + 2 * LANES, c1, sizeof c1);
    memcpy(bits + 4 * LANES, c2, sizeof c2);
    memcpy(bits + 6 * LANES, c3, sizeof c3);
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

LD_CLONES(dropout_groups)
{
    const dropout *p = ctx;
    for (int64_t first = begin; first < end; first += GROUP) {
        uint16_t bits[GROUP];
        float factor[GROUP];
        random_group(bits, p->stream, (uint64_t)(first / GROUP));
        for (int i = 0; i < GROUP; i++)
            factor[i] = (float)(bits[i] >= p->threshold) * p->scale; /* no branch to mispredict */
        int64_t n = end - first < GROUP ? end - first : GROUP;
        float *out = p->out + first;
        const float *in = p->in + first;
        if (p->accumulate) {
            for (int64_t i = 0; i < n; i++)
                out[i] += factor[i] * in[i];
        } else {
            /* the two may be the same memory */
            LD_INDEPENDENT
            for (int64_t i = 0; i < n; i++)
                out[i] = factor[i] * in[i];
        }
    }
}

/* What the bits are compared with, and what is kept multiplied by. */
static uint32_t threshold_of(double p)
{
    return (uint32_t)lrint(p * 65536);
}

static float scale_of(double p)
{
    return 65536.0f / (float)(65536 - threshold_of(p));
}

static ld_status run(ld_tensor *out, const ld_tensor *in, ld_stream stream, double p,
                     bool accumulate)
{
    dropout d = {out->data,       in->data,    ld_tensor_size(out), stream,
                 threshold_of(p), scale_of(p), accumulate};
    return ld_parallel_for(ld_tensor_size(out), CHUNK, dropout_groups, &d);
}

static ld_status dropout_backward(ld_node *n)
{
    ld_tensor *grad;
    bool accumulate;
    ld_status st = ld_grad_pass(n, n->in[0], &grad, &accumulate);
    return st != LD_OK ? st : run(grad, n->out->grad, n->stream, n->number, accumulate);
}

static ld_status check_probability(double p)
{
    if (!(p >= 0 && p < 1 && threshold_of(p) < 65536))
        return ld_fail(LD_VALUE, "dropout: the probability must be in [0, 1), got %g", p);
    return LD_OK;
}

ld_status ld_op_dropout(ld_tape *tape, ld_tensor **out, ld_tensor *x, double p, ld_rng *rng)
{
    ld_status st = check_probability(p);
    if (st != LD_OK)
        return st;
    ld_tensor *y = NULL;
    ld_node node = {.name = "dropout",
                    .backward = dropout_backward,
                    .unread = LD_IN0 | LD_OUT,
                    .in = {x},
                    .number = p,
                    .stream = ld_rng_next(rng)};
    st = ld_tensor_like(&y, x);
    if (st == LD_OK)
        st = run(y, x, node.stream, p, false);
    return ld_tape_finish(tape, out, y, &node, st);
}

/* The positions below n that are kept, ascending. */
static ld_status kept_positions(ld_index **out, int64_t n, double p, ld_stream stream)
{
    uint32_t threshold = threshold_of(p);
    ld_index *kept;
    ld_status st = ld_index_new(&kept, n);
    if (st != LD_OK)
        return st;
    kept->size = 0;
    for (int64_t first = 0; first < n; first += GROUP) {
        uint16_t bits[GROUP];
        random_group(bits, stream, (uint64_t)(first / GROUP));
        for (int i = 0; i < GROUP && first + i < n; i++) {
            kept->data[kept->size] = (int32_t)(first + i);
            kept->size += bits[i] >= threshold;
        }
    }
    *out = kept;
    return LD_OK;
}

ld_status ld_op_csr_dropout(ld_tape *tape, ld_csr **out, ld_csr *a, double p, ld_rng *rng)
{
    ld_index *kept = NULL;
    ld_tensor *scale = NULL;
    ld_csr *part = NULL;
    ld_status st;
    LD_TRY(check_probability(p));
    LD_TRY(ld_structure_check_positions(a->s, "dropout"));
    LD_TRY(kept_positions(&kept, a->s->nnz, p, ld_rng_next(rng)));
    LD_TRY(ld_op_csr_pick_entries(tape, &part, a, kept));
    LD_TRY(ld_tensor_full(&scale, 1, a->s->n_rows, 1, scale_of(p)));
    LD_TRY(ld_op_csr_scale_rows(tape, out, part, scale));
done:
    ld_index_unref(kept);
    ld_tensor_unref(scale);
    ld_csr_unref(part);
    return st;
}
