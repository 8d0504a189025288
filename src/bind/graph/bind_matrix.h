/* The class of sparse matrices, to which several files add methods. */
#ifndef LD_BIND_MATRIX_H
#define LD_BIND_MATRIX_H

#include "state/class.h"

extern const bind_class bind_matrix_class;

#endif
