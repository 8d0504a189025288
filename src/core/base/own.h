/* Local variables that give back what they hold where their scope ends, whichever way it is left:
 *
 *     LD_OWN(ld_file) *file = NULL;                   closed by ld_file_close (LD_OWNED_BY)
 *     LD_FREED int32_t *ids = NULL;                   freed by ld_free (memory/memory.h)
 *     LD_CLEANED(ld_lines_close) ld_lines lines = {0};
 *     LD_CHECK(ld_file_open(&file, path, "npz"));     returns when it fails (base/status.h)
 *     *out = ld_take(&file);                          what stays is taken out
 *
 * Such a variable is set where it is declared. gcc and clang have the attribute. */
#ifndef LD_BASE_OWN_H
#define LD_BASE_OWN_H

#include <string.h>

/* Calls give_back(&variable) at the end of the variable's scope. */
#define LD_CLEANED(give_back) __attribute__((cleanup(give_back)))

/* Says which function gives an object of this type back; it must allow NULL. Defines TYPE_drop,
 * which does so for whoever knows no more of an object than a pointer. */
#define LD_OWNED_BY(type, give_back)                                                               \
    static inline void type##_drop(void *object)                                                   \
    {                                                                                              \
        give_back(object);                                                                         \
    }                                                                                              \
    static inline void type##_drop_held(type **held)                                               \
    {                                                                                              \
        give_back(*held);                                                                          \
    }
#define LD_OWN(type) LD_CLEANED(type##_drop_held) type

/* Returns the pointer that the variable at `held` holds, which holds NULL from then on. */
static inline void *ld_take(void *held)
{
    static void *const none = NULL;
    void *taken;
    memcpy(&taken, held, sizeof taken);
    memcpy(held, &none, sizeof none);
    return taken;
}

#endif
