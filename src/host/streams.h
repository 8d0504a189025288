/* Opens and closes the standard streams so that output that could not be written shows in the
 * program's status. */
#ifndef LD_HOST_STREAMS_H
#define LD_HOST_STREAMS_H

/* Must be called first. A standard stream that the caller has closed leads nowhere and fails,
 * instead of being the next file that is opened; a limit on the size of files (ulimit -f) becomes
 * an error of writing, not the end; and ld_streams_close is called at every exit of the program. */
void ld_streams_open(void);

/* Closes standard output. Where a part of it could not be written, the program says so and ends
 * with status 1. */
void ld_streams_close(void);

#endif
