/* Runs Lua and core so that Ctrl-C stops them, and lets a script take an interruption at a moment
 * of its own choosing. */
#ifndef LD_HOST_INTERRUPT_H
#define LD_HOST_INTERRUPT_H

#include <lua.h>
#include <stdbool.h>

/* Gives core its cancel flag, makes coroutines interruptible, and adds interrupted() and
 * defer_interrupt() to the table on top of the stack. Called by the thread that will run Lua. */
void ld_interrupt_open(lua_State *L);

/* Calls the function with its n_args arguments on top of the stack, as lua_pcall does, with SIGINT
 * raising an interruption in it. A failure leaves one message: that with a traceback, or the result
 * of explain(message, true if Ctrl-C came), which runs before the stack unwinds; `explain` is a
 * registry reference, LUA_NOREF for none. Returns lua_pcall's status. */
int ld_interrupt_call(lua_State *L, int n_args, int n_results, int explain);

/* Passes a signal on to the thread that runs Lua, in a handler, and returns true when that is
 * another thread. The system may run a handler in any thread that does not block the signal, and
 * some libraries start such threads. */
bool ld_interrupt_forward(int signal_number);

/* Tells whether the last ld_interrupt_call failed because of Ctrl-C. */
bool ld_interrupt_ended_call(void);

/* Tells whether it failed because a launcher of several processes ended this one, for which the
 * launcher gives the reason itself. */
bool ld_interrupt_by_launcher(void);

#endif
