/* libyoke: bytes and sums across ranks.
 *
 * A rank is a process. A communicator is a group of ranks that call the same operations in the same
 * order. All calls block and end: when a peer dies, every waiting rank gets YOKE_ERR_PEER_LOST with a
 * message that names rank and host. A communicator is used by one thread at a time. */
#ifndef YOKE_COMM_H
#define YOKE_COMM_H

#include <stddef.h>
#include <stdint.h>

#include "yoke/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct yoke_comm yoke_comm;

typedef enum yoke_datatype { YOKE_FLOAT32 = 0, YOKE_FLOAT64 = 1, YOKE_INT64 = 2, YOKE_UINT8 = 3 } yoke_datatype;
typedef enum yoke_reduction { YOKE_SUM = 0, YOKE_MIN = 1, YOKE_MAX = 2 } yoke_reduction;

/* The communicator of all ranks, found from the environment (RANK, WORLD_SIZE and their kin; none set:
 * one rank). Collective. */
yoke_status yoke_comm_create_from_env(yoke_comm **comm_out);

/* Leaves the group; NULL is allowed. Not collective: peers that still wait for this rank get an error. */
void yoke_comm_destroy(yoke_comm *comm);

int yoke_comm_rank(const yoke_comm *comm);
int yoke_comm_size(const yoke_comm *comm);

/* Zeroed memory that all ranks map: operations on it take no staging copy. Collective, the same `bytes`
 * on all ranks; each rank gets its own block. Freed with the communicator. */
yoke_status yoke_comm_alloc(yoke_comm *comm, size_t bytes, void **block_out);

yoke_status yoke_comm_barrier(yoke_comm *comm);

/* `count` elements, from `root` to all, in place. */
yoke_status yoke_comm_broadcast(yoke_comm *comm, void *buffer, size_t count, yoke_datatype type, int root);

/* The reduction over ranks, in rank order, on every rank: the same bits everywhere. In place when
 * send == receive. */
yoke_status yoke_comm_allreduce(yoke_comm *comm, const void *send, void *receive, size_t count,
                                yoke_datatype type, yoke_reduction reduction);

/* Rank r gets the reduction of elements [r*count, (r+1)*count) of every rank's `send`
 * (size*count elements) in `receive` (count elements); in place when receive == send + r*count. */
yoke_status yoke_comm_reduce_scatter(yoke_comm *comm, const void *send, void *receive, size_t count,
                                     yoke_datatype type, yoke_reduction reduction);

/* `receive` (size*count elements) gets every rank's `send` (count), in rank order; in place when
 * send == receive + rank*count. */
yoke_status yoke_comm_allgather(yoke_comm *comm, const void *send, void *receive, size_t count,
                                yoke_datatype type);

#ifdef __cplusplus
}
#endif
#endif
