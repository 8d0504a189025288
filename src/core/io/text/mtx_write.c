/* Writes Matrix Market files. */
#include "io/text/mtx.h"
#include "io/text/print.h"

static ld_status put_sizes(ld_print *x, const char *banner, const char *kind, const int64_t *sizes,
                           int count)
{
    LD_CHECK(ld_print_text(x, banner));
    LD_CHECK(ld_print_text(x, kind));
    for (int i = 0; i < count; i++) {
        LD_CHECK(ld_print_text(x, i ? " " : "\n"));
        LD_CHECK(ld_print_integer(x, sizes[i]));
    }
    return ld_print_text(x, "\n");
}

static ld_status put_entries(ld_print *x, const ld_csr *a, bool lower, bool pattern)
{
    for (int64_t r = 0; r < a->s->n_rows; r++) {
        for (int64_t e = a->s->offsets[r]; e < a->s->offsets[r + 1]; e++) {
            if (lower && a->s->columns[e] > r)
                continue;
            LD_CHECK(ld_print_integer(x, r + 1));
            LD_CHECK(ld_print_text(x, " "));
            LD_CHECK(ld_print_integer(x, (int64_t)a->s->columns[e] + 1));
            if (!pattern) {
                LD_CHECK(ld_print_text(x, " "));
                LD_CHECK(ld_print_float(x, ld_csr_value(a, r, e)));
            }
            LD_CHECK(ld_print_text(x, "\n"));
        }
    }
    return LD_OK;
}

static int64_t count_lower(const ld_csr *a)
{
    int64_t count = 0;
    for (int64_t r = 0; r < a->s->n_rows; r++)
        for (int64_t e = a->s->offsets[r]; e < a->s->offsets[r + 1]; e++)
            count += a->s->columns[e] <= r;
    return count;
}

ld_status ld_mtx_write(const char *path, ld_csr *a, bool symmetric)
{
    bool pattern = !ld_csr_is_valued(a), is_so = true;
    const int64_t sizes[] = {a->s->n_rows, a->s->n_cols, symmetric ? count_lower(a) : a->s->nnz};
    ld_print *x;
    if (symmetric)
        LD_CHECK(ld_csr_is_symmetric(&is_so, a));
    if (!is_so)
        return ld_fail(LD_VALUE, "mtx: the matrix is not symmetric");
    LD_CHECK(ld_print_open(&x, path, "mtx"));
    ld_status st = put_sizes(x, "%%MatrixMarket matrix coordinate ",
                             symmetric ? (pattern ? "pattern symmetric" : "real symmetric")
                                       : (pattern ? "pattern general" : "real general"),
                             sizes, 3);
    if (st == LD_OK)
        st = put_entries(x, a, symmetric, pattern);
    return ld_print_end(x, st);
}

static ld_status put_values(ld_print *x, const ld_tensor *t)
{
    for (int64_t c = 0; c < t->n_cols; c++) {
        for (int64_t r = 0; r < t->n_rows; r++) {
            LD_CHECK(ld_print_float(x, t->data[r * t->n_cols + c]));
            LD_CHECK(ld_print_text(x, "\n"));
        }
    }
    return LD_OK;
}

ld_status ld_mtx_write_dense(const char *path, const ld_tensor *t)
{
    const int64_t sizes[] = {t->n_rows, t->n_cols};
    ld_print *x;
    LD_CHECK(ld_print_open(&x, path, "mtx"));
    ld_status st = put_sizes(x, "%%MatrixMarket matrix array ", "real general", sizes, 2);
    if (st == LD_OK)
        st = put_values(x, t);
    return ld_print_end(x, st);
}
