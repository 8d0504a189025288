/* Functions of one, two and three elements over whole arrays, against the same expression for one
 * element at a time. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/fastmath.h"
#include "check.h"
#include "kernel/map.h"

static const float c = 0.25f, high = 0.5f;

static float plain_map(ld_unary f, float x)
{
    switch (f) {
    case LD_RELU: return x < 0 ? 0 : x;
    case LD_LEAKY_RELU: return x > 0 ? x : c * x;
    case LD_ELU: return x > 0 ? x : c * ld_expm1f(x);
    case LD_SIGMOID: return 1.0f / (1.0f + ld_expf(-x));
    case LD_TANH: return ld_tanhf(x);
    case LD_EXP: return ld_expf(x);
    case LD_LOG: return logf(x);
    case LD_SQRT: return sqrtf(x);
    case LD_SQUARE: return x * x;
    case LD_ABS: return fabsf(x);
    case LD_RECIPROCAL: return c / x;
    case LD_SIN: return sinf(x);
    case LD_COS: return cosf(x);
    case LD_HUBER: return fabsf(x) <= c ? 0.5f * x * x : c * (fabsf(x) - 0.5f * c);
    case LD_FLOOR: return floorf(x);
    case LD_ROUND: return rintf(x);
    case LD_CLAMP: break;
    }
    return x < c ? c : x > high ? high : x;
}

static float plain_slope(ld_unary f, float x, float y)
{
    switch (f) {
    case LD_RELU: return x > 0;
    case LD_LEAKY_RELU: return x > 0 ? 1 : c;
    case LD_ELU: return x > 0 ? 1 : y + c;
    case LD_SIGMOID: return y * (1.0f - y);
    case LD_TANH: return 1.0f - y * y;
    case LD_EXP: return y;
    case LD_LOG: return 1.0f / x;
    case LD_SQRT: return 0.5f / y;
    case LD_SQUARE: return 2.0f * x;
    case LD_ABS: return (float)((x > 0) - (x < 0));
    case LD_RECIPROCAL: return -y / x;
    case LD_SIN: return cosf(x);
    case LD_COS: return -sinf(x);
    case LD_HUBER: return x < -c ? -c : x > c ? c : x;
    case LD_FLOOR:
    case LD_ROUND: return 0;
    case LD_CLAMP: break;
    }
    return x == y;
}

static void check_functions(int64_t n, numbers kind)
{
    float *x = new_floats(n, kind), *dy = new_floats(n, kind), *y = new_floats(n, ORDINARY);
    float *want = new_floats(n, ORDINARY), *dx = new_floats(n, ORDINARY);
    float *want_dx = copy_floats(dx, n);
    for (int f = LD_RELU; f <= LD_ROUND; f++) {
        ld_map(y, x, n, (ld_unary)f, c, high);
        for (int64_t i = 0; i < n; i++)
            want[i] = plain_map((ld_unary)f, x[i]);
        check(same_floats(y, want, n), "function %d of %" PRId64, f, n);
        for (int accumulate = 1; accumulate >= 0; accumulate--) {
            if (!accumulate)
                memcpy(dx, dy, (size_t)n * sizeof *dx); /* dx may be dy */
            ld_map_backward(dx, accumulate ? dy : dx, x, want, n, (ld_unary)f, c, accumulate);
            for (int64_t i = 0; i < n; i++) {
                float d = dy[i] * plain_slope((ld_unary)f, x[i], want[i]);
                want_dx[i] = accumulate ? want_dx[i] + d : d;
            }
            check(same_floats(dx, want_dx, n), "derivative of function %d", f);
        }
    }
    for (int reads_x = 0; reads_x < 2;
         reads_x++) { /* what a derivative does not read may be NULL */
        ld_unary f = reads_x ? LD_RELU : LD_EXP;
        ld_map_backward(want_dx, dy, x, want, n, f, c, false);
        ld_map_backward(dx, dy, reads_x ? x : NULL, reads_x ? NULL : want, n, f, c, false);
        check(same_floats(dx, want_dx, n), "derivative of function %d beside NULL", (int)f);
    }
    for (int way = 0; way < 6; way++) { /* each way writes over what the last one left */
        bool add = way & 1;
        if (way < 2)
            ld_scale(y, x, n, c, add);
        else if (way < 4)
            ld_multiple(y, x, n, 0.1, add);
        else
            ld_multiple(y, NULL, n, 0.1, add);
        for (int64_t i = 0; i < n; i++) {
            float v = way < 2 ? c * x[i] : way < 4 ? (float)(0.1 * x[i]) : 0.1f;
            want[i] = add ? want[i] + v : v;
        }
        check(same_floats(y, want, n), "multiples, way %d", way);
    }
    ld_affine(y, y, n, c, high);
    ld_add(y, x, n);
    for (int64_t i = 0; i < n; i++)
        want[i] = (c * want[i] + high) + x[i];
    check(same_floats(y, want, n), "a multiple plus a number plus x");
    ld_fill(y, n, c);
    for (int64_t i = 0; i < n; i++)
        want[i] = c;
    check(same_floats(y, want, n), "filled");
}

static float plain_modulo(float x, float y)
{
    float rest = fmodf(x, y);
    return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

static float plain_combine(ld_arith op, float x, float y)
{
    return op == LD_ADD   ? x + y
           : op == LD_SUB ? x - y
           : op == LD_MUL ? x * y
           : op == LD_DIV ? x / y
           : op == LD_POW ? powf(x, y)
                          : plain_modulo(x, y);
}

static float plain_partial(ld_arith op, bool of_b, float x, float y)
{
    switch (op) {
    case LD_ADD: return 1;
    case LD_SUB: return of_b ? -1 : 1;
    case LD_MUL: return of_b ? x : y;
    case LD_DIV: return of_b ? -x / (y * y) : 1.0f / y;
    case LD_MOD: return of_b ? rintf((plain_modulo(x, y) - x) / y) : 1;
    case LD_POW: break;
    }
    if (of_b)
        return x == 0 && y >= 0 ? 0 : powf(x, y) * logf(x);
    return y == 0 ? 0 : y * powf(x, y - 1.0f);
}

static float element(ld_operand o, int64_t r, int64_t j)
{
    return o.data[r * o.row + j * o.col];
}

typedef struct {
    int64_t n, k;
    ld_operand a, b, mask;
    const float *g;
    float *z, *want, *d, *want_d;
} meet;

static void check_arithmetic(const meet *m)
{
    int64_t n = m->n, k = m->k;
    for (int op = LD_ADD; op <= LD_MOD; op++) {
        ld_combine(m->z, m->a, m->b, n, k, (ld_arith)op);
        for (int64_t i = 0; i < n * k; i++)
            m->want[i] = plain_combine((ld_arith)op, element(m->a, i / k, i % k),
                                       element(m->b, i / k, i % k));
        check(same_floats(m->z, m->want, n * k), "operation %d of %" PRId64 " x %" PRId64, op, n,
              k);
        for (int way = 3; way >= 0; way--) {
            bool of_b = way & 1, add = way & 2;
            if (!add)
                memcpy(m->d, m->g, (size_t)(n * k) * sizeof *m->d); /* d may be g */
            ld_combine_backward(m->d, add ? m->g : m->d, m->a, m->b, n, k, (ld_arith)op, of_b, add);
            for (int64_t i = 0; i < n * k; i++) {
                float v = m->g[i] * plain_partial((ld_arith)op, of_b, element(m->a, i / k, i % k),
                                                  element(m->b, i / k, i % k));
                m->want_d[i] = add ? m->want_d[i] + v : v;
            }
            check(same_floats(m->d, m->want_d, n * k), "its derivative, way %d", way);
        }
    }
}

static void check_choices(const meet *m)
{
    int64_t n = m->n, k = m->k;
    for (int kind = LD_ABOVE; kind <= LD_EQUALS; kind++) {
        ld_compare_elements(m->z, m->a, m->b, n, k, (ld_comparison)kind);
        for (int64_t i = 0; i < n * k; i++) {
            float x = element(m->a, i / k, i % k), y = element(m->b, i / k, i % k);
            m->want[i] = kind == LD_ABOVE ? x > y : kind == LD_BELOW ? x < y : x == y;
        }
        check(same_floats(m->z, m->want, n * k), "comparison %d of %" PRId64 " x %" PRId64, kind, n,
              k);
    }
    ld_choose(m->z, m->mask, m->a, m->b, n, k);
    for (int64_t i = 0; i < n * k; i++)
        m->want[i] = element(element(m->mask, i / k, i % k) != 0 ? m->a : m->b, i / k, i % k);
    check(same_floats(m->z, m->want, n * k), "a choice of %" PRId64 " x %" PRId64, n, k);
    for (int way = 0; way < 4; way++) {
        bool add = way & 1, square = way & 2;
        ld_spread(m->d, m->a, square ? m->g : NULL, n, k, c, add);
        for (int64_t i = 0; i < n * k; i++) {
            float v = c * element(m->a, i / k, i % k);
            v = square ? 2 * m->g[i] * v : v;
            m->want_d[i] = add ? m->want_d[i] + v : v;
        }
        check(same_floats(m->d, m->want_d, n * k), "a gradient that is spread, way %d", way);
    }
}

static void check_mul_add(const meet *m, const float *y, const int32_t *rows)
{
    int64_t n = m->n, k = m->k;
    memcpy(m->z, m->g, (size_t)(n * k) * sizeof *m->z); /* z may be x */
    ld_mul_add(m->z, m->z, c, y, rows, n, k);
    for (int64_t i = 0; i < n * k; i++)
        m->want[i] = m->g[i] * c + y[(rows ? rows[i / k] : i / k) * k + i % k];
    check(same_floats(m->z, m->want, n * k), "a multiple plus rows, %" PRId64 " x %" PRId64, n, k);
}

static void check_meetings(int64_t n, int64_t k, numbers kind)
{
    int64_t size = n * k, most = size + n + k + 1;
    float *a = new_floats(most, kind), *b = new_floats(most, kind), *mask = new_floats(most, kind);
    float *g = new_floats(size, kind), *z = new_floats(size, ORDINARY);
    float *want = new_floats(size, ORDINARY), *d = new_floats(size, ORDINARY);
    float *want_d = copy_floats(d, size);
    int32_t *rows = new_block(n, sizeof *rows);
    const int64_t strides[][2] = {{k, 1}, {0, 1}, {1, 0}, {0, 0}}; /* all, a row, a column, one */
    for (int64_t i = 0; i < n; i++)
        rows[i] = (int32_t)(next_bits() % (uint64_t)n);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            meet m = {n,
                      k,
                      {a, strides[i][0], strides[i][1]},
                      {b, strides[j][0], strides[j][1]},
                      {mask, strides[(i + j) % 4][0], strides[(i + j) % 4][1]},
                      g,
                      z,
                      want,
                      d,
                      want_d};
            check_arithmetic(&m);
            check_choices(&m);
            check_mul_add(&m, a, NULL);
            check_mul_add(&m, a, rows);
        }
}

void test(void)
{
    static const int64_t shapes[][2] = {{0, 0}, {0, 4}, {4, 0}, {1, 1}, {9, 1}, {3, 7}, {40, 33}};
    for (int kind = ORDINARY; kind <= SPECIAL; kind++) {
        check_functions(0, (numbers)kind);
        check_functions(1, (numbers)kind);
        check_functions(1003, (numbers)kind);
        check_functions(40000, (numbers)kind);
        for (int i = 0; i < (int)(sizeof shapes / sizeof *shapes); i++)
            check_meetings(shapes[i][0], shapes[i][1], (numbers)kind);
    }
}
