#include <inttypes.h>
#include <string.h>

#include "io/pickle/pickle_machine.h"
#include "memory/memory.h"

/* A block of values, which lie one behind the other and are freed together. */
struct ld_pickle_block {
    ld_pickle_block *next;
    int64_t size, used;
    _Alignas(16) char data[];
};

enum { BLOCK = 1 << 16, ALIGNMENT = 8, BYTES_PER_BYTE = 128, LEAST_ROOM = 4 };

static ld_status add_block(ld_pickle *p, int64_t size)
{
    int64_t limit = BYTES_PER_BYTE * p->size + BLOCK;
    size = size > BLOCK ? size : BLOCK;
    if (p->held + size > limit)
        return ld_fail(LD_FORMAT, "%s: its values need more than %" PRId64 " bytes", p->name,
                       limit);
    ld_pickle_block *b = ld_alloc(sizeof *b + (size_t)size, LD_MEM_IO);
    if (!b)
        return LD_NOMEM;
    *b = (ld_pickle_block){.next = p->blocks, .size = size};
    p->blocks = b;
    p->held += size;
    return LD_OK;
}

ld_status ld_pickle_room(void **out, ld_pickle *p, int64_t size)
{
    size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (!p->blocks || p->blocks->size - p->blocks->used < size)
        LD_CHECK(add_block(p, size));
    *out = p->blocks->data + p->blocks->used;
    p->blocks->used += size;
    return LD_OK;
}

ld_status ld_pickle_new(value **out, ld_pickle *p, ld_pickle_kind kind)
{
    void *room;
    LD_CHECK(ld_pickle_room(&room, p, sizeof **out));
    *out = memset(room, 0, sizeof **out);
    (*out)->kind = kind;
    return LD_OK;
}

/* Appends to a list. Its old items stay where they are: an array of objects may still use them. */
ld_status ld_pickle_append(ld_pickle *p, value *list, value *const *items, int64_t count)
{
    int64_t needed = list->list.count + count;
    if (needed > list->list.room) {
        void *room;
        int64_t twice = 2 * list->list.room, many = needed > twice ? needed : twice;
        many = many > LEAST_ROOM || list->kind == LD_PICKLE_TUPLE ? many : LEAST_ROOM;
        LD_CHECK(ld_pickle_room(&room, p, many * (int64_t)sizeof *items));
        if (list->list.count > 0)
            memcpy(room, list->list.items, (size_t)list->list.count * sizeof *items);
        list->list.items = room;
        list->list.room = many;
    }
    if (count > 0)
        memcpy(list->list.items + list->list.count, items, (size_t)count * sizeof *items);
    list->list.count = needed;
    return LD_OK;
}

bool ld_pickle_is(const value *v, const char *word)
{
    return (v->kind == LD_PICKLE_BYTES || v->kind == LD_PICKLE_TEXT) &&
           v->bytes.size == (int64_t)strlen(word) && memcmp(v->bytes.data, word, strlen(word)) == 0;
}

const char *ld_pickle_word(char word[LD_PICKLE_WORD], const char *data, int64_t size)
{
    int64_t n = size < LD_PICKLE_WORD - 1 ? size : LD_PICKLE_WORD - 1;
    for (int64_t i = 0; i < n; i++)
        word[i] = data[i] >= 0x20 && data[i] < 0x7F ? data[i] : '?';
    word[n] = '\0';
    return word;
}

const char *ld_pickle_kind_name(ld_pickle_kind kind)
{
    static const char *const names[] = {
        [LD_PICKLE_NONE] = "None",
        [LD_PICKLE_BOOL] = "a bool",
        [LD_PICKLE_INTEGER] = "an int",
        [LD_PICKLE_NUMBER] = "a float",
        [LD_PICKLE_BYTES] = "bytes",
        [LD_PICKLE_TEXT] = "a text",
        [LD_PICKLE_LIST] = "a list",
        [LD_PICKLE_TUPLE] = "a tuple",
        [LD_PICKLE_DICT] = "a dict",
        [LD_PICKLE_ARRAY] = "an array",
        [LD_PICKLE_MATRIX] = "a sparse matrix",
        [LD_PICKLE_CLASS] = "a class",
        [LD_PICKLE_DTYPE] = "a dtype",
    };
    return names[kind];
}

void ld_pickle_free_values(ld_pickle *p)
{
    for (ld_pickle_block *b = p->blocks, *next; b; b = next) {
        next = b->next;
        ld_free(b);
    }
}
