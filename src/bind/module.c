/* Opens ladies_core: every subject of the binding adds its part to the module table, which is
 * returned. */
#include "module.h"

#include "ladies.h"
#include "state/bind.h"

int luaopen_ladies_core(lua_State *L)
{
    bind_open_locale(L);
    bind_open_lifetime(L);
    bind_check(L, ld_init());
    bind_open_recording(L);
    lua_newtable(L);
    bind_open_machine(L);
    bind_open_memory(L);
    bind_open_errors(L);
    bind_open_texts(L);
    bind_open_rng(L);
    bind_open_index(L);
    bind_open_rows(L);
    bind_open_scope(L);
    bind_open_index_numbers(L);
    bind_open_tensor(L);
    bind_open_order(L);
    bind_open_change(L);
    bind_open_matrix(L);
    bind_open_entries(L);
    bind_open_pairs(L);
    bind_open_edge_list(L);
    bind_open_algebra(L);
    bind_open_precise(L);
    bind_open_sample_rows(L);
    bind_open_walk(L);
    bind_open_partition(L);
    bind_open_step(L);
    bind_open_grad(L);
    bind_open_concat(L);
    bind_open_neighbour(L);
    bind_open_elementwise(L);
    bind_open_op(L);
    bind_open_optim(L);
    bind_open_sampling(L);
#ifdef LADIES_HAVE_LARGE
    bind_open_edge_runs(L);
#endif
    bind_open_graph_rows(L);
#ifdef LADIES_HAVE_GENERATE
    bind_open_generate(L);
#endif
    bind_open_npz(L);
    bind_open_safetensors(L);
    bind_open_pieces(L);
    bind_open_pickle(L);
    bind_open_file(L);
    bind_open_folder(L);
    bind_open_process(L);
    bind_open_zip(L);
    bind_open_text(L);
    bind_open_mtx(L);
    bind_open_workers(L, luaopen_ladies_core);
    bind_push_docs(L);
    lua_setfield(L, -2, "docs");
    bind_push_glossary(L);
    lua_setfield(L, -2, "_glossary");
    return 1;
}
