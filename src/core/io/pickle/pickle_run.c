/* Executes the instructions of the machine, which Lib/pickletools.py of Python describes by the
 * same names. */
#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "io/pickle/pickle_machine.h"
#include "memory/memory.h"

enum { NEWEST_PROTOCOL = 5, POLL_EVERY = 1 << 14 };

/* The state: what is not yet read, a stack, marks on it, and a memo of values that are used
 * again. */
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
static ld_status take(const char **bytes, machine *m, uint64_t size)
{
    if ((uint64_t)(m->end - m->at) < size)
        return fail_at(m, "the pickle ends too early");
    *bytes = m->at;
    m->at += size;
    return LD_OK;
}

/* Takes the next `size` bytes as a little-endian integer. */
static ld_status take_number(uint64_t *number, machine *m, int size)
{
    const char *bytes;
    LD_CHECK(take(&bytes, m, (uint64_t)size));
    *number = ld_little_endian(bytes, size);
    return LD_OK;
}

/* Takes the next line, without its end. */
static ld_status take_line(const char **text, int64_t *size, machine *m)
{
    const char *end = memchr(m->at, '\n', (size_t)(m->end - m->at));
    if (!end)
        return fail_at(m, "the pickle ends too early");
    *text = m->at;
    *size = end - m->at;
    m->at = end + 1;
    return LD_OK;
}

static ld_status push(machine *m, value *v)
{
    LD_CHECK(ld_reserve(&m->stack, &m->room, m->count, 1, sizeof *m->stack, LD_MEM_IO));
    m->stack[m->count++] = v;
    return LD_OK;
}

static ld_status push_new(value **v, machine *m, ld_pickle_kind kind)
{
    LD_CHECK(ld_pickle_new(v, m->p, kind));
    return push(m, *v);
}

/* Fails with LD_FORMAT unless there are `count` values above the last mark. */
static ld_status need(const machine *m, int64_t count)
{
    int64_t base = m->n_marks > 0 ? m->marks[m->n_marks - 1] : 0;
    return m->count - base >= count ? LD_OK : fail_at(m, "a value is missing");
}

static ld_status mark(machine *m)
{
    LD_CHECK(ld_reserve(&m->marks, &m->marks_room, m->n_marks, 1, sizeof *m->marks, LD_MEM_IO));
    m->marks[m->n_marks++] = m->count;
    return LD_OK;
}

/* Takes the last mark away: the values above it begin at `first`. */
static ld_status unmark(int64_t *first, machine *m)
{
    if (m->n_marks == 0)
        return fail_at(m, "a mark is missing");
    *first = m->marks[--m->n_marks];
    return LD_OK;
}

/* --- instructions ----------------------------------------------------------------------------- */

static ld_status push_bool(machine *m, bool truth)
{
    value *v;
    LD_CHECK(push_new(&v, m, LD_PICKLE_BOOL));
    v->truth = truth;
    return LD_OK;
}

/* Pushes an integer of `size` bytes; one of 4 has a sign. */
static ld_status push_integer(machine *m, int size)
{
    uint64_t number;
    value *v;
    LD_CHECK(take_number(&number, m, size));
    LD_CHECK(push_new(&v, m, LD_PICKLE_INTEGER));
    v->integer = size == 4 ? (int32_t)number : (int64_t)number;
    return LD_OK;
}

/* Pushes an integer of any length, which comes first in `size` bytes. */
static ld_status push_long(machine *m, int size)
{
    uint64_t length;
    const char *bytes;
    value *v;
    LD_CHECK(take_number(&length, m, size));
    LD_CHECK(take(&bytes, m, length));
    LD_CHECK(push_new(&v, m, LD_PICKLE_INTEGER));
    return ld_pickle_parse_long(v, m->p, bytes, (int64_t)length);
}

static ld_status push_double(machine *m)
{
    uint64_t bits;
    value *v;
    LD_CHECK(take_number(&bits, m, 8));
    LD_CHECK(push_new(&v, m, LD_PICKLE_NUMBER));
    bits = __builtin_bswap64(bits); /* the one big-endian number of the format */
    memcpy(&v->number, &bits, sizeof bits);
    return LD_OK;
}

/* Pushes bytes or text, whose length comes first in `size` bytes; they stay where they are. */
static ld_status push_bytes(machine *m, ld_pickle_kind kind, int size)
{
    uint64_t length;
    const char *bytes;
    value *v;
    LD_CHECK(take_number(&length, m, size));
    LD_CHECK(take(&bytes, m, length));
    LD_CHECK(push_new(&v, m, kind));
    v->bytes.data = bytes;
    v->bytes.size = (int64_t)length;
    return LD_OK;
}

/* Pushes a value of protocol 0, which is a line. */
static ld_status push_line(machine *m, char code)
{
    const char *text;
    int64_t size;
    value *v;
    LD_CHECK(take_line(&text, &size, m));
    LD_CHECK(push_new(&v, m,
                      code == 'F'   ? LD_PICKLE_NUMBER
                      : code == 'S' ? LD_PICKLE_BYTES
                      : code == 'V' ? LD_PICKLE_TEXT
                                    : LD_PICKLE_INTEGER));
    switch (code) {
    case 'F': LD_CHECK(ld_pickle_parse_number(v, m->p, text, size)); break;
    case 'S': LD_CHECK(ld_pickle_parse_string(v, m->p, text, size)); break;
    case 'V': LD_CHECK(ld_pickle_parse_unicode(v, m->p, text, size)); break;
    default: LD_CHECK(ld_pickle_parse_integer(v, m->p, text, size));
    }
    return LD_OK;
}

/* Returns the last `count` values; at first there is not even a stack. */
static value *const *last_values(const machine *m, int64_t count)
{
    return count > 0 ? m->stack + m->count - count : NULL;
}

/* Replaces the last `count` values by a LIST, TUPLE or DICT of them. */
static ld_status collect(machine *m, ld_pickle_kind kind, int64_t count)
{
    value *v;
    LD_CHECK(need(m, count));
    LD_CHECK(ld_pickle_new(&v, m->p, kind));
    LD_CHECK(ld_pickle_append(m->p, v, last_values(m, count), count));
    if (kind == LD_PICKLE_DICT && count % 2 != 0)
        return fail_at(m, "a key has no value");
    m->count -= count;
    return push(m, v);
}

static ld_status collect_marked(machine *m, ld_pickle_kind kind)
{
    int64_t first = 0;
    LD_CHECK(unmark(&first, m));
    return collect(m, kind, m->count - first);
}

/* Moves the last `count` values into the list or dict below them. */
static ld_status extend(machine *m, ld_pickle_kind kind, int64_t count)
{
    LD_CHECK(need(m, count + 1));
    m->count -= count;
    value *v = m->stack[m->count - 1];
    if (v->kind != kind || (kind == LD_PICKLE_DICT && count % 2 != 0))
        return fail_at(m, "there is nothing to append to");
    return ld_pickle_append(m->p, v, m->stack + m->count, count);
}

static ld_status extend_marked(machine *m, ld_pickle_kind kind)
{
    int64_t first = 0;
    LD_CHECK(unmark(&first, m));
    return extend(m, kind, m->count - first);
}

static ld_status push_class(machine *m)
{
    const char *module, *name;
    int64_t module_size, name_size;
    value *v;
    LD_CHECK(take_line(&module, &module_size, m));
    LD_CHECK(take_line(&name, &name_size, m));
    LD_CHECK(ld_pickle_find_class(&v, m->p, module, module_size, name, name_size));
    return push(m, v);
}

/* Pushes the class whose module and name are the last two texts on the stack. */
static ld_status push_stacked_class(machine *m)
{
    value *v;
    LD_CHECK(need(m, 2));
    const value *module = m->stack[m->count - 2], *name = m->stack[m->count - 1];
    if (module->kind != LD_PICKLE_TEXT || name->kind != LD_PICKLE_TEXT)
        return fail_at(m, "a class has no name");
    LD_CHECK(ld_pickle_find_class(&v, m->p, module->bytes.data, module->bytes.size,
                                  name->bytes.data, name->bytes.size));
    m->count -= 2;
    return push(m, v);
}

typedef ld_status call_function(value **, ld_pickle *, const value *, const value *);

/* Replaces a class and a tuple of arguments by what they give. */
static ld_status call(machine *m, call_function *function)
{
    value *result;
    LD_CHECK(need(m, 2));
    const value *class = m->stack[m->count - 2], *arguments = m->stack[m->count - 1];
    if (class->kind != LD_PICKLE_CLASS || arguments->kind != LD_PICKLE_TUPLE)
        return fail_at(m, "a call without class or arguments");
    LD_CHECK(function(&result, m->p, class, arguments));
    m->count -= 2;
    return push(m, result);
}

static ld_status build(machine *m)
{
    LD_CHECK(need(m, 2));
    m->count--;
    return ld_pickle_build(m->p, m->stack[m->count - 1], m->stack[m->count]);
}

static ld_status put(machine *m, uint64_t index)
{
    LD_CHECK(need(m, 1));
    if (index > (uint64_t)m->p->size) /* picklers count */
        return fail_at(m, "a memo beyond the size of the pickle");
    int64_t room = m->memo_room, more = (int64_t)index + 1 - room;
    if (more > 0) {
        LD_CHECK(ld_reserve(&m->memo, &m->memo_room, room, more, sizeof *m->memo, LD_MEM_IO));
        memset(m->memo + room, 0, (size_t)(m->memo_room - room) * sizeof *m->memo);
    }
    m->memo_count += m->memo[index] == NULL;
    m->memo[index] = m->stack[m->count - 1];
    return LD_OK;
}

static ld_status get(machine *m, uint64_t index)
{
    if (index >= (uint64_t)m->memo_room || !m->memo[index])
        return fail_at(m, "a memo that was never put");
    return push(m, m->memo[index]);
}

/* Uses the memo at an index of `size` bytes, or of a line when `size` is 0. */
static ld_status use_memo(machine *m, ld_status (*use)(machine *, uint64_t), int size)
{
    uint64_t index;
    value line = {.kind = LD_PICKLE_INTEGER};
    const char *text;
    int64_t length;
    if (size > 0) {
        LD_CHECK(take_number(&index, m, size));
    } else {
        LD_CHECK(take_line(&text, &length, m));
        LD_CHECK(ld_pickle_parse_integer(&line, m->p, text, length));
        index = line.kind == LD_PICKLE_BOOL ? line.truth : (uint64_t)line.integer;
    }
    return use(m, index);
}

/* Takes the last value away, or the mark when there is none above it. */
static ld_status drop(machine *m)
{
    if (m->n_marks > 0 && m->marks[m->n_marks - 1] == m->count) {
        m->n_marks--;
        return LD_OK;
    }
    LD_CHECK(need(m, 1));
    m->count--;
    return LD_OK;
}

static ld_status drop_marked(machine *m)
{
    int64_t first = 0;
    LD_CHECK(unmark(&first, m));
    m->count = first;
    return LD_OK;
}

static ld_status duplicate(machine *m)
{
    LD_CHECK(need(m, 1));
    return push(m, m->stack[m->count - 1]);
}

static ld_status check_protocol(machine *m)
{
    uint64_t version;
    LD_CHECK(take_number(&version, m, 1));
    if (version > NEWEST_PROTOCOL)
        return ld_fail(LD_FORMAT, "%s: pickle protocol %d is unknown; 0 to %d are read", m->p->name,
                       (int)version, NEWEST_PROTOCOL);
    return LD_OK;
}

/* Skips the length that a frame announces, since nothing here needs it. */
static ld_status skip_frame(machine *m)
{
    uint64_t size;
    return take_number(&size, m, 8);
}

static ld_status refuse(machine *m, unsigned char code)
{
    static const struct {
        unsigned char code;
        const char *name;
    } known[] = {
        {'i', "INST"},
        {'o', "OBJ"},
        {'P', "PERSID"},
        {'Q', "BINPERSID"},
        {0x82, "EXT1"},
        {0x83, "EXT2"},
        {0x84, "EXT4"},
        {0x92, "NEWOBJ_EX"},
        {0x8f, "EMPTY_SET"},
        {0x90, "ADDITEMS"},
        {0x91, "FROZENSET"},
        {0x97, "NEXT_BUFFER"},
        {0x98, "READONLY_BUFFER"},
    };
    m->at--;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].code == code)
            return ld_fail(LD_FORMAT, "%s: refuses the opcode %s at byte %" PRId64, m->p->name,
                           known[i].name, (int64_t)(m->at - m->p->bytes));
    return ld_fail(LD_FORMAT, "%s: is not a pickle: no opcode 0x%02x, at byte %" PRId64, m->p->name,
                   code, (int64_t)(m->at - m->p->bytes));
}

static ld_status run_instruction(machine *m, unsigned char code)
{
    value *v;
    switch (code) {
    case 0x80: return check_protocol(m);
    case 0x95: return skip_frame(m);
    case '.': m->stopped = true; return LD_OK;
    case 'N': return push_new(&v, m, LD_PICKLE_NONE);
    case 0x88: return push_bool(m, true);
    case 0x89: return push_bool(m, false);
    case 'J': return push_integer(m, 4);
    case 'K': return push_integer(m, 1);
    case 'M': return push_integer(m, 2);
    case 0x8a: return push_long(m, 1);
    case 0x8b: return push_long(m, 4);
    case 'G': return push_double(m);
    case 'I':
    case 'L':
    case 'F':
    case 'S':
    case 'V': return push_line(m, (char)code);
    case 'U':
    case 'C': return push_bytes(m, LD_PICKLE_BYTES, 1);
    case 'T':
    case 'B': return push_bytes(m, LD_PICKLE_BYTES, 4);
    case 0x8e:
    case 0x96: return push_bytes(m, LD_PICKLE_BYTES, 8);
    case 0x8c: return push_bytes(m, LD_PICKLE_TEXT, 1);
    case 'X': return push_bytes(m, LD_PICKLE_TEXT, 4);
    case 0x8d: return push_bytes(m, LD_PICKLE_TEXT, 8);
    case '(': return mark(m);
    case ')': return push_new(&v, m, LD_PICKLE_TUPLE);
    case 0x85: return collect(m, LD_PICKLE_TUPLE, 1);
    case 0x86: return collect(m, LD_PICKLE_TUPLE, 2);
    case 0x87: return collect(m, LD_PICKLE_TUPLE, 3);
    case 't': return collect_marked(m, LD_PICKLE_TUPLE);
    case ']': return push_new(&v, m, LD_PICKLE_LIST);
    case 'l': return collect_marked(m, LD_PICKLE_LIST);
    case 'a': return extend(m, LD_PICKLE_LIST, 1);
    case 'e': return extend_marked(m, LD_PICKLE_LIST);
    case '}': return push_new(&v, m, LD_PICKLE_DICT);
    case 'd': return collect_marked(m, LD_PICKLE_DICT);
    case 's': return extend(m, LD_PICKLE_DICT, 2);
    case 'u': return extend_marked(m, LD_PICKLE_DICT);
    case 'c': return push_class(m);
    case 0x93: return push_stacked_class(m);
    case 'R': return call(m, ld_pickle_call);
    case 0x81: return call(m, ld_pickle_make);
    case 'b': return build(m);
    case 'p': return use_memo(m, put, 0);
    case 'q': return use_memo(m, put, 1);
    case 'r': return use_memo(m, put, 4);
    case 0x94: return put(m, (uint64_t)m->memo_count);
    case 'g': return use_memo(m, get, 0);
    case 'h': return use_memo(m, get, 1);
    case 'j': return use_memo(m, get, 4);
    case '0': return drop(m);
    case '1': return drop_marked(m);
    case '2': return duplicate(m);
    default: return refuse(m, code);
    }
}

static ld_status run(machine *m)
{
    const char *code;
    for (int64_t i = 0; !m->stopped; i++) {
        if (i % POLL_EVERY == 0)
            LD_CHECK(ld_poll());
        LD_CHECK(take(&code, m, 1));
        LD_CHECK(run_instruction(m, (unsigned char)*code));
    }
    if (m->at != m->end)
        return fail_at(m, "something follows the end of the pickle");
    if (m->count != 1 || m->n_marks != 0)
        return fail_at(m, "more or less than one value is left");
    return LD_OK;
}

ld_status ld_pickle_run(ld_pickle *p)
{
    machine m = {.p = p, .at = p->bytes, .end = p->bytes + p->size};
    ld_status st = run(&m);
    if (st == LD_OK)
        p->root = m.stack[0];
    ld_free(m.stack);
    ld_free(m.marks);
    ld_free(m.memo);
    return st;
}
