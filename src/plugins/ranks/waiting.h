/* Waits for other ranks, for all calls of this folder: see ranks.h. */
#ifndef LD_RANKS_WAITING_H
#define LD_RANKS_WAITING_H

#include <mpi.h>
#include <stdbool.h>

#include "base/status.h"

/* Fails for an error code of MPI; `what` begins the message. */
ld_status ld_ranks_check(int code, const char *what);

/* Fails with LD_STATE when the ranks have lost each other. */
ld_status ld_ranks_check_open(void);

/* Make the ranks lose each other, and tell if they have. */
void ld_ranks_lose(void);
bool ld_ranks_lost(void);

/* Begins: this is rank `rank` of `size`, and `comm` is used for the messages of this file only. */
ld_status ld_ranks_open_waiting(MPI_Comm comm, int rank, int size);

/* Waits for n requests of the last call that ld_order_call noted. */
ld_status ld_ranks_wait(int n, MPI_Request *requests, const char *what);

/* Waits for the request of the last fetch that ld_order_fetch noted. */
ld_status ld_ranks_wait_for_fetch(MPI_Request *request);

/* Ends the work in the background, for which others may wait, says farewell, and waits for the
 * farewell of all others, as long as for anything else. */
ld_status ld_ranks_leave(void);

/* Returns the seconds that ld_ranks_set_patience has set. */
double ld_ranks_patience(void);

/* Work in the background. It goes on with each wait of this rank and each operation on tensors, as
 * far as it can without waiting, and this rank does not leave before it has ended. */
typedef struct {
    ld_status (*go_on)(void), (*end)(void);
} ld_background;

void ld_ranks_set_background(const ld_background *work);

/* Returns the communicator of work in the background, apart from all other calls. */
MPI_Comm ld_ranks_background(void);

/* Returns the communicator of the calls that all ranks make in one order and wait for. */
MPI_Comm ld_ranks_foreground(void);

#endif
