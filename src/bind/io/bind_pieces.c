/* What does not fit in memory, a piece at a time: arrays of npz files that are read, and tensors of
 * .safetensors files that are written. */
#include "base/memory.h"
#include "io/array/npy_values.h"
#include "io/array/npz.h"
#include "io/array/safetensors_grow.h"
#include "io/bind_array.h"
#include "state/bind.h"

#define BIND_READER "ladies.ArrayReader"
#define BIND_WRITER "ladies.SafetensorsWriter"

/* --- arrays of npz files ------------------------------------------------------------------------ */

/* An archive of its own, of which one array is read. */
typedef struct {
    ld_zip *zip;
    ld_npy_header header;
    ld_source *source;
    int64_t left; /* elements */
    bool failed;  /* in the midst of a part: what comes next is not known */
} reader;

static void drop_reader(void *object)
{
    reader *r = object;
    ld_zip_close(r->zip);
    ld_free(r);
}

static int reader_close(lua_State *L)
{
    bind_drop(L, bind_check_userdata(L, 1, BIND_READER), drop_reader);
    return 0;
}

static int reader_new(lua_State *L)
{
    const char *path = bind_check_string(L, 1), *name = bind_check_string(L, 2);
    reader **r = lua_newuserdatauv(L, sizeof *r, 0);
    *r = NULL;
    luaL_setmetatable(L, BIND_READER);
    *r = ld_calloc_array(1, sizeof **r, LD_MEM_IO);
    bind_check(L, *r ? LD_OK : LD_NOMEM);
    bind_check(L, ld_zip_open(&(*r)->zip, path, "npz"));
    bind_check(L, ld_npz_read(&(*r)->header, &(*r)->source, (*r)->zip, name));
    if ((*r)->header.fortran && (*r)->header.ndim > 1)
        return bind_error(L, "%s: its columns lie together; rows are read", (*r)->source->name);
    (*r)->left = ld_npy_count(&(*r)->header);
    return 1;
}

/* The number at 2 of elements, or of rows of n_cols of them, and the header and the source of these. */
static int64_t begin_part(lua_State *L, reader *r, int64_t n_cols, ld_npy_header *h,
                          ld_part_source *part)
{
    int64_t n = bind_count(L, 2, "the number");
    if (r->failed)
        bind_error(L, "%s: reading it failed before", r->source->name);
    if (n * n_cols > r->left)
        bind_error(L, "%s: %I elements wanted, %I are left", r->source->name,
                   (LUAI_UACINT)(n * n_cols), (LUAI_UACINT)r->left);
    *h = r->header;
    h->ndim = n_cols == 1 ? 1 : 2;
    h->n_rows = n;
    h->n_cols = n_cols;
    h->before = ld_npy_count(&r->header) - r->left;
    *part = ld_part_source_of(r->source, ld_npy_bytes(h));
    return n * n_cols;
}

/* The result on top of the stack, of n elements that were read with this status. */
static int end_part(lua_State *L, reader *r, int64_t n, ld_status st)
{
    r->failed = st != LD_OK;
    bind_check(L, st);
    r->left -= n;
    return 1;
}

static int reader_ids(lua_State *L)
{
    reader *r = bind_object(L, 1, BIND_READER);
    ld_npy_header h;
    ld_part_source part;
    int64_t n = begin_part(L, r, 1, &h, &part);
    return end_part(L, r, n, ld_npy_read_index(bind_new_index(L), &h, &part.source));
}

static int reader_rows(lua_State *L)
{
    reader *r = bind_object(L, 1, BIND_READER);
    ld_npy_header h;
    ld_part_source part;
    int64_t n = begin_part(L, r, r->header.n_cols, &h, &part);
    return end_part(L, r, n, ld_npy_read_tensor(bind_new_tensor(L), &h, &part.source));
}

/* --- .safetensors files ------------------------------------------------------------------------- */

static ld_safetensors_grow *writer_at(lua_State *L)
{
    return bind_object(L, 1, BIND_WRITER);
}

static void drop_writer(void *object)
{
    ld_safetensors_abandon(object);
}

static int writer_close(lua_State *L)
{
    bind_drop(L, bind_check_userdata(L, 1, BIND_WRITER), drop_writer);
    return 0;
}

static int writer_new(lua_State *L)
{
    const char *path = bind_check_string(L, 1);
    ld_safetensors_grow **g = lua_newuserdatauv(L, sizeof *g, 0);
    *g = NULL;
    luaL_setmetatable(L, BIND_WRITER);
    bind_check(L, ld_safetensors_create(g, path));
    return 1;
}

static int writer_put(lua_State *L)
{
    ld_safetensors_grow *g = writer_at(L);
    const char *name = bind_check_string(L, 2);
    bind_check_any(L, 3);
    bind_push_array(L, 3, "put");
    ld_npy_array array = bind_to_array(L, -1);
    array.name = name;
    bind_check(L, ld_safetensors_put(g, &array));
    return 0;
}

static int writer_rows(lua_State *L)
{
    static const char *const names[] = {"float16", "bfloat16", "float32", NULL};
    static const ld_npy_type types[] = {{'f', 2}, {'B', 2}, {'f', 4}};
    ld_safetensors_grow *g = writer_at(L);
    const char *name = bind_check_string(L, 2);
    ld_npy_type type = types[bind_word(L, 3, names)];
    int64_t n_rows = bind_count(L, 4, "rows: n_rows"), n_cols = bind_count(L, 5, "rows: n_cols");
    bind_check(L, ld_safetensors_begin_rows(g, name, type, n_rows, n_cols));
    return 0;
}

static int writer_add_rows(lua_State *L)
{
    bind_check(L, ld_safetensors_put_rows(writer_at(L), bind_operand(L, 2)));
    return 0;
}

static int writer_csr(lua_State *L)
{
    ld_safetensors_grow *g = writer_at(L);
    const char *prefix = bind_check_string(L, 2);
    int64_t n_rows = bind_count(L, 3, "csr: n_rows"), n_cols = bind_count(L, 4, "csr: n_cols");
    bind_check(L, ld_safetensors_begin_csr(g, prefix, n_rows, n_cols));
    return 0;
}

static int writer_add_csr(lua_State *L)
{
    bind_check(L, ld_safetensors_put_csr(writer_at(L), bind_any_matrix(L, 2)));
    return 0;
}

static int writer_commit(lua_State *L)
{
    ld_safetensors_grow **place = bind_check_userdata(L, 1, BIND_WRITER), *g = writer_at(L);
    *place = NULL; /* core takes it */
    bind_check(L, ld_safetensors_commit(g));
    return 0;
}

/* --- classes ------------------------------------------------------------------------------------ */

static const bind_function reader_methods[] = {
    {"ids", reader_ids, "r:ids(n) -> Index\nThe next n elements, integers: 0 reads as 1."},
    {"rows", reader_rows, "r:rows(n) -> Tensor\nThe next n rows."},
    {"close", reader_close, "r:close()\nCloses the file."},
    {NULL, NULL, NULL},
};

static const bind_function writer_methods[] = {
    {"put", writer_put,
     "w:put(name, array: any)\n"
     "A whole tensor, of what safetensors.write takes. Those of larger elements "
     "come first."},
    {"rows", writer_rows,
     "w:rows(name, dtype: string, n_rows, n_cols)\n"
     "Begins a table of \"float16\", \"bfloat16\" or \"float32\", which w:add_rows completes."},
    {"add_rows", writer_add_rows,
     "w:add_rows(t)\nThe next rows: the nearest numbers of the table's type; an error for one that "
     "is too\nlarge."},
    {"csr", writer_csr,
     "w:csr(prefix: string, n_rows, n_cols)\n"
     "Begins a matrix of ones, prefix_indptr, prefix_shape and prefix_indices, which w:add_csr\n"
     "completes."},
    {"add_csr", writer_add_csr, "w:add_csr(A)\nThe next rows; values do not matter."},
    {"commit", writer_commit, "w:commit()\nThe file appears, whole."},
    {"close", writer_close, "w:close()\nWithout commit before it nothing is left of the file."},
    {NULL, NULL, NULL},
};

static const bind_function reader_function[] = {
    {"reader", reader_new,
     "npz.reader(path, name) -> ArrayReader\n"
     "Reads one array of an .npz file from its beginning on, a piece at a time: r:ids(n), r:rows(n)."},
    {NULL, NULL, NULL},
};

static const bind_function writer_function[] = {
    {"writer", writer_new,
     "safetensors.writer(path) -> SafetensorsWriter\n"
     "Writes a .safetensors file a piece at a time, for what does not fit in memory: w:put, w:csr,\n"
     "w:rows. The file appears with w:commit()."},
    {NULL, NULL, NULL},
};

static int no_field(lua_State *L)
{
    lua_getmetatable(L, 1);
    lua_getfield(L, -1, "__name");
    return bind_no_field(L, lua_tostring(L, -1));
}

static void open_class(lua_State *L, const char *type, const bind_function *methods,
                       lua_CFunction close)
{
    static const char *const properties[] = {NULL};
    const luaL_Reg meta[] = {{"__gc", close}, {"__close", close}, {NULL, NULL}};
    bind_class(L, type, methods, meta, properties, no_field);
}

void bind_open_pieces(lua_State *L)
{
    open_class(L, BIND_READER, reader_methods, reader_close);
    open_class(L, BIND_WRITER, writer_methods, writer_close);
    lua_getfield(L, -1, "npz");
    bind_functions(L, reader_function);
    lua_pop(L, 1);
    lua_getfield(L, -1, "safetensors");
    bind_functions(L, writer_function);
    lua_pop(L, 1);
}
