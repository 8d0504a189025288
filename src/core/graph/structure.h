/* The pattern of a sparse matrix, that is, the places of its entries, in compressed sparse row
 * form: offsets of rows, and columns. Many matrices may share one structure. It is immutable; its
 * transpose and other things that are found out about it later are kept with it.
 *
 * Rows that are built from entries are sorted by column, each column once. A slice keeps the order
 * of its parent's entries, whatever its columns are renamed to. */
#ifndef LD_GRAPH_STRUCTURE_H
#define LD_GRAPH_STRUCTURE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/own.h"
#include "base/status.h"
#include "memory/mapping.h"
#include "tensor/index.h"

struct ld_csr;

/* The origin of a slice's entries in the graph that was sliced. The entries of row r came from a
 * row that begins at position rows[r] there. Entry e was in that row's place places[e] or, without
 * `places`, where whole rows were taken, e - offsets[r]. Places in a row fit int32 as columns do,
 * however many entries a graph has. */
typedef struct {
    int64_t *rows;       /* n_rows, or NULL */
    int32_t *places;     /* nnz, or NULL */
    struct ld_csr *root; /* the graph's matrix, no slice itself; NULL when nothing was sliced */
    /* The numbers that these rows have in a graph in shards (graph_rows.h), of which they are a
     * copy, or NULL. Random numbers and the diagonal go by them. The entries have no positions in
     * that graph. */
    ld_index *row_ids;
} ld_origin;

typedef struct ld_structure {
    atomic_int refs;
    /* The pattern. */
    int64_t n_rows, n_cols, nnz;
    int64_t *offsets; /* n_rows + 1 */
    int32_t *columns; /* nnz, 0-based */
    /* The owners of the arrays' memory, unless the structure owns it. */
    ld_index *shared;      /* an Index whose elements are the columns, or NULL */
    ld_mapping *mapped[2]; /* files with offsets and columns, or NULL */
    /* Properties, true once they are known. */
    atomic_bool symmetric; /* it equals its transpose */
    atomic_bool canonical; /* rows are sorted, no column twice in one */
    atomic_bool looped;    /* every row has an entry on the diagonal */
    ld_origin from;
    int32_t *source; /* of a transpose: where its entries are in the structure transposed */
    struct {
        struct ld_structure *_Atomic transpose;
        atomic_bool transposing; /* held by who makes it */
    } kept;
} ld_structure;

/* Makes a structure with uninitialised arrays and one reference. with_origin makes from.rows and
 * from.places as well. */
ld_status ld_structure_new(ld_structure **out, int64_t n_rows, int64_t n_cols, int64_t nnz,
                           bool with_origin);

/* Makes a structure whose columns are the elements of an Index, and takes a reference to it. */
ld_status ld_structure_over(ld_structure **out, int64_t n_rows, int64_t n_cols, ld_index *columns);

/* Makes a structure around a block of `nnz` columns, which it takes, freeing it after a failure
 * too. */
ld_status ld_structure_of_block(ld_structure **out, int64_t n_rows, int64_t n_cols, int64_t nnz,
                                int32_t *columns);

/* Makes a structure over mapped memory, to which it takes references: n_rows + 1 int64 and nnz
 * int32. Only ld_structure_verify looks at them. */
ld_status ld_structure_over_mappings(ld_structure **out, int64_t n_rows, int64_t n_cols,
                                     int64_t nnz, ld_mapping *offsets, ld_mapping *columns);

/* Checks arrays that come from elsewhere, such as a file: rows must be sorted, without a column
 * twice. Fails with LD_RANGE and the position of what is wrong, from 0, and its row. Afterwards
 * s->canonical is true, and s->looped tells of a square matrix if its diagonal is full. */
ld_status ld_structure_verify(ld_structure *s);

/* Returns true if rows are sorted, without a column twice. Looks at all columns unless s->canonical
 * is set already, and sets it. */
bool ld_structure_is_canonical(ld_structure *s);

/* Tells the system how the pages of a mapped structure will be touched. Does nothing for one in
 * memory. */
void ld_structure_advise(const ld_structure *s, ld_access access);

/* Reads these rows, which must be in range, from a large file into memory all at once, which is
 * faster than one page after the other. Does nothing for smaller files and structures in memory. */
ld_status ld_structure_prefetch(const ld_structure *s, const ld_index *rows);

/* Says that the columns of entries first .. end - 1 will not be read for long. In a mapped file
 * they take no memory until they are. */
void ld_structure_forget(const ld_structure *s, int64_t first, int64_t end);

/* Fails with LD_SHAPE unless a matrix may have this many rows, columns and entries. All functions
 * that make one call this. */
ld_status ld_structure_check(int64_t n_rows, int64_t n_cols, int64_t nnz);

/* Fails with LD_SHAPE unless there are as many columns as rows; `where` begins the message. */
ld_status ld_structure_check_square(const ld_structure *s, const char *where);

/* Check that the positions of all entries fit int32, as an Index of positions and a transpose's
 * `source` need. The first returns true if so; the second fails with LD_RANGE otherwise, and `what`
 * begins the message. */
bool ld_structure_has_positions(const ld_structure *s);
ld_status ld_structure_check_positions(const ld_structure *s, const char *what);

/* Makes tests of that limit cheap: from now on it is n entries; 0 brings back the true one. */
void ld_structure_limit(int64_t n);

/* Returns how many entries these rows have, which must be in range. */
int64_t ld_structure_count(const ld_structure *s, const ld_index *rows);

/* Returns the position at which row r began in the graph that was sliced. */
static inline int64_t ld_structure_origin(const ld_structure *s, int64_t r)
{
    return s->from.rows ? s->from.rows[r] : s->offsets[r];
}

/* Returns the place of entry e of row r within its row of the graph that was sliced. */
static inline int32_t ld_structure_place(const ld_structure *s, int64_t r, int64_t e)
{
    return s->from.places ? s->from.places[e] : (int32_t)(e - s->offsets[r]);
}

/* Returns the number that row r has in the graph in shards that it is from, or r where it is from
 * none. */
static inline int64_t ld_structure_row_id(const ld_structure *s, int64_t r)
{
    return s->from.row_ids ? s->from.row_ids->data[r] : r;
}

/* Marks s, which is new, as the structure of a slice of a. */
void ld_structure_sliced(ld_structure *s, struct ld_csr *a);

void ld_structure_unref(ld_structure *s);
LD_OWNED_BY(ld_structure, ld_structure_unref)

/* Makes the transpose with `source` filled, once, and keeps it in s, so the caller gives nothing
 * back. A symmetric structure has one, too: it is needed where entries must be followed. */
ld_status ld_structure_transpose(ld_structure **out, ld_structure *s);

/* Gives a structure whose row c lists the rows that have entries in column c. That is s itself when
 * it is symmetric, else its transpose, which is made if `make` is true; without `make` and a
 * transpose it is NULL. It is NULL, too, for slices, whose rows may be unsorted, for rows of a
 * graph in shards, and where positions in a transpose do not fit. The caller gives nothing back. */
ld_status ld_structure_by_cols(const ld_structure **out, ld_structure *s, bool make);

#endif
