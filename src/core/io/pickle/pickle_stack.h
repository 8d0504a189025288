/* The state of the unpickler's machine: what is not yet read, a stack, marks on it, and a memo of
 * values that are used again. */
#ifndef LD_IO_PICKLE_STACK_H
#define LD_IO_PICKLE_STACK_H

#include <inttypes.h>

#include "io/pickle/pickle_machine.h"

typedef struct {
    ld_pickle *p;
    const char *at, *end; /* the bytes not yet read */
    value **stack;
    int64_t count, room;
    int64_t *marks; /* heights of the stack */
    int64_t n_marks, marks_room;
    value **memo; /* NULL where nothing was put */
    int64_t memo_room, memo_count;
    bool stopped;
} machine;

/* A macro, as ld_fail is. */
#define fail_at(m, what)                                                                           \
    ld_fail(LD_FORMAT, "%s: %s at byte %" PRId64, (m)->p->name, what,                              \
            (int64_t)((m)->at - (m)->p->bytes))

/* Takes the next `size` bytes. */
ld_status ld_pickle_take(const char **bytes, machine *m, uint64_t size);

/* Takes the next `size` bytes as a little-endian integer. */
ld_status ld_pickle_take_number(uint64_t *number, machine *m, int size);

/* Takes the next line, without its end. */
ld_status ld_pickle_take_line(const char **text, int64_t *size, machine *m);

ld_status ld_pickle_push(machine *m, value *v);

ld_status ld_pickle_push_new(value **v, machine *m, ld_pickle_kind kind);

/* Fails with LD_FORMAT unless there are `count` values above the last mark. */
ld_status ld_pickle_need(const machine *m, int64_t count);

ld_status ld_pickle_mark(machine *m);

/* Takes the last mark away: the values above it begin at `first`. */
ld_status ld_pickle_unmark(int64_t *first, machine *m);

#endif
