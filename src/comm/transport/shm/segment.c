/* memfd, fallocate, mmap. */
#define _GNU_SOURCE /* memfd_create */
#include "comm/transport/shm/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE_BYTES = 4096 };

size_t segment_round(size_t bytes)
{
    const size_t need = bytes > 0 ? bytes : 1;
    return need > SIZE_MAX - PAGE_BYTES ? 0 : (need + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

yoke_status segment_create(size_t bytes, int *fd_out)
{
    const int fd = memfd_create("yoke", MFD_CLOEXEC);
    if (fd < 0) {
        return yoke_fail(YOKE_ERR_IO, "cannot make shared memory: %m");
    }
    if (bytes > (size_t)INT64_MAX || ftruncate(fd, (off_t)bytes) < 0) {
        const yoke_status status =
            yoke_fail(YOKE_ERR_NO_MEMORY, "cannot make %zu bytes of shared memory: %m", bytes);
        close(fd);
        return status;
    }
    *fd_out = fd;
    return YOKE_OK;
}

yoke_status segment_map(int fd, size_t bytes, struct segment *segment_out)
{
    void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (base == MAP_FAILED) {
        return yoke_fail(YOKE_ERR_NO_MEMORY, "cannot map %zu bytes of shared memory: %m", bytes);
    }
    madvise(base, bytes, MADV_HUGEPAGE); /* a wish: most systems refuse it for shared memory */
    *segment_out = (struct segment){base, bytes};
    return YOKE_OK;
}

void segment_unmap(struct segment *segment)
{
    if (segment->base) {
        munmap(segment->base, segment->bytes);
    }
    *segment = (struct segment){0};
}

yoke_status segment_reserve(int fd, size_t offset, size_t bytes)
{
    int code;
    do {
        code = posix_fallocate(fd, (off_t)offset, (off_t)bytes);
    } while (code == EINTR);
    if (code != 0) {
        return yoke_fail(YOKE_ERR_NO_MEMORY, "cannot reserve %zu bytes of shared memory: %s", bytes,
                         strerror(code));
    }
    return YOKE_OK;
}
