/* Raises errors that begin with the user's line, whatever Lua code of the library lies between (see
 * error.c), and checks single values on the stack. */
#ifndef LD_BIND_ERROR_H
#define LD_BIND_ERROR_H

#include <lauxlib.h>
#include <lua.h>
#include <stdbool.h>

#include "base/status.h"

/* Raise an error. bind_error makes it of a message, and bind_check of core's message or of Ctrl-C,
 * unless the status is LD_OK. The others are about an argument of the running function. */
int bind_error(lua_State *L, const char *format, ...);
void bind_check(lua_State *L, ld_status status);
int bind_arg_error(lua_State *L, int arg, const char *what);
int bind_type_error(lua_State *L, int arg, const char *wanted);
void bind_arg_check(lua_State *L, bool ok, int arg, const char *what);

/* Pushes "FILE:LINE: " of the user's line, or "" when the stack has none. The library's own sources
 * are HOMEladies/FILE and HOMEexperiments/FILE; bind_set_home pops the home from the stack. */
void bind_push_where(lua_State *L);
void bind_set_home(lua_State *L);

/* Raise the error of Ctrl-C, make the text on top of the stack such an error, and tell if a value
 * is one. It is an object of its own class, so that no code takes it for a failure. */
int bind_interrupt(lua_State *L);
void bind_push_interruption(lua_State *L);
bool bind_is_interruption(lua_State *L, int at);

/* Pushes the table function -> docstring of this Lua state. */
void bind_push_docs(lua_State *L);

/* Pushes the name of the running function as its docstring has it ("clamp" of "t:clamp(low,
 * high)"), since Lua may know it under no name or another one. */
const char *bind_push_function_name(lua_State *L);

/* Pushes the value at a stack position as a message quotes it: on one line, and cut where it is
 * long. */
const char *bind_show(lua_State *L, int arg);

/* Pushes the string at a stack position with control characters and their like made visible, as
 * text/printable.h says. With `lines` the ends of lines and tabs stay. */
const char *bind_printable(lua_State *L, int arg, bool lines);

/* Turns the error value on top of the stack into a text, even when its __tostring fails. It raises
 * no error, also where there is no memory. */
const char *bind_error_text(lua_State *L);

/* Returns true for a string that has no zero byte, where core's texts end. */
bool bind_is_text(lua_State *L, int at);

/* Return an argument of this type; any other type is an error. A string must have no zero byte,
 * where core's texts end; bytes may be any. */
void bind_check_type(lua_State *L, int arg, int type);
void *bind_check_userdata(lua_State *L, int arg, const char *type);
const char *bind_check_string(lua_State *L, int arg);
const char *bind_check_bytes(lua_State *L, int arg);
lua_Number bind_check_number(lua_State *L, int arg);
lua_Integer bind_check_integer(lua_State *L, int arg);

/* Returns a dimension, count or size: a Lua integer in 0 .. 2^31 - 1. `what` begins the message. */
int64_t bind_count(lua_State *L, int arg, const char *what);

/* Returns the position at arg, which Lua counts from 1, counted from 0. It must be among the n of
 * an object, whose kind ("an Index") the message names. */
int64_t bind_position(lua_State *L, int arg, int64_t n, const char *kind);

/* Raises the error for what is neither a position nor a choice of several in the brackets of an
 * object of a kind ("an Index"). */
int bind_no_position(lua_State *L, int arg, const char *kind);

/* Reads positions first .. last at arg and arg + 1, which Lua counts from 1. Returns how many they
 * are; *first is counted from 0. */
int64_t bind_range(lua_State *L, int arg, int64_t *first);

/* Checks that the table at `arg` (none or nil passes) has only the keys of `names`, a
 * NULL-terminated list; `where` begins the message, which names the nearest key. */
void bind_check_options(lua_State *L, int arg, const char *where, const char *const *names);

#endif
