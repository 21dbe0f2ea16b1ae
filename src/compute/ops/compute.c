/* The kernel table of a level and the threads that ops use. */
#include "compute/ops/compute.h"

#include <omp.h>

yoke_status compute_init(struct compute *compute, enum isa_level level, int n_threads)
{
    if (n_threads < 1) {
        return yoke_fail(YOKE_ERR_INVALID, "compute: %d threads asked for; at least 1 is needed",
                         n_threads);
    }
    const enum isa_level host = isa_detect();
    if (level > host) {
        return yoke_fail(YOKE_ERR_UNSUPPORTED, "compute: level %s asked for, this host has %s",
                         isa_level_name(level), isa_level_name(host));
    }
    *compute = (struct compute){.level = level, .n_threads = n_threads};
    kernels_fill(&compute->kernels, level);
    omp_set_num_threads(n_threads);
    return YOKE_OK;
}

void compute_fini(struct compute *compute)
{
    if (compute) {
        *compute = (struct compute){0};
    }
}
