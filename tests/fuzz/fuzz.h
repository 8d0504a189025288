/* Functions that the harnesses share. A harness is one fuzz_NAME.c with LLVMFuzzerTestOneInput:
 * linked with libFuzzer it is a fuzzer (scripts/fuzz), linked with driver.c a test that replays the
 * corpus and some thousands of mutations of it.
 *
 * Every input is read between fuzz_begin and fuzz_end, which hold the reader to what it promises
 * besides not crashing: no memory stays, and no more was used at once than the harness allows for
 * this input. */
#ifndef FUZZ_H
#define FUZZ_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/status.h"
#include "graph/csr.h"

/* Ends the program by a signal, its folder removed. */
_Noreturn void fuzz_abort(void);

/* Does that, with a message, when a promise is broken. */
#define FUZZ_REQUIRE(condition, ...)                                                               \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: ", __FILE__, __LINE__);                                        \
            fprintf(stderr, __VA_ARGS__);                                                          \
            fputc('\n', stderr);                                                                   \
            fuzz_abort();                                                                          \
        }                                                                                          \
    } while (0)

/* Notes the memory in use. */
void fuzz_begin(void);

/* Requires that as much is in use again, and that never more than `bound` bytes were beyond it. */
void fuzz_end(int64_t bound);

/* Requires a message of one clear line when the status is not LD_OK; returns whether it is. */
bool fuzz_ok(ld_status status);

/* The path of a file in memory that holds these bytes, until the next call. */
const char *fuzz_file(const void *data, size_t size);

/* A folder for what a harness writes, removed at the end of the program. */
const char *fuzz_folder(void);

/* Removes a folder with all that is in it. */
void fuzz_remove(const char *folder);

/* Returns how many bytes a file gives when unpacked, up to where it breaks. */
int64_t fuzz_unpacked_size(const char *path);

/* Requires a matrix as the readers give it: offsets that rise from 0 to the number of entries,
 * columns in range that rise within a row, as many values as entries. */
void fuzz_check_matrix(const ld_csr *a);

/* --- mutations (mutate.c) ----------------------------------------------------------------------
 *
 * Plain mutations of packed bytes die at a checksum. These unpack, mutate what is inside, and pack
 * again with sizes and checksums that fit; one time in four, and when the bytes cannot be unpacked,
 * they are mutated as they are. So the readers under test check every checksum, as always. */

/* The first `prefix` bytes, which are the harness's own, are mutated as they are. */
size_t fuzz_mutate_gzip(uint8_t *data, size_t size, size_t most, unsigned seed, size_t prefix);

size_t fuzz_mutate_zip(uint8_t *data, size_t size, size_t most, unsigned seed);

/* --- the fuzzer's side ------------------------------------------------------------------------ */

/* Tries one input. Every harness defines it. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Changes an input in place, and returns its new size. A harness may define it. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);

/* Makes a plain mutation of the bytes, and returns their new number; libFuzzer or driver.c has it. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

#endif
