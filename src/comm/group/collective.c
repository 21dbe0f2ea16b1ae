/* The collectives of one host. Each has three ways:
 *
 *   small      the bytes are on the boards when the opening round ends: one sync in all.
 *   allocated  all ranks' buffers are shared memory: each rank reads them where they are. A
 *              reduction of n ranks is divided: rank r reduces slice r, then copies the others.
 *   staged     private buffers travel through the stages in chunks that stay in the cache. Chunk
 *              k + 1 is copied in while others still reduce chunk k, with one sync a chunk.
 *
 * Staged, the chunks take turns between two halves of a stage (and of the result area):
 *   1. After sync k everyone has copied in chunk k; everyone has done with chunk k - 1 as input.
 *   2. So between sync k and k + 1 the half of chunk k - 1 may be filled with chunk k + 1.
 *   3. The reduction of chunk k - 1 lies in its result half; it is complete after sync k, and not
 *      written again before sync k + 1.
 * The opening round of the next call orders it behind the last reads of this one. */
#include <string.h>

#include "comm/group/communicator.h"
#include "comm/group/fold.h"

enum { CHUNK_BYTES = SHM_STAGE_BYTES / 4, SLICE_ALIGN_BYTES = 64 };

/* ---- shared by all ---- */

static size_t type_bytes(const struct comm_call *call)
{
    return fold_type_bytes((yoke_datatype)call->type);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Half `turn` of a rank's stage: input, and result of its slice. */
static unsigned char *stage_in(const struct yoke_comm *comm, int rank, size_t turn)
{
    return shm_link_stage(&comm->link, rank) + (turn & 1) * CHUNK_BYTES;
}

static unsigned char *stage_result(const struct yoke_comm *comm, int rank, size_t turn)
{
    return stage_in(comm, rank, turn) + 2 * CHUNK_BYTES;
}

/* Slice `rank` of `count` elements: begins on a cache line, so that two ranks never write one. */
struct slice {
    size_t begin;
    size_t end;
};

static struct slice get_slice(const struct yoke_comm *comm, size_t count, size_t element_bytes,
                              int rank)
{
    const size_t line = SLICE_ALIGN_BYTES / element_bytes;
    const size_t even = (count + (size_t)comm->size - 1) / (size_t)comm->size;
    const size_t share = (even + line - 1) / line * line;
    const size_t begin = least(count, (size_t)rank * share);
    return (struct slice){begin, least(count, begin + share)};
}

/* True when all ranks' send (receive) buffers are in shared memory: the same answer everywhere. */
static bool all_allocated(const struct yoke_comm *comm, bool receive)
{
    for (int r = 0; r < comm->size; r++) {
        const struct comm_call *call = comm_round_call(comm, r);
        if ((receive ? call->receive.block : call->send.block) < 0) {
            return false;
        }
    }
    return true;
}

static unsigned char *peer_send(const struct yoke_comm *comm, int rank)
{
    return comm_place_address(comm, rank, comm_round_call(comm, rank)->send);
}

static unsigned char *peer_receive(const struct yoke_comm *comm, int rank)
{
    return comm_place_address(comm, rank, comm_round_call(comm, rank)->receive);
}

static void fold(struct yoke_comm *comm, const struct comm_call *call, void *out, size_t count)
{
    fold_sources((yoke_datatype)call->type, (yoke_reduction)call->reduction, out, comm->sources,
                 comm->size, count);
}

/* Bytes that need not move stay where they are. */
static void copy_bytes(void *to, const void *from, size_t n_bytes)
{
    if (to != from && n_bytes > 0) {
        memcpy(to, from, n_bytes);
    }
}

/* ---- broadcast ---- */

static yoke_status broadcast_staged(struct yoke_comm *comm, int root, unsigned char *buffer,
                                    size_t n_bytes)
{
    const size_t n_chunks = (n_bytes + CHUNK_BYTES - 1) / CHUNK_BYTES;
    for (size_t k = 0; k <= n_chunks; k++) {
        if (comm->rank == root && k < n_chunks) {
            const size_t at = k * CHUNK_BYTES;
            memcpy(stage_in(comm, root, k), buffer + at, least(CHUNK_BYTES, n_bytes - at));
        }
        if (comm->rank != root && k > 0) {
            const size_t at = (k - 1) * CHUNK_BYTES;
            memcpy(buffer + at, stage_in(comm, root, k - 1), least(CHUNK_BYTES, n_bytes - at));
        }
        YOKE_TRY(k < n_chunks ? shm_link_sync(&comm->link) : YOKE_OK);
    }
    return YOKE_OK;
}

yoke_status comm_run_broadcast(struct yoke_comm *comm, const struct comm_call *call, void *buffer)
{
    const size_t n_bytes = call->count * type_bytes(call);
    const bool small = n_bytes <= COMM_SMALL_BYTES;
    const bool is_root = comm->rank == call->root;
    YOKE_TRY(comm_round(comm, call, buffer, small && is_root ? n_bytes : 0));
    if (small) {
        if (!is_root) {
            copy_bytes(buffer, comm_round_payload(comm, call->root), n_bytes);
        }
        return YOKE_OK;
    }
    if (comm_round_call(comm, call->root)->send.block >= 0) {
        if (!is_root) {
            memcpy(buffer, peer_send(comm, call->root), n_bytes);
        }
        return shm_link_sync(&comm->link);
    }
    return broadcast_staged(comm, call->root, buffer, n_bytes);
}

/* ---- all-reduce ---- */

static yoke_status allreduce_allocated(struct yoke_comm *comm, const struct comm_call *call,
                                       unsigned char *receive)
{
    const size_t element = type_bytes(call);
    const struct slice mine = get_slice(comm, call->count, element, comm->rank);
    for (int r = 0; r < comm->size; r++) {
        comm->sources[r] = peer_send(comm, r) + mine.begin * element;
    }
    fold(comm, call, receive + mine.begin * element, mine.end - mine.begin);
    YOKE_TRY(shm_link_sync(&comm->link));
    for (int i = 1; i < comm->size; i++) {
        const int r = (comm->rank + i) % comm->size; /* not all ranks read one rank at a time */
        const struct slice slice = get_slice(comm, call->count, element, r);
        memcpy(receive + slice.begin * element, peer_receive(comm, r) + slice.begin * element,
               (slice.end - slice.begin) * element);
    }
    return shm_link_sync(&comm->link);
}

/* A chunk of an all-reduce: its first element, their number, its turn. */
struct chunk {
    size_t begin;
    size_t count;
    size_t turn;
};

static struct chunk get_chunk(size_t k, size_t chunk_count, size_t count)
{
    const size_t begin = k * chunk_count;
    return (struct chunk){begin, least(chunk_count, count - begin), k};
}

/* Copies all but one's own slice: nobody else reads that. */
static void allreduce_copy_in(struct yoke_comm *comm, size_t element, const unsigned char *send,
                              struct chunk chunk)
{
    const struct slice mine = get_slice(comm, chunk.count, element, comm->rank);
    unsigned char *stage = stage_in(comm, comm->rank, chunk.turn);
    const unsigned char *from = send + chunk.begin * element;
    memcpy(stage, from, mine.begin * element);
    memcpy(stage + mine.end * element, from + mine.end * element,
           (chunk.count - mine.end) * element);
}

static void allreduce_fold(struct yoke_comm *comm, const struct comm_call *call,
                           const unsigned char *send, unsigned char *receive, struct chunk chunk)
{
    const size_t element = type_bytes(call);
    const struct slice mine = get_slice(comm, chunk.count, element, comm->rank);
    const size_t at = (chunk.begin + mine.begin) * element;
    for (int r = 0; r < comm->size; r++) {
        comm->sources[r] =
            r == comm->rank ? send + at : stage_in(comm, r, chunk.turn) + mine.begin * element;
    }
    fold(comm, call, receive + at, mine.end - mine.begin);
    memcpy(stage_result(comm, comm->rank, chunk.turn), receive + at,
           (mine.end - mine.begin) * element);
}

static void allreduce_copy_out(struct yoke_comm *comm, size_t element, unsigned char *receive,
                               struct chunk chunk)
{
    for (int i = 1; i < comm->size; i++) {
        const int r = (comm->rank + i) % comm->size;
        const struct slice slice = get_slice(comm, chunk.count, element, r);
        memcpy(receive + (chunk.begin + slice.begin) * element, stage_result(comm, r, chunk.turn),
               (slice.end - slice.begin) * element);
    }
}

static yoke_status allreduce_staged(struct yoke_comm *comm, const struct comm_call *call,
                                    const unsigned char *send, unsigned char *receive)
{
    const size_t element = type_bytes(call);
    const size_t chunk_count = CHUNK_BYTES / element;
    const size_t n_chunks = (call->count + chunk_count - 1) / chunk_count;
    allreduce_copy_in(comm, element, send, get_chunk(0, chunk_count, call->count));
    for (size_t k = 0; k <= n_chunks; k++) {
        YOKE_TRY(shm_link_sync(&comm->link));
        if (k < n_chunks) {
            allreduce_fold(comm, call, send, receive, get_chunk(k, chunk_count, call->count));
        }
        if (k > 0) {
            allreduce_copy_out(comm, element, receive, get_chunk(k - 1, chunk_count, call->count));
        }
        if (k + 1 < n_chunks) {
            allreduce_copy_in(comm, element, send, get_chunk(k + 1, chunk_count, call->count));
        }
    }
    return YOKE_OK;
}

yoke_status comm_run_allreduce(struct yoke_comm *comm, const struct comm_call *call,
                               const void *send, void *receive)
{
    const size_t n_bytes = call->count * type_bytes(call);
    const bool small = n_bytes <= COMM_SMALL_BYTES;
    YOKE_TRY(comm_round(comm, call, send, small ? n_bytes : 0));
    if (small) {
        for (int r = 0; r < comm->size; r++) {
            comm->sources[r] = comm_round_payload(comm, r);
        }
        fold(comm, call, receive, call->count);
        return YOKE_OK;
    }
    if (all_allocated(comm, false) && all_allocated(comm, true)) {
        return allreduce_allocated(comm, call, receive);
    }
    return allreduce_staged(comm, call, send, receive);
}

/* ---- reduce-scatter ---- */

/* Piece k of every slice: `piece` elements of each of the `size` slices, side by side. */
static void scatter_copy_in(struct yoke_comm *comm, const struct comm_call *call,
                            const unsigned char *send, size_t piece, size_t k)
{
    const size_t element = type_bytes(call);
    const size_t n = least(piece, call->count - k * piece);
    unsigned char *stage = stage_in(comm, comm->rank, k);
    for (int r = 0; r < comm->size; r++) {
        if (r != comm->rank) {
            memcpy(stage + (size_t)r * piece * element,
                   send + ((size_t)r * call->count + k * piece) * element, n * element);
        }
    }
}

static yoke_status reduce_scatter_staged(struct yoke_comm *comm, const struct comm_call *call,
                                         const unsigned char *send, unsigned char *receive)
{
    const size_t element = type_bytes(call);
    const size_t piece = CHUNK_BYTES / element / (size_t)comm->size;
    const size_t n_pieces = (call->count + piece - 1) / piece;
    const size_t mine = (size_t)comm->rank;
    scatter_copy_in(comm, call, send, piece, 0);
    for (size_t k = 0; k < n_pieces; k++) {
        YOKE_TRY(shm_link_sync(&comm->link));
        for (int r = 0; r < comm->size; r++) {
            comm->sources[r] = r == comm->rank ? send + (mine * call->count + k * piece) * element
                                               : stage_in(comm, r, k) + mine * piece * element;
        }
        fold(comm, call, receive + k * piece * element, least(piece, call->count - k * piece));
        if (k + 1 < n_pieces) {
            scatter_copy_in(comm, call, send, piece, k + 1);
        }
    }
    return YOKE_OK;
}

yoke_status comm_run_reduce_scatter(struct yoke_comm *comm, const struct comm_call *call,
                                    const void *send, void *receive)
{
    const size_t slice_bytes = call->count * type_bytes(call);
    const size_t n_bytes = slice_bytes * (size_t)comm->size;
    const bool small = n_bytes <= COMM_SMALL_BYTES;
    YOKE_TRY(comm_round(comm, call, send, small ? n_bytes : 0));
    const bool allocated = !small && all_allocated(comm, false);
    if (!small && !allocated) {
        return reduce_scatter_staged(comm, call, send, receive);
    }
    for (int r = 0; r < comm->size; r++) {
        const unsigned char *source = small ? comm_round_payload(comm, r) : peer_send(comm, r);
        comm->sources[r] = source + (size_t)comm->rank * slice_bytes;
    }
    fold(comm, call, receive, call->count);
    return allocated ? shm_link_sync(&comm->link) : YOKE_OK;
}

/* ---- all-gather ---- */

static yoke_status allgather_staged(struct yoke_comm *comm, const unsigned char *send,
                                    unsigned char *receive, size_t n_bytes)
{
    const size_t n_chunks = (n_bytes + CHUNK_BYTES - 1) / CHUNK_BYTES;
    for (size_t k = 0; k < n_chunks; k++) {
        const size_t at = k * CHUNK_BYTES;
        const size_t n = least(CHUNK_BYTES, n_bytes - at);
        memcpy(stage_in(comm, comm->rank, k), send + at, n);
        YOKE_TRY(shm_link_sync(&comm->link));
        for (int i = 1; i < comm->size; i++) {
            const int r = (comm->rank + i) % comm->size;
            memcpy(receive + (size_t)r * n_bytes + at, stage_in(comm, r, k), n);
        }
    }
    copy_bytes(receive + (size_t)comm->rank * n_bytes, send, n_bytes);
    return YOKE_OK;
}

yoke_status comm_run_allgather(struct yoke_comm *comm, const struct comm_call *call,
                               const void *send, void *receive)
{
    const size_t n_bytes = call->count * type_bytes(call);
    const bool small = n_bytes <= COMM_SMALL_BYTES;
    YOKE_TRY(comm_round(comm, call, send, small ? n_bytes : 0));
    const bool allocated = !small && all_allocated(comm, false);
    if (!small && !allocated) {
        return allgather_staged(comm, send, receive, n_bytes);
    }
    for (int i = 0; i < comm->size; i++) {
        const int r = (comm->rank + i) % comm->size;
        const unsigned char *source = r == comm->rank ? send
                                      : small         ? comm_round_payload(comm, r)
                                                      : peer_send(comm, r);
        copy_bytes((unsigned char *)receive + (size_t)r * n_bytes, source, n_bytes);
    }
    return allocated ? shm_link_sync(&comm->link) : YOKE_OK;
}
