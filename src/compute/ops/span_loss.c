/* The span loss. Two logits a token are little work: one thread, and double throughout. */
#include "compute/ops/span_loss.h"

#include <math.h>

/* Cross-entropy of one of the two columns (0 start, 1 end) over one sequence of n tokens:
 * log sum exp(z) - z[target], with the largest z taken out first so that nothing overflows.
 * d = factor * (softmax - [target]) goes into the same column of dlogits. */
static double cross_entropy(size_t n, const float *logits, size_t column, uint32_t target,
                            double factor, float *dlogits)
{
    double largest = -INFINITY, sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        const double z = logits[2 * i + column];
        largest = z > largest ? z : largest;
    }
    for (size_t i = 0; i < n; i++) {
        sum += exp(logits[2 * i + column] - largest);
    }
    for (size_t i = 0; dlogits && i < n; i++) {
        const double p = exp(logits[2 * i + column] - largest) / sum;
        dlogits[2 * i + column] = (float)(factor * (p - (i == target ? 1.0 : 0.0)));
    }
    return log(sum) + largest - logits[2 * (size_t)target + column];
}

void span_loss(size_t n_seqs, const uint32_t *offsets, const float *logits, const uint32_t *starts,
               const uint32_t *ends, float gradient_scale, double *loss_out, float *dlogits)
{
    const double share = 1.0 / (2.0 * (double)n_seqs);
    const double factor = share * gradient_scale;
    double sum = 0.0;
    for (size_t s = 0; s < n_seqs; s++) {
        const size_t first = offsets[s], n = offsets[s + 1] - first;
        const float *z = logits + 2 * first;
        float *d = dlogits ? dlogits + 2 * first : NULL;
        sum += cross_entropy(n, z, 0, starts[s], factor, d);
        sum += cross_entropy(n, z, 1, ends[s], factor, d);
    }
    *loss_out = sum * share;
}
