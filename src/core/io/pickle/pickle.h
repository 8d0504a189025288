/* Reads Python's pickles as data: the values that a file describes become a tree, and nothing else
 * happens.
 *
 * A pickle is a program for a stack machine that may call any function of Python. The machine here
 * (pickle_run.c) has only the instructions that build data, and knows only a fixed list of classes
 * (pickle_class.c): NumPy's arrays and scalars, SciPy's matrices in CSR, CSC and COO form,
 * defaultdict. Anything else is an error that names it. Protocols 0 to 5 are read; a str of Python
 * 2 is bytes.
 *
 * The values take at most 128 times the size of the input, and time is linear in it. Nothing here
 * calls itself, so nesting has no limit. Values may be shared and, as in Python, contain
 * themselves. */
#ifndef LD_IO_PICKLE_H
#define LD_IO_PICKLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/own.h"
#include "base/status.h"
#include "graph/csr.h"
#include "io/archive/source.h"
#include "io/array/npy.h"

typedef enum {
    LD_PICKLE_NONE,
    LD_PICKLE_BOOL,
    LD_PICKLE_INTEGER,
    LD_PICKLE_NUMBER,
    LD_PICKLE_BYTES,
    LD_PICKLE_TEXT, /* UTF-8 */
    LD_PICKLE_LIST, /* also an array of objects, which has one element or one dimension */
    LD_PICKLE_TUPLE,
    LD_PICKLE_DICT,
    LD_PICKLE_ARRAY,
    LD_PICKLE_MATRIX,
    /* These are needed to make the above, and are no data by themselves: */
    LD_PICKLE_CLASS,
    LD_PICKLE_DTYPE,
} ld_pickle_kind;

/* How SciPy holds a matrix: by rows, by columns, or as a list of entries. */
typedef enum { LD_PICKLE_CSR, LD_PICKLE_CSC, LD_PICKLE_COO } ld_pickle_form;

typedef struct {
    ld_npy_header header;
    const char *data; /* ld_npy_bytes(&header), as in an .npy file */
} ld_pickle_array;

typedef struct ld_pickle_value {
    ld_pickle_kind kind;
    /* Fields for the code that walks the tree: 0 and NULL at first. */
    int32_t visit;
    struct ld_pickle_value *next;
    union {
        bool truth;
        int64_t integer;
        double number;
        struct {
            const char *data;
            int64_t size;
        } bytes; /* BYTES, TEXT */
        struct {
            struct ld_pickle_value **items;
            int64_t count, room;
        } list;                 /* LIST, TUPLE; DICT: keys and values by turns */
        ld_pickle_array *array; /* NULL while there is only its class */
        struct {
            struct ld_pickle_value *state; /* a DICT; NULL while there is only its class */
            ld_pickle_form form;
        } matrix;
        int class_id;
        ld_npy_type dtype;
    };
} ld_pickle_value;

typedef struct ld_pickle_block ld_pickle_block;

/* A tree of values, with the bytes that it was read from. */
typedef struct ld_pickle {
    atomic_int refs;
    char name[300]; /* begins every message */
    char *bytes;
    int64_t size;
    ld_pickle_value *root;
    ld_pickle_block *blocks; /* where the values are */
    int64_t held;            /* the bytes of the blocks */
} ld_pickle;

/* Reads the file at `path`. Given back with ld_pickle_unref. */
ld_status ld_pickle_load(ld_pickle **out, const char *path);

/* Reads everything that a source with a known end has left, like a member of an archive. */
ld_status ld_pickle_read(ld_pickle **out, ld_source *s);

/* Reads a copy of `size` bytes. */
ld_status ld_pickle_decode(ld_pickle **out, const void *data, int64_t size, const char *name);

ld_pickle *ld_pickle_ref(ld_pickle *p);
void ld_pickle_unref(ld_pickle *p); /* NULL is allowed */
LD_OWNED_BY(ld_pickle, ld_pickle_unref)

/* Returns the name of a kind of value in words: "a dict". */
const char *ld_pickle_kind_name(ld_pickle_kind kind);

/* Makes a matrix of core from a MATRIX. The bytes of its arrays are taken off `budget`, and
 * LD_FORMAT says that it does not suffice: matrices may share their arrays in the file, while ours
 * are copies. */
ld_status ld_pickle_matrix(ld_csr **out, const ld_pickle *p, const ld_pickle_value *v,
                           int64_t *budget);

#endif
