/* The Lua binding of core. It only translates calls, and has no algorithms.
 *
 * Every subject, such as matrices, has one bind_*.c with tables of its functions and classes, and
 * says at its end what it adds to the module (open.h). The documentation of a function is its declaration: state/ checks and converts arguments by it. Ids
 * and positions are 1-based in Lua and 0-based in core; bind_index.c alone converts vectors of
 * them. */
#ifndef LD_BIND_H
#define LD_BIND_H

#include <lauxlib.h>
#include <lua.h>

#include "state/class.h"
#include "state/error.h"
#include "state/function.h"
#include "state/lifetime.h"
#include "state/object.h"
#include "state/open.h"
#include "state/print_line.h"
#include "state/recording.h"

#endif
