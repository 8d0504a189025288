/* Reads the elements of a tensor: equality, extremes, range, norm, hash. */
#include <math.h>
#include <string.h>

#include "memory/hash.h"
#include "system/simd.h"
#include "tensor/tensor.h"

enum {
    LANES = 16,                /* elements that are compared at once */
    PIECE = 4096,              /* elements that are searched before a branch */
    FLT_INFINITE = 0x7f800000, /* the bits of infinity */
};

bool ld_tensor_equal(const ld_tensor *a, const ld_tensor *b)
{
    bool equal = ld_tensor_same_shape(a, b);
    for (int64_t i = 0, n = ld_tensor_size(a); equal && i < n; i++)
        equal = a->data[i] == b->data[i];
    return equal;
}

int64_t ld_tensor_extreme(const ld_tensor *t, int sign)
{
    int64_t best = 0;
    for (int64_t i = 0, n = ld_tensor_size(t); i < n; i++) {
        float v = t->data[i], top = t->data[best];
        if (v != v)
            return i;
        if (sign > 0 ? v > top : v < top)
            best = i;
    }
    return best;
}

typedef struct {
    const float *data;
    int32_t most;
} bit_search;

LD_CLONES(find_most_bits)
{
    bit_search *p = ctx;
    int32_t most = 0;
    for (int64_t i = begin; i < end; i++) {
        int32_t bits;
        memcpy(&bits, &p->data[i], sizeof bits);
        bits &= INT32_MAX;
        most = bits > most ? bits : most;
    }
    p->most = most;
}

/* Returns the greatest of the bits of n elements, read as integers without their signs: infinity
 * gives FLT_INFINITE, a NaN more. */
static int32_t most_bits(const float *data, int64_t n)
{
    bit_search p = {.data = data};
    find_most_bits(&p, 0, n);
    return p.most;
}

/* Widens *least and *greatest to include the n elements, none of which is NaN. */
static void widen(float *least, float *greatest, const float *data, int64_t n)
{
    float low[LANES], high[LANES];
    int64_t whole = n / LANES * LANES;
    for (int k = 0; k < LANES; k++) {
        low[k] = *least;
        high[k] = *greatest;
    }
    for (int64_t i = 0; i < whole; i += LANES)
        for (int k = 0; k < LANES; k++) {
            low[k] = data[i + k] < low[k] ? data[i + k] : low[k];
            high[k] = data[i + k] > high[k] ? data[i + k] : high[k];
        }
    for (int64_t i = whole; i < n; i++) {
        low[0] = data[i] < low[0] ? data[i] : low[0];
        high[0] = data[i] > high[0] ? data[i] : high[0];
    }
    for (int k = 0; k < LANES; k++) {
        *least = low[k] < *least ? low[k] : *least;
        *greatest = high[k] > *greatest ? high[k] : *greatest;
    }
}

void ld_tensor_range(float *least, float *greatest, const ld_tensor *t)
{
    int64_t n = ld_tensor_size(t);
    *least = n > 0 ? INFINITY : NAN;
    *greatest = n > 0 ? -INFINITY : NAN;
    for (int64_t first = 0, end; first < n; first = end) {
        end = n - first < PIECE ? n : first + PIECE;
        if (most_bits(t->data + first, end - first) > FLT_INFINITE) {
            *least = *greatest = NAN;
            return;
        }
        widen(least, greatest, t->data + first, end - first);
    }
}

ld_status ld_tensor_argmax(ld_index **out, const ld_tensor *t)
{
    if (t->n_cols == 0)
        return ld_fail(LD_SHAPE, "argmax: rows without elements");
    ld_status st = ld_index_new(out, t->n_rows);
    for (int64_t r = 0; st == LD_OK && r < t->n_rows; r++) {
        const float *row = t->data + r * t->n_cols;
        int32_t best = 0;
        for (int64_t c = 1; c < t->n_cols; c++)
            best = row[c] > row[best] || (row[c] != row[c] && row[best] == row[best]) ? (int32_t)c
                                                                                      : best;
        (*out)->data[r] = best;
    }
    return st;
}

int64_t ld_first_not_finite(const float *x, int64_t n)
{
    for (int64_t first = 0, end; first < n; first = end) {
        end = n - first < PIECE ? n : first + PIECE;
        if (most_bits(x + first, end - first) < FLT_INFINITE)
            continue;
        while (isfinite(x[first]))
            first++;
        return first;
    }
    return -1;
}

int64_t ld_tensor_not_finite(const ld_tensor *t)
{
    return ld_first_not_finite(t->data, ld_tensor_size(t));
}

ld_status ld_tensor_pick(ld_tensor **out, const ld_tensor *t, const ld_index *positions)
{
    if (!t) {
        *out = NULL;
        return LD_OK;
    }
    ld_status st = ld_tensor_new(out, 1, positions->size, 1);
    for (int64_t i = 0; st == LD_OK && i < positions->size; i++)
        (*out)->data[i] = t->data[positions->data[i]];
    return st;
}

double ld_tensor_norm(const ld_tensor *t)
{
    double square = 0;
    for (int64_t i = 0, n = ld_tensor_size(t); i < n; i++)
        square += (double)t->data[i] * t->data[i];
    return sqrt(square);
}

uint64_t ld_tensor_hash_begin(int ndim, int64_t n_rows, int64_t n_cols)
{
    uint64_t hash = ld_hash_word(LD_HASH_SEED, (uint64_t)ndim);
    return ld_hash_word(ld_hash_word(hash, (uint64_t)n_rows), (uint64_t)n_cols);
}

ld_status ld_tensor_hash(uint64_t *hash, const ld_tensor *t)
{
    *hash = ld_tensor_hash_begin(t->ndim, t->n_rows, t->n_cols);
    return ld_hash_bytes(hash, t->data, (size_t)ld_tensor_size(t) * sizeof(float));
}
