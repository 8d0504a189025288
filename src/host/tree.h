/* Finds the program's own files. A prefix has one layout, built or installed:
 *     bin/ladies  share/lua/5.4/ladies/  share/ladies/{scripts,datasets,doc}/ */
#ifndef LD_HOST_TREE_H
#define LD_HOST_TREE_H

#include <lua.h>
#include <stdbool.h>

/* Finds this executable, which was called by `name`, its argv[0]. It must be called before the
 * others. */
void ld_tree_open(lua_State *L, const char *name);

/* Pushes the path of this executable, "" where it was not found. */
const char *ld_tree_program(lua_State *L);

/* Pushes the prefix: the environment's LADIES_HOME unless `ignore_environment`, otherwise where the
 * program unpacks the files that it carries, or else the parent of the folder of this executable.
 * Raises an error when the Lua files are not there. */
const char *ld_tree_prefix(lua_State *L, bool ignore_environment);

/* Puts the prefix's modules in front of package.path. */
void ld_tree_add_to_path(lua_State *L, const char *prefix);

/* Removes the places that are not named from the root from package.path and package.cpath. */
void ld_tree_leave_relative(lua_State *L);

/* Pushes the path of the script of a command, or returns NULL and pushes nothing. Files have
 * underscores where the names of commands may have hyphens: make-graph is make_graph.lua. */
const char *ld_tree_script(lua_State *L, const char *prefix, const char *name);

/* The Lua function make_private(path) -> boolean: makes a file that only its owner may read, and
 * the folders above it, unless they are there. Returns false where something other than a file is
 * there. */
int ld_tree_make_private(lua_State *L);

#endif
