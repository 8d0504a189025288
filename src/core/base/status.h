/* Statuses, error messages and cancellation.
 *
 * Every core function that can fail returns an ld_status. The text that explains a failure lies in
 * thread-local storage until the next failure on the same thread, so a caller can pass a status up
 * through any number of functions and still show what went wrong at the bottom. */
#ifndef LD_BASE_STATUS_H
#define LD_BASE_STATUS_H

#include <stdatomic.h>
#include <stdbool.h>

typedef enum {
    LD_OK = 0,
    LD_NOMEM,     /* an allocation failed */
    LD_SHAPE,     /* shapes do not fit together */
    LD_VALUE,     /* a value is outside its domain */
    LD_RANGE,     /* an id or position is out of range */
    LD_IO,        /* the operating system refused to read or write */
    LD_FORMAT,    /* a file is not what it claims to be */
    LD_STATE,     /* the object is in the wrong state for this call */
    LD_CANCELLED, /* the cancel flag was raised during the call */
} ld_status;

/* Stores a formatted message and has the value `status`:
 *     return ld_fail(LD_SHAPE, "matmul: (%d x %d) * (%d x %d)", ...);
 * A macro, so that readers and analysers of the code see that the value is never LD_OK. */
#define ld_fail(status, ...) (ld_set_message(__VA_ARGS__), (status))

/* Stores the message that ld_message() gives, with ? for control characters; it may quote that of
 * before: ld_set_message("%s: %s", path, ld_message()). */
void ld_set_message(const char *format, ...) __attribute__((format(printf, 1, 2), cold));

/* Returns the message of the last failure on this thread; never NULL. */
const char *ld_message(void);

/* Returns the status of a call that failed. */
#define LD_CHECK(call)                                                                             \
    do {                                                                                           \
        ld_status status_ = (call);                                                                \
        if (status_ != LD_OK)                                                                      \
            return status_;                                                                        \
    } while (0)

/* Within a function that declares `ld_status st` and has a label `done`: runs `call` and leaves
 * through `done` when it fails. */
#define LD_TRY(call)                                                                               \
    do {                                                                                           \
        if ((st = (call)) != LD_OK)                                                                \
            goto done;                                                                             \
    } while (0)

/* Makes every long loop of core poll `flag`: as soon as it is non-zero, running calls fail with
 * LD_CANCELLED. NULL (the default) switches polling off. The flag stays the caller's. */
void ld_set_cancel_flag(const atomic_int *flag);

/* Hides the flag from loops between a call with true and one with false, for changes that must not
 * stop half-way. Calls may nest. */
void ld_defer_cancel(bool defer);

/* Makes the calling thread a worker, for as long as it lives: its calls poll `stop` instead of the
 * flag above, whatever is deferred; its loops run in it alone, and it leaves BLAS to the others. */
void ld_become_worker(const atomic_int *stop);

/* Returns true if the calling thread is a worker. */
bool ld_in_worker(void);

/* Returns true if the cancel flag is raised. */
bool ld_cancelled(void);

/* Fails with LD_CANCELLED when the cancel flag is raised. */
ld_status ld_poll(void);

/* Polls at every 1024th step i of a loop, and does nothing at the others. */
static inline ld_status ld_poll_at(long long i)
{
    return i % 1024 == 0 ? ld_poll() : LD_OK;
}

/* For tests: lets the n-th look at the cancel flag from now, and all after it, find it raised.
 * Looks of workers, and those while cancelling is deferred, are not counted. 0 switches this off.
 * Returns true if the n-th look of the call before has taken place. */
bool ld_cancel_at(long long n);

#endif
