/* The files that a program carries in itself: see LADIES_SINGLE in src/single.cmake. They are those
 * of a prefix (tree.h), as a tar archive in gzip. */
#ifndef LD_HOST_EMBEDDED_H
#define LD_HOST_EMBEDDED_H

#include <lua.h>
#include <stdbool.h>

/* True where this program carries files. */
extern const bool ld_embedded;

/* Pushes the folder to which the files are unpacked, the first time that a user starts this
 * version:
 *     XDG_CACHE_HOME/ladies-program/VERSION-CRC
 * or below ~/.cache or, where there is no room for it, in /tmp/ladies-program-UID. It appears whole
 * or not at all, and is used only if nobody else can have written to it. Raises an error when there
 * is no such place. */
const char *ld_embedded_prefix(lua_State *L);

/* Makes the modules that are linked into the program known to `require`. */
void ld_embedded_open(lua_State *L);

#endif
