/* Waiting: every operation is begun without waiting, and then tested in a loop, first at once, then
 * with the processor left to others, then in short sleeps, for there may be more ranks than
 * processors.
 *
 * Leaving: a rank that ends well says farewell to all others, on a communicator of its own, and waits
 * for theirs. Who still waits for something else long after such a farewell has been forgotten. */
#include "ranks.h"

#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

#include "base/clock.h"
#include "base/memory.h"
#include "base/threads.h"
#include "tensor/share.h"
#include "waiting.h"

enum {
    SPINS = 200,      /* tests at once */
    YIELDS = 2000,    /* and then with the processor left to others */
    SLEEP_NS = 50000, /* and then so far apart */
    LOOK_EVERY = 64,  /* tests between two looks at the clock */
    PIECE = 1 << 28,  /* bytes of one message */
    PIECE_FLOATS = PIECE / sizeof(float),
};

/* What MPI leaks is none of ours: what it takes while it begins, of parts of it that are gone later,
 * does not count, and leaks are looked for while the others still have their names. */
static void count_leaks(bool on)
{
#ifdef __SANITIZE_ADDRESS__
    on ? __lsan_enable() : __lsan_disable();
#else
    (void)on;
#endif
}

static void find_leaks(void)
{
#ifdef __SANITIZE_ADDRESS__
    __lsan_do_leak_check();
#endif
}

static const double GRACE = 60; /* seconds that a wait may last after a farewell, at most */

static MPI_Comm ranks = MPI_COMM_NULL, leaving, background;
static int own_rank, n_ranks;
static int n_left, last_left; /* ranks that have said farewell, and the last one */
static double left_at;        /* when it did */
static bool lost;
static double patience = 1800, waited;
static const ld_background *behind;

ld_status ld_ranks_check(int code, const char *what)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    if (code == MPI_SUCCESS)
        return LD_OK;
    lost = true;
    MPI_Error_string(code, text, &length);
    return ld_fail(LD_IO, "ranks: %s: %s", what, text);
}

ld_status ld_ranks_check_open(void)
{
    if (lost)
        return ld_fail(LD_STATE, "ranks: they have lost each other, by an error before");
    return LD_OK;
}

static void pause_between(int64_t tests)
{
    if (tests < SPINS)
        return;
    if (tests < SPINS + YIELDS)
        sched_yield();
    else
        nanosleep(&(struct timespec){.tv_nsec = SLEEP_NS}, NULL);
}

/* Takes a farewell that has come. */
static ld_status take_farewell(void)
{
    MPI_Status from;
    int there = 0;
    ld_status st =
        ld_ranks_check(MPI_Iprobe(MPI_ANY_SOURCE, 0, leaving, &there, &from), "MPI_Iprobe");
    if (st != LD_OK || !there)
        return st;
    n_left++;
    last_left = from.MPI_SOURCE;
    left_at = ld_clock();
    return ld_ranks_check(MPI_Recv(NULL, 0, MPI_BYTE, last_left, 0, leaving, MPI_STATUS_IGNORE),
                          "MPI_Recv");
}

/* Whether it has taken too long, or is to be given up. */
static ld_status look(double began)
{
    ld_status st = take_farewell();
    double now = ld_clock(), grace = patience / 2 < GRACE ? patience / 2 : GRACE;
    if (st != LD_OK)
        return st;
    if (n_left > 0 && now - left_at > grace)
        return ld_fail(LD_STATE,
                       "ranks: rank %d has ended, and this one still waits for it %.0f s later",
                       last_left, grace);
    if (now - began > patience)
        return ld_fail(LD_STATE, "ranks: waited %.0f s for another rank, which did not come",
                       patience);
    return ld_poll();
}

ld_status ld_ranks_wait(int n, MPI_Request *requests, const char *what)
{
    double began = ld_clock();
    int done = 0;
    ld_status st = LD_OK;
    for (int64_t tests = 0; st == LD_OK; tests++) {
        st = ld_ranks_check(MPI_Testall(n, requests, &done, MPI_STATUSES_IGNORE), what);
        if (st != LD_OK || done)
            break;
        st = behind ? behind->go_on() : LD_OK;
        if (st == LD_OK && tests % LOOK_EVERY == 0)
            st = look(began);
        pause_between(tests);
    }
    waited += ld_clock() - began;
    lost = lost || st != LD_OK;
    return st;
}

/* Ends what goes on in the background, for which others may wait, says farewell, and waits for that of all others,
 * however long they have something to do. */
static ld_status leave(void)
{
    ld_status st = behind ? behind->end() : LD_OK;
    MPI_Request request;
    for (int r = 0; r < n_ranks && st == LD_OK; r++) {
        if (r == own_rank)
            continue;
        st = ld_ranks_check(MPI_Isend(NULL, 0, MPI_BYTE, r, 0, leaving, &request), "MPI_Isend");
        if (st == LD_OK)
            st = ld_ranks_check(MPI_Request_free(&request), "MPI_Request_free");
    }
    for (int64_t tests = 0; st == LD_OK && n_left < n_ranks - 1; tests++) {
        st = take_farewell();
        pause_between(tests);
    }
    return st;
}

/* At the exit of the process. The launcher ends the others when one aborts. */
static void at_exit(int status, void *unused)
{
    (void)unused;
    int done;
    MPI_Finalized(&done);
    if (done)
        return;
    fflush(NULL);
    if (status == EXIT_SUCCESS && !lost && leave() == LD_OK) {
        find_leaks();
        MPI_Finalize();
    } else {
        MPI_Abort(MPI_COMM_WORLD, status ? status : EXIT_FAILURE);
    }
}

static ld_status new_comm(MPI_Comm *comm)
{
    ld_status st = ld_ranks_check(MPI_Comm_dup(MPI_COMM_WORLD, comm), "MPI_Comm_dup");
    return st != LD_OK ? st
                       : ld_ranks_check(MPI_Comm_set_errhandler(*comm, MPI_ERRORS_RETURN),
                                        "MPI_Comm_set_errhandler");
}

static ld_status begin(void)
{
    int provided;
    ld_status st;
    count_leaks(false);
    st = ld_ranks_check(MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided), "MPI_Init");
    count_leaks(true);
    if (st != LD_OK)
        return st;
    on_exit(at_exit, NULL);
    setenv("LADIES_WITHIN_RANK", "1", 1);
    if (provided < MPI_THREAD_FUNNELED)
        return ld_fail(LD_STATE, "ranks: this MPI allows no threads besides its own");
    if ((st = new_comm(&leaving)) != LD_OK || (st = new_comm(&ranks)) != LD_OK ||
        (st = new_comm(&background)) != LD_OK ||
        (st = ld_ranks_check(MPI_Comm_rank(ranks, &own_rank), "MPI_Comm_rank")) != LD_OK)
        return st;
    return ld_ranks_check(MPI_Comm_size(ranks, &n_ranks), "MPI_Comm_size");
}

ld_status ld_ranks_open(int *rank, int *size)
{
    ld_status st;
    if (ld_in_worker())
        return ld_fail(LD_STATE, "ranks: a worker is none; the main thread alone speaks to others");
    if (ranks == MPI_COMM_NULL && (st = begin()) != LD_OK)
        return st;
    *rank = own_rank;
    *size = n_ranks;
    return LD_OK;
}

MPI_Comm ld_ranks_background(int *size, const ld_background *work)
{
    behind = work;
    *size = n_ranks;
    return background;
}

MPI_Comm ld_ranks_foreground(int *size)
{
    *size = n_ranks;
    return ranks;
}

ld_status ld_ranks_finish(void)
{
    ld_status st = ld_ranks_check_open();
    if (st != LD_OK || (st = leave()) != LD_OK)
        return st;
    lost = true;
    find_leaks();
    return ld_ranks_check(MPI_Finalize(), "MPI_Finalize");
}

void ld_ranks_set_patience(double seconds)
{
    patience = seconds;
}

double ld_ranks_waited(void)
{
    return waited;
}

ld_status ld_ranks_exchange(const ld_ranks_block *sends, int n_sends,
                            const ld_ranks_block *receives, int n_receives)
{
    int n = 0;
    ld_status st;
    if ((st = ld_ranks_check_open()) != LD_OK)
        return st;
    MPI_Request *requests =
        ld_alloc_array(n_sends + n_receives + 1, sizeof *requests, LD_MEM_SCRATCH);
    if (!requests)
        return LD_NOMEM;
    for (int i = 0; i < n_receives; i++) {
        const ld_ranks_block *b = &receives[i];
        LD_TRY(ld_ranks_check(
            MPI_Irecv(b->data, (int)b->n, MPI_FLOAT, b->rank, 0, ranks, &requests[n++]),
            "MPI_Irecv"));
    }
    for (int i = 0; i < n_sends; i++) {
        const ld_ranks_block *b = &sends[i];
        LD_TRY(ld_ranks_check(
            MPI_Isend(b->data, (int)b->n, MPI_FLOAT, b->rank, 0, ranks, &requests[n++]),
            "MPI_Isend"));
    }
    LD_TRY(ld_ranks_wait(n, requests, "an exchange"));
done:
    ld_free(requests);
    return st;
}

static int64_t shared_messages, shared_bytes;

/* Puts down the blocks of n floats, which may be too many for a message, and returns how many. */
static int put_blocks(ld_ranks_block *blocks, int rank, float *data, int64_t n)
{
    int count = 0;
    for (int64_t at = 0; at < n; at += PIECE_FLOATS)
        blocks[count++] =
            (ld_ranks_block){rank, data + at, n - at < PIECE_FLOATS ? n - at : PIECE_FLOATS};
    return count;
}

ld_status ld_ranks_gather_rows(ld_tensor *rows, const int64_t *bounds)
{
    int64_t k = rows->n_cols, own = (bounds[own_rank + 1] - bounds[own_rank]) * k;
    int64_t most = ld_tensor_size(rows) / PIECE_FLOATS + 1;
    int n_sends = 0, n_receives = 0;
    ld_ranks_block *sends = ld_alloc_array(2 * n_ranks * most, sizeof *sends, LD_MEM_SCRATCH);
    if (!sends)
        return LD_NOMEM;
    ld_ranks_block *receives = sends + n_ranks * most;
    for (int r = 0; r < n_ranks; r++) {
        float *theirs = rows->data + bounds[r] * k;
        if (r == own_rank)
            continue;
        n_sends += put_blocks(sends + n_sends, r, rows->data + bounds[own_rank] * k, own);
        n_receives += put_blocks(receives + n_receives, r, theirs, (bounds[r + 1] - bounds[r]) * k);
        shared_bytes += own * (int64_t)sizeof(float);
    }
    shared_messages += n_sends;
    ld_status st = ld_ranks_exchange(sends, n_sends, receives, n_receives);
    if (st != LD_OK)
        ld_tensor_ref(rows);
    ld_free(sends);
    return st;
}

void ld_ranks_share(bool on)
{
    static ld_share share = {.exchange = ld_ranks_gather_rows};
    share.rank = own_rank;
    share.size = n_ranks;
    ld_share_set(on ? &share : NULL);
}

void ld_ranks_shared(int64_t *messages, int64_t *bytes)
{
    *messages = shared_messages;
    *bytes = shared_bytes;
}

ld_status ld_ranks_sum(float *sum, const float *own, int64_t n)
{
    MPI_Request request;
    ld_status st;
    if ((st = ld_ranks_check_open()) != LD_OK ||
        (st = ld_ranks_check(MPI_Iallreduce(own, sum, (int)n, MPI_FLOAT, MPI_SUM, ranks, &request),
                             "MPI_Iallreduce")) != LD_OK)
        return st;
    return ld_ranks_wait(1, &request, "a sum");
}

/* The sizes of what all ranks give, as offsets. */
static ld_status gather_sizes(int64_t *offsets, int64_t n)
{
    MPI_Request request;
    ld_status st;
    offsets[0] = 0;
    if ((st = ld_ranks_check(
             MPI_Iallgather(&n, 1, MPI_INT64_T, offsets + 1, 1, MPI_INT64_T, ranks, &request),
             "MPI_Iallgather")) != LD_OK ||
        (st = ld_ranks_wait(1, &request, "a gathering")) != LD_OK)
        return st;
    for (int r = 0; r < n_ranks; r++)
        offsets[r + 1] += offsets[r];
    if (offsets[n_ranks] > INT32_MAX)
        return ld_fail(LD_VALUE, "ranks: together they give %lld bytes, the most is 2^31 - 1",
                       (long long)offsets[n_ranks]);
    return LD_OK;
}

ld_status ld_ranks_gather(char **all, int64_t *offsets, const char *own, int64_t n)
{
    MPI_Request request;
    char *bytes = NULL;
    int *counts = NULL;
    ld_status st;
    if ((st = ld_ranks_check_open()) != LD_OK || (st = gather_sizes(offsets, n)) != LD_OK)
        return st;
    bytes = ld_alloc((size_t)offsets[n_ranks] + 1, LD_MEM_SCRATCH);
    counts = ld_alloc_array(2 * n_ranks, sizeof *counts, LD_MEM_SCRATCH);
    if (!bytes || !counts) {
        st = LD_NOMEM;
        goto done;
    }
    for (int r = 0; r < n_ranks; r++) {
        counts[r] = (int)(offsets[r + 1] - offsets[r]);
        counts[n_ranks + r] = (int)offsets[r];
    }
    LD_TRY(ld_ranks_check(MPI_Iallgatherv(own, (int)n, MPI_BYTE, bytes, counts, counts + n_ranks,
                                          MPI_BYTE, ranks, &request),
                          "MPI_Iallgatherv"));
    LD_TRY(ld_ranks_wait(1, &request, "a gathering"));
    *all = bytes;
    ld_free(counts);
    return LD_OK;
done:
    if (!lost) { /* else MPI may still use them */
        ld_free(bytes);
        ld_free(counts);
    }
    return st;
}

ld_status ld_ranks_broadcast(char *bytes, int64_t n, int root)
{
    ld_status st;
    if ((st = ld_ranks_check_open()) != LD_OK)
        return st;
    for (int64_t at = 0; at < n; at += PIECE) {
        MPI_Request request;
        int64_t left = n - at;
        if ((st = ld_ranks_check(MPI_Ibcast(bytes + at, (int)(left < PIECE ? left : PIECE),
                                            MPI_BYTE, root, ranks, &request),
                                 "MPI_Ibcast")) != LD_OK ||
            (st = ld_ranks_wait(1, &request, "a broadcast")) != LD_OK)
            return st;
    }
    return LD_OK;
}
