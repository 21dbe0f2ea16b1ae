/* Cores to ranks.
 *
 * Every core counts once, through its first usable hardware thread: two threads of one core share
 * the vector units that training keeps busy. All ranks get the same number of cores, for a training
 * step ends with the slowest rank; cores that remain stay free for the system. A rank's cores are
 * taken from one NUMA node as long as some node has enough of them, then from what is left. The
 * plan depends on topology and mask alone, so that every process computes the same one. */
#define _GNU_SOURCE /* CPU sets */
#include "machine/topology/core_plan.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>

#include "machine/topology/core_plan_internal.h"

/* One usable core: the thread that stands for it, its NUMA node, and whether a rank has it. */
struct core {
    int cpu;
    int node;
    bool taken;
};

struct core_list {
    int n;
    struct core cores[CORE_PLAN_MAX_CPUS]; /* in hwloc's logical order: neighbours are close */
};

static yoke_status list_cores(hwloc_topology_t topology, hwloc_const_cpuset_t allowed,
                              struct core_list *list)
{
    list->n = 0;
    hwloc_bitmap_t usable = hwloc_bitmap_alloc();
    if (!usable) {
        return yoke_fail(YOKE_ERR_NO_MEMORY, "no memory for a CPU set");
    }
    yoke_status status = YOKE_OK;
    /* Some virtual machines show no cores, only processing units. */
    const hwloc_obj_type_t type =
        hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
    hwloc_obj_t object = NULL;
    while ((object = hwloc_get_next_obj_by_type(topology, type, object))) {
        hwloc_bitmap_and(usable, object->cpuset, allowed);
        const int cpu = hwloc_bitmap_first(usable);
        if (cpu < 0) {
            continue;
        }
        if (list->n == CORE_PLAN_MAX_CPUS) {
            status =
                yoke_fail(YOKE_ERR_LIMIT, "this host has more than %d cores", CORE_PLAN_MAX_CPUS);
            break;
        }
        list->cores[list->n++] = (struct core){cpu, hwloc_bitmap_first(object->nodeset), false};
    }
    hwloc_bitmap_free(usable);
    if (status >= 0 && list->n == 0) {
        status = yoke_fail(YOKE_ERR_INVALID, "the affinity mask leaves this process no core");
    }
    return status;
}

static bool is_free(const struct core *core, int node)
{
    return !core->taken && (node < 0 || core->node == node);
}

/* The node of the first free core whose node still has `need` free ones; -1 when there is none. */
static int find_node(const struct core_list *list, int need)
{
    for (int i = 0; i < list->n; i++) {
        int n_free = 0;
        for (int j = i; j < list->n && !list->cores[i].taken; j++) {
            n_free += is_free(&list->cores[j], list->cores[i].node);
        }
        if (n_free >= need) {
            return list->cores[i].node;
        }
    }
    return -1;
}

/* Takes `need` free cores of `node` (-1: of any) into the share. */
static void take_cores(struct core_list *list, int node, int need, struct core_share *share)
{
    share->n_cpus = 0;
    for (int i = 0; i < list->n && share->n_cpus < need; i++) {
        if (is_free(&list->cores[i], node)) {
            list->cores[i].taken = true;
            share->cpus[share->n_cpus++] = list->cores[i].cpu;
        }
    }
}

/* Deals the cores of each node first to as many ranks as fit into it; ranks that fit nowhere whole
 * take the rest. The share of the last rank dealt to is `local_rank`'s. */
static void deal_cores(struct core_list *list, int local_rank, int need, struct core_share *share)
{
    for (int rank = 0; rank <= local_rank; rank++) {
        take_cores(list, find_node(list, need), need, share);
    }
}

yoke_status core_plan_share_of(hwloc_topology_t topology, hwloc_const_cpuset_t allowed,
                               int local_rank, int local_size, struct core_share *share_out)
{
    if (local_rank < 0 || local_rank >= local_size) {
        return yoke_fail(YOKE_ERR_INVALID, "local rank %d of %d: expected 0 <= rank < size",
                         local_rank, local_size);
    }
    struct core_list list;
    YOKE_TRY(list_cores(topology, allowed, &list));
    struct core_share share = {0};
    if (local_size > list.n) {
        share.n_cpus = 1;
        share.cpus[0] = list.cores[local_rank % list.n].cpu;
        share.shared = 1;
    } else {
        deal_cores(&list, local_rank, list.n / local_size, &share);
    }
    *share_out = share;
    return YOKE_OK;
}

/* ---- this host ---- */

static yoke_status open_host(hwloc_topology_t *topology_out, hwloc_bitmap_t *allowed_out)
{
    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology) < 0) {
        return yoke_fail(YOKE_ERR_NO_MEMORY, "hwloc cannot be started: %m");
    }
    hwloc_bitmap_t allowed = hwloc_bitmap_alloc();
    if (!allowed || hwloc_topology_load(topology) < 0) {
        hwloc_bitmap_free(allowed);
        hwloc_topology_destroy(topology);
        return yoke_fail(YOKE_ERR_IO, "hwloc cannot read the topology of this host: %m");
    }
    if (hwloc_get_cpubind(topology, allowed, HWLOC_CPUBIND_PROCESS) < 0) {
        hwloc_bitmap_copy(allowed, hwloc_topology_get_allowed_cpuset(topology));
    }
    *topology_out = topology;
    *allowed_out = allowed;
    return YOKE_OK;
}

static void close_host(hwloc_topology_t topology, hwloc_bitmap_t allowed)
{
    hwloc_bitmap_free(allowed);
    hwloc_topology_destroy(topology);
}

yoke_status core_plan_share(int local_rank, int local_size, struct core_share *share_out)
{
    hwloc_topology_t topology;
    hwloc_bitmap_t allowed;
    YOKE_TRY(open_host(&topology, &allowed));
    const yoke_status status =
        core_plan_share_of(topology, allowed, local_rank, local_size, share_out);
    close_host(topology, allowed);
    return status;
}

yoke_status core_plan_bind(const struct core_share *share)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int i = 0; i < share->n_cpus; i++) {
        CPU_SET((size_t)share->cpus[i], &set);
    }
    if (sched_setaffinity(0, sizeof set, &set) < 0) {
        return yoke_fail(YOKE_ERR_UNSUPPORTED,
                         "cannot bind this thread to %d cores (the first is "
                         "CPU %d): %m",
                         share->n_cpus, share->cpus[0]);
    }
    return YOKE_OK;
}
