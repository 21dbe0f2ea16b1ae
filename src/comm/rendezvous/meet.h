/* Where the ranks of one host find each other.
 *
 * Rank 0 listens on an abstract Unix socket that is named after user and job; the others connect.
 * The kernel vouches for the user of each end. Everyone leaves with a process descriptor of
 * everyone, and with the socket between it and rank 0, which stays open. */
#ifndef COMM_RENDEZVOUS_MEET_H
#define COMM_RENDEZVOUS_MEET_H

#include <stdint.h>

#include "comm/rendezvous/rank_env.h"

struct meet_peer {
    int socket;  /* on rank 0: to this rank; elsewhere only peers[0] has one; else -1 */
    int pidfd;   /* becomes readable when the process ends; -1 for oneself */
    int64_t pid; /* in its own PID namespace, for messages */
};

struct meeting {
    int rank;
    int size;
    struct meet_peer *peers; /* [size] */
    char host[65];
};

/* Meets all ranks of the job within YOKE_CONNECT_TIMEOUT seconds (60). Collective.
 *   YOKE_ERR_TIMEOUT      names the ranks that never came
 *   YOKE_ERR_MISMATCH     two processes have one rank, or their sizes differ
 *   YOKE_ERR_BUSY         another job on this host has the same name
 *   YOKE_ERR_UNSUPPORTED  the ranks are on several hosts
 * All ranks that came get the same error. */
yoke_status meet_open(const struct rank_env *env, struct meeting *meeting_out) YOKE_MUST_USE;

/* Closes sockets and descriptors; a zeroed meeting is allowed. */
void meet_close(struct meeting *meeting);

#endif
