/* The plan on a given topology: what core_plan.h does on this host, open to tests. */
#ifndef MACHINE_TOPOLOGY_CORE_PLAN_INTERNAL_H
#define MACHINE_TOPOLOGY_CORE_PLAN_INTERNAL_H

#include <hwloc.h>

#include "machine/topology/core_plan.h"

/* core_plan_share on the processing units of `allowed` within a loaded topology. YOKE_ERR_LIMIT
 * when it has more than CORE_PLAN_MAX_CPUS cores, YOKE_ERR_INVALID when `allowed` leaves none. */
yoke_status core_plan_share_of(hwloc_topology_t topology, hwloc_const_cpuset_t allowed,
                               int local_rank, int local_size,
                               struct core_share *share_out) YOKE_MUST_USE;

#endif
