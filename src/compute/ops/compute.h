/* What every op needs: the kernels of the chosen level and the number of threads. */
#ifndef COMPUTE_OPS_COMPUTE_H
#define COMPUTE_OPS_COMPUTE_H

#include "base/core/status.h"
#include "compute/kernels/kernels.h"
#include "machine/isa/isa.h"

struct compute {
    struct kernels kernels; /* filled from REF up to the level */
    int n_threads;
};

/* Fills the kernel table for `level` and sets the threads (OpenMP and oneDNN) to `n_threads`. */
yoke_status compute_init(struct compute *compute, enum isa_level level,
                         int n_threads) YOKE_MUST_USE;
void compute_fini(struct compute *compute);

#endif
