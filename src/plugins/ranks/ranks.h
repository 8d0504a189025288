/* The ranks of MPI: processes, perhaps on several machines, that compute together. All code that
 * knows MPI is in this folder, which is a module of its own: the program works without it, and
 * loads it where mpirun or srun has started several.
 *
 * Every call is made by all ranks, in the same order, by the main thread. None but the first and the
 * last waits in MPI itself: while a call waits it polls for Ctrl-C and for the end of its patience,
 * so that every wait can be ended (that for the others' farewells by patience alone). A rank that
 * fails ends its process, and MPI then the others (ld_ranks_open). After a call has failed the ranks
 * have lost each other, and every further one fails.
 */
#ifndef LD_RANKS_RANKS_H
#define LD_RANKS_RANKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "tensor/tensor.h"

/* Begins MPI: this process is rank *rank of *size. At its exit with status 0 it waits for the
 * others; with any other status it ends them all. Fails with LD_STATE in a worker, and when MPI
 * cannot begin. */
ld_status ld_ranks_open(int *rank, int *size);

/* Returns the number of ranks. */
int ld_ranks_count(void);

/* Ends MPI, when all ranks have called it: each may then end with any status. */
ld_status ld_ranks_finish(void);

/* Sets for how many seconds a call waits for other ranks before it fails. */
void ld_ranks_set_patience(double seconds);

/* A block of floats that goes to another rank, or comes from it. */
typedef struct {
    int rank;
    float *data;
    int64_t n;
} ld_ranks_block;

/* Sends blocks and receives others, all at once. Between two ranks the k-th block that is sent is
 * the k-th that is received; both have the same size. After a failure the memory must not be
 * released: MPI may still use it. */
ld_status ld_ranks_exchange(const ld_ranks_block *sends, int n_sends,
                            const ld_ranks_block *receives, int n_receives);

/* Sums n floats of all ranks, in an order of MPI's own, to measure an exchange against. */
ld_status ld_ranks_sum(float *sum, const float *own, int64_t n);

/* Exchanges sizes and gives them as offsets: the part of rank r begins at offsets[r], and
 * offsets[size] is the end. Fails with LD_STATE where ranks are in another call (order.h). */
ld_status ld_ranks_sizes(int64_t *offsets, int64_t n);

/* Brings the bytes that each rank gives to every rank: the bytes of rank r at (*all)[offsets[r]] up
 * to offsets[r + 1]. offsets has room for size + 1, *all is to be freed with ld_free. LD_VALUE for
 * 2^31 bytes and more. After any other failure `own` must not be released, as for
 * ld_ranks_exchange. */
ld_status ld_ranks_gather(char **all, int64_t *offsets, const char *own, int64_t n);

/* Brings n bytes of rank `root` to all. After a failure `bytes` must not be released, as for
 * ld_ranks_exchange. */
ld_status ld_ranks_broadcast(char *bytes, int64_t n, int root);

/* With true, lets all ranks make the products of the main thread together
 * (tensor/shared_product.h). */
void ld_ranks_share(bool on);

/* Brings all rows of a tensor to all: those of rank r are bounds[r] .. bounds[r + 1] - 1. It counts
 * as sent for products. After a failure it keeps a reference to the tensor. */
ld_status ld_ranks_gather_rows(ld_tensor *rows, const int64_t *bounds);

/* Gives the messages and bytes that have been sent for products so far. */
void ld_ranks_shared(int64_t *messages, int64_t *bytes);

/* Returns the seconds that this process has waited in these calls so far. */
double ld_ranks_waited(void);

#endif
