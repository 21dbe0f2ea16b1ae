/* Which cores compute: every rank of a host gets its own physical cores, of one NUMA node where
 * that is possible, first hardware threads only. Respects the process's affinity mask (cpusets,
 * taskset). */
#ifndef MACHINE_TOPOLOGY_CORE_PLAN_H
#define MACHINE_TOPOLOGY_CORE_PLAN_H

#include "base/core/status.h"

enum { CORE_PLAN_MAX_CPUS = 1024 };

struct core_share {
    int n_cpus;                   /* compute threads of the rank, at least 1 */
    int cpus[CORE_PLAN_MAX_CPUS]; /* operating-system numbers */
    int shared;                   /* 1 when there are more ranks than cores and cores are shared */
};

/* The share of local rank `local_rank` of `local_size` on this host. YOKE_ERR_INVALID unless
 * 0 <= local_rank < local_size. */
yoke_status core_plan_share(int local_rank, int local_size,
                            struct core_share *share_out) YOKE_MUST_USE;

/* Binds the calling thread (and so the threads it starts later) to the share. */
yoke_status core_plan_bind(const struct core_share *share) YOKE_MUST_USE;

#endif
