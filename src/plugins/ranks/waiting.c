/* Waits for other ranks. Every operation is begun without waiting, and then tested in a loop, first
 * at once, then with the processor left to others, then in short sleeps, for there may be more
 * ranks than processors. Work in the background goes on meanwhile. A rank that waits for long tells
 * the others where (order.h).
 *
 * A rank that ends well says farewell to all others, on a communicator of its own, and waits for
 * theirs. A rank that still waits for something else long after such a farewell has been forgotten,
 * and fails. */
#include "waiting.h"

#include <sched.h>
#include <time.h>

#include "grad/tape.h"
#include "memory/memory.h"
#include "order.h"
#include "ranks.h"
#include "system/clock.h"

enum {
    SPINS = 200,      /* tests at once */
    YIELDS = 2000,    /* and then with the processor left to others */
    SLEEP_NS = 50000, /* and then so far apart */
    LOOK_EVERY = 64,  /* tests between two looks at the clock */
};

enum { FAREWELL, HERE }; /* messages of those who leave, and of those who wait */

static const double GRACE = 60; /* seconds that a wait may last after a farewell, at most */
static const double AFTER = 2;  /* seconds by which patience at the end is longer than in a call */
static const double SILENT = 1; /* seconds of a wait before this rank tells where it is */

static MPI_Comm others;
static int own_rank, n_ranks;
static int n_left, last_left; /* ranks that have said farewell, and the last one */
static bool *has_left;        /* of each rank */
static int64_t *calls_of;     /* of each rank, as many as it had made when it last told */
static double left_at;        /* when the last one did */
static bool lost;
static double patience = 1800, waited;
static const ld_background *behind;

static ld_order told;        /* what is being told */
static MPI_Request *telling; /* to each other rank */
static double told_at;

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

void ld_ranks_lose(void)
{
    lost = true;
}

bool ld_ranks_lost(void)
{
    return lost;
}

ld_status ld_ranks_open_waiting(MPI_Comm comm, int rank, int size)
{
    others = comm;
    own_rank = rank;
    n_ranks = size;
    telling = ld_alloc_array(size, sizeof(MPI_Request), LD_MEM_SCRATCH);
    has_left = ld_calloc_array(size, sizeof *has_left, LD_MEM_SCRATCH);
    calls_of = ld_calloc_array(size, sizeof *calls_of, LD_MEM_SCRATCH);
    for (int r = 0; telling && r < size; r++)
        telling[r] = MPI_REQUEST_NULL;
    return telling && has_left && calls_of ? LD_OK : LD_NOMEM;
}

void ld_ranks_set_background(const ld_background *work)
{
    behind = work;
    ld_tape_set_meanwhile(work->go_on);
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

/* Takes a word from a rank. A word about where that rank waits counts while this rank waits as
 * well. */
static ld_status take_word(int source, int tag, const ld_order *here)
{
    ld_order there;
    LD_CHECK(ld_ranks_check(
        MPI_Recv(&there, sizeof there, MPI_BYTE, source, tag, others, MPI_STATUS_IGNORE),
        "MPI_Recv"));
    if (tag == HERE) {
        calls_of[source] = there.calls;
        return here ? ld_order_compare(here, source, &there) : LD_OK;
    }
    n_left++;
    has_left[source] = true;
    last_left = source;
    left_at = ld_clock();
    return LD_OK;
}

/* Takes the words that have come. */
static ld_status take_words(const ld_order *here)
{
    MPI_Status from;
    int come = 1;
    while (come) {
        LD_CHECK(ld_ranks_check(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, others, &come, &from),
                                "MPI_Iprobe"));
        if (come)
            LD_CHECK(take_word(from.MPI_SOURCE, from.MPI_TAG, here));
    }
    return LD_OK;
}

/* Returns true if a wait that began then has lasted so long that the others are told: after a
 * second, and then whenever it has become twice as long. */
static bool is_to_tell(double began, double at)
{
    double told_after = told_at > began ? told_at - began : 0;
    return at - began > SILENT && at - began > 2 * told_after;
}

/* Tells the others where this rank waits, unless what was told last has not gone out yet. */
static ld_status tell(const ld_order *here)
{
    int done = 0;
    LD_CHECK(
        ld_ranks_check(MPI_Testall(n_ranks, telling, &done, MPI_STATUSES_IGNORE), "MPI_Testall"));
    if (!done)
        return LD_OK;
    told = *here;
    told_at = ld_clock();
    for (int r = 0; r < n_ranks; r++)
        if (r != own_rank)
            LD_CHECK(ld_ranks_check(
                MPI_Isend(&told, sizeof told, MPI_BYTE, r, HERE, others, &telling[r]),
                "MPI_Isend"));
    return LD_OK;
}

/* Fails after a wait that has taken too long. Ranks that wait as well have told so, if there was
 * time for it: then the first one that has not is named. */
static ld_status fail_late(const ld_order *here, bool others_told)
{
    int late = 0;
    while (late < n_ranks && (late == own_rank || has_left[late] || calls_of[late] >= here->calls))
        late++;
    if (!others_told || late == n_ranks)
        return ld_fail(LD_STATE, "ranks: waited %.0f s for another rank, which did not come",
                       patience);
    return ld_fail(LD_STATE, "ranks: waited %.0f s for rank %d, which did not come", patience,
                   late);
}

/* Looks at the clock while a wait lasts: fails when the wait has taken too long, or must be given
 * up. */
static ld_status look(double began, bool in_fetch)
{
    ld_order here;
    ld_order_here(&here, in_fetch);
    LD_CHECK(take_words(&here));
    double now = ld_clock(), grace = patience / 2 < GRACE ? patience / 2 : GRACE;
    if (is_to_tell(began, now))
        LD_CHECK(tell(&here));
    if (n_left > 0 && now - left_at > grace)
        return ld_fail(LD_STATE,
                       "ranks: rank %d has ended, and this one still waits for it %.0f s later",
                       last_left, grace);
    if (now - began > patience)
        return fail_late(&here, n_ranks == 2 || patience > 2 * SILENT);
    return ld_poll();
}

static ld_status wait_for(int n, MPI_Request *requests, const char *what, bool in_fetch)
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
            st = look(began, in_fetch);
        pause_between(tests);
    }
    waited += ld_clock() - began;
    lost = lost || st != LD_OK;
    return st;
}

ld_status ld_ranks_wait(int n, MPI_Request *requests, const char *what)
{
    return wait_for(n, requests, what, false);
}

ld_status ld_ranks_wait_for_fetch(MPI_Request *request)
{
    return wait_for(1, request, "a fetch of rows", true);
}

/* Says farewell to all others. */
static ld_status say_farewell(void)
{
    MPI_Request request;
    for (int r = 0; r < n_ranks; r++) {
        if (r == own_rank)
            continue;
        LD_CHECK(ld_ranks_check(MPI_Isend(NULL, 0, MPI_BYTE, r, FAREWELL, others, &request),
                                "MPI_Isend"));
        LD_CHECK(ld_ranks_check(MPI_Request_free(&request), "MPI_Request_free"));
    }
    return LD_OK;
}

/* Takes words until all others have said farewell; fails at the end of patience. A rank that waits
 * in a call for one that has left knows better what is wrong, so it is let speak first. */
static ld_status wait_for_farewells(void)
{
    double began = ld_clock();
    for (int64_t tests = 0; n_left < n_ranks - 1; tests++) {
        LD_CHECK(take_words(NULL));
        if (ld_clock() - began > patience + AFTER) {
            int missing = 0;
            while (missing == own_rank || has_left[missing])
                missing++;
            return ld_fail(LD_STATE,
                           "ranks: at the end, waited %.0f s for rank %d, which did not "
                           "come to its own",
                           patience + AFTER, missing);
        }
        pause_between(tests);
    }
    return LD_OK;
}

ld_status ld_ranks_leave(void)
{
    ld_status st = behind ? behind->end() : LD_OK;
    if (st == LD_OK)
        st = say_farewell();
    if (st == LD_OK)
        st = wait_for_farewells();
    lost = lost || st != LD_OK;
    return st;
}

void ld_ranks_set_patience(double seconds)
{
    patience = seconds;
}

double ld_ranks_patience(void)
{
    return patience;
}

double ld_ranks_waited(void)
{
    return waited;
}
