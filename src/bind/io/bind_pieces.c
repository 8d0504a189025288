/* Reads arrays of .npz files and writes tensors of .safetensors files a piece at a time, so that
 * they may be larger than memory. */
#include "io/array/npy_values.h"
#include "io/array/npz.h"
#include "io/array/safetensors_write.h"
#include "io/bind_array.h"
#include "memory/memory.h"
#include "state/bind.h"

#define BIND_READER "ladies.ArrayReader"
#define BIND_WRITER "ladies.SafetensorsWriter"

/* --- arrays of npz files ---------------------------------------------------------------------- */

/* A reader of one array, with an open archive of its own, so that no other reading moves its
 * place. */
typedef struct {
    ld_zip *zip;
    ld_npy_header header;
    ld_source *source;
    int64_t left; /* elements not read yet */
    bool failed;  /* a part was read half, so the place in the file is lost */
} reader;

static void drop_reader(void *object)
{
    reader *r = object;
    ld_zip_close(r->zip);
    ld_free(r);
}

static ld_status reader_new(bind_call *c)
{
    void **place = bind_new_object(c->L, BIND_READER);
    reader *r = *place = ld_calloc_array(1, sizeof *r, LD_MEM_IO);
    if (!r)
        return LD_NOMEM;
    bind_check(c->L, ld_zip_open(&r->zip, c->in[0].text, "npz"));
    bind_check(c->L, ld_npz_read(&r->header, &r->source, r->zip, c->in[1].text));
    if (r->header.fortran && r->header.ndim > 1)
        return ld_fail(LD_VALUE, "%s: its columns lie together; rows are read", r->source->name);
    r->left = ld_npy_count(&r->header);
    return LD_OK;
}

/* Begins to read `n` rows of n_cols elements: fills in the header and the source of that part.
 * Returns how many elements it has. */
static int64_t begin_part(lua_State *L, reader *r, int64_t n, int64_t n_cols, ld_npy_header *h,
                          ld_part_source *part)
{
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

/* Ends a part of n elements: counts it as read, or notes that reading it failed. Returns `st`. */
static ld_status end_part(reader *r, int64_t n, ld_status st)
{
    r->failed = st != LD_OK;
    if (st == LD_OK)
        r->left -= n;
    return st;
}

static ld_status reader_ids(bind_call *c)
{
    reader *r = c->in[0].object;
    ld_npy_header h;
    ld_part_source part;
    int64_t n = begin_part(c->L, r, c->in[1].integer, 1, &h, &part);
    return end_part(r, n, ld_npy_read_index(c->out[0].index, &h, &part.source));
}

static ld_status reader_rows(bind_call *c)
{
    reader *r = c->in[0].object;
    ld_npy_header h;
    ld_part_source part;
    int64_t n = begin_part(c->L, r, c->in[1].integer, r->header.n_cols, &h, &part);
    return end_part(r, n, ld_npy_read_tensor(c->out[0].tensor, &h, &part.source));
}

/* --- .safetensors files ----------------------------------------------------------------------- */

static ld_status writer_new(bind_call *c)
{
    return ld_safetensors_create((ld_safetensors_writer **)bind_new_object(c->L, BIND_WRITER),
                                 c->in[0].text);
}

static ld_status writer_put(bind_call *c)
{
    if (c->given < 3)
        bind_arg_error(c->L, 3, "value expected");
    bind_push_array(c->L, 3, "put");
    ld_npy_array array = bind_to_array(c->L, -1);
    array.name = c->in[1].text;
    return ld_safetensors_put(c->in[0].object, &array);
}

static ld_status writer_rows(bind_call *c)
{
    static const ld_npy_type types[] = {{'f', 2}, {'B', 2}, {'f', 4}};
    return ld_safetensors_begin_rows(c->in[0].object, c->in[1].text, types[c->in[2].integer],
                                     c->in[3].integer, c->in[4].integer);
}

static ld_status writer_add_rows(bind_call *c)
{
    return ld_safetensors_put_rows(c->in[0].object, c->in[1].tensor);
}

static ld_status writer_csr(bind_call *c)
{
    return ld_safetensors_begin_csr(c->in[0].object, c->in[1].text, c->in[2].integer,
                                    c->in[3].integer);
}

static ld_status writer_add_csr(bind_call *c)
{
    return ld_safetensors_put_csr(c->in[0].object, c->in[1].matrix);
}

static ld_status writer_commit(bind_call *c)
{
    ld_safetensors_writer **place = lua_touserdata(c->L, 1);
    *place = NULL; /* core takes it */
    return ld_safetensors_commit(c->in[0].object);
}

/* --- classes ---------------------------------------------------------------------------------- */

static const bind_function reader_methods[] = {
    {"ids", reader_ids, "r:ids(n) -> Index\nThe next n elements, integers: 0 reads as 1."},
    {"rows", reader_rows, "r:rows(n) -> Tensor\nThe next n rows."},
    {"close", NULL, "r:close()\nCloses the file.", .raw = bind_close},
    {NULL, NULL, NULL},
};

static const bind_function writer_methods[] = {
    {"put", writer_put,
     "w:put(name, array: any)\n"
     "Writes a whole tensor, any that safetensors.write takes. Those of larger elements must come\n"
     "first."},
    {"rows", writer_rows,
     "w:rows(name, \"float16\" | \"bfloat16\" | \"float32\", n_rows, n_cols)\n"
     "Begins a table of this type, which w:add_rows completes."},
    {"add_rows", writer_add_rows,
     "w:add_rows(t)\n"
     "Writes the next rows, rounded to the nearest numbers of the table's type; a number that is\n"
     "too large is an error. A writer that has written rows in part takes nothing more.",
     .reads = "t"},
    {"csr", writer_csr,
     "w:csr(prefix: string, n_rows, n_cols)\n"
     "Begins a matrix of ones, prefix_indptr, prefix_shape and prefix_indices, which w:add_csr\n"
     "completes."},
    {"add_csr", writer_add_csr,
     "w:add_csr(A)\n"
     "Writes the next rows; their values are not used.",
     .reads = "A"},
    {"commit", writer_commit,
     "w:commit()\n"
     "Completes the file, which then appears, whole; an error after a write that failed."},
    {"close", NULL,
     "w:close()\n"
     "Closes the writer. Without w:commit before, nothing is left of the file.",
     .raw = bind_close},
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

static const bind_class reader_class = {
    .name = BIND_READER, .drop = drop_reader, .closes = true, .methods = reader_methods};

static const bind_class writer_class = {.name = BIND_WRITER,
                                        .drop = ld_safetensors_writer_drop,
                                        .closes = true,
                                        .methods = writer_methods};

const bind_subject bind_subject_pieces = {
    .classes = {&reader_class, &writer_class},
    .functions = {{reader_function, "npz"}, {writer_function, "safetensors"}}};
