/* Sums of neighbours and features of edges after relu, and their gradients, each against a loop over
 * one element alone. */
#include <inttypes.h>

#include "check.h"
#include "kernel/relu_sums.h"

/* Element j of what entry e is before relu. */
static float plain_term(const ld_relu_terms *t, const float *dense, int64_t e, int64_t j)
{
    float sum = t->b ? t->b[j] : 0;
    for (int64_t i = 0; i < t->d; i++) {
        float product = t->f[e * t->d + i] * t->w[i * t->k + j];
        sum += product;
    }
    return sum + dense[t->columns[e] * t->k + j];
}

static void check_sums(const ld_relu_terms *t, const float *dense)
{
    float *y = new_floats(t->n_rows * t->k, ORDINARY), *want = copy_floats(y, t->n_rows * t->k);
    ld_relu_sums(y, t);
    for (int64_t i = 0; i < t->n_rows * t->k; i++) {
        want[i] = 0;
        for (int64_t e = t->offsets[i / t->k]; e < t->offsets[i / t->k + 1]; e++) {
            float term = plain_term(t, dense, e, i % t->k);
            float product = t->v[e] * (term < 0 ? 0 : term);
            if (t->v[e] != 0)
                want[i] += product;
        }
    }
    check(same_floats(y, want, t->n_rows * t->k),
          "sums of %" PRId64 " x %" PRId64 ", %" PRId64 " features, %s", t->n_rows, t->k, t->d,
          t->x ? "dense" : "sparse");
}

/* The gradients of column j, of every `step`th row. */
static void plain_back(float *dx, float *dw, float *db, const ld_relu_terms *t, const float *dense,
                       const float *g, int64_t step, int64_t j)
{
    const int64_t d = t->d, k = t->k;
    double *sums = new_block(d, sizeof *sums);
    float *part = new_block(d, sizeof *part);
    for (int64_t r = 0; r < t->n_rows; r++) {
        for (int64_t e = t->offsets[r]; e < t->offsets[r + 1]; e++) {
            float m = plain_term(t, dense, e, j) > 0 ? t->v[e] * g[r * k + j] : 0;
            if (t->v[e] == 0 || r % step != 0)
                continue;
            dx[t->columns[e] * k + j] += m;
            part[d] += m;
            for (int64_t i = 0; i < d; i++) {
                float product = t->f[e * d + i] * m;
                part[i] += product;
            }
        }
        for (int64_t i = 0; (r + 1) % LD_RELU_ROWS == 0 || r + 1 == t->n_rows; i++) {
            sums[i] += part[i];
            part[i] = 0;
            if (i == d)
                break;
        }
    }
    db[j] += (float)sums[d];
    for (int64_t i = 0; i < d; i++)
        dw[i * k + j] += (float)sums[i];
}

/* Backward of every `step`th row; of all rows without a list of them. */
static void check_back(const ld_relu_terms *t, const float *dense, int64_t n_cols, const float *g,
                       int64_t step)
{
    const int64_t size = n_cols * t->k, all = t->d * t->k;
    float *dx = new_floats(size, ORDINARY), *want_x = copy_floats(dx, size);
    float *dw = new_floats(all, ORDINARY), *want_w = copy_floats(dw, all);
    float *db = new_floats(t->k, ORDINARY), *want_b = copy_floats(db, t->k);
    int64_t count = (t->n_rows + step - 1) / step;
    int32_t *rows = new_block(count, sizeof *rows);
    for (int64_t i = 0; i < count; i++)
        rows[i] = (int32_t)(i * step);
    ld_relu_sums_backward(t->x ? dx : NULL, dw, db, t, g, step > 1 ? rows : NULL, count);
    for (int64_t j = 0; j < t->k; j++)
        plain_back(want_x, want_w, want_b, t, dense, g, step, j);
    check(!t->x || same_floats(dx, want_x, size), "dx of %" PRId64 " x %" PRId64, n_cols, t->k);
    check(same_floats(dw, want_w, all), "dw of %" PRId64 " x %" PRId64, t->d, t->k);
    check(same_floats(db, want_b, t->k), "db of %" PRId64, t->k);
}

static void check_entries(const ld_relu_terms *t, const float *dense, const float *g)
{
    const int64_t nnz = t->offsets[t->n_rows], d = t->d, k = t->k;
    float *dv = new_floats(nnz, ORDINARY), *want_v = copy_floats(dv, nnz);
    float *df = new_floats(nnz * d, ORDINARY), *want_f = copy_floats(df, nnz * d);
    ld_relu_sums_entries(dv, df, t, g);
    for (int64_t r = 0; r < t->n_rows; r++)
        for (int64_t e = t->offsets[r]; e < t->offsets[r + 1]; e++) {
            double all = 0;
            for (int64_t i = 0; i < d; i++)
                want_f[e * d + i] = 0;
            for (int64_t first = 0; first < k; first += LD_RELU_TILE) {
                int64_t end = first + LD_RELU_TILE < k ? first + LD_RELU_TILE : k;
                double dot = 0;
                for (int64_t j = first; j < end; j++) {
                    float term = plain_term(t, dense, e, j);
                    dot += (double)g[r * k + j] * (term < 0 ? 0 : term);
                }
                for (int64_t i = 0; i < d; i++) {
                    double sum = 0;
                    for (int64_t j = first; j < end; j++)
                        sum += plain_term(t, dense, e, j) > 0
                                   ? (double)g[r * k + j] * t->w[i * k + j]
                                   : 0;
                    want_f[e * d + i] += (float)(t->v[e] * sum);
                }
                all += dot;
            }
            want_v[e] = (float)all;
        }
    check(same_floats(dv, want_v, nnz), "gradients of %" PRId64 " weights", nnz);
    check(same_floats(df, want_f, nnz * d), "gradients of %" PRId64 " x %" PRId64, nnz, d);
}

/* x as a dense matrix of k columns, whose rows are those of `s`, one element for each entry. */
static float *dense_of(const sparse *s, int64_t k)
{
    float *x = new_block(s->a.n_rows * k, sizeof *x);
    for (int64_t u = 0; u < s->a.n_rows; u++)
        for (int64_t e = s->offsets[u]; e < s->offsets[u + 1]; e++)
            x[u * k + s->columns[e]] += ld_factors_value(&s->a, u, e);
    return x;
}

static void check_shape(int64_t n_rows, int64_t n_cols, int64_t d, int64_t k, numbers kind)
{
    sparse a = sparse_new(n_rows, n_cols, n_cols ? 4 : 0, WITH_VALUES, ORDINARY);
    sparse words = sparse_new(n_cols, k, 3, WITH_VALUES | WITH_ROW_SCALE | ASCENDING, kind);
    float *v = copy_floats(a.values, a.nnz), *f = new_floats(a.nnz * d, ORDINARY);
    float *w = new_floats(d * k, ORDINARY), *b = new_floats(k, ORDINARY);
    float *x = new_floats(n_cols * k, kind), *g = new_floats(n_rows * k, ORDINARY);
    float *dense = dense_of(&words, k);
    ld_relu_terms t = {.n_rows = n_rows,
                       .offsets = a.offsets,
                       .columns = a.columns,
                       .v = v,
                       .f = f,
                       .d = d,
                       .x = x,
                       .sparse = words.a,
                       .k = k,
                       .w = w,
                       .b = b};
    for (int64_t e = 0; e < a.nnz; e += 5)
        v[e] = 0;
    for (int i = 0; i < 3; i++) {
        const float *rows = i < 2 ? x : dense;
        t.x = i < 2 ? x : NULL;
        t.b = i == 1 ? NULL : b;
        check_sums(&t, rows);
        check_back(&t, rows, n_cols, g, 1);
        check_back(&t, rows, n_cols, g, 5);
        check_back(&t, rows, n_cols, g, 70);
        check_entries(&t, rows, g);
    }
}

void test(void)
{
    static const int64_t shapes[][4] = {{0, 0, 2, 3},     {5, 4, 1, 1},   {70, 9, 3, 32},
                                        {130, 20, 8, 71}, {33, 7, 5, 64}, {80, 12, 4, 300}};
    for (int i = 0; i < (int)(sizeof shapes / sizeof *shapes); i++)
        for (int kind = ORDINARY; kind <= SPECIAL; kind++)
            check_shape(shapes[i][0], shapes[i][1], shapes[i][2], shapes[i][3], (numbers)kind);
}
