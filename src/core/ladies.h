/* The core of ladies as a C library, without Lua: tensors, sparse matrices, sampling, automatic
 * differentiation, optimizers and files.
 *
 * A program calls ld_init before anything else. Functions that can fail return an ld_status and
 * leave a message (base/status.h); what they make has one reference, given back with the _unref or
 * _free of its kind. Ids are 0-based. doc/c.md has a program to begin with. */
#ifndef LADIES_H
#define LADIES_H

#include "base/status.h"
#include "base/version.h"
#include "grad/op.h"
#include "grad/tape.h"
#include "graph/csr.h"
#include "graph/partition.h"
#include "io/array/npz.h"
#include "io/text/mtx.h"
#include "kernel/bfloat16.h"
#include "memory/memory.h"
#include "optim/optimizer.h"
#include "random/rng.h"
#include "sample/alias.h"
#include "sample/choice.h"
#include "sample/draw_cols.h"
#include "sample/negatives.h"
#include "sample/rows.h"
#include "sample/walk.h"
#include "system/simd.h"
#include "system/threads.h"
#include "tensor/index.h"
#include "tensor/index_numbers.h"
#include "tensor/matmul.h"
#include "tensor/tensor.h"

/* Random graphs, where the library was built with that plugin. */
#ifdef __has_include
#if __has_include("generate/generate.h")
#include "generate/generate.h"
#endif
#endif

/* Makes the process ready: OpenBLAS computes in the thread that calls it, since the threads of
 * system/threads.h stand above it, which keeps results independent of their number. May be called
 * again, by any thread. LD_VALUE where LADIES_ISA names vector units that there are not. */
ld_status ld_init(void);

/* The version of the library that the program runs with, which may be later than the LD_VERSION
 * that it was compiled with. */
const char *ld_version(void);

#endif
