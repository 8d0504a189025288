/* Writes tables of text. */
#include "io/text/print.h"
#include "io/text/text.h"

static ld_status put_edges(ld_print *x, const ld_csr *a)
{
    bool weighted = ld_csr_is_valued(a);
    for (int64_t r = 0; r < a->s->n_rows; r++) {
        for (int64_t e = a->s->offsets[r]; e < a->s->offsets[r + 1]; e++) {
            LD_CHECK(ld_print_integer(x, a->s->columns[e]));
            LD_CHECK(ld_print_text(x, ","));
            LD_CHECK(ld_print_integer(x, r));
            if (weighted) {
                LD_CHECK(ld_print_text(x, ","));
                LD_CHECK(ld_print_float(x, ld_csr_value(a, r, e)));
            }
            LD_CHECK(ld_print_text(x, "\n"));
        }
    }
    return LD_OK;
}

ld_status ld_text_write_edges(const char *path, const ld_csr *a)
{
    ld_print *x;
    LD_CHECK(ld_print_open(&x, path, "text"));
    return ld_print_end(x, put_edges(x, a));
}

static ld_status put_rows(ld_print *x, const ld_tensor *t)
{
    for (int64_t r = 0; r < t->n_rows; r++) {
        for (int64_t c = 0; c < t->n_cols; c++) {
            if (c > 0)
                LD_CHECK(ld_print_text(x, ","));
            LD_CHECK(ld_print_float(x, t->data[r * t->n_cols + c]));
        }
        LD_CHECK(ld_print_text(x, "\n"));
    }
    return LD_OK;
}

ld_status ld_text_write(const char *path, const ld_tensor *t)
{
    ld_print *x;
    LD_CHECK(ld_print_open(&x, path, "text"));
    return ld_print_end(x, put_rows(x, t));
}
