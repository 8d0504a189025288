/* Prints errors that end the program to standard error. */
#ifndef LD_HOST_COMPLAIN_H
#define LD_HOST_COMPLAIN_H

#include <lua.h>

/* Prints an error as one line, "ladies: message", to standard error. The name of the process comes
 * before it where there are several. */
void ld_complain(const char *message);

/* Prints a whole line, after that name, without changing it. It may be called in the handler of a
 * signal. */
void ld_complain_in_handler(const char *line);

/* Adds complain(message) and set_who(name, late) to the table on top of the stack. */
void ld_complain_open(lua_State *L);

#endif
