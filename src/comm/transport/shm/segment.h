/* Memory that several processes map: a memfd, so that no name is left behind and a small /dev/shm
 * does not matter. */
#ifndef COMM_TRANSPORT_SHM_SEGMENT_H
#define COMM_TRANSPORT_SHM_SEGMENT_H

#include <stddef.h>
#include <stdint.h>

#include "base/core/status.h"

struct segment {
    unsigned char *base; /* page aligned, zeroed at first */
    size_t bytes;
};

/* A file of `bytes` bytes without name; the caller closes *fd_out once all have mapped it. */
yoke_status segment_create(size_t bytes, int *fd_out) YOKE_MUST_USE;

yoke_status segment_map(int fd, size_t bytes, struct segment *segment_out) YOKE_MUST_USE;
void segment_unmap(struct segment *segment);

/* Takes the memory of a part now, on the caller's NUMA node: later there is no SIGBUS for want of
 * memory. YOKE_ERR_NO_MEMORY. */
yoke_status segment_reserve(int fd, size_t offset, size_t bytes) YOKE_MUST_USE;

/* `bytes` rounded up to whole pages, at least one; 0 when that overflows. */
size_t segment_round(size_t bytes);

#endif
