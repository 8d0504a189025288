#include "kernel/map.h"

#include <math.h>

#include "base/fastmath.h"
#include "kernel/chains.h"
#include "system/simd.h"
#include "system/threads.h"

enum { CHUNK = 1 << 12 };

/* --- of one element --------------------------------------------------------------------------- */

typedef struct {
    float *y; /* or dx, which may be dy */
    const float *x, *of_y, *dy;
    double multiple;
    float c, high;
    ld_unary f;
    bool accumulate;
} map_job;

#define EACH(expression)                                                                           \
    LD_INDEPENDENT                                                                                 \
    for (int64_t i = begin; i < end; i++) {                                                        \
        float x = p->x[i];                                                                         \
        p->y[i] = (expression);                                                                    \
    }                                                                                              \
    break

LD_CLONES(map)
{
    const map_job *p = ctx;
    float c = p->c;
    switch (p->f) {
    case LD_RELU: EACH(x < 0 ? 0 : x);
    case LD_LEAKY_RELU: EACH(x > 0 ? x : c * x);
    case LD_ELU: EACH(x > 0 ? x : c * ld_expm1f(x));
    case LD_SIGMOID: EACH(1.0f / (1.0f + ld_expf(-x)));
    case LD_TANH: EACH(ld_tanhf(x));
    case LD_EXP: EACH(ld_expf(x));
    case LD_LOG: EACH(logf(x));
    case LD_SQRT: EACH(sqrtf(x));
    case LD_SQUARE: EACH(x * x);
    case LD_ABS: EACH(fabsf(x));
    case LD_RECIPROCAL: EACH(c / x);
    case LD_CLAMP: EACH(x < c ? c : x > p->high ? p->high : x);
    case LD_SIN: EACH(sinf(x));
    case LD_COS: EACH(cosf(x));
    case LD_HUBER: EACH(fabsf(x) <= c ? 0.5f * x * x : c * (fabsf(x) - 0.5f * c));
    case LD_FLOOR: EACH(floorf(x));
    case LD_ROUND: EACH(rintf(x));
    }
}
#undef EACH

ld_status ld_map(float *y, const float *x, int64_t n, ld_unary f, float c, float high)
{
    map_job p = {.y = y, .x = x, .f = f, .c = c, .high = high};
    return ld_parallel_for(n, CHUNK, map, &p);
}

#define EACH(expression)                                                                           \
    LD_INDEPENDENT                                                                                 \
    for (int64_t i = begin; i < end; i++) {                                                        \
        float x = p->x[i], y = p->of_y[i], d = p->dy[i] * (expression);                            \
        (void)x, (void)y;                                                                          \
        p->y[i] = p->accumulate ? p->y[i] + d : d;                                                 \
    }                                                                                              \
    break

LD_CLONES(map_backward)
{
    const map_job *p = ctx;
    float c = p->c;
    switch (p->f) {
    case LD_RELU: EACH(x > 0 ? 1.0f : 0.0f);
    case LD_LEAKY_RELU: EACH(x > 0 ? 1.0f : c);
    case LD_ELU: EACH(x > 0 ? 1.0f : y + c);
    case LD_SIGMOID: EACH(y * (1.0f - y));
    case LD_TANH: EACH(1.0f - y * y);
    case LD_EXP: EACH(y);
    case LD_LOG: EACH(1.0f / x);
    case LD_SQRT: EACH(0.5f / y);
    case LD_SQUARE: EACH(2.0f * x);
    case LD_ABS: EACH((float)(x > 0) - (float)(x < 0));
    case LD_RECIPROCAL: EACH(-y / x);
    case LD_CLAMP: EACH(x == y ? 1.0f : 0.0f);
    case LD_SIN: EACH(cosf(x));
    case LD_COS: EACH(-sinf(x));
    case LD_HUBER: EACH(x < -c ? -c : x > c ? c : x);
    case LD_FLOOR:
    case LD_ROUND: EACH(0.0f);
    }
}
#undef EACH

ld_status ld_map_backward(float *dx, const float *dy, const float *x, const float *y, int64_t n,
                          ld_unary f, float c, bool accumulate)
{
    /* What a derivative does not read may be NULL, but the loops load it with the rest. */
    map_job p = {.y = dx,
                 .dy = dy,
                 .x = x ? x : dy,
                 .of_y = y ? y : dy,
                 .f = f,
                 .c = c,
                 .accumulate = accumulate};
    return ld_parallel_for(n, CHUNK, map_backward, &p);
}

/* c is the scale, high the shift. */
LD_CLONES(affine)
{
    const map_job *p = ctx;
    LD_INDEPENDENT
    for (int64_t i = begin; i < end; i++)
        p->y[i] = p->c * p->x[i] + p->high;
}

ld_status ld_affine(float *y, const float *x, int64_t n, float scale, float shift)
{
    map_job p = {.y = y, .x = x, .c = scale, .high = shift};
    return ld_parallel_for(n, CHUNK, affine, &p);
}

LD_CLONES(scale_elements)
{
    const map_job *p = ctx;
    LD_INDEPENDENT
    for (int64_t i = begin; i < end; i++) {
        float v = p->c * p->x[i];
        p->y[i] = p->accumulate ? p->y[i] + v : v;
    }
}

ld_status ld_scale(float *y, const float *x, int64_t n, float scale, bool accumulate)
{
    map_job p = {.y = y, .x = x, .c = scale, .accumulate = accumulate};
    if (y == x && scale == 1 && !accumulate)
        return LD_OK;
    return ld_parallel_for(n, CHUNK, scale_elements, &p);
}

LD_CLONES(multiple)
{
    const map_job *p = ctx;
    LD_INDEPENDENT
    for (int64_t i = begin; i < end; i++) {
        float v = (float)(p->x ? p->multiple * p->x[i] : p->multiple);
        p->y[i] = p->accumulate ? p->y[i] + v : v;
    }
}

ld_status ld_multiple(float *y, const float *x, int64_t n, double scale, bool accumulate)
{
    map_job p = {.y = y, .x = x, .multiple = scale, .accumulate = accumulate};
    return ld_parallel_for(n, CHUNK, multiple, &p);
}

LD_CLONES(add)
{
    const map_job *p = ctx;
    LD_INDEPENDENT
    for (int64_t i = begin; i < end; i++)
        p->y[i] += p->x[i];
}

ld_status ld_add(float *y, const float *x, int64_t n)
{
    map_job p = {.y = y, .x = x};
    return ld_parallel_for(n, CHUNK, add, &p);
}

LD_CLONES(fill)
{
    const map_job *p = ctx;
    for (int64_t i = begin; i < end; i++)
        p->y[i] = p->c;
}

ld_status ld_fill(float *y, int64_t n, float value)
{
    map_job p = {.y = y, .c = value};
    return ld_parallel_for(n, CHUNK, fill, &p);
}

/* --- of elements that meet -------------------------------------------------------------------- */

typedef struct {
    float *z;       /* or d */
    const float *g; /* the result's gradient, which d may be */
    ld_operand a, b, mask;
    const float *x;
    const int32_t *rows;
    int64_t n_cols;
    ld_arith op;
    ld_comparison comparison;
    float scale;
    bool of_b, accumulate;
} meeting;

/* Elements of the result that follow one another in one row: `n` from (row, col) on, of which the
 * first is element `at` of all. */
typedef struct {
    int64_t at, row, col, n;
} span;

static LD_INLINE span span_from(int64_t at, int64_t row, int64_t col, int64_t end, int64_t n_cols)
{
    int64_t rest = n_cols - col;
    return (span){at, row, col, rest < end - at ? rest : end - at};
}

/* Return the first span of the elements begin .. end - 1, and the one after s, whose n is 0 at the
 * end. */
static LD_INLINE span first_span(int64_t begin, int64_t end, int64_t n_cols)
{
    return span_from(begin, begin / n_cols, begin % n_cols, end, n_cols);
}

static LD_INLINE span next_span(span s, int64_t end, int64_t n_cols)
{
    return span_from(s.at + s.n, s.row + 1, 0, end, n_cols);
}

static LD_INLINE const float *along(ld_operand o, span s)
{
    return o.data + s.row * o.row + s.col * o.col;
}

/* Runs a kernel over all elements. A result of one column is taken for a single row. */
static ld_status each_element(ld_loop_fn *kernel, meeting *p, int64_t n_rows)
{
    int64_t n = n_rows * p->n_cols;
    if (p->n_cols == 1 && !p->rows) {
        p->n_cols = n_rows;
        p->a.col = p->a.row;
        p->b.col = p->b.row;
        p->mask.col = p->mask.row;
    }
    return ld_parallel_for(n, CHUNK, kernel, p);
}

/* The loops over a span take strides that are constants where they are common, so that they are
 * compiled into vectors. */
#define EACH(expression)                                                                           \
    LD_INDEPENDENT                                                                                 \
    for (int64_t j = 0; j < s.n; j++) {                                                            \
        float x = a[j * a_col], y = b[j * b_col];                                                  \
        z[j] = (expression);                                                                       \
    }                                                                                              \
    break

static LD_INLINE float modulo(float x, float y)
{
    float rest = fmodf(x, y);
    return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

static LD_INLINE void combine_span(const meeting *p, span s, int64_t a_col, int64_t b_col)
{
    const float *a = along(p->a, s), *b = along(p->b, s);
    float *z = p->z + s.at;
    switch (p->op) {
    case LD_ADD: EACH(x + y);
    case LD_SUB: EACH(x - y);
    case LD_MUL: EACH(x * y);
    case LD_DIV: EACH(x / y);
    case LD_POW: EACH(powf(x, y));
    case LD_MOD: EACH(modulo(x, y));
    }
}

static LD_INLINE void compare_span(const meeting *p, span s, int64_t a_col, int64_t b_col)
{
    const float *a = along(p->a, s), *b = along(p->b, s);
    float *z = p->z + s.at;
    switch (p->comparison) {
    case LD_ABOVE: EACH(x > y ? 1.0f : 0.0f);
    case LD_BELOW: EACH(x < y ? 1.0f : 0.0f);
    case LD_EQUALS: EACH(x == y ? 1.0f : 0.0f);
    }
}
#undef EACH

static LD_INLINE float power_dx(float x, float y)
{
    return y == 0 ? 0.0f : y * powf(x, y - 1.0f);
}

static LD_INLINE float power_dy(float x, float y)
{
    return x == 0 && y >= 0 ? 0.0f : powf(x, y) * logf(x);
}

#define EACH(expression)                                                                           \
    LD_INDEPENDENT                                                                                 \
    for (int64_t j = 0; j < s.n; j++) {                                                            \
        float x = a[j * a_col], y = b[j * b_col], v = g[j] * (expression);                         \
        (void)x, (void)y;                                                                          \
        d[j] = p->accumulate ? d[j] + v : v;                                                       \
    }                                                                                              \
    break

static LD_INLINE void combine_backward_span(const meeting *p, span s, int64_t a_col, int64_t b_col)
{
    const float *a = along(p->a, s), *b = along(p->b, s), *g = p->g + s.at;
    float *d = p->z + s.at;
    switch (2 * (int)p->op + p->of_b) {
    case 2 * LD_ADD:
    case 2 * LD_ADD + 1:
    case 2 * LD_SUB:
    case 2 * LD_MOD: EACH(1.0f);
    case 2 * LD_SUB + 1: EACH(-1.0f);
    case 2 * LD_MUL: EACH(y);
    case 2 * LD_MUL + 1: EACH(x);
    case 2 * LD_DIV: EACH(1.0f / y);
    case 2 * LD_DIV + 1: EACH(-x / (y * y));
    case 2 * LD_POW: EACH(power_dx(x, y));
    case 2 * LD_POW + 1: EACH(power_dy(x, y));
    case 2 * LD_MOD + 1: EACH(rintf((modulo(x, y) - x) / y));
    }
}
#undef EACH

/* Calls of_span(p, s, a's stride, b's stride) for the spans of a loop. */
#define EACH_SPAN(of_span)                                                                         \
    const meeting *p = ctx;                                                                        \
    for (span s = first_span(begin, end, p->n_cols); s.n > 0; s = next_span(s, end, p->n_cols)) {  \
        if (p->a.col == 1 && p->b.col == 1)                                                        \
            of_span(p, s, 1, 1);                                                                   \
        else if (p->a.col == 1 && p->b.col == 0)                                                   \
            of_span(p, s, 1, 0);                                                                   \
        else                                                                                       \
            of_span(p, s, p->a.col, p->b.col);                                                     \
    }

LD_CLONES(combine){EACH_SPAN(combine_span)}

LD_CLONES(combine_backward){EACH_SPAN(combine_backward_span)}

LD_CLONES(compare){EACH_SPAN(compare_span)}

ld_status
    ld_combine(float *z, ld_operand a, ld_operand b, int64_t n_rows, int64_t n_cols, ld_arith op)
{
    meeting p = {.z = z, .a = a, .b = b, .n_cols = n_cols, .op = op};
    return each_element(combine, &p, n_rows);
}

ld_status ld_combine_backward(float *d, const float *g, ld_operand a, ld_operand b, int64_t n_rows,
                              int64_t n_cols, ld_arith op, bool of_b, bool accumulate)
{
    meeting p = {.z = d,
                 .g = g,
                 .a = a,
                 .b = b,
                 .n_cols = n_cols,
                 .op = op,
                 .of_b = of_b,
                 .accumulate = accumulate};
    return each_element(combine_backward, &p, n_rows);
}

ld_status ld_compare_elements(float *z, ld_operand a, ld_operand b, int64_t n_rows, int64_t n_cols,
                              ld_comparison comparison)
{
    meeting p = {.z = z, .a = a, .b = b, .n_cols = n_cols, .comparison = comparison};
    return each_element(compare, &p, n_rows);
}

LD_CLONES(choose)
{
    const meeting *p = ctx;
    for (span s = first_span(begin, end, p->n_cols); s.n > 0; s = next_span(s, end, p->n_cols)) {
        const float *mask = along(p->mask, s), *a = along(p->a, s), *b = along(p->b, s);
        float *z = p->z + s.at;
        for (int64_t j = 0; j < s.n; j++) {
            float x = a[j * p->a.col], y = b[j * p->b.col];
            z[j] = mask[j * p->mask.col] != 0 ? x : y;
        }
    }
}

ld_status ld_choose(float *z, ld_operand mask, ld_operand a, ld_operand b, int64_t n_rows,
                    int64_t n_cols)
{
    meeting p = {.z = z, .mask = mask, .a = a, .b = b, .n_cols = n_cols};
    return each_element(choose, &p, n_rows);
}

/* Spreads a gradient, which is a, over a span. */
static LD_INLINE void spread_span(const meeting *p, span s, int64_t col)
{
    const float *g = along(p->a, s), *x = p->x ? p->x + s.at : NULL;
    float *d = p->z + s.at;
    for (int64_t j = 0; j < s.n; j++) {
        float v = p->scale * g[j * col];
        v = x ? 2 * x[j] * v : v;
        d[j] = p->accumulate ? d[j] + v : v;
    }
}

LD_CLONES(spread)
{
    const meeting *p = ctx;
    for (span s = first_span(begin, end, p->n_cols); s.n > 0; s = next_span(s, end, p->n_cols)) {
        if (p->a.col == 1)
            spread_span(p, s, 1);
        else
            spread_span(p, s, 0);
    }
}

ld_status ld_spread(float *d, ld_operand g, const float *x, int64_t n_rows, int64_t n_cols,
                    float scale, bool accumulate)
{
    meeting p = {
        .z = d, .a = g, .x = x, .n_cols = n_cols, .scale = scale, .accumulate = accumulate};
    return each_element(spread, &p, n_rows);
}

/* a is the array whose rows are added. */
LD_CLONES(mul_add)
{
    const meeting *p = ctx;
    const float factor = p->scale;
    for (span s = first_span(begin, end, p->n_cols); s.n > 0; s = next_span(s, end, p->n_cols)) {
        int64_t row = p->rows ? p->rows[s.row] : s.row;
        const float *x = p->x + s.at, *y = p->a.data + row * p->n_cols + s.col;
        float *z = p->z + s.at;
        LD_INDEPENDENT
        for (int64_t j = 0; j < s.n; j++)
            z[j] = x[j] * factor + y[j];
    }
}

ld_status ld_mul_add(float *z, const float *x, float factor, const float *y, const int32_t *rows,
                     int64_t n_rows, int64_t n_cols)
{
    meeting p = {.z = z, .x = x, .scale = factor, .a.data = y, .rows = rows, .n_cols = n_cols};
    if (rows)
        return each_element(mul_add, &p, n_rows);
    p.n_cols = n_rows * n_cols; /* a single row */
    return each_element(mul_add, &p, 1);
}
