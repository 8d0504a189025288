/* Ctrl-C: running Lua and core so that SIGINT stops them, and the functions by which a script takes
 * an interruption at a moment of its own choosing. */
#ifndef LD_HOST_INTERRUPT_H
#define LD_HOST_INTERRUPT_H

#include <lua.h>
#include <stdbool.h>

/* Gives core its cancel flag, makes coroutines interruptible, and adds interrupted() and
 * defer_interrupt() to the table on top of the stack. Called by the thread that will run Lua. */
void ld_interrupt_open(lua_State *L);

/* lua_pcall of the function and its n_args arguments on top of the stack, with SIGINT raising
 * an interruption in it. A failure leaves one message: that with a traceback, or what
 * explain(message, whether Ctrl-C came) returns, which runs before the stack unwinds; `explain` is a
 * registry reference, LUA_NOREF for none. Returns lua_pcall's status. */
int ld_interrupt_call(lua_State *L, int n_args, int n_results, int explain);

/* For a signal handler: the system may run it in any thread that does not block the signal, and some
 * libraries start such threads. Passes the signal on to the thread that runs Lua and returns true
 * when this is another one. */
bool ld_interrupt_forward(int signal_number);

/* Whether the last ld_interrupt_call failed because of Ctrl-C. */
bool ld_interrupt_ended_call(void);

/* Whether it was so, and by a launcher of several processes, which has said why or will. */
bool ld_interrupt_by_launcher(void);

#endif
