/* One memfd a rank: nothing blocks, nothing is left behind, and it outlives the rank. */
#define _GNU_SOURCE /* memfd_create */
#include "app/launch/rank_report.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/core/env.h"

bool rank_report_send(const char *message)
{
    int64_t fd = -1;
    if (env_get_int("YOKE_REPORT_FD", 0, INT32_MAX, -1, &fd) < 0 || fd < 0) {
        return false;
    }
    const size_t n = strnlen(message, RANK_REPORT_BYTES - 1);
    return n > 0 && pwrite((int)fd, message, n, 0) == (ssize_t)n;
}

yoke_status rank_report_create(int *fd_out)
{
    const int fd = memfd_create("yoke-report", 0); /* inherited: the rank writes it */
    if (fd < 0) {
        return yoke_fail(YOKE_ERR_IO, "cannot make a file for a rank's last words: %m");
    }
    *fd_out = fd;
    return YOKE_OK;
}

const char *rank_report_read(int fd, char buffer[static RANK_REPORT_BYTES])
{
    const ssize_t n = pread(fd, buffer, RANK_REPORT_BYTES - 1, 0);
    buffer[n > 0 ? n : 0] = '\0';
    return buffer;
}
