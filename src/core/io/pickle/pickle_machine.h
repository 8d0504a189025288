/* Functions that the files of the unpickler share, and nobody else uses. */
#ifndef LD_IO_PICKLE_MACHINE_H
#define LD_IO_PICKLE_MACHINE_H

#include "io/pickle/pickle.h"

typedef ld_pickle_value value;

/* --- values (pickle_value.c) ------------------------------------------------------------------ */

/* Gives room for `size` bytes that lives as long as p. */
ld_status ld_pickle_room(void **out, ld_pickle *p, int64_t size);

/* Frees all values of p. */
void ld_pickle_free_values(ld_pickle *p);

/* Makes a value whose union is zero. */
ld_status ld_pickle_new(value **out, ld_pickle *p, ld_pickle_kind kind);

/* Appends to a LIST, TUPLE or DICT. */
ld_status ld_pickle_append(ld_pickle *p, value *list, value *const *items, int64_t count);

/* Returns true if v is these bytes or this text. */
bool ld_pickle_is(const value *v, const char *word);

/* Copies at most LD_PICKLE_WORD - 1 bytes, with '?' for those that cannot be shown; returns
 * `word`. */
enum { LD_PICKLE_WORD = 80 };
const char *ld_pickle_word(char word[LD_PICKLE_WORD], const char *data, int64_t size);

/* --- text (pickle_text.c): the forms of protocol 0, each without its newline ------------------ */

ld_status ld_pickle_parse_integer(value *v, const ld_pickle *p, const char *text, int64_t size);
ld_status ld_pickle_parse_number(value *v, const ld_pickle *p, const char *text, int64_t size);

/* Parses a string 'a\x00b' with its quotes and escapes. */
ld_status ld_pickle_parse_string(value *v, ld_pickle *p, const char *text, int64_t size);

/* Parses Latin-1 with \uXXXX and \UXXXXXXXX. */
ld_status ld_pickle_parse_unicode(value *v, ld_pickle *p, const char *text, int64_t size);

/* Parses a little-endian integer of `size` bytes, of which at most 8 may count. */
ld_status ld_pickle_parse_long(value *v, const ld_pickle *p, const char *bytes, int64_t size);

/* --- classes (pickle_class.c) ----------------------------------------------------------------- */

/* Finds a CLASS. Fails with LD_FORMAT and its name when it is not on the list. */
ld_status ld_pickle_find_class(value **out, ld_pickle *p, const char *module, int64_t module_size,
                               const char *name, int64_t name_size);

/* Calls class(*arguments). */
ld_status ld_pickle_call(value **out, ld_pickle *p, const value *class, const value *arguments);

/* Calls class.__new__(class, *arguments). */
ld_status ld_pickle_make(value **out, ld_pickle *p, const value *class, const value *arguments);

/* Calls object.__setstate__(state). */
ld_status ld_pickle_build(ld_pickle *p, value *object, const value *state);

/* --- the machine (pickle_run.c) --------------------------------------------------------------- */

/* Reads p->bytes into p->root. */
ld_status ld_pickle_run(ld_pickle *p);

#endif
