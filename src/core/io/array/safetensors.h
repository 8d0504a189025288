/* Tensors by name in a .safetensors file, the format of Hugging Face for weights: the length of a
 * header (8 bytes, little-endian), the header, which is JSON and says for each tensor its type, its
 * shape and where its bytes lie, and then the bytes (https://huggingface.co/docs/safetensors,
 * "Format").
 *
 * A stranger's file is read only where it is consistent: the tensors must fill the bytes behind the
 * header, without overlaps, gaps or anything left; each as many as its type and shape need; and no
 * name may come twice. The elements are read as those of .npy arrays are (npy_values.h). */
#ifndef LD_IO_SAFETENSORS_H
#define LD_IO_SAFETENSORS_H

#include "base/own.h"
#include "graph/csr.h"
#include "io/array/npy.h"
#include "io/file.h"

typedef struct {
    const char *name;
    const char *dtype; /* as the file has it, "F32" */
    ld_npy_header header;
    int ndim;           /* in the file; the header has it if such arrays are read */
    int64_t begin, end; /* its bytes, counted from the end of the header */
} ld_safetensor;

/* An entry of the header's __metadata__. */
typedef struct {
    const char *key, *value;
} ld_safetensors_text;

typedef struct ld_safetensors {
    ld_file *file;
    char *text; /* the header, in which all names and texts lie */
    int64_t count, n_texts;
    ld_safetensor *tensors;     /* sorted by name */
    ld_safetensors_text *texts; /* sorted by key */
    int64_t data;               /* where the header ends */
    int64_t least_mapped;       /* from so many bytes on tensors are mapped; 0: none is */
    /* The tensor that is being read. */
    ld_source source;
    const ld_safetensor *tensor;
    int64_t position;
    char name[2 * sizeof(ld_label)];
} ld_safetensors;

/* Opens a file and reads its header. Given back with ld_safetensors_close. */
ld_status ld_safetensors_open(ld_safetensors **out, const char *path);

/* NULL is allowed. */
void ld_safetensors_close(ld_safetensors *f);
LD_OWNED_BY(ld_safetensors, ld_safetensors_close)

/* Returns the tensor of this name, or NULL. */
const ld_safetensor *ld_safetensors_find(const ld_safetensors *f, const char *name);

/* Begins to read a tensor, as ld_npz_read does an array. LD_VALUE when there is none of this name,
 * LD_FORMAT when it is of a type or a shape that is not read. */
ld_status ld_safetensors_read(ld_npy_header *h, ld_source **s, ld_safetensors *f, const char *name);

/* A matrix of ones that lies in a file: the names of its offsets (I64) and columns (I32), and the
 * properties that it is known to have. */
typedef struct {
    const char *offsets, *columns;
    int64_t n_rows, n_cols;
    bool checked; /* ld_structure_verify passed this file before */
    bool symmetric, looped;
} ld_mapped_csr;

/* Makes the matrix over the file. *out is NULL where it cannot be mapped: its tensors are of other
 * types or small, or f->least_mapped is 0. Fails with LD_SHAPE, and with LD_RANGE as
 * ld_structure_verify does. */
ld_status ld_safetensors_map_csr(ld_csr **out, ld_safetensors *f, const ld_mapped_csr *given);

/* --- between the files of the format --------------------------------------------------------- */

/* The longest header that is read, as the library has it. */
enum { LD_SAFETENSORS_LONGEST_HEADER = 100000000 };

/* The types in the library's order, by which files are sorted; kind 0 is not read. Ends with a NULL
 * name. */
typedef struct {
    const char *name;
    ld_npy_type type;
} ld_safetensors_type;
extern const ld_safetensors_type ld_safetensors_types[];

/* Reads the header, f->text of `length` bytes and a zero behind them, into f->tensors and f->texts,
 * whose strings it decodes in place. */
ld_status ld_safetensors_parse(ld_safetensors *f, int64_t length);

#endif
