/* The last words of a rank: how its error message gets to the launcher, which prints one line for
 * all ranks.
 *
 * The launcher gives each rank an anonymous file and its number in YOKE_REPORT_FD. */
#ifndef APP_LAUNCH_RANK_REPORT_H
#define APP_LAUNCH_RANK_REPORT_H

#include <stdbool.h>

#include "base/core/status.h"

enum { RANK_REPORT_BYTES = 1024 };

/* In a rank: hands `message` to the launcher, which will print it. False when no launcher listens:
 * then the caller prints it. */
bool rank_report_send(const char *message);

/* In the launcher: the file of one rank, closed by its owner. */
yoke_status rank_report_create(int *fd_out) YOKE_MUST_USE;

/* What the rank sent, "" for nothing. Returns `buffer`. */
const char *rank_report_read(int fd, char buffer[static RANK_REPORT_BYTES]);

#endif
