#include "base/sort.h"

enum { SMALL = 24 }; /* elements that are sorted by insertion */

#define TYPE        int32_t
#define NAMED(name) name##_int32
#include "base/sort_type.inc"

#define TYPE        uint64_t
#define NAMED(name) name##_uint64
#include "base/sort_type.inc"
