/* Starts the ranks of a job on this host and stays until the last one has ended.
 *
 * Each rank is a process with RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR,
 * MASTER_PORT, YOKE_JOB_ID and OMP_NUM_THREADS in its environment (the last unless it is set
 * already), bound to its own cores. SIGINT, SIGTERM and SIGHUP go on to all of them; when the
 * launcher dies, they die. When a rank fails, the others get SIGTERM, and SIGKILL five seconds
 * later. */
#ifndef APP_LAUNCH_LAUNCH_H
#define APP_LAUNCH_LAUNCH_H

#include <stdbool.h>

#include "base/core/status.h"

enum { LAUNCH_MAX_RANKS = 1024 };

struct launch_job {
    const char *program; /* path of the executable */
    char *const *argv;   /* its arguments from argv[0], NULL at the end */
    int n_ranks;         /* 1..LAUNCH_MAX_RANKS */
    int port;            /* MASTER_PORT; 0: a free one */
    bool label;          /* "[rank 1] " before every line that a rank writes */
    bool bind;           /* give each rank its own cores */
};

/* *exit_code_out is 0 when every rank ended with 0. Otherwise it is that of the first rank that
 * failed by itself (128 + signal for a killed one), and yoke_last_error() names rank, host and
 * reason. An error is returned when the ranks cannot be started. */
yoke_status launch_run(const struct launch_job *job, int *exit_code_out) YOKE_MUST_USE;

#endif
