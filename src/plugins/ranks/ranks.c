/* Exchanges data between the ranks, the processes of one run: each operation of ranks.h is begun
 * without waiting, and then waited for (waiting.c). */
#include "ranks.h"

#include <math.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

#include "memory/memory.h"
#include "order.h"
#include "system/machine.h"
#include "tensor/shared_product.h"
#include "waiting.h"

enum {
    PIECE = 1 << 28, /* bytes of one message */
    PIECE_FLOATS = PIECE / sizeof(float),
};

/* Makes the leak checker leave out the memory that MPI takes while it begins, in libraries that are
 * unloaded later; leaks of MPI are not ours. Other leaks are reported by name, while the libraries
 * are still there. */
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

static MPI_Comm ranks = MPI_COMM_NULL, background;
static int own_rank, n_ranks;

/* Returns the seconds for which this rank lets others speak before an error that they may have too:
 * the first one to speak ends them, a second later where they are on other machines (link.lua). */
static double turn(int rank)
{
    return 1.25 * (rank < 4 ? rank : 4);
}

static char too_late[160];

static void give_up(int number)
{
    (void)number;
    ssize_t written = write(STDERR_FILENO, too_late, strlen(too_late));
    (void)written;
    _exit(EXIT_FAILURE);
}

/* Ends this process at the end of its patience, or a turn later, unless that is taken back (with
 * NULL) before: MPI itself waits for all ranks where it begins and ends, and cannot be polled. */
static void limit(int rank, const char *what)
{
    double seconds = what ? fmin(ld_ranks_patience() + turn(rank), 1e8) : 0, whole = floor(seconds);
    if (what) {
        char host[64] = "";
        gethostname(host, sizeof host - 1);
        snprintf(too_late, sizeof too_late,
                 "rank %d on %s: ladies: ranks: waited %.0f s for other ranks to %s MPI\n", rank,
                 host, ld_ranks_patience(), what);
        signal(SIGALRM, give_up);
    }
    struct itimerval timer = {.it_value = {(time_t)whole, (suseconds_t)((seconds - whole) * 1e6)}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

/* Returns this process's number, which its launcher says before MPI does; 0 where it does not. */
static int number_at_launch(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = getenv(names[i]);
        if (text)
            return atoi(text);
    }
    return 0;
}

/* Ends MPI, which waits for all ranks. */
static int finalize(void)
{
    limit(own_rank, "end");
    int code = MPI_Finalize();
    limit(own_rank, NULL);
    return code;
}

/* Lets other ranks speak before this one, of that number, says what they may have to say too. */
static void let_others_speak(int rank)
{
    double seconds = turn(rank), whole = floor(seconds);
    signal(SIGTERM, SIG_DFL);
    nanosleep(&(struct timespec){(time_t)whole, (long)((seconds - whole) * 1e9)}, NULL);
}

/* Prints why the ranks could not part, where no script is left that could raise it. Of several
 * ranks, the first one to speak ends the others. */
static void complain(void)
{
    char host[MPI_MAX_PROCESSOR_NAME];
    int length;
    let_others_speak(own_rank);
    MPI_Get_processor_name(host, &length);
    fprintf(stderr, "rank %d of %d on %s: ladies: %s\n", own_rank, n_ranks, host, ld_message());
}

/* Ends MPI at the exit of the process. The launcher ends the other ranks when one aborts. */
static void at_exit(int status, void *unused)
{
    (void)unused;
    int done;
    MPI_Finalized(&done);
    if (done)
        return;
    fflush(NULL);
    bool is_well = status == EXIT_SUCCESS && !ld_ranks_lost();
    if (is_well && ld_ranks_leave() == LD_OK) {
        find_leaks();
        finalize();
        return;
    }
    if (is_well)
        complain();
    /* The launcher ends all as soon as it hears of this, and may drop lines that it has not
     * read. */
    nanosleep(&(struct timespec){.tv_nsec = 100000000L}, NULL);
    MPI_Abort(MPI_COMM_WORLD, status ? status : EXIT_FAILURE);
}

static ld_status new_comm(MPI_Comm *comm)
{
    LD_CHECK(ld_ranks_check(MPI_Comm_dup(MPI_COMM_WORLD, comm), "MPI_Comm_dup"));
    return ld_ranks_check(MPI_Comm_set_errhandler(*comm, MPI_ERRORS_RETURN),
                          "MPI_Comm_set_errhandler");
}

/* Divides this host's memory and processors between the ranks that share it. */
static ld_status divide_host(void)
{
    MPI_Comm host;
    int n_here;
    LD_CHECK(
        ld_ranks_check(MPI_Comm_split_type(ranks, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host),
                       "MPI_Comm_split_type"));
    int code = MPI_Comm_size(host, &n_here);
    MPI_Comm_free(&host);
    LD_CHECK(ld_ranks_check(code, "MPI_Comm_size"));
    ld_machine_divide(n_here);
    return LD_OK;
}

static ld_status begin(void)
{
    MPI_Comm words;
    int provided;
    limit(number_at_launch(), "begin");
    count_leaks(false);
    int result = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
    count_leaks(true);
    LD_CHECK(ld_ranks_check(result, "MPI_Init"));
    on_exit(at_exit, NULL);
    LD_CHECK(ld_ranks_check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN),
                            "MPI_Comm_set_errhandler"));
    setenv("LADIES_WITHIN_RANK", "1", 1);
    if (provided < MPI_THREAD_FUNNELED)
        return ld_fail(LD_STATE, "ranks: this MPI allows no threads besides its own");
    LD_CHECK(new_comm(&words));
    LD_CHECK(new_comm(&ranks));
    LD_CHECK(new_comm(&background));
    LD_CHECK(ld_ranks_check(MPI_Comm_rank(ranks, &own_rank), "MPI_Comm_rank"));
    LD_CHECK(ld_ranks_check(MPI_Comm_size(ranks, &n_ranks), "MPI_Comm_size"));
    LD_CHECK(divide_host());
    limit(own_rank, NULL);
    return ld_ranks_open_waiting(words, own_rank, n_ranks);
}

/* Ends the attempt to begin: adds to the error which rank had it, and lets others speak first. */
static ld_status say_who(ld_status st)
{
    char host[64] = "", said[256];
    int number = number_at_launch();
    limit(number, NULL);
    gethostname(host, sizeof host - 1);
    snprintf(said, sizeof said, "%s", ld_message());
    let_others_speak(number);
    return ld_fail(st, "rank %d on %s: %s", number, host, said);
}

ld_status ld_ranks_open(int *rank, int *size)
{
    if (ld_in_worker())
        return ld_fail(LD_STATE, "ranks: a worker is none; the main thread alone speaks to others");
    ld_status st = ranks == MPI_COMM_NULL ? begin() : LD_OK;
    if (st != LD_OK)
        return say_who(st);
    *rank = own_rank;
    *size = n_ranks;
    return LD_OK;
}

int ld_ranks_count(void)
{
    return n_ranks;
}

MPI_Comm ld_ranks_background(void)
{
    return background;
}

MPI_Comm ld_ranks_foreground(void)
{
    return ranks;
}

ld_status ld_ranks_finish(void)
{
    LD_CHECK(ld_ranks_check_open());
    LD_CHECK(ld_ranks_leave());
    ld_ranks_lose();
    find_leaks();
    return ld_ranks_check(finalize(), "MPI_Finalize");
}

/* Counts the messages of n floats: pieces of a size that MPI can count. */
static int64_t count_pieces(int64_t n)
{
    return (n + PIECE_FLOATS - 1) / PIECE_FLOATS;
}

/* Begins to send a block, or to receive it, and notes the requests behind the *n that there are. */
static ld_status begin_block(MPI_Request *requests, int64_t *n, const ld_ranks_block *b, bool sends)
{
    ld_status st = LD_OK;
    for (int64_t at = 0; at < b->n && st == LD_OK; at += PIECE_FLOATS) {
        MPI_Request *request = &requests[(*n)++];
        float *piece = b->data + at;
        int count = (int)(b->n - at < PIECE_FLOATS ? b->n - at : PIECE_FLOATS);
        st = sends ? ld_ranks_check(MPI_Isend(piece, count, MPI_FLOAT, b->rank, 0, ranks, request),
                                    "MPI_Isend")
                   : ld_ranks_check(MPI_Irecv(piece, count, MPI_FLOAT, b->rank, 0, ranks, request),
                                    "MPI_Irecv");
    }
    return st;
}

ld_status ld_ranks_exchange(const ld_ranks_block *sends, int n_sends,
                            const ld_ranks_block *receives, int n_receives)
{
    int64_t n = 0, room = 0;
    LD_CHECK(ld_ranks_check_open());
    for (int i = 0; i < n_sends; i++)
        room += count_pieces(sends[i].n);
    for (int i = 0; i < n_receives; i++)
        room += count_pieces(receives[i].n);
    LD_FREED MPI_Request *requests = ld_alloc_array(room, sizeof *requests, LD_MEM_SCRATCH);
    if (!requests) {
        ld_ranks_lose(); /* others go on without this one */
        return LD_NOMEM;
    }
    for (int i = 0; i < n_receives; i++)
        LD_CHECK(begin_block(requests, &n, &receives[i], false));
    for (int i = 0; i < n_sends; i++)
        LD_CHECK(begin_block(requests, &n, &sends[i], true));
    return ld_ranks_wait((int)n, requests, "an exchange");
}

static int64_t shared_messages, shared_bytes;

ld_status ld_ranks_gather_rows(ld_tensor *rows, const int64_t *bounds)
{
    int64_t k = rows->n_cols, own = (bounds[own_rank + 1] - bounds[own_rank]) * k;
    int n = 0;
    LD_FREED ld_ranks_block *sends = ld_alloc_array(2 * n_ranks, sizeof *sends, LD_MEM_SCRATCH);
    if (!sends) {
        ld_ranks_lose();
        return LD_NOMEM;
    }
    ld_ranks_block *receives = sends + n_ranks;
    for (int r = 0; r < n_ranks; r++) {
        if (r == own_rank)
            continue;
        sends[n] = (ld_ranks_block){r, rows->data + bounds[own_rank] * k, own};
        receives[n] =
            (ld_ranks_block){r, rows->data + bounds[r] * k, (bounds[r + 1] - bounds[r]) * k};
        n++;
    }
    shared_messages += n * count_pieces(own);
    shared_bytes += n * own * (int64_t)sizeof(float);
    ld_order_call("a product made together");
    ld_status st = ld_ranks_exchange(sends, n, receives, n);
    if (st != LD_OK)
        ld_tensor_ref(rows);
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
    LD_CHECK(ld_ranks_check_open());
    for (int64_t at = 0; at < n; at += PIECE_FLOATS) {
        MPI_Request request;
        int count = (int)(n - at < PIECE_FLOATS ? n - at : PIECE_FLOATS);
        LD_CHECK(ld_ranks_check(
            MPI_Iallreduce(own + at, sum + at, count, MPI_FLOAT, MPI_SUM, ranks, &request),
            "MPI_Iallreduce"));
        LD_CHECK(ld_ranks_wait(1, &request, "a sum"));
    }
    return LD_OK;
}

/* The heading that goes before texts. */
typedef struct {
    int64_t size;
    ld_order order;
} heading;

ld_status ld_ranks_sizes(int64_t *offsets, int64_t n)
{
    MPI_Request request;
    ld_status st;
    LD_CHECK(ld_ranks_check_open());
    heading *all = ld_alloc_array(n_ranks + 1, sizeof *all, LD_MEM_SCRATCH);
    if (!all) {
        ld_ranks_lose(); /* others go on without this one */
        return LD_NOMEM;
    }
    heading *own = all + n_ranks;
    own->size = n;
    ld_order_here(&own->order, false);
    LD_TRY(ld_ranks_check(
        MPI_Iallgather(own, sizeof *own, MPI_BYTE, all, sizeof *own, MPI_BYTE, ranks, &request),
        "MPI_Iallgather"));
    LD_TRY(ld_ranks_wait(1, &request, "a gathering"));
    offsets[0] = 0;
    for (int r = 0; r < n_ranks; r++) {
        offsets[r + 1] = offsets[r] + all[r].size;
        LD_TRY(ld_order_check(r, &all[r].order));
    }
    ld_free(all);
    return LD_OK;
done:
    ld_ranks_lose(); /* MPI may still use the memory */
    return st;
}

ld_status ld_ranks_gather(char **all, int64_t *offsets, const char *own, int64_t n)
{
    MPI_Request request;
    ld_status st;
    LD_CHECK(ld_ranks_sizes(offsets, n));
    if (offsets[n_ranks] > INT32_MAX)
        return ld_fail(LD_VALUE, "ranks: together they give %lld bytes, the most is 2^31 - 1",
                       (long long)offsets[n_ranks]);
    char *bytes = ld_alloc((size_t)offsets[n_ranks] + 1, LD_MEM_SCRATCH);
    int *counts = ld_alloc_array(2 * n_ranks, sizeof *counts, LD_MEM_SCRATCH);
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
    if (!ld_ranks_lost()) { /* else MPI may still use them */
        ld_free(bytes);
        ld_free(counts);
        ld_ranks_lose(); /* others go on without this one */
    }
    return st;
}

ld_status ld_ranks_broadcast(char *bytes, int64_t n, int root)
{
    LD_CHECK(ld_ranks_check_open());
    for (int64_t at = 0; at < n; at += PIECE) {
        MPI_Request request;
        int size = (int)(n - at < PIECE ? n - at : PIECE);
        LD_CHECK(ld_ranks_check(MPI_Ibcast(bytes + at, size, MPI_BYTE, root, ranks, &request),
                                "MPI_Ibcast"));
        LD_CHECK(ld_ranks_wait(1, &request, "a broadcast"));
    }
    return LD_OK;
}
