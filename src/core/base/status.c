/* Error messages of each thread, and the flag by which long loops are cancelled. */
#include "base/status.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char message[512];
static const atomic_int *_Atomic cancel_flag;
static atomic_int deferred;
static _Thread_local const atomic_int *worker_flag; /* NULL unless this thread is a worker */
/* The number of the look at the cancel flag, counted from now, that will be the first to find it
 * raised (see ld_cancel_at): -1 after that one, 0 while this is switched off. */
static atomic_llong looks;

void ld_set_message(const char *format, ...)
{
    char text[sizeof message]; /* for the arguments may quote the last message */
    va_list args;
    va_start(args, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): clang-tidy 14 misses va_start */
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    strcpy(message, text);
    for (char *c = message; *c; c++) /* one line, whatever it quotes */
        *c = (unsigned char)*c < ' ' || *c == 0x7F ? '?' : *c;
}

const char *ld_message(void)
{
    return message;
}

void ld_set_cancel_flag(const atomic_int *flag)
{
    atomic_store(&cancel_flag, flag);
}

void ld_defer_cancel(bool defer)
{
    atomic_fetch_add(&deferred, defer ? 1 : -1);
}

void ld_become_worker(const atomic_int *stop)
{
    worker_flag = stop;
}

bool ld_in_worker(void)
{
    return worker_flag != NULL;
}

bool ld_cancel_at(long long n)
{
    return atomic_exchange(&looks, n) < 0;
}

/* Counts a look at the cancel flag, for ld_cancel_at. Returns true if that look must find it
 * raised. */
static bool counted_out(void)
{
    long long left = atomic_load_explicit(&looks, memory_order_relaxed);
    if (left > 0 && atomic_compare_exchange_strong(&looks, &left, left > 1 ? left - 1 : -1))
        return left == 1;
    return left < 0;
}

bool ld_cancelled(void)
{
    if (worker_flag)
        return atomic_load_explicit(worker_flag, memory_order_relaxed) != 0;
    if (atomic_load_explicit(&deferred, memory_order_relaxed) > 0)
        return false;
    if (counted_out())
        return true;
    const atomic_int *flag = atomic_load_explicit(&cancel_flag, memory_order_relaxed);
    return flag != NULL && atomic_load_explicit(flag, memory_order_relaxed) != 0;
}

ld_status ld_poll(void)
{
    return ld_cancelled() ? ld_fail(LD_CANCELLED, "interrupted") : LD_OK;
}
