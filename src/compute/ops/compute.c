/* The kernel table of a level and the threads that ops use. */
#include "compute/ops/compute.h"

#include <dnnl.h>
#include <omp.h>

/* oneDNN chooses its own level; a run that is capped must be capped as a whole. oneDNN takes the
 * cap once, before its first product: a later call changes nothing, and its refusal is no error. It
 * has no level below SSE4.1. */
static void cap_onednn(enum isa_level level)
{
    static const dnnl_cpu_isa_t caps[ISA_AMX] = {
        [ISA_REF] = dnnl_cpu_isa_sse41,
        [ISA_AVX2] = dnnl_cpu_isa_avx2,
        [ISA_AVX512] = dnnl_cpu_isa_avx512_core,
        [ISA_AVX512_BF16] = dnnl_cpu_isa_avx512_core_bf16,
    };
    if (level < ISA_AMX) {
        (void)dnnl_set_max_cpu_isa(caps[level]);
    }
}

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
    *compute = (struct compute){.n_threads = n_threads};
    kernels_fill(&compute->kernels, level);
    if (level < host) {
        cap_onednn(level);
    }
    omp_set_num_threads(n_threads);
    return YOKE_OK;
}

void compute_fini(struct compute *compute)
{
    if (compute) {
        *compute = (struct compute){0};
    }
}
