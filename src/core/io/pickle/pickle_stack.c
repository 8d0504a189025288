#include "io/pickle/pickle_stack.h"

#include <string.h>

#include "base/memory.h"

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
    ld_status st = ld_pickle_take(&bytes, m, (uint64_t)size);
    *number = 0;
    for (int i = size - 1; st == LD_OK && i >= 0; i--)
        *number = *number << 8 | (unsigned char)bytes[i];
    return st;
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

ld_status ld_pickle_reserve(void **array, int64_t *room, int64_t index, size_t size)
{
    if (index < *room)
        return LD_OK;
    int64_t many = 2 * *room > index + 1 ? 2 * *room : index + 64;
    void *larger = ld_calloc_array(many, size, LD_MEM_IO);
    if (!larger)
        return LD_NOMEM;
    if (*room > 0)
        memcpy(larger, *array, (size_t)*room * size);
    ld_free(*array);
    *array = larger;
    *room = many;
    return LD_OK;
}

ld_status ld_pickle_push(machine *m, value *v)
{
    ld_status st = ld_pickle_reserve((void **)&m->stack, &m->room, m->count, sizeof *m->stack);
    if (st == LD_OK)
        m->stack[m->count++] = v;
    return st;
}

ld_status ld_pickle_push_new(value **v, machine *m, ld_pickle_kind kind)
{
    ld_status st = ld_pickle_new(v, m->p, kind);
    return st == LD_OK ? ld_pickle_push(m, *v) : st;
}

ld_status ld_pickle_need(const machine *m, int64_t count)
{
    int64_t base = m->n_marks > 0 ? m->marks[m->n_marks - 1] : 0;
    return m->count - base >= count ? LD_OK : fail_at(m, "a value is missing");
}

ld_status ld_pickle_mark(machine *m)
{
    ld_status st =
        ld_pickle_reserve((void **)&m->marks, &m->marks_room, m->n_marks, sizeof *m->marks);
    if (st == LD_OK)
        m->marks[m->n_marks++] = m->count;
    return st;
}

ld_status ld_pickle_unmark(int64_t *first, machine *m)
{
    if (m->n_marks == 0)
        return fail_at(m, "a mark is missing");
    *first = m->marks[--m->n_marks];
    return LD_OK;
}
