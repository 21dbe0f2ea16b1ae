/* The ranks of one host, joined by shared memory.
 *
 * Every rank has a phase counter that it alone raises, two boards for small records, and a stage
 * for bytes on their way. shm_link_sync raises one's own counter and waits for everybody else's:
 * what a rank wrote before its k-th sync is seen by all after their k-th. Waits spin for a moment,
 * then sleep, and end when a rank that they wait for has died or left. */
#ifndef COMM_TRANSPORT_SHM_SHM_LINK_H
#define COMM_TRANSPORT_SHM_SHM_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "comm/rendezvous/meet.h"
#include "comm/transport/shm/segment.h"

enum {
    SHM_BOARD_BYTES = 4096 + 256,
    SHM_STAGE_BYTES = 512 * 1024, /* of one rank: four chunks that stay in a core's L2 cache */
};

struct shm_head;

struct shm_link {
    struct meeting meeting;
    int rank;
    int size;
    struct segment segment; /* slots, then stages */
    uint32_t phase;         /* syncs so far, modulo 2^32 */
    bool spins;             /* every rank can have a core */
    int64_t stall_seconds;  /* a wait this long is reported once; 0: never */
    const char *operation;  /* what the syncs are for and its number: for messages */
    uint64_t sequence;
    yoke_status broken; /* a rank was lost: nothing works any more */
    char why[512];
};

/* Joins the ranks that have met; takes the meeting over, on an error too. Collective. */
yoke_status shm_link_open(struct meeting *meeting, struct shm_link *link_out) YOKE_MUST_USE;

/* Leaves; a zeroed link is allowed. Ranks that wait for this one get YOKE_ERR_PEER_LOST. */
void shm_link_close(struct shm_link *link);

/* YOKE_ERR_PEER_LOST names rank, pid and host. */
yoke_status shm_link_sync(struct shm_link *link) YOKE_MUST_USE;

/* The boards of a rank, `turn` 0 or 1; SHM_BOARD_BYTES on a 64-byte boundary. */
void *shm_link_board(const struct shm_link *link, int rank, unsigned turn);

/* The stage of a rank: SHM_STAGE_BYTES on a page boundary. */
unsigned char *shm_link_stage(const struct shm_link *link, int rank);

/* A new segment of size * block_bytes that all ranks map; each reserves its own block. block_bytes
 * (a multiple of pages) must be the same on all ranks. When one rank fails, all do. Collective. */
yoke_status shm_link_share(struct shm_link *link, size_t block_bytes,
                           struct segment *segment_out) YOKE_MUST_USE;

#endif
