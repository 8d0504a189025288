/* What the calls of this room that wait have in common: see ranks.h. */
#ifndef LD_RANKS_WAITING_H
#define LD_RANKS_WAITING_H

#include <mpi.h>

#include "base/status.h"

/* Fails for an error code of MPI; `what` begins the message. */
ld_status ld_ranks_check(int code, const char *what);

/* LD_STATE when the ranks have lost each other. */
ld_status ld_ranks_check_open(void);

/* Waits for n requests. */
ld_status ld_ranks_wait(int n, MPI_Request *requests, const char *what);

/* What goes on in the background: with each wait of this rank, as far as it can without waiting; and
 * this rank does not leave before it has ended. */
typedef struct {
    ld_status (*go_on)(void), (*end)(void);
} ld_background;

/* The ranks as that knows them, apart from all else, and their number. */
MPI_Comm ld_ranks_background(int *size, const ld_background *work);

/* The ranks as calls that all make in one order, and wait for, know them, and their number. */
MPI_Comm ld_ranks_foreground(int *size);

#endif
