/* Builds alias tables, and makes many draws from one.
 *
 * Every column holds the same mass, total / size. A column whose element has less is filled up by
 * one whose element has more; each step finishes one column, so building takes O(n). */
#include "sample/alias.h"

#include <inttypes.h>

#include "memory/memory.h"
#include "sample/mass.h"

/* Fills the columns. `stack` has room for all of them: those that still lack mass are kept at its
 * front, the others at its back. */
static void build(ld_alias *a, int32_t *stack)
{
    ld_alias_column *c = a->columns;
    int64_t poor = 0, rich = a->size;
    for (int64_t i = 0, j = 0; i < a->p->n_rows; i++) {
        double p = a->p->data[i];
        if (p == 0.0)
            continue;
        c[j] = (ld_alias_column){p * (double)a->size / a->total, (int32_t)i, (int32_t)i};
        if (c[j].keep < 1.0)
            stack[poor++] = (int32_t)j;
        else
            stack[--rich] = (int32_t)j;
        j++;
    }
    while (poor > 0 && rich < a->size) {
        ld_alias_column *to = &c[stack[--poor]], *from = &c[stack[rich]];
        to->other = from->own;
        from->keep -= 1.0 - to->keep;
        if (from->keep < 1.0)
            stack[poor++] = stack[rich++];
    }
    /* The columns left have exactly their share, but for rounding. */
    while (poor > 0)
        c[stack[--poor]].keep = 1.0;
}

ld_status ld_alias_new(ld_alias **out, const ld_tensor *p)
{
    LD_OWN(ld_alias) *a = NULL;
    LD_FREED int32_t *stack = NULL;
    ld_mass mass;
    LD_CHECK(ld_mass_of(&mass, p, "alias"));
    if (mass.support == 0)
        return ld_fail(LD_VALUE, "alias: all %" PRId64 " probabilities are zero", p->n_rows);
    if (!(a = ld_alloc(sizeof *a, LD_MEM_SCRATCH)))
        return LD_NOMEM;
    *a = (ld_alias){.total = mass.total, .size = mass.support};
    atomic_init(&a->refs, 1);
    if (!(a->columns = ld_alloc_array(a->size, sizeof *a->columns, LD_MEM_SCRATCH)) ||
        !(stack = ld_alloc_array(a->size, sizeof *stack, LD_MEM_SCRATCH)))
        return LD_NOMEM;
    LD_CHECK(ld_tensor_clone(&a->p, p));
    build(a, stack);
    *out = ld_take(&a);
    return LD_OK;
}

ld_alias *ld_alias_ref(ld_alias *a)
{
    if (a)
        atomic_fetch_add_explicit(&a->refs, 1, memory_order_relaxed);
    return a;
}

void ld_alias_unref(ld_alias *a)
{
    if (a && atomic_fetch_sub_explicit(&a->refs, 1, memory_order_acq_rel) == 1) {
        ld_tensor_unref(a->p);
        ld_free(a->columns);
        ld_free(a);
    }
}

void ld_alias_draw_group(int32_t *out, const ld_alias *a, ld_stream s, uint64_t position,
                         int64_t count)
{
    const ld_alias_column *columns[LD_ALIAS_GROUP];
    double fractions[LD_ALIAS_GROUP];
    for (int64_t i = 0; i < count; i++) {
        columns[i] = ld_alias_column_of(&fractions[i], a, s, position + (uint64_t)i);
        __builtin_prefetch(columns[i]);
    }
    for (int64_t i = 0; i < count; i++)
        out[i] = fractions[i] < columns[i]->keep ? columns[i]->own : columns[i]->other;
}
