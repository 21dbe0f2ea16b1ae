/* AdamW in plain C. */
#include "compute/kernels/adamw/adamw_kernels.h"

#include <math.h>

static void update(const struct adamw_coefficients *coefficients, size_t n, const float *gradient,
                   float *p, float *m, float *v)
{
    const struct adamw_coefficients k = *coefficients;
    for (size_t i = 0; i < n; i++) {
        const float g = gradient[i] * k.gradient_scale;
        m[i] += k.rate1 * (g - m[i]);
        v[i] = k.beta2 * v[i] + k.rate2 * g * g;
        p[i] = k.keep * p[i] - k.step_size * m[i] / (k.inverse_root * sqrtf(v[i]) + k.epsilon);
    }
}

void adamw_fill_ref(struct adamw_kernels *kernels)
{
    *kernels = (struct adamw_kernels){.update = update, .update_name = "ref"};
}
