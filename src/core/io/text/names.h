/* Names of nodes or classes: texts numbered 0, 1, 2, ... in order of first appearance, and found
 * again by their text. */
#ifndef LD_IO_NAMES_H
#define LD_IO_NAMES_H

#include <stdint.h>

#include "base/own.h"
#include "base/status.h"
#include "tensor/index.h"

typedef struct ld_names ld_names;

/* Makes an empty list of names; it is given back with ld_names_free. */
ld_status ld_names_new(ld_names **out);

/* NULL is allowed. */
void ld_names_free(ld_names *x);
LD_OWNED_BY(ld_names, ld_names_free)

int64_t ld_names_count(const ld_names *x);

/* Gives the number of a text, which is added as a new name if the list does not have it. */
ld_status ld_names_add(ld_names *x, int32_t *id, const char *text, int64_t length);

/* Returns the number of a text, or -1. */
int32_t ld_names_find(const ld_names *x, const char *text, int64_t length);

/* Gives the places behind each "\n" of a text, from 0. Fails with LD_RANGE for a text of 2^31
 * bytes. */
ld_status ld_names_in_lines(ld_index **starts, const char *text, int64_t length);

/* Returns the text of a number 0 .. count - 1. */
const char *ld_names_text(const ld_names *x, int64_t id, int64_t *length);

#endif
