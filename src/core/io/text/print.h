/* Writes text: numbers and pieces of text into a file that appears whole or not at all, packed with
 * gzip when its name ends in .gz. */
#ifndef LD_IO_PRINT_H
#define LD_IO_PRINT_H

#include <stdint.h>

#include "io/file.h"

typedef struct ld_print ld_print;

/* Begins a file. Ends with ld_print_end. */
ld_status ld_print_open(ld_print **out, const char *path, const char *reader);

ld_status ld_print_text(ld_print *x, const char *text);
ld_status ld_print_integer(ld_print *x, int64_t value);

/* Writes a number with as many digits, up to nine, as bring the same float back, -0 as well. Fails
 * with LD_VALUE for nan and the infinities, which the readers of text refuse. */
ld_status ld_print_float(ld_print *x, float value);

/* Ends the file, which everything was written to with status `st`: it appears under its name when
 * that is LD_OK, and else nothing is left behind. Takes x, and returns what failed first. */
ld_status ld_print_end(ld_print *x, ld_status st);

#endif
