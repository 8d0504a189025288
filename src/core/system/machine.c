#include "system/machine.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "system/cgroup.h"
#include "system/platform.h"

static atomic_int processes = 1;
static ld_cgroup_limits limits;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void read_limits(void)
{
    limits = ld_cgroup_read("");
}

static const ld_cgroup_limits *get_limits(void)
{
    pthread_once(&once, read_limits);
    return &limits;
}

void ld_machine_divide(int n_processes)
{
    atomic_store(&processes, n_processes);
}

size_t ld_machine_memory(void)
{
    size_t all = ld_platform_memory();
    uint64_t limit = get_limits()->memory;
    if (limit < all)
        all = (size_t)limit;
    return all == SIZE_MAX ? all : all / (size_t)atomic_load(&processes);
}

int ld_machine_all_processors(void)
{
    const ld_cgroup_limits *l = get_limits();
    return (int)fmin(ld_platform_all_processors(), fmin(ceil(l->quota), (double)l->n_allowed));
}

int ld_machine_share(void)
{
    int share = ld_machine_all_processors() / atomic_load(&processes);
    return share < 1 ? 1 : share;
}

int ld_machine_processors(void)
{
    int allowed = ld_platform_processors(), share = ld_machine_share();
    return allowed < share ? allowed : share;
}
