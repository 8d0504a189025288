/* Lets memory end: LD_PRELOAD this, and call its function, which package.loadlib gives to Lua.
 * no_memory(n) lets the n-th allocation from now on fail, and all behind it, in all threads;
 * no_memory() lets none fail, and returns whether any has failed. */
#include <errno.h>
#include <lauxlib.h>
#include <lua.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static atomic_bool ends;
static atomic_llong left; /* allocations before it ends */

static bool fails(void)
{
    if (!atomic_load(&ends) || atomic_fetch_sub(&left, 1) > 0)
        return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    return fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t size) /* one that needs no more memory does not fail */
{
    bool more = !old || malloc_usable_size(old) < size;
    return more && fails() ? NULL : __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    void *pages = fails() ? NULL : __libc_memalign(alignment, size);
    if (pages)
        *out = pages;
    return pages ? 0 : ENOMEM;
}

int no_memory(lua_State *L)
{
    lua_Integer n = luaL_optinteger(L, 1, 0);
    lua_pushboolean(L, atomic_exchange(&ends, false) && atomic_load(&left) < 0);
    atomic_store(&left, n - 1);
    atomic_store(&ends, n > 0);
    return 1;
}
