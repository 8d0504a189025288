/* Checks and converts the arguments of a call as its signature says. */
#ifndef LD_BIND_ARGUMENT_H
#define LD_BIND_ARGUMENT_H

#include "state/class.h"
#include "state/signature.h"

/* Converts the arguments on the stack into `in`, and pushes the options behind them, in the order
 * of the signature. */
void bind_take_arguments(lua_State *L, const bind_signature *s, const bind_class *class,
                         bind_value *in);

#endif
