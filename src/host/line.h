/* Reads lines at the prompt: with editing, history and completion on a terminal when the program
 * was built with libedit, plainly otherwise. */
#ifndef LD_HOST_LINE_H
#define LD_HOST_LINE_H

#include <lua.h>
#include <stdbool.h>

typedef enum { LD_LINE_READ, LD_LINE_END, LD_LINE_INTERRUPTED, LD_LINE_DROPPED } ld_line_result;

/* True where the program was built with line editing. */
extern const bool ld_line_editing;

/* Starts reading; until the end of it SIGINT outside a call of Lua is harmless. Pops the function
 * that Tab calls: tab(text up to the cursor, width) -> text to insert, text to show. */
void ld_line_open(lua_State *L);

/* Prints the prompt and reads one line. Pushes it, without its newline, for LD_LINE_READ only.
 * LD_LINE_INTERRUPTED: Ctrl-C; whatever was typed is dropped. */
ld_line_result ld_line_read(lua_State *L, const char *prompt);

/* Adds an entry to the history. */
void ld_line_remember(const char *entry);

/* Gives the terminal and its signals back. */
void ld_line_close(void);

/* Returns the width of the terminal; 80 where there is none. */
int ld_line_width(void);

#endif
