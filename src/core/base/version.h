/* The version of ladies, whose one place this is: CMake reads it here. A new minor version may
 * change what C programs were compiled against as long as the major one is 0, a new patch never
 * does. */
#ifndef LD_BASE_VERSION_H
#define LD_BASE_VERSION_H

#define LD_VERSION_MAJOR 0
#define LD_VERSION_MINOR 1
#define LD_VERSION_PATCH 0

#define LD_VERSION_TEXT_(a, b, c)  #a "." #b "." #c
#define LD_VERSION_TEXT(a, b, c)   LD_VERSION_TEXT_(a, b, c)
#define LD_VERSION_NUMBER(a, b, c) ((a)*10000 + (b)*100 + (c))

/* "0.1.0". */
#define LD_VERSION LD_VERSION_TEXT(LD_VERSION_MAJOR, LD_VERSION_MINOR, LD_VERSION_PATCH)

/* True if this is version a.b.c or a later one, also in #if. */
#define LD_VERSION_AT_LEAST(a, b, c)                                                               \
    (LD_VERSION_NUMBER(LD_VERSION_MAJOR, LD_VERSION_MINOR, LD_VERSION_PATCH) >=                    \
     LD_VERSION_NUMBER(a, b, c))

#endif
