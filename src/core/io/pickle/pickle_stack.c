/* The stack, the marks and the memo of the unpickler's machine, and the bytes that it reads. */
#include "io/pickle/pickle_stack.h"

#include <string.h>

#include "base/bytes.h"
#include "memory/memory.h"

ld_status ld_pickle_take(const char **bytes, machine *m, uint64_t size)
{
    if ((uint64_t)(m->end - m->at) < size)
        return fail_at(m, "the pickle ends too early");
    *bytes = m->at;
    m->at += size;
    return LD_OK;
}

ld_status ld_pickle_take_number(uint64_t *number, machine *m, int size)
{
    const char *bytes;
    LD_CHECK(ld_pickle_take(&bytes, m, (uint64_t)size));
    *number = ld_little_endian(bytes, size);
    return LD_OK;
}

ld_status ld_pickle_take_line(const char **text, int64_t *size, machine *m)
{
    const char *end = memchr(m->at, '\n', (size_t)(m->end - m->at));
    if (!end)
        return fail_at(m, "the pickle ends too early");
    *text = m->at;
    *size = end - m->at;
    m->at = end + 1;
    return LD_OK;
}

ld_status ld_pickle_push(machine *m, value *v)
{
    LD_CHECK(ld_reserve(&m->stack, &m->room, m->count, 1, sizeof *m->stack, LD_MEM_IO));
    m->stack[m->count++] = v;
    return LD_OK;
}

ld_status ld_pickle_push_new(value **v, machine *m, ld_pickle_kind kind)
{
    LD_CHECK(ld_pickle_new(v, m->p, kind));
    return ld_pickle_push(m, *v);
}

ld_status ld_pickle_need(const machine *m, int64_t count)
{
    int64_t base = m->n_marks > 0 ? m->marks[m->n_marks - 1] : 0;
    return m->count - base >= count ? LD_OK : fail_at(m, "a value is missing");
}

ld_status ld_pickle_mark(machine *m)
{
    LD_CHECK(ld_reserve(&m->marks, &m->marks_room, m->n_marks, 1, sizeof *m->marks, LD_MEM_IO));
    m->marks[m->n_marks++] = m->count;
    return LD_OK;
}

ld_status ld_pickle_unmark(int64_t *first, machine *m)
{
    if (m->n_marks == 0)
        return fail_at(m, "a mark is missing");
    *first = m->marks[--m->n_marks];
    return LD_OK;
}
