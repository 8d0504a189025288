/* Urns, from which edges are drawn: nodes by class, and nodes in proportion to their weights. */
#ifndef LD_GENERATE_URN_H
#define LD_GENERATE_URN_H

#include <stdint.h>

#include "base/status.h"
#include "random/rng.h"
#include "tensor/index.h"
#include "tensor/tensor.h"

/* The nodes, class by class, ascending in each. */
typedef struct {
    int64_t n_classes;
    int64_t *starts; /* n_classes + 1 */
    int32_t *nodes;
} ld_classes;

/* Groups nodes by their labels. Fails with LD_RANGE for a label below 0. Ends with _clear, also
 * after a failure. */
ld_status ld_classes_init(ld_classes *c, const ld_index *labels);
void ld_classes_clear(ld_classes *c);

/* A place among the nodes class by class: the weight of all places before it, and its node and
 * class. */
typedef struct {
    double mass;
    int32_t node, label;
} ld_place;

/* An urn, which draws nodes in proportion to their weights from a class, whose places lie together,
 * or from all nodes. `guide` cuts the total weight into as many equal parts as there are nodes and
 * tells for each the place where it begins; so finding the node of a given mass takes O(1) on
 * average (Chen and Asau 1974). */
typedef struct {
    int64_t n;
    ld_classes classes;
    ld_place *places; /* n + 1 */
    int32_t *guide;   /* n + 1: the place of each part */
    double parts;     /* n / total weight */
    double inside;
    ld_stream stream;
} ld_urn;

/* Makes an urn; u must be zeros but for `inside` and `stream`. Fails with LD_VALUE for a weight
 * that is not positive and finite, and with LD_RANGE for a label below 0. Ends with _clear, also
 * after a failure. */
ld_status ld_urn_init(ld_urn *u, const ld_tensor *weights, const ld_index *labels);
void ld_urn_clear(ld_urn *u);

/* The most draws at a time. */
enum { LD_DRAWS = 64 };

/* Makes draws number first .. first + n - 1, n <= LD_DRAWS: gives the ends of their edges, and
 * returns how many there are, since a draw of one node twice gives none. A pure function of the urn
 * and the numbers. */
int ld_urn_draw(const ld_urn *u, uint64_t first, int n, int32_t *ends, int32_t *others);

/* The rounds of draws: how many to make next. Begins as zeros but for `wanted`, the edges. */
typedef struct {
    int64_t wanted, drawn, draws, found;
} ld_rounds;

/* Sets r->draws, from number r->drawn on, when `found` edges are there; the caller adds them to
 * r->drawn. Sets 0 when there are enough. LD_VALUE when more are hopeless. */
ld_status ld_rounds_next(ld_rounds *r, int64_t found);

/* Fails with LD_SHAPE or LD_VALUE unless ld_generate_chung_lu takes these arguments. */
ld_status ld_generate_check_chung_lu(const ld_tensor *weights, const ld_index *labels,
                                     int64_t entries, double inside);

#endif
