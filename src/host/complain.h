/* Errors that end the program, on standard error. */
#ifndef LD_HOST_COMPLAIN_H
#define LD_HOST_COMPLAIN_H

#include <lua.h>

/* Prints an error as one line, "ladies: message", on standard error; where this process is one of
 * several, with its name before it. */
void ld_complain(const char *message);

/* Prints a whole line likewise, as it is, in the handler of a signal. */
void ld_complain_in_handler(const char *line);

/* Adds complain(message) and set_who(name, late) to the table on top of the stack. */
void ld_complain_open(lua_State *L);

#endif
