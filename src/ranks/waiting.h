/* What the calls of this room that wait have in common: see ranks.h. */
#ifndef LD_RANKS_WAITING_H
#define LD_RANKS_WAITING_H

#include <mpi.h>
#include <stdbool.h>

#include "base/status.h"

/* Fails for an error code of MPI; `what` begins the message. */
ld_status ld_ranks_check(int code, const char *what);

/* LD_STATE when the ranks have lost each other. */
ld_status ld_ranks_check_open(void);

/* Has them lose each other; whether they have. */
void ld_ranks_lose(void);
bool ld_ranks_lost(void);

/* Begins: this is rank `rank` of `size`, and `comm` a communicator for what this file has to say. */
ld_status ld_ranks_open_waiting(MPI_Comm comm, int rank, int size);

/* Waits for n requests, of the last call that ld_order_call noted. */
ld_status ld_ranks_wait(int n, MPI_Request *requests, const char *what);

/* Waits for that of the last fetch that ld_order_fetch noted. */
ld_status ld_ranks_wait_for_fetch(MPI_Request *request);

/* Ends what goes on in the background, for which others may wait, says farewell, and waits for that of
 * all others, however long they have something to do. */
ld_status ld_ranks_leave(void);

/* What goes on in the background: with each wait of this rank, as far as it can without waiting; and
 * this rank does not leave before it has ended. */
typedef struct {
    ld_status (*go_on)(void), (*end)(void);
} ld_background;

void ld_ranks_set_background(const ld_background *work);

/* The ranks as what goes on in the background knows them, apart from all else. */
MPI_Comm ld_ranks_background(void);

/* The ranks as calls that all make in one order, and wait for, know them. */
MPI_Comm ld_ranks_foreground(void);

#endif
