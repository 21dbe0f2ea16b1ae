/* Phases, liveness, segments.
 *
 * Invariants:
 *   1. slot[r].phase is written by rank r alone and only grows (modulo 2^32; ranks are never more
 *      than one apart).
 *   2. A rank that reached phase p needs nobody for it any more: it may leave while others still
 *      wait for the rest. So a dead rank is an error only to those whose phase it has not reached.
 *   3. head.lost is written once, by the first rank that finds a death and before it leaves itself:
 *      whoever then misses that rank blames the first cause, not the messenger. */
#define _GNU_SOURCE /* syscall */
#include "comm/transport/shm/shm_link.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/core/clock.h"
#include "base/core/env.h"
#include "base/core/log.h"
#include "comm/rendezvous/packet.h"

enum { LINE_BYTES = 64, LEFT_ALIVE = 1 << 30 };

static const double spin_seconds = 50e-6;    /* about what a futex sleep and wake cost */
static const long nap_ns = 20 * 1000 * 1000; /* between two looks at the peers while asleep */
static const double share_seconds = 600.0;   /* clearing memory takes about a second per GiB */

/* Sequentially consistent where a store must be seen before a load of another word: phase against
 * n_waiters. Relaxed nowhere: these words are touched a few times a call. */
struct shm_slot {
    _Alignas(LINE_BYTES) _Atomic uint32_t phase;
    _Atomic uint32_t n_waiters; /* ranks asleep on `phase`; too high after a sleeper was killed,
                                   which costs needless wakes and nothing else */
    _Atomic uint32_t has_left;
    _Alignas(LINE_BYTES) unsigned char boards[2][SHM_BOARD_BYTES];
};

struct shm_head {
    _Alignas(LINE_BYTES) _Atomic uint32_t lost; /* rank + 1, with LEFT_ALIVE when it left alive */
    struct shm_slot slots[];                    /* [size] */
};

_Static_assert(SHM_BOARD_BYTES % LINE_BYTES == 0, "boards begin on a cache line");

static struct shm_head *get_head(const struct shm_link *link)
{
    return (struct shm_head *)(void *)link->segment.base;
}

static struct shm_slot *get_slot(const struct shm_link *link, int rank)
{
    return &get_head(link)->slots[rank];
}

static size_t head_bytes(int size)
{
    return segment_round(sizeof(struct shm_head) + (size_t)size * sizeof(struct shm_slot));
}

void *shm_link_board(const struct shm_link *link, int rank, unsigned turn)
{
    return get_slot(link, rank)->boards[turn & 1];
}

unsigned char *shm_link_stage(const struct shm_link *link, int rank)
{
    return link->segment.base + head_bytes(link->size) + (size_t)rank * SHM_STAGE_BYTES;
}

/* ---- who is there ---- */

static bool has_reached(const struct shm_link *link, int rank, uint32_t phase)
{
    return (int32_t)(atomic_load(&get_slot(link, rank)->phase) - phase) >= 0;
}

static bool has_died(const struct shm_link *link, int rank)
{
    struct pollfd item = {.fd = link->meeting.peers[rank].pidfd, .events = POLLIN};
    return item.fd >= 0 && poll(&item, 1, 0) > 0;
}

/* Stores what every later call of this link returns. */
static yoke_status break_link(struct shm_link *link, int rank, bool left_alive)
{
    link->broken = yoke_fail(YOKE_ERR_PEER_LOST,
                             "rank %d of %d (pid %lld on %s) %s while rank %d waited for it in %s, "
                             "call %llu",
                             rank, link->size, (long long)link->meeting.peers[rank].pid,
                             link->meeting.host, left_alive ? "left the group" : "died", link->rank,
                             link->operation, (unsigned long long)link->sequence);
    snprintf(link->why, sizeof link->why, "%s", yoke_last_error());
    return link->broken;
}

/* An error when a rank that has not reached `phase` never will. */
static yoke_status check_peers(struct shm_link *link, uint32_t phase)
{
    for (int r = 0; r < link->size; r++) {
        if (r == link->rank || has_reached(link, r, phase)) {
            continue;
        }
        const bool left = atomic_load(&get_slot(link, r)->has_left);
        if ((!left && !has_died(link, r)) || has_reached(link, r, phase)) {
            continue; /* the second look: it may have come and gone between the first and has_died
                       */
        }
        uint32_t first = 0;
        uint32_t blame = (uint32_t)(r + 1) | (left ? LEFT_ALIVE : 0u);
        if (!atomic_compare_exchange_strong(&get_head(link)->lost, &first, blame)) {
            blame = first;
        }
        return break_link(link, (int)(blame & ~(uint32_t)LEFT_ALIVE) - 1, blame & LEFT_ALIVE);
    }
    return YOKE_OK;
}

/* ---- waiting ---- */

static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

static void futex_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

/* Sleeps while *word is `seen`, at most nap_ns. */
static void futex_nap(_Atomic uint32_t *word, uint32_t seen)
{
    const struct timespec nap = {.tv_nsec = nap_ns};
    syscall(SYS_futex, word, FUTEX_WAIT, seen, &nap, NULL, 0);
}

static bool spin_for(const struct shm_link *link, int rank, uint32_t phase)
{
    const double until = clock_now() + spin_seconds;
    do {
        for (int i = 0; i < 32; i++) {
            if (has_reached(link, rank, phase)) {
                return true;
            }
            if (link->spins) {
                relax();
            } else {
                sched_yield();
            }
        }
    } while (clock_now() < until);
    return false;
}

static yoke_status wait_for(struct shm_link *link, int rank, uint32_t phase)
{
    if (has_reached(link, rank, phase) || spin_for(link, rank, phase)) {
        return YOKE_OK;
    }
    struct shm_slot *slot = get_slot(link, rank);
    const double began = clock_now();
    bool reported = link->stall_seconds == 0;
    yoke_status status = YOKE_OK;
    while (status >= 0 && !has_reached(link, rank, phase)) {
        atomic_fetch_add(&slot->n_waiters, 1);
        const uint32_t seen = atomic_load(&slot->phase);
        if ((int32_t)(seen - phase) < 0) {
            futex_nap(&slot->phase, seen);
        }
        atomic_fetch_sub(&slot->n_waiters, 1);
        status = check_peers(link, phase);
        if (!reported && clock_now() - began > (double)link->stall_seconds) {
            reported = true;
            log_warning("rank %d has waited %lld s for rank %d (pid %lld) in %s, call %llu",
                        link->rank, (long long)link->stall_seconds, rank,
                        (long long)link->meeting.peers[rank].pid, link->operation,
                        (unsigned long long)link->sequence);
        }
    }
    return status;
}

yoke_status shm_link_sync(struct shm_link *link)
{
    if (link->broken < 0) {
        return yoke_fail(link->broken, "%s", link->why);
    }
    const uint32_t phase = ++link->phase;
    struct shm_slot *mine = get_slot(link, link->rank);
    atomic_store(&mine->phase, phase);
    if (atomic_load(&mine->n_waiters) > 0) {
        futex_wake(&mine->phase);
    }
    for (int r = 0; r < link->size; r++) {
        YOKE_TRY(wait_for(link, r, phase));
    }
    return YOKE_OK;
}

/* ---- segments ---- */

/* The rank at the other end of a failed message, in front of what failed. */
static yoke_status blame(const struct shm_link *link, int rank, yoke_status status)
{
    return yoke_fail_prefix(status, "rank %d (pid %lld on %s)", rank,
                            (long long)link->meeting.peers[rank].pid, link->meeting.host);
}

static yoke_status map_and_reserve(const struct shm_link *link, int fd, size_t block_bytes,
                                   struct segment *segment)
{
    YOKE_TRY(segment_map(fd, block_bytes * (size_t)link->size, segment));
    return segment_reserve(fd, block_bytes * (size_t)link->rank, block_bytes);
}

static struct packet make_report(yoke_status status)
{
    struct packet report = {.status = status};
    snprintf(report.text, sizeof report.text, "%s", status < 0 ? yoke_last_error() : "");
    return report;
}

/* Rank 0: hands the segment out, hears from everyone, tells everyone the first failure. */
static yoke_status hand_out(const struct shm_link *link, size_t block_bytes,
                            struct segment *segment)
{
    const struct meet_peer *peers = link->meeting.peers;
    int fd = -1;
    yoke_status status = segment_create(block_bytes * (size_t)link->size, &fd);
    const struct packet offer = make_report(status);
    for (int r = 1; r < link->size; r++) {
        const yoke_status sent = packet_send(peers[r].socket, &offer, fd);
        status = status < 0 ? status : blame(link, r, sent);
    }
    if (status >= 0) {
        status = map_and_reserve(link, fd, block_bytes, segment);
    }
    if (fd >= 0) {
        close(fd);
    }
    struct packet verdict = make_report(status);
    for (int r = 1; r < link->size && offer.status >= 0; r++) {
        struct packet answer;
        int none;
        yoke_status heard =
            packet_receive(peers[r].socket, clock_now() + share_seconds, &answer, &none);
        if (heard >= 0 && answer.status < 0) {
            heard = yoke_fail((yoke_status)answer.status, "%s", answer.text);
        }
        if (heard < 0 && verdict.status >= 0) {
            verdict = make_report(blame(link, r, heard));
        }
    }
    for (int r = 1; r < link->size && offer.status >= 0; r++) {
        /* Who has gone by now misses the verdict, which must be the same for all others: the next
         * sync finds the death. */
        (void)!packet_send(peers[r].socket, &verdict, -1);
    }
    return verdict.status < 0 ? yoke_fail((yoke_status)verdict.status, "%s", verdict.text)
                              : YOKE_OK;
}

static yoke_status hear_from_first(const struct shm_link *link, struct packet *packet, int *fd)
{
    const double deadline = clock_now() + share_seconds;
    YOKE_TRY(blame(link, 0, packet_receive(link->meeting.peers[0].socket, deadline, packet, fd)));
    return packet->status < 0 ? yoke_fail((yoke_status)packet->status, "%s", packet->text)
                              : YOKE_OK;
}

static yoke_status take_part(const struct shm_link *link, size_t block_bytes,
                             struct segment *segment)
{
    struct packet packet;
    int fd = -1;
    YOKE_TRY(hear_from_first(link, &packet, &fd));
    const yoke_status status = map_and_reserve(link, fd, block_bytes, segment);
    close(fd);
    const struct packet answer = make_report(status);
    YOKE_TRY(blame(link, 0, packet_send(link->meeting.peers[0].socket, &answer, -1)));
    return hear_from_first(link, &packet, &fd);
}

/* A socket that closed tells that some rank is lost, but to this rank alone: names the first cause
 * to all, as a sync would. The process may need a moment more to end. */
static yoke_status trace_loss(struct shm_link *link)
{
    const yoke_status heard = yoke_fail(YOKE_ERR_PEER_LOST, "%s", yoke_last_error());
    for (const double until = clock_now() + 1.0; clock_now() < until; clock_sleep(0.002)) {
        YOKE_TRY(check_peers(link, link->phase + 1));
    }
    return heard;
}

yoke_status shm_link_share(struct shm_link *link, size_t block_bytes, struct segment *segment_out)
{
    if (link->broken < 0) {
        return yoke_fail(link->broken, "%s", link->why);
    }
    if (block_bytes == 0 || block_bytes > (size_t)INT64_MAX / (size_t)link->size) {
        return yoke_fail(YOKE_ERR_INVALID, "%d blocks of %zu bytes are no size of memory",
                         link->size, block_bytes);
    }
    struct segment segment = {0};
    const yoke_status status = link->rank == 0 ? hand_out(link, block_bytes, &segment)
                                               : take_part(link, block_bytes, &segment);
    if (status < 0) {
        segment_unmap(&segment);
        return status == YOKE_ERR_PEER_LOST && link->segment.base ? trace_loss(link) : status;
    }
    *segment_out = segment;
    return YOKE_OK;
}

/* ---- open and close ---- */

yoke_status shm_link_open(struct meeting *meeting, struct shm_link *link_out)
{
    struct shm_link link = {.meeting = *meeting,
                            .rank = meeting->rank,
                            .size = meeting->size,
                            .spins = meeting->size <= sysconf(_SC_NPROCESSORS_ONLN),
                            .operation = "create"};
    *meeting = (struct meeting){0};
    yoke_status status = YOKE_OK;
    YOKE_TRY_GOTO(env_get_int("YOKE_STALL_WARN", 0, 86400, 60, &link.stall_seconds));
    /* One block a rank: the head is spread over the blocks, the stages follow it. */
    const size_t per_rank = segment_round(head_bytes(link.size) / (size_t)link.size + 1);
    YOKE_TRY_GOTO(shm_link_share(&link, per_rank + SHM_STAGE_BYTES, &link.segment));
    status = shm_link_sync(&link);
done:
    if (status < 0) {
        shm_link_close(&link);
        return status;
    }
    *link_out = link;
    return YOKE_OK;
}

void shm_link_close(struct shm_link *link)
{
    if (link->segment.base) {
        struct shm_slot *mine = get_slot(link, link->rank);
        atomic_store(&mine->has_left, 1);
        futex_wake(&mine->phase);
    }
    segment_unmap(&link->segment);
    meet_close(&link->meeting);
    *link = (struct shm_link){0};
}
