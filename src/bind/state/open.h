/* Declares what each file of the binding adds to the module ladies_core. */
#ifndef LD_BIND_OPEN_H
#define LD_BIND_OPEN_H

#include <lua.h>

#include "state/class.h"

/* A subject, such as matrices or optimizers, with all that it adds. What it has not is left out. */
typedef struct {
    const bind_class *classes[3];
    struct { /* methods and operators of a class that is registered already */
        const bind_class *class;
        const bind_function *methods, *operators;
    } extends[2];
    struct { /* functions, in the module itself or in the table of it that is called `room` */
        const bind_function *list;
        const char *room;
    } functions[2];
    void (*more)(lua_State *L); /* adds whatever else there is */
} bind_subject;

/* Adds a subject to the module table on top of the stack. */
void bind_add(lua_State *L, const bind_subject *subject);

/* The classes to which several files add methods. */
extern const bind_class bind_tensor_class, bind_index_class, bind_matrix_class;

extern const bind_subject bind_subject_machine, bind_subject_memory, bind_subject_errors,
    bind_subject_texts, bind_subject_rng, bind_subject_index, bind_subject_rows, bind_subject_scope,
    bind_subject_tensor, bind_subject_order, bind_subject_change, bind_subject_matrix,
    bind_subject_entries, bind_subject_edge_list, bind_subject_precise, bind_subject_sample_rows,
    bind_subject_partition, bind_subject_step, bind_subject_grad, bind_subject_neighbour,
    bind_subject_elementwise, bind_subject_op, bind_subject_optim, bind_subject_sampling,
    bind_subject_edge_runs, bind_subject_generate, bind_subject_graph_rows, bind_subject_npz,
    bind_subject_forms, bind_subject_array, bind_subject_safetensors, bind_subject_pieces,
    bind_subject_pickle, bind_subject_file, bind_subject_folder, bind_subject_process,
    bind_subject_zip, bind_subject_text, bind_subject_names, bind_subject_parcels;

/* Adds ladies.workers. Every worker has a Lua state of its own, in which `module` opens
 * ladies_core. */
void bind_open_workers(lua_State *L, lua_CFunction module);

/* Pushes what `require` gives for a module of this name. */
void bind_push_module(lua_State *L, const char *name);

/* Has this process read and write numbers with a decimal point, whatever its locale is. */
void bind_open_locale(lua_State *L);

#endif
