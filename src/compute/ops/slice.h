/* How an op's work is cut into contiguous parts, one a thread. Boundaries are multiples of `unit`,
 * so that no two threads write to one cache line and every part but the last is whole vectors. */
#ifndef COMPUTE_OPS_SLICE_H
#define COMPUTE_OPS_SLICE_H

#include <stddef.h>

/* Floats of a 64-byte cache line, and of the widest vector. */
#define SLICE_LINE 16

/* Below so many elements waking the threads costs more than they save. */
#define SLICE_WORTH 8192

struct slice {
    size_t first, n;
};

/* Part `part` of n elements cut into n_parts parts whose sizes differ by at most one unit. */
static inline struct slice slice_of(size_t n, size_t unit, size_t part, size_t n_parts)
{
    const size_t n_units = (n + unit - 1) / unit;
    const size_t share = n_units / n_parts, more = n_units % n_parts;
    const size_t from = part * share + (part < more ? part : more);
    const size_t to = from + share + (part < more ? 1 : 0);
    const size_t first = from * unit < n ? from * unit : n;
    const size_t end = to * unit < n ? to * unit : n;
    return (struct slice){first, end - first};
}

#endif
