/* ladies.mtx: reads and writes Matrix Market files. */
#include "io/text/mtx.h"

#include "io/bind_progress.h"

static ld_status mtx_read(bind_call *c)
{
    bind_progress progress = bind_progress_at(c->L, 3, "mtx.read");
    ld_tensor **dense = bind_new_tensor(c->L);
    ld_csr **sparse = bind_new_matrix(c->L);
    bind_progress_check(
        c->L, &progress,
        ld_mtx_read(sparse, dense, c->in[0].text, bind_progress_call(&progress), &progress));
    if (!*sparse)
        lua_pop(c->L, 1);
    return LD_OK;
}

static ld_status mtx_write(bind_call *c)
{
    const ld_tensor *dense = bind_to_operand(c->L, 2);
    bool symmetric = c->in[3].flag;
    if (dense && symmetric)
        return ld_fail(LD_VALUE, "mtx.write: symmetric is for a sparse Matrix");
    return dense ? ld_mtx_write_dense(c->in[0].text, dense)
                 : ld_mtx_write(c->in[0].text, bind_any_matrix(c->L, 2), symmetric);
}

static const bind_function functions[] = {
    {"read", mtx_read,
     "mtx.read(path [, {progress = function}]) -> Matrix | Tensor\n"
     "Reads a Matrix Market file, plain or packed with gzip: \"coordinate\" (real, integer or\n"
     "pattern; general, symmetric or skew-symmetric) gives a Matrix, \"array\" a Tensor. Entries\n"
     "given twice are summed, in a pattern kept once; a pattern has no values. An entry too many,\n"
     "one too few or one outside of the declared size is an error with its line, and so are inf,\n"
     "nan and numbers beyond the range of float32.\n"
     "progress(done, total) is called with bytes of the file now and then."},
    {"write", mtx_write,
     "mtx.write(path, Matrix | Tensor [, {symmetric = false}])\n"
     "Writes a Matrix as coordinates (a pattern if it has no values), a Tensor as an array; with\n"
     "symmetric only the lower triangle of a Matrix that is symmetric. Packed with gzip if the\n"
     "path ends in .gz. Numbers come back as they are; nan and infinite ones are an error. The file\n"
     "appears whole or not at all."},
    {NULL, NULL, NULL},
};

const bind_subject bind_subject_mtx = {.functions = {{functions, "mtx"}}};
