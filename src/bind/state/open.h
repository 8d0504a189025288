/* The functions that build the module ladies_core. Each pushes nothing and adds one subject, such
 * as matrices or optimizers, to the module table on top of the stack: its functions, its classes
 * and their methods. */
#ifndef LD_BIND_OPEN_H
#define LD_BIND_OPEN_H

#include <lua.h>

void bind_open_algebra(lua_State *L);
void bind_open_change(lua_State *L);
void bind_open_concat(lua_State *L);
void bind_open_edge_runs(lua_State *L);
void bind_open_elementwise(lua_State *L);
void bind_open_entries(lua_State *L);
void bind_open_errors(lua_State *L);
void bind_open_file(lua_State *L);
void bind_open_folder(lua_State *L);
void bind_open_generate(lua_State *L);
void bind_open_grad(lua_State *L);
void bind_open_graph_rows(lua_State *L);
void bind_open_index(lua_State *L);
void bind_open_index_numbers(lua_State *L);
void bind_open_locale(lua_State *L);
void bind_open_machine(lua_State *L);
void bind_open_matrix(lua_State *L);
void bind_open_memory(lua_State *L);
void bind_open_mtx(lua_State *L);
void bind_open_neighbour(lua_State *L);
void bind_open_npz(lua_State *L);
void bind_open_op(lua_State *L);
void bind_open_optim(lua_State *L);
void bind_open_order(lua_State *L);
void bind_open_pairs(lua_State *L);
void bind_open_edge_list(lua_State *L);
void bind_open_partition(lua_State *L);
void bind_open_pickle(lua_State *L);
void bind_open_pieces(lua_State *L);
void bind_open_precise(lua_State *L);
void bind_open_process(lua_State *L);
void bind_open_rng(lua_State *L);
void bind_open_rows(lua_State *L);
void bind_open_safetensors(lua_State *L);
void bind_open_sample_rows(lua_State *L);
void bind_open_sampling(lua_State *L);
void bind_open_scope(lua_State *L);
void bind_open_step(lua_State *L);
void bind_open_tensor(lua_State *L);
void bind_open_text(lua_State *L);
void bind_open_texts(lua_State *L);
void bind_open_walk(lua_State *L);
void bind_open_zip(lua_State *L);

/* Adds ladies.workers. Every worker has a Lua state of its own, in which `module` opens
 * ladies_core. */
void bind_open_workers(lua_State *L, lua_CFunction module);

#endif
