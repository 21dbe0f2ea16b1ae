/* The communicator's inside: its state, and the round that opens every call.
 *
 * A call begins with one round: every rank puts a record of what it was asked (and, when they are
 * few, the bytes themselves) on its board, all sync, all compare all records. So ranks that
 * disagree learn it at the same point, get the same error, and can go on with the next call. */
#ifndef COMM_GROUP_COMMUNICATOR_H
#define COMM_GROUP_COMMUNICATOR_H

#include <stdbool.h>

#include "comm/transport/shm/shm_link.h"
#include "yoke/comm.h"

enum comm_operation {
    COMM_ALLOC,
    COMM_BARRIER,
    COMM_BROADCAST,
    COMM_ALLREDUCE,
    COMM_REDUCE_SCATTER,
    COMM_ALLGATHER,
};

enum { COMM_SMALL_BYTES = 4096 }; /* up to here the bytes travel on the boards */

/* A place in the memory of yoke_comm_alloc; block -1: private memory. */
struct comm_place {
    int64_t block;
    uint64_t offset;
};

/* What a rank was asked. */
struct comm_call {
    int32_t operation;
    int32_t valid; /* 0: an argument is wrong, and this rank returns its own error */
    int32_t type;
    int32_t reduction;
    int32_t root;
    uint64_t count;
    struct comm_place send;
    struct comm_place receive;
};

/* One yoke_comm_alloc: a block a rank. With one rank the base is ordinary memory. */
struct comm_block {
    struct segment segment;
    size_t block_bytes;
};

struct yoke_comm {
    int rank;
    int size;
    struct shm_link link; /* zero with one rank */
    uint64_t n_calls;
    struct comm_block *blocks;
    size_t n_blocks;
    size_t blocks_capacity;
    const void **sources; /* [size], scratch of the reductions */
};

/* Puts `call` and `n_bytes` (at most COMM_SMALL_BYTES) of `payload` on the board, syncs, compares.
 * YOKE_ERR_MISMATCH names the field, the values and the ranks; the same on all ranks. */
yoke_status comm_round(struct yoke_comm *comm, const struct comm_call *call, const void *payload,
                       size_t n_bytes) YOKE_MUST_USE;

/* What rank `rank` put on its board in the present call. */
const struct comm_call *comm_round_call(const struct yoke_comm *comm, int rank);
const unsigned char *comm_round_payload(const struct yoke_comm *comm, int rank);

/* Where `n_bytes` at `memory` lie, if they lie in one block of this rank's own. */
struct comm_place comm_find_place(const struct yoke_comm *comm, const void *memory, size_t n_bytes);

/* The address here of another rank's place. */
unsigned char *comm_place_address(const struct yoke_comm *comm, int rank, struct comm_place place);

/* The algorithms, with arguments that are known to be right; `call` holds them. Sizes above 1. */
yoke_status comm_run_broadcast(struct yoke_comm *comm, const struct comm_call *call,
                               void *buffer) YOKE_MUST_USE;
yoke_status comm_run_allreduce(struct yoke_comm *comm, const struct comm_call *call,
                               const void *send, void *receive) YOKE_MUST_USE;
yoke_status comm_run_reduce_scatter(struct yoke_comm *comm, const struct comm_call *call,
                                    const void *send, void *receive) YOKE_MUST_USE;
yoke_status comm_run_allgather(struct yoke_comm *comm, const struct comm_call *call,
                               const void *send, void *receive) YOKE_MUST_USE;

#endif
