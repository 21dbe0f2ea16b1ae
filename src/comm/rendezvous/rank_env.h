/* Which rank this process is, as its launcher says in the environment. */
#ifndef COMM_RENDEZVOUS_RANK_ENV_H
#define COMM_RENDEZVOUS_RANK_ENV_H

#include "base/core/status.h"

enum { RANK_ENV_KEY_BYTES = 96, RANK_ENV_MAX_SIZE = 1024 };

struct rank_env {
    int rank;
    int size;
    int local_rank; /* among the ranks of this host */
    int local_size;
    char job_key[RANK_ENV_KEY_BYTES]; /* the same for all ranks of a job, different between jobs */
};

/* Reads the first family of variables whose rank is set (RANK, PMI_RANK, OMPI_COMM_WORLD_RANK,
 * MV2_COMM_WORLD_RANK); none set is one rank. YOKE_ERR_CONFIG names the variable that is missing or
 * out of range. */
yoke_status rank_env_read(struct rank_env *env_out) YOKE_MUST_USE;

#endif
