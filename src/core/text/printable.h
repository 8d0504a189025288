/* Makes text of unknown origin fit for a terminal, an axis or a table: characters that would move
 * the cursor, change colours or turn the direction of the text become visible. */
#ifndef LD_TEXT_PRINTABLE_H
#define LD_TEXT_PRINTABLE_H

#include <stdbool.h>

enum { LD_PRINTABLE = 4 };

/* Writes what stands for the text's next character, or for a byte of it that is not to be shown
 * ("\n", "\t", "\r", else "\x1b" and the like), to `out`, and moves *text behind it; before `end`
 * there must be one. With `lines` ends of lines and tabs stay. Returns the number of bytes
 * written. */
int ld_printable(char out[LD_PRINTABLE], const char **text, const char *end, bool lines);

#endif
