/* Reads the lines of a text file, plain or packed with gzip, one after the other through one
 * buffer. */
#ifndef LD_IO_LINES_H
#define LD_IO_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "io/text/ahead.h"

/* The type of functions that are called now and then with the bytes of the file that were read,
 * packed ones if it is packed, and its size. Any status but LD_OK ends the reading with it. */
typedef ld_status ld_progress(void *context, int64_t done, int64_t total);

typedef struct ld_lines {
    ld_ahead *file;
    char *buffer; /* bytes begin .. end - 1 are still to come; one more has room */
    int64_t room, begin, end;
    int64_t taken;         /* bytes of text so far, those to come in the buffer among them */
    bool ended;            /* the file has no more bytes than those */
    int64_t number;        /* the number of the line given last, from 1 */
    int64_t blank;         /* the first blank line that ld_lines_next_full left out; 0: none */
    ld_progress *progress; /* may be NULL */
    void *context;
} ld_lines;

/* The longest line that is read. */
enum { LD_LINES_LONGEST = 1 << 26 };

/* Opens a file; `reader` begins its messages. Ends with ld_lines_close, also after a failure. */
ld_status ld_lines_open(ld_lines *x, const char *path, const char *reader, ld_progress *progress,
                        void *context);

/* Gives the next line, line .. end - 1 without its \n or \r\n; *line is NULL after the last. It may
 * be changed and is good until the next call. The byte at *end is never a digit, so parsers of
 * numbers stop there. */
ld_status ld_lines_next(ld_lines *x, char **line, char **end);

/* Gives the next line that is not empty or blank and does not begin, behind blanks, with one of the
 * characters in `comments`. *line is its first character that is not blank. */
ld_status ld_lines_next_full(ld_lines *x, const char *comments, char **line, char **end);

/* Trims the line at `at`, which ends in \n before `stop`: *line becomes its first character that is
 * not blank, *end the place of its \n or \r\n. Returns the beginning of the next line. */
char *ld_lines_trim(char *at, const char *stop, char **line, char **end);

/* Returns true if a trimmed line has nothing in it, or a comment. */
bool ld_lines_is_empty(const char *line, const char *end, const char *comments);

/* Gives all whole lines that are at hand, each ending in \n (the last line of the file has one
 * added); *begin is NULL after the last. The caller must count `number` then. Good until the next
 * call. */
ld_status ld_lines_block(ld_lines *x, char **begin, char **end);

/* Cuts a block into `count` parts of whole lines, as equal as can be: returns where part i ends, which
 * begins at `from`. It is empty where a line of the parts before reaches that far. */
char *ld_lines_part_end(char *begin, char *end, char *from, int64_t i, int64_t count);

/* Returns which part of the file, 0 .. 1, lies before the next line. */
double ld_lines_share(const ld_lines *x);

/* Reads at least `room` bytes at a time from now on. */
ld_status ld_lines_widen(ld_lines *x, int64_t room);

/* Fails with LD_FORMAT: "READER: PATH: line 3, column 2: found "x", expected WHAT". The column
 * counts fields, and 0 leaves it out. The text found is shown up to `end`, if it is not too long;
 * NULL is the end of the file. */
ld_status ld_lines_fail(const ld_lines *x, int64_t column, const char *found, const char *end,
                        const char *expected);

/* All zeros is allowed. */
void ld_lines_close(ld_lines *x);

#endif
