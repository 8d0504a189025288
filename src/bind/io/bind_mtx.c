/* mtx: Matrix Market files. */
#include "io/text/mtx.h"

#include "io/bind_progress.h"

static int mtx_read(lua_State *L)
{
    static const char *const options[] = {"progress", NULL};
    const char *path = bind_check_string(L, 1);
    bind_check_options(L, 2, "mtx.read", options);
    lua_settop(L, 2);
    bind_progress progress = bind_option_progress(L, 2, "mtx.read");
    ld_tensor **dense = bind_new_tensor(L);
    ld_csr **sparse = bind_new_matrix(L);
    bind_progress_check(L, &progress,
                        ld_mtx_read(sparse, dense, path, bind_progress_call(&progress), &progress));
    if (!*sparse)
        lua_pop(L, 1);
    return 1;
}

static int mtx_write(lua_State *L)
{
    static const char *const options[] = {"symmetric", NULL};
    const char *path = bind_check_string(L, 1);
    ld_tensor *dense = bind_to_operand(L, 2);
    bind_check_options(L, 3, "mtx.write", options);
    bool symmetric = bind_option_boolean(L, 3, "symmetric", false);
    if (dense && symmetric)
        return bind_error(L, "mtx.write: symmetric is for a sparse Matrix");
    if (dense)
        bind_check(L, ld_mtx_write_dense(path, dense));
    else
        bind_check(L, ld_mtx_write(path, bind_any_matrix(L, 2), symmetric));
    return 0;
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

void bind_open_mtx(lua_State *L)
{
    lua_newtable(L);
    bind_functions(L, functions);
    lua_setfield(L, -2, "mtx");
}
