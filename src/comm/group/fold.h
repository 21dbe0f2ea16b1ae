/* Sums, minima and maxima over the ranks' arrays, in rank order: ((x0 + x1) + x2) + ... for every
 * element, so that all ranks and all layouts of buffers give the same bits. */
#ifndef COMM_GROUP_FOLD_H
#define COMM_GROUP_FOLD_H

#include "yoke/comm.h"

/* Bytes of an element; 0 for a value that is no type. */
size_t fold_type_bytes(yoke_datatype type);

/* "float32"; "sum". "unknown" for values outside the lists. */
const char *fold_type_name(yoke_datatype type);
const char *fold_reduction_name(yoke_reduction reduction);

/* out[i] = the reduction of sources[0..n-1][i] for i < count. `out` may be one of the sources; it
 * overlaps no other way. Whole numbers wrap around. */
void fold_sources(yoke_datatype type, yoke_reduction reduction, void *out,
                  const void *const *sources, int n, size_t count);

#endif
