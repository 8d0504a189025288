/* Connected components, by union-find. */
#include "graph/csr.h"
#include "memory/memory.h"

enum { POLLED_ROWS = 1 << 12 };

/* Returns the root of x's tree. On the way every node is hung under its grandparent (path
 * halving). */
static int32_t find(int32_t *parent, int32_t x)
{
    while (parent[x] != x) {
        parent[x] = parent[parent[x]];
        x = parent[x];
    }
    return x;
}

/* Joins the trees of all nodes that share an entry. The smallest node of a tree is its root. */
static ld_status join(int32_t *parent, const ld_structure *s)
{
    for (int64_t r = 0; r < s->n_rows; r++) {
        if (r % POLLED_ROWS == 0 && ld_poll() != LD_OK)
            return LD_CANCELLED;
        int32_t root = find(parent, (int32_t)r);
        for (int64_t e = s->offsets[r]; e < s->offsets[r + 1]; e++) {
            int32_t other = find(parent, s->columns[e]);
            if (other < root) {
                parent[root] = other;
                root = other;
            } else
                parent[other] = root;
        }
    }
    return LD_OK;
}

ld_status ld_csr_components(ld_index **out, int64_t *count, const ld_csr *a)
{
    int64_t n = a->s->n_rows;
    LD_CHECK(ld_structure_check_square(a->s, "components"));
    LD_OWN(ld_index) *ids = NULL;
    LD_FREED int32_t *parent = ld_alloc_array(n, sizeof *parent, LD_MEM_SCRATCH);
    if (!parent)
        return LD_NOMEM;
    for (int64_t i = 0; i < n; i++)
        parent[i] = (int32_t)i;
    LD_CHECK(join(parent, a->s));
    LD_CHECK(ld_index_new(&ids, n));
    int32_t found = 0;
    for (int64_t i = 0; i < n; i++) /* a root comes before the other nodes of its tree */
        ids->data[i] = parent[i] == i ? found++ : ids->data[find(parent, (int32_t)i)];
    *count = found;
    *out = ld_take(&ids);
    return LD_OK;
}
