/* The Lua binding of core: argument checks, conversion and lifetime; no algorithms.
 *
 * Every concept has one bind_*.c with a function bind_open_*(L) that adds its functions to the
 * module table on top of the stack and registers its class. Objects are userdata that hold one
 * counted reference. A function first pushes the userdata of its result (bind_new_*), then lets
 * core fill it, then raises an error if core failed: so nothing is left hanging when Lua unwinds.
 * Ids and positions are 1-based in Lua and 0-based in core; bind_index.c alone converts vectors of
 * them. */
#ifndef LD_BIND_H
#define LD_BIND_H

#include <lauxlib.h>
#include <lua.h>
#include <stdint.h>

#include "base/rng.h"
#include "base/status.h"
#include "grad/tape.h"
#include "graph/csr.h"
#include "tensor/index.h"
#include "tensor/stored_rows.h"
#include "tensor/tensor.h"

/* A function of the module or a method of a class, with the text that help() shows: first line the
 * signature, then what it does, shapes, errors and the formula's source. The signature counts: a
 * call with more arguments than it has is an error, unless they are nil; "..." takes any number. */
typedef struct {
    const char *name;
    lua_CFunction function;
    const char *doc;
} bind_function;

/* Adds functions to the table on top of the stack; the list ends with a NULL name. */
void bind_functions(lua_State *L, const bind_function *list);

/* Pushes the table function -> docstring of this Lua state. */
void bind_push_docs(lua_State *L);

/* Pushes a function with this documentation; NULL for one that Lua calls with what it likes. */
void bind_push_function(lua_State *L, lua_CFunction function, const char *doc);

/* The C function behind a function of bind_functions, which other states have under it as well. */
lua_CFunction bind_to_core(lua_State *L, int at);
void bind_push_core(lua_State *L, lua_CFunction function);

/* Registers a class: its methods, its metamethods, its properties ("lr:number" and so on, up to
 * NULL) and `get`, called with (object, key) for keys that are not methods. */
void bind_class(lua_State *L, const char *type, const bind_function *methods,
                const luaL_Reg *metamethods, const char *const *properties, lua_CFunction get);

/* Adds operators to a class that is registered already: metamethods with a text that begins with how
 * they are written, "t + u -> Tensor". The class has these texts in __operators, by the names of the
 * metamethods. [] is __index; its function is NULL, since the class has it by `get`. */
void bind_operators(lua_State *L, const char *type, const bind_function *list);

/* Adds methods to a class that is registered already. */
void bind_methods(lua_State *L, const char *type, const bind_function *list);

/* Registers a class without methods, which Lua code never sees, by what releases its objects. */
void bind_hidden_class(lua_State *L, const char *type, lua_CFunction release);

/* Raise a Lua error with the user's line before it (see bind_error.c), whatever of the library's own
 * Lua code lies between: with a message; with core's, or an interruption, unless status is LD_OK;
 * about an argument of the running function. */
int bind_error(lua_State *L, const char *format, ...);
void bind_check(lua_State *L, ld_status status);
int bind_arg_error(lua_State *L, int arg, const char *what);
int bind_type_error(lua_State *L, int arg, const char *wanted);
void bind_arg_check(lua_State *L, bool ok, int arg, const char *what);

/* Pushes "FILE:LINE: " of the user's line, or "" when the stack has none. Ours is what is in files
 * whose names begin with the home, a text that is popped: HOME/FILE, or HOME_NAME/FILE. */
void bind_push_where(lua_State *L);
void bind_set_home(lua_State *L);

/* Raises what Ctrl-C raises: an object of its own class, so that nobody takes it for a failure; or
 * makes the text on top of the stack one. */
int bind_interrupt(lua_State *L);
void bind_push_interruption(lua_State *L);
bool bind_is_interruption(lua_State *L, int at);

/* Pushes the name of the running function as its docstring has it ("clamp" of "t:clamp(low, high)"),
 * since Lua may know it under no name or another one. */
const char *bind_push_function_name(lua_State *L);

/* The value of an argument; an error otherwise. Of those with `standard` it is optional. */
void bind_check_type(lua_State *L, int arg, int type);
void bind_check_any(lua_State *L, int arg);
void *bind_check_userdata(lua_State *L, int arg, const char *type);
const char *bind_check_string(lua_State *L, int arg);
const char *bind_check_lstring(lua_State *L, int arg, size_t *length);
lua_Number bind_check_number(lua_State *L, int arg);
lua_Integer bind_check_integer(lua_State *L, int arg);
const char *bind_opt_string(lua_State *L, int arg, const char *standard);
lua_Number bind_opt_number(lua_State *L, int arg, lua_Number standard);
lua_Integer bind_opt_integer(lua_State *L, int arg, lua_Integer standard);

/* Pushes the value at a stack position as a message quotes it: in one line, cut where it is long. */
const char *bind_show(lua_State *L, int arg);

/* Makes the error value on top of the stack a text, also when its __tostring fails. */
const char *bind_error_text(lua_State *L);

/* Raises "WHERE: KIND has no field or method KEY; did you mean ...?". */
int bind_no_field(lua_State *L, const char *type);

#define BIND_TENSOR "ladies.Tensor"
#define BIND_INDEX  "ladies.Index"
#define BIND_ROWS   "ladies.Rows"
#define BIND_MATRIX "ladies.Matrix"
#define BIND_RNG    "ladies.Rng"
#define BIND_ALIAS  "ladies.Alias"

/* The object at a stack position; an argument error otherwise. A tensor whose step is closed is an
 * error as well. So is a tensor or a matrix that carries a gradient while a step records, and a
 * matrix that does where bind_expects_step: a function that is written with these cannot drop one
 * without a word. */
ld_tensor *bind_tensor(lua_State *L, int arg);
ld_index *bind_index(lua_State *L, int arg);
ld_csr *bind_matrix(lua_State *L, int arg);
ld_rng *bind_rng(lua_State *L, int arg);

/* The same with a gradient or without: for operations that pass it on, for functions to which the
 * values mean nothing, and for those that make no tensor and no matrix. */
ld_tensor *bind_operand(lua_State *L, int arg);
ld_csr *bind_any_matrix(lua_State *L, int arg);

/* For operations that pass a gradient on: a matrix, and a tensor that becomes a factor of one. One
 * that carries a gradient is an error where bind_expects_step, since matrices are kept and used in
 * steps to come: what was made of it would be a constant there. */
ld_csr *bind_matrix_operand(lua_State *L, int arg);
ld_tensor *bind_factor(lua_State *L, int arg);

/* A tensor that may be changed in place: neither one that a tape may still need as it is, nor one
 * that workers share. */
ld_tensor *bind_writable_tensor(lua_State *L, int arg);

/* The object, or NULL when the value is something else (of any type). */
ld_tensor *bind_to_tensor(lua_State *L, int arg);
ld_tensor *bind_to_operand(lua_State *L, int arg);
ld_index *bind_to_index(lua_State *L, int arg);

/* Pushes an element: a number, or a tensor of one where a gradient must go on. */
int bind_push_element(lua_State *L, ld_tensor *t, int64_t position);

/* Pushes the positions at which the mask at arg, a vector with an element for each of n, is not 0. */
ld_index *bind_push_positions(lua_State *L, int arg, int64_t n);

/* Whether gradients flow through t here: it carries one, and a step records. */
bool bind_passes_gradient(lua_State *L, const ld_tensor *t);

/* Raises an error that begins with `where` when the value is a tensor that carries a gradient while
 * a step records, or a matrix that does then or where bind_expects_step. */
void bind_check_constant(lua_State *L, int arg, const char *where);

/* The object of a class whose userdata is a pointer to it: an error where it is of another class
 * (bind_to_object: NULL), or closed, which it is after its finalizer too. */
void *bind_object(lua_State *L, int arg, const char *type);
void *bind_to_object(lua_State *L, int arg, const char *type);

/* Pushes "KIND, closed" if the object is, for __tostring, which does not fail. */
bool bind_push_closed(lua_State *L, int arg, const char *type);

/* Pushes an empty userdata and returns the place of its object, for core to fill. */
ld_tensor **bind_new_tensor(lua_State *L);
ld_index **bind_new_index(lua_State *L);
ld_rows **bind_new_rows(lua_State *L);
ld_csr **bind_new_matrix(lua_State *L);

/* Pushes an rng. */
void bind_push_rng(lua_State *L, ld_rng rng);

/* Checks that the table at `arg` (none or nil passes) has only the keys of `names`, a
 * NULL-terminated list; `where` begins the message, which names the nearest key. */
void bind_check_options(lua_State *L, int arg, const char *where, const char *const *names);

/* Pushes field `name` of the options table at `arg`, or nil when there is no table; the value is at
 * the top of the stack. Returns whether it is there. */
bool bind_option(lua_State *L, int arg, const char *name);

/* The same with a check and a default; the stack is left as it was. */
bool bind_option_boolean(lua_State *L, int arg, const char *name, bool standard);
lua_Number bind_option_number(lua_State *L, int arg, const char *where, const char *name,
                              lua_Number standard);

/* Pushes the option `name` and returns the place of its object, of the given class, or NULL when it
 * is absent. */
void *bind_option_object(lua_State *L, int arg, const char *where, const char *name,
                         const char *class);

/* Pushes the option `name` and returns its object, as bind_tensor and bind_index do, or NULL when it is
 * absent. */
ld_tensor *bind_option_tensor(lua_State *L, int arg, const char *where, const char *name);
ld_index *bind_option_index(lua_State *L, int arg, const char *where, const char *name);

/* The same for the option rng, which must be there. */
ld_rng *bind_option_rng(lua_State *L, int arg, const char *where);

/* The tape of the open step of this Lua state; NULL outside of steps and within no_grad. */
ld_tape *bind_tape(lua_State *L);

/* Whether an operation that records wants a step: none is open, and nothing says that it should not
 * record, as no_grad and a step without recording do. */
bool bind_expects_step(lua_State *L);

/* ld_tape_backward on the tape of this Lua state. Operations written in Lua go backward in the
 * coroutine that calls this, at whose place the caller is. */
ld_status bind_backward(lua_State *L, ld_tensor *loss);
lua_State *const *bind_backward_caller(lua_State *L);

/* Pushes a scope within which bind_tape gives NULL, in this coroutine while it is not suspended and
 * in those that it resumes; to be closed with lua_toclose. */
void bind_push_pause(lua_State *L);

/* Pushes a hash as 16 hexadecimal digits. */
void bind_push_hash(lua_State *L, uint64_t hash);

/* A dimension, count or size: a Lua integer in 0 .. 2^31 - 1. */
int64_t bind_count(lua_State *L, int arg, const char *what);

/* The place of the word at arg among `words`, as luaL_checkoption but in one line. */
int bind_word(lua_State *L, int arg, const char *const *words);

/* The optional power of a sum at arg, 1 or 2. */
int bind_power(lua_State *L, int arg);

/* The optional dimension of t at arg: 1, over the rows; 2, over the columns; 0 for none. */
int bind_dimension(lua_State *L, int arg, const ld_tensor *t);

/* The position at arg, 1-based there and 0-based here, among the n of an object, whose kind ("an
 * Index") is for the message. */
int64_t bind_position(lua_State *L, int arg, int64_t n, const char *kind);

/* Pushes, as a userdata, the numbers of the array at arg: the rows before those of each owner, and at
 * last all. Their number is *n_owners + 1; NULL, and none, for nil. */
int64_t *bind_push_bounds(lua_State *L, int arg, int *n_owners);

/* The positions first .. last (1-based) at arg and arg + 1: their number, and the first 0-based. */
int64_t bind_range(lua_State *L, int arg, int64_t *first);

/* Takes notice when memory held by core has grown since the last collection: the next call begins
 * with one. Called by the bind_new_* functions. */
void bind_collect(lua_State *L);

/* Lets go of the object at `place` of a userdata: *place becomes NULL. In a finalizer, which may run
 * in the middle of a function that uses the object, it is freed later, by bind_settle. */
void bind_drop(lua_State *L, void *place, void (*drop)(void *object));

/* The same for the Tensor at arg. */
void bind_drop_tensor(lua_State *L, int arg);

/* The beginning of every call, before its arguments are looked at: frees what finalizers let go of,
 * after a collection if one is due. No-op in a finalizer, and while held off by a function that
 * calls back into Lua with pointers in hand. */
void bind_settle(lua_State *L);
void bind_hold_off(lua_State *L, bool on);

/* Whether there is anything for bind_settle to do, now and later. */
const bool *bind_unsettled(lua_State *L);

/* Whether a finalizer runs. */
bool bind_in_finalizer(lua_State *L);

void bind_open_lifetime(lua_State *L);
void bind_open_argument(lua_State *L);
void bind_open_tensor(lua_State *L);
void bind_open_order(lua_State *L);
void bind_open_change(lua_State *L);
void bind_open_index(lua_State *L);
void bind_open_rows(lua_State *L);
void bind_open_scope(lua_State *L);
void bind_open_index_numbers(lua_State *L);
void bind_open_matrix(lua_State *L);
void bind_open_entries(lua_State *L);
void bind_open_precise(lua_State *L);
void bind_open_sample_rows(lua_State *L);
void bind_open_walk(lua_State *L);
void bind_open_partition(lua_State *L);
void bind_open_rng(lua_State *L);
void bind_open_edge_runs(lua_State *L);
void bind_open_graph_rows(lua_State *L);
void bind_open_generate(lua_State *L);
void bind_open_sampling(lua_State *L);
void bind_open_step(lua_State *L);
void bind_open_grad(lua_State *L);
void bind_open_elementwise(lua_State *L);
void bind_open_op(lua_State *L);
void bind_open_optim(lua_State *L);
void bind_open_npz(lua_State *L);
void bind_open_safetensors(lua_State *L);
void bind_open_pieces(lua_State *L);
void bind_open_pickle(lua_State *L);
void bind_open_file(lua_State *L);
void bind_open_folder(lua_State *L);
void bind_open_process(lua_State *L);
void bind_open_zip(lua_State *L);
void bind_open_text(lua_State *L);
void bind_open_mtx(lua_State *L);
void bind_open_system(lua_State *L);
void bind_open_nearest(lua_State *L);
void bind_open_locale(lua_State *L);

/* The same; `module` opens the whole module in the states of workers. */
void bind_open_workers(lua_State *L, lua_CFunction module);

/* print, with each line written as a whole, since other threads print too. */
int bind_print_line(lua_State *L);

#endif
