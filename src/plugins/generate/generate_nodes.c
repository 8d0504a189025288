/* Classes, weights and features for the nodes of generated graphs. */
#include <inttypes.h>
#include <math.h>

#include "generate/generate.h"
#include "system/threads.h"

enum { ROWS_GRAIN = 64 };

ld_status ld_generate_labels(ld_index **out, int64_t n, const ld_tensor *shares, ld_rng *rng)
{
    int64_t n_classes = shares->n_rows;
    double total = 0, sum = 0;
    LD_OWN(ld_index) *order = NULL, *labels = NULL;
    if (shares->ndim != 1 || n_classes == 0)
        return ld_fail(LD_SHAPE, "labels: shares must be a vector, one for each class, got %s",
                       ld_tensor_shape(shares));
    if (n_classes > n)
        return ld_fail(LD_VALUE, "labels: %" PRId64 " classes for %" PRId64 " nodes", n_classes, n);
    for (int64_t k = 0; k < n_classes; k++) {
        if (!(shares->data[k] > 0) || isinf(shares->data[k]))
            return ld_fail(LD_VALUE,
                           "labels: shares must be positive and finite, [%" PRId64 "] is %g", k + 1,
                           (double)shares->data[k]);
        total += shares->data[k];
    }
    LD_CHECK(ld_index_permutation(&order, n, n, rng));
    LD_CHECK(ld_index_new(&labels, n));
    for (int64_t k = 0, i = 0; k < n_classes; k++) {
        sum += shares->data[k];
        int64_t end = llround(sum / total * (double)n), most = n - (n_classes - 1 - k);
        if (end < i + 1) /* at least one of this class, and one for each of the others */
            end = i + 1;
        if (end > most || k == n_classes - 1)
            end = most;
        for (; i < end; i++)
            labels->data[order->data[i]] = (int32_t)k;
    }
    *out = ld_take(&labels);
    return LD_OK;
}

ld_status ld_generate_weights(ld_tensor **out, int64_t n, double exponent, ld_rng *rng)
{
    if (!(exponent > 1) || isinf(exponent))
        return ld_fail(LD_VALUE, "weights: the exponent must be above 1, got %g", exponent);
    LD_CHECK(ld_tensor_new(out, 1, n, 1));
    double most = fmax(1, sqrt((double)n) / 4);
    ld_stream stream = ld_rng_next(rng);
    for (int64_t i = 0; i < n; i++) {
        double w = pow(ld_random_uniform(stream, (uint64_t)i), -1 / (exponent - 1));
        (*out)->data[i] = (float)fmin(w, most);
    }
    return LD_OK;
}

typedef struct {
    ld_tensor *features;
    const ld_index *labels;
    const ld_tensor *means;
    int64_t first; /* the node of the first row */
    ld_stream stream;
} feature_fill;

/* Two normal numbers from each 128 random bits (Box-Muller): this loop is most of the time that a
 * large data set takes, and half of it is spared. */
static void fill_features(void *ctx, int64_t begin, int64_t end)
{
    const feature_fill *f = ctx;
    int64_t k = f->features->n_cols, draws = (k + 1) / 2;
    for (int64_t r = begin; r < end; r++) {
        const float *mean = f->means->data + f->labels->data[r] * k;
        float *row = f->features->data + r * k;
        for (int64_t i = 0; i < draws; i++) {
            uint32_t bits[4];
            ld_philox(bits, f->stream, (uint64_t)((f->first + r) * draws + i));
            float u = ((float)(bits[0] >> 8) + 0.5f) * 0x1p-24f;
            float angle = 6.2831853f * ((float)(bits[1] >> 8) * 0x1p-24f);
            float radius = sqrtf(-2.0f * logf(u));
            row[2 * i] = mean[2 * i] + radius * cosf(angle);
            if (2 * i + 1 < k)
                row[2 * i + 1] = mean[2 * i + 1] + radius * sinf(angle);
        }
    }
}

ld_status ld_generate_features(ld_tensor **out, const ld_index *labels, const ld_tensor *means,
                               int64_t first, ld_rng *rng)
{
    if (means->ndim != 2)
        return ld_fail(LD_SHAPE, "features: means must be a matrix, a row for each class, got %s",
                       ld_tensor_shape(means));
    LD_OWN(ld_tensor) *features = NULL;
    LD_CHECK(ld_index_check(labels, 0, means->n_rows, "features: label"));
    LD_CHECK(ld_tensor_new(&features, 2, labels->size, means->n_cols));
    feature_fill f = {features, labels, means, first, ld_rng_next(rng)};
    LD_CHECK(ld_parallel_for(labels->size, ROWS_GRAIN, fill_features, &f));
    *out = ld_take(&features);
    return LD_OK;
}
