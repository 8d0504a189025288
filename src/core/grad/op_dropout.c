/* Dropout (Srivastava et al. 2014), inverted, alone or with the ReLU before it in the same pass. An
 * element or entry is kept or not by the rng's sub-stream and its position alone. One Philox block
 * gives eight elements 16 bits each. Drawing is most of the work, so backward does not draw again:
 * it reads masks of one bit an element, an eighth of the work. */
#include <math.h>
#include <string.h>

#include "grad/op.h"
#include "random/philox.h"
#include "system/simd.h"
#include "system/threads.h"

enum { LANES = LD_PHILOX_LANES, GROUP = 8 * LANES, GRAIN = 32 /* groups */ };

/* The random bits of a group, 16 for each element. */
typedef union {
    uint32_t words[4 * LANES];
    uint16_t bits[GROUP];
} draws;

static void draw(draws *d, ld_stream s, uint64_t group)
{
    ld_philox_lanes(d->words, s, group * LANES);
}

/* The mask of a group, a bit for each element: that of element i * LANES + j is bit i of byte j. */
typedef struct {
    uint8_t bytes[LANES];
} mask;

typedef struct {
    float *out;
    const float *in;
    mask *masks; /* one for each group, or NULL when no gradient needs them */
    int64_t size;
    ld_stream stream;
    uint16_t threshold; /* an element is dropped when its bits are below */
    float scale;
    bool relu, accumulate;
} dropout;

/* Drops the elements of a group: out = scale * in where an element is kept, 0 elsewhere. With relu,
 * negative elements are 0 first, and the masks are of those that are kept and positive. The choice
 * is all bits or none of an integer, which compilers turn into vector code where they do not for a
 * bool. */
static inline __attribute__((always_inline)) void
forward_group(const dropout *p, int64_t group, float *out, const float *in, bool relu)
{
    draws d;
    uint32_t kept[LANES] = {0}, factor;
    const int32_t threshold = p->threshold;
    const float scale = p->scale;
    memcpy(&factor, &scale, sizeof factor);
    draw(&d, p->stream, (uint64_t)group);
    for (int i = 0; i < GROUP / LANES; i++) {
        LD_INDEPENDENT /* the two may be the same memory */
        for (int j = 0; j < LANES; j++) {
            int at = i * LANES + j;
            float given = in[at], x = relu && given < 0 ? 0 : given, times;
            uint32_t keep = ~(uint32_t)((d.bits[at] - threshold) >> 31), bits = keep & factor;
            memcpy(&times, &bits, sizeof times);
            out[at] = times * x;
            kept[j] |= keep & (uint32_t)(!relu || given > 0) << i;
        }
    }
    if (p->masks)
        for (int j = 0; j < LANES; j++)
            p->masks[group].bytes[j] = (uint8_t)kept[j];
}

/* Drops the elements of the last group, which has only n of them. */
static inline __attribute__((always_inline)) void last_group(const dropout *p, int64_t group,
                                                             int64_t n, bool relu)
{
    float in[GROUP] = {0}, out[GROUP];
    memcpy(in, p->in + group * GROUP, (size_t)n * sizeof *in);
    forward_group(p, group, out, in, relu);
    memcpy(p->out + group * GROUP, out, (size_t)n * sizeof *out);
}

static inline __attribute__((always_inline)) void forward_groups(const dropout *p, int64_t begin,
                                                                 int64_t end, bool relu)
{
    for (int64_t g = begin; g < end; g++) {
        int64_t first = g * GROUP, rest = p->size - first;
        if (rest < GROUP)
            last_group(p, g, rest, relu);
        else
            forward_group(p, g, p->out + first, p->in + first, relu);
    }
}

LD_CLONES(forward)
{
    const dropout *p = ctx;
    if (p->relu)
        forward_groups(p, begin, end, true);
    else
        forward_groups(p, begin, end, false);
}

LD_CLONES(backward)
{
    const dropout *p = ctx;
    for (int64_t g = begin; g < end; g++) {
        int64_t first = g * GROUP, rest = p->size - first, n = rest < GROUP ? rest : GROUP;
        float factor[GROUP];
        const float *in = p->in + first;
        float *out = p->out + first;
        for (int i = 0; i < GROUP / LANES; i++)
            for (int j = 0; j < LANES; j++)
                factor[i * LANES + j] = (float)(p->masks[g].bytes[j] >> i & 1) * p->scale;
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

/* Returns the threshold for 16 random bits: below it an element is dropped. */
static uint32_t threshold_of(double p)
{
    return (uint32_t)lrint(p * 65536);
}

static float scale_of(double p)
{
    return 65536.0f / (float)(65536 - threshold_of(p));
}

static int64_t groups(int64_t size)
{
    return (size + GROUP - 1) / GROUP;
}

/* Backward of dropout. The node's saved[0] holds the masks, its number is p. */
static ld_status dropout_backward(ld_node *n)
{
    ld_tensor *grad;
    dropout d = {.in = n->out->grad->data,
                 .masks = (mask *)n->saved[0]->data,
                 .size = ld_tensor_size(n->out),
                 .scale = scale_of(n->number)};
    LD_CHECK(ld_grad_pass(n, n->in[0], &grad, &d.accumulate));
    d.out = grad->data;
    return ld_parallel_for(groups(d.size), GRAIN, backward, &d);
}

static ld_status check_probability(double p)
{
    if (!(p >= 0 && p < 1 && threshold_of(p) < 65536))
        return ld_fail(LD_VALUE, "dropout: the probability must be in [0, 1 - 2^-17), got %.9g", p);
    return LD_OK;
}

ld_status ld_op_dropout(ld_tape *tape, ld_tensor **out, ld_tensor *x, double p, bool relu,
                        bool done, ld_rng *rng)
{
    bool over = done && ld_tape_may_overwrite(tape, x);
    LD_OWN(ld_tensor) *y = NULL, *masks = NULL;
    ld_node node = {.name = relu ? "relu_dropout" : "dropout",
                    .backward = dropout_backward,
                    .unread = LD_IN0 | LD_OUT,
                    .in = {x},
                    .number = p};
    dropout d = {.in = x->data, .size = ld_tensor_size(x), .relu = relu};
    LD_CHECK(check_probability(p));
    LD_CHECK(over ? ld_tensor_view(&y, x, x->ndim, x->n_rows, x->n_cols) : ld_tensor_like(&y, x));
    if (ld_tape_records(tape) && ld_wants_grad(x)) {
        LD_CHECK(ld_tensor_new(&masks, 2, groups(d.size), sizeof(mask) / sizeof(float)));
        d.masks = (mask *)masks->data;
    }
    node.saved[0] = masks;
    d.out = y->data;
    d.stream = ld_rng_next(rng);
    d.threshold = (uint16_t)threshold_of(p);
    d.scale = scale_of(p);
    ld_status st = ld_parallel_for(groups(d.size), GRAIN, forward, &d);
    if (over)
        ld_tensor_release(x);
    LD_CHECK(st);
    return ld_tape_finish(tape, out, y, &node);
}

/* Gives the positions below n that are kept, ascending. */
static ld_status kept_positions(ld_index **out, int64_t n, double p, ld_stream stream)
{
    uint32_t threshold = threshold_of(p);
    ld_index *kept;
    LD_CHECK(ld_index_new(&kept, n));
    kept->size = 0;
    for (int64_t first = 0; first < n; first += GROUP) {
        draws d;
        draw(&d, stream, (uint64_t)(first / GROUP));
        for (int i = 0; i < GROUP && first + i < n; i++) {
            kept->data[kept->size] = (int32_t)(first + i);
            kept->size += d.bits[i] >= threshold;
        }
    }
    *out = kept;
    return LD_OK;
}

ld_status ld_op_csr_dropout(ld_tape *tape, ld_csr **out, ld_csr *a, double p, ld_rng *rng)
{
    LD_OWN(ld_index) *kept = NULL;
    LD_OWN(ld_tensor) *scale = NULL;
    LD_OWN(ld_csr) *part = NULL;
    LD_CHECK(check_probability(p));
    LD_CHECK(ld_structure_check_positions(a->s, "dropout"));
    LD_CHECK(kept_positions(&kept, a->s->nnz, p, ld_rng_next(rng)));
    LD_CHECK(ld_op_csr_pick_entries(tape, &part, a, kept));
    LD_CHECK(ld_tensor_full(&scale, 1, a->s->n_rows, 1, scale_of(p)));
    return ld_op_csr_scale_rows(tape, out, part, scale);
}
