/* Dropout: the stream of a site, and the elementwise op over all threads. */
#include "compute/ops/dropout.h"

#include <math.h>
#include <string.h>

#include "compute/kernels/dropout/philox.h"

/* The counter of the mask is full with (column group, plane, position, example), so step and site
 * go into the key: one draw keyed by the seed makes the key of every (step, site). The words 2 and
 * 3 of that counter are constants. */
bool dropout_begin(const struct dropout *dropout, struct dropout_stream *stream_out)
{
    if (!dropout || dropout->p <= 0.0f) {
        return false;
    }
    uint32_t round_keys[DROPOUT_ROUNDS][2];
    philox_round_keys((uint32_t)dropout->seed, (uint32_t)(dropout->seed >> 32), DROPOUT_ROUNDS,
                      round_keys);
    uint32_t words[4] = {dropout->step, dropout->site, 0, 0};
    philox((const uint32_t(*)[2])round_keys, DROPOUT_ROUNDS, words);
    philox_round_keys(words[0], words[1], DROPOUT_ROUNDS, stream_out->round_keys);
    const float threshold = roundf(dropout->p * 65536.0f);
    stream_out->threshold = threshold < 65535.0f ? (uint32_t)threshold : 65535u;
    stream_out->scale = 65536.0f / (float)(65536u - stream_out->threshold);
    return true;
}

void dropout_apply(const struct compute *compute, const struct dropout *dropout,
                   const struct token_addresses *at, size_t n, size_t width, const float *x,
                   float *y)
{
    struct dropout_stream stream;
    if (!dropout_begin(dropout, &stream)) {
        if (x != y) {
            memcpy(y, x, n * width * sizeof *y);
        }
        return;
    }
    const struct dropout_kernels *kernels = &compute->kernels.dropout;
#pragma omp parallel for schedule(static) num_threads(compute->n_threads)
    for (size_t t = 0; t < n; t++) {
        kernels->apply(&stream, at->examples + t, at->positions + t, 1, width, x + t * width,
                       y + t * width);
    }
}
