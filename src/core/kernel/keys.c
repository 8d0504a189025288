/* Draws without replacement by exponential keys, and their unbiased weights.
 *
 * Drawing without replacement takes the k smallest keys E_u / p_u with E_u independent standard
 * exponentials, which is the same as drawing one after the other from what is left; the order of
 * the keys is the order of the draws (Efraimidis and Spirakis 2006). The keys pass through a heap
 * of k, so nearly all are dismissed by one comparison: O(n) and O(k log k) for the order. */
#include "kernel/keys.h"

#include <math.h>

#include "random/philox.h"
#include "system/simd.h"

enum { BLOCK = 1024 };

typedef struct {
    double *u;
    ld_stream stream;
    uint64_t first;
} filling;

/* Fills whole groups of numbers that are made side by side, and the rest one by one. */
LD_CLONES(fill)
{
    const filling *f = ctx;
    uint32_t words[4 * LD_PHILOX_LANES];
    int64_t i = begin;
    for (; i + LD_PHILOX_LANES <= end; i += LD_PHILOX_LANES) {
        ld_philox_lanes(words, f->stream, f->first + (uint64_t)i);
        for (int j = 0; j < LD_PHILOX_LANES; j++)
            f->u[i + j] = ld_uniform_of_bits((uint64_t)words[LD_PHILOX_LANES + j] << 32 | words[j]);
    }
    for (; i < end; i++)
        f->u[i] = ld_random_uniform(f->stream, f->first + (uint64_t)i);
}

void ld_fill_uniform(double *u, ld_stream s, uint64_t first, int64_t count)
{
    fill(&(filling){u, s, first}, 0, count);
}

/* Moves the element at `root` down to its place in a heap with the largest value on top. */
static void sift_down(ld_draw *heap, int64_t size, int64_t root)
{
    ld_draw moving = heap[root];
    for (int64_t child; (child = 2 * root + 1) < size; root = child) {
        if (child + 1 < size && heap[child + 1].value > heap[child].value)
            child++;
        if (heap[child].value <= moving.value)
            break;
        heap[root] = heap[child];
    }
    heap[root] = moving;
}

static void heapify(ld_draw *heap, int64_t size)
{
    for (int64_t root = size / 2; root-- > 0;)
        sift_down(heap, size, root);
}

static void sort_heap(ld_draw *heap, int64_t size)
{
    while (--size > 0) {
        ld_draw last = heap[0];
        heap[0] = heap[size];
        heap[size] = last;
        sift_down(heap, size, 0);
    }
}

ld_status ld_smallest_keys(ld_draw *draws, double *rest, const float *p, int64_t n, int64_t k,
                           const ld_stream *stream, uint64_t first)
{
    ld_draw *heap = draws;
    double u[BLOCK];
    int64_t held = 0;
    *rest = 0.0;
    for (int64_t begin = 0; begin < n; begin += BLOCK) {
        int64_t count = n - begin < BLOCK ? n - begin : BLOCK;
        LD_CHECK(ld_poll());
        if (stream)
            ld_fill_uniform(u, *stream, first + (uint64_t)begin, count);
        for (int64_t i = 0; i < count; i++) {
            double mass = p[begin + i], below = stream ? u[i] : 0.0;
            if (mass == 0.0)
                continue;
            /* 1 - u <= -log u: most keys are known to be too large without a logarithm. */
            if (held == k && 1.0 - below >= heap[0].value * mass) {
                *rest += mass;
                continue;
            }
            ld_draw next = {(stream ? -log(below) : 1.0) / mass, (int32_t)(begin + i)};
            if (held < k) {
                heap[held++] = next;
                if (held == k)
                    heapify(heap, held);
            } else if (next.value < heap[0].value) {
                *rest += p[heap[0].at];
                heap[0] = next;
                sift_down(heap, held, 0);
            } else {
                *rest += mass;
            }
        }
    }
    sort_heap(heap, held);
    return LD_OK;
}

/* Chen et al. give the weights as a recursion over the draws i = 0 .. k-1 out of n:
 *     a_i = n / ((i+1)(n-i)),   w_i = a_i (1 - p_0 - ... - p_(i-1)) / p_i,
 *     then w_j <- (1 - a_i) w_j + a_i for the earlier j.
 * The deviation w_j - 1 is thus multiplied by 1 - a_i = i(n-i-1) / ((i+1)(n-i)) for every i > j,
 * and the product telescopes to (j+1)(n-k) / (k(n-j-1)): O(k) in all. The mass that is left before
 * draw j is summed from the smallest part upwards, so that nothing cancels. */
void ld_debias(ld_draw *draws, int64_t count, int64_t support, const float *p, double rest)
{
    double n = (double)support, k = (double)count;
    for (int64_t i = count - 1; i >= 0; i--) {
        ld_draw *d = &draws[i];
        double j = (double)i, mass = p[d->at];
        rest += mass;
        d->value = 1.0 + (n / ((j + 1) * (n - j)) * rest / mass - 1.0) * (j + 1) * (n - k) /
                             (k * (n - j - 1));
    }
}
