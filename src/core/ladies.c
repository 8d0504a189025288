#include "ladies.h"

#include <cblas.h>

ld_status ld_init(void)
{
    if (openblas_get_num_threads() != 1) /* other threads may multiply already */
        openblas_set_num_threads(1);
    return ld_check_units();
}

const char *ld_version(void)
{
    return LD_VERSION;
}
