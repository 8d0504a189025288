/* Opens ladies_core: every subject of the binding adds its part to the module table, which is
 * returned. */
#include "module.h"

#include "ladies.h"
#include "state/bind.h"

/* All subjects, each behind those whose classes it extends. */
static const bind_subject *const subjects[] = {
    &bind_subject_machine,     &bind_subject_memory,    &bind_subject_errors,
    &bind_subject_texts,       &bind_subject_rng,       &bind_subject_index,
    &bind_subject_rows,        &bind_subject_scope,     &bind_subject_tensor,
    &bind_subject_order,       &bind_subject_change,    &bind_subject_matrix,
    &bind_subject_entries,     &bind_subject_edge_list, &bind_subject_precise,
    &bind_subject_sample_rows, &bind_subject_partition, &bind_subject_step,
    &bind_subject_grad,        &bind_subject_neighbour, &bind_subject_elementwise,
    &bind_subject_op,          &bind_subject_optim,     &bind_subject_sampling,
#ifdef LADIES_HAVE_LARGE
    &bind_subject_edge_runs,
#endif
    &bind_subject_graph_rows,
#ifdef LADIES_HAVE_GENERATE
    &bind_subject_generate,
#endif
    &bind_subject_npz,         &bind_subject_forms,     &bind_subject_array,
    &bind_subject_safetensors, &bind_subject_pieces,    &bind_subject_pickle,
    &bind_subject_file,        &bind_subject_folder,    &bind_subject_process,
    &bind_subject_zip,         &bind_subject_text,      &bind_subject_names,
    &bind_subject_parcels,
};

int luaopen_ladies_core(lua_State *L)
{
    bind_open_locale(L);
    bind_open_lifetime(L);
    bind_check(L, ld_init());
    bind_open_recording(L);
    lua_newtable(L);
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++)
        bind_add(L, subjects[i]);
    bind_open_workers(L, luaopen_ladies_core);
    bind_push_docs(L);
    lua_setfield(L, -2, "docs");
    bind_push_glossary(L);
    lua_setfield(L, -2, "_glossary");
    return 1;
}
