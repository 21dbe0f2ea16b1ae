/* yoke/comm.h: arguments are checked here, then collective.c runs.
 *
 * A wrong argument on one rank must not leave the others waiting: that rank still takes part in the
 * opening round with a record that says so, and the others get YOKE_ERR_MISMATCH. */
#include "comm/group/communicator.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/core/str.h"
#include "comm/group/fold.h"

static const char *const operation_names[] = {
    [COMM_ALLOC] = "alloc",
    [COMM_BARRIER] = "barrier",
    [COMM_BROADCAST] = "broadcast",
    [COMM_ALLREDUCE] = "allreduce",
    [COMM_REDUCE_SCATTER] = "reduce_scatter",
    [COMM_ALLGATHER] = "allgather",
};

enum { RECORD_BYTES = 256 }; /* of a board, before the payload */
_Static_assert(sizeof(struct comm_call) <= RECORD_BYTES, "the record fits its place");
_Static_assert(RECORD_BYTES + COMM_SMALL_BYTES <= SHM_BOARD_BYTES, "the payload fits the board");

/* ---- the round ---- */

const struct comm_call *comm_round_call(const struct yoke_comm *comm, int rank)
{
    return shm_link_board(&comm->link, rank, (unsigned)(comm->n_calls & 1));
}

const unsigned char *comm_round_payload(const struct yoke_comm *comm, int rank)
{
    const unsigned char *board = shm_link_board(&comm->link, rank, (unsigned)(comm->n_calls & 1));
    return board + RECORD_BYTES;
}

static yoke_status fail_mismatch(const struct yoke_comm *comm, int rank, const char *field,
                                 const char *value0, const char *value)
{
    return yoke_fail(YOKE_ERR_MISMATCH,
                     "ranks disagree in call %" PRIu64
                     " (%s): %s is %s on rank 0 and %s on rank %d",
                     comm->n_calls, operation_names[comm_round_call(comm, 0)->operation], field,
                     value0, value, rank);
}

static yoke_status compare_numbers(const struct yoke_comm *comm, int rank, const char *field,
                                   uint64_t value0, uint64_t value)
{
    if (value0 == value) {
        return YOKE_OK;
    }
    char text0[32];
    char text[32];
    return fail_mismatch(comm, rank, field, str_thousands((int64_t)value0, text0),
                         str_thousands((int64_t)value, text));
}

/* Compares the records in a fixed order, so that all ranks find the same difference first. */
static yoke_status compare_calls(const struct yoke_comm *comm)
{
    for (int r = 0; r < comm->size; r++) {
        if (!comm_round_call(comm, r)->valid) {
            return yoke_fail(YOKE_ERR_MISMATCH,
                             "rank %d made call %" PRIu64 " (%s) with a wrong argument", r,
                             comm->n_calls, operation_names[comm_round_call(comm, r)->operation]);
        }
    }
    const struct comm_call *first = comm_round_call(comm, 0);
    for (int r = 1; r < comm->size; r++) {
        const struct comm_call *call = comm_round_call(comm, r);
        if (call->operation != first->operation) {
            return fail_mismatch(comm, r, "the operation", operation_names[first->operation],
                                 operation_names[call->operation]);
        }
        if (call->type != first->type) {
            return fail_mismatch(comm, r, "the type", fold_type_name((yoke_datatype)first->type),
                                 fold_type_name((yoke_datatype)call->type));
        }
        if (call->reduction != first->reduction) {
            return fail_mismatch(comm, r, "the reduction",
                                 fold_reduction_name((yoke_reduction)first->reduction),
                                 fold_reduction_name((yoke_reduction)call->reduction));
        }
        YOKE_TRY(compare_numbers(comm, r, "the count", first->count, call->count));
        YOKE_TRY(compare_numbers(comm, r, "the root", (uint64_t)first->root, (uint64_t)call->root));
    }
    return YOKE_OK;
}

yoke_status comm_round(struct yoke_comm *comm, const struct comm_call *call, const void *payload,
                       size_t n_bytes)
{
    comm->n_calls++;
    comm->link.operation = operation_names[call->operation];
    comm->link.sequence = comm->n_calls;
    unsigned char *board = shm_link_board(&comm->link, comm->rank, (unsigned)(comm->n_calls & 1));
    memcpy(board, call, sizeof *call);
    if (n_bytes > 0) {
        memcpy(board + RECORD_BYTES, payload, n_bytes);
    }
    YOKE_TRY(shm_link_sync(&comm->link));
    return compare_calls(comm);
}

/* ---- shared memory ---- */

struct comm_place comm_find_place(const struct yoke_comm *comm, const void *memory, size_t n_bytes)
{
    const uintptr_t at = (uintptr_t)memory;
    for (size_t i = 0; i < comm->n_blocks && comm->size > 1; i++) {
        const struct comm_block *block = &comm->blocks[i];
        const uintptr_t own =
            (uintptr_t)block->segment.base + (size_t)comm->rank * block->block_bytes;
        if (at >= own && at - own <= block->block_bytes &&
            n_bytes <= block->block_bytes - (at - own)) {
            return (struct comm_place){(int64_t)i, at - own};
        }
    }
    return (struct comm_place){-1, 0};
}

unsigned char *comm_place_address(const struct yoke_comm *comm, int rank, struct comm_place place)
{
    const struct comm_block *block = &comm->blocks[place.block];
    return block->segment.base + (size_t)rank * block->block_bytes + place.offset;
}

static yoke_status alloc_alone(struct comm_block *block)
{
    block->segment.base = mem_big(block->block_bytes);
    block->segment.bytes = block->block_bytes;
    return block->segment.base ? YOKE_OK : YOKE_ERR_NO_MEMORY;
}

static yoke_status alloc_shared(struct yoke_comm *comm, struct comm_block *block)
{
    const struct comm_call call = {
        .operation = COMM_ALLOC, .valid = block->block_bytes > 0, .count = block->block_bytes};
    YOKE_TRY(comm_round(comm, &call, NULL, 0));
    return shm_link_share(&comm->link, block->block_bytes, &block->segment);
}

yoke_status yoke_comm_alloc(yoke_comm *comm, size_t bytes, void **block_out)
{
    if (!comm || !block_out) {
        return yoke_fail(YOKE_ERR_INVALID, "alloc: the communicator or the output is NULL");
    }
    struct comm_block block = {.block_bytes = segment_round(bytes)};
    YOKE_TRY(MEM_GROW(comm->blocks, comm->blocks_capacity, comm->n_blocks + 1));
    YOKE_TRY(comm->size > 1 ? alloc_shared(comm, &block) : alloc_alone(&block));
    comm->blocks[comm->n_blocks++] = block;
    *block_out = block.segment.base + (size_t)comm->rank * block.block_bytes;
    return YOKE_OK;
}

/* ---- life ---- */

yoke_status yoke_comm_create_from_env(yoke_comm **comm_out)
{
    if (!comm_out) {
        return yoke_fail(YOKE_ERR_INVALID, "create: the output is NULL");
    }
    struct rank_env env;
    struct meeting meeting = {0};
    yoke_comm *comm = NULL;
    yoke_status status = YOKE_OK;
    YOKE_TRY_GOTO(rank_env_read(&env));
    YOKE_TRY_GOTO(MEM_NEW(comm, 1));
    comm->rank = env.rank;
    comm->size = env.size;
    YOKE_TRY_GOTO(MEM_NEW(comm->sources, (size_t)env.size));
    if (env.size > 1) {
        YOKE_TRY_GOTO(meet_open(&env, &meeting));
        YOKE_TRY_GOTO(shm_link_open(&meeting, &comm->link));
    }
done:
    if (status < 0) {
        yoke_comm_destroy(comm);
        return status;
    }
    *comm_out = comm;
    return YOKE_OK;
}

void yoke_comm_destroy(yoke_comm *comm)
{
    if (!comm) {
        return;
    }
    for (size_t i = 0; i < comm->n_blocks; i++) {
        if (comm->size > 1) {
            segment_unmap(&comm->blocks[i].segment);
        } else {
            mem_free_big(comm->blocks[i].segment.base, comm->blocks[i].segment.bytes);
        }
    }
    mem_free(comm->blocks);
    mem_free(comm->sources);
    shm_link_close(&comm->link);
    mem_free(comm);
}

int yoke_comm_rank(const yoke_comm *comm)
{
    return comm ? comm->rank : -1;
}

int yoke_comm_size(const yoke_comm *comm)
{
    return comm ? comm->size : 0;
}

/* ---- calls ---- */

/* What is wrong with a call's arguments, or NULL. `total` is the largest buffer's count. */
static const char *find_fault(const yoke_comm *comm, const struct comm_call *call, const void *send,
                              const void *receive, size_t n_blocks)
{
    const size_t element = fold_type_bytes((yoke_datatype)call->type);
    if (element == 0) {
        return "no such type";
    }
    if (strcmp(fold_reduction_name((yoke_reduction)call->reduction), "unknown") == 0) {
        return "no such reduction";
    }
    if (call->root < 0 || call->root >= comm->size) {
        return "no such root";
    }
    if (call->count > (size_t)PTRDIFF_MAX / element / n_blocks) {
        return "the count is larger than memory";
    }
    return call->count > 0 && (!send || !receive) ? "a buffer is NULL" : NULL;
}

/* The checks of every call. On a wrong argument the other ranks are told; *done_out says that the
 * call is over: nothing to move. `n_blocks`: buffers of one rank's count in the larger buffer. */
static yoke_status begin_call(yoke_comm *comm, struct comm_call *call, const void *send,
                              const void *receive, size_t n_blocks, bool *done_out)
{
    const char *fault = find_fault(comm, call, send, receive, n_blocks);
    if (fault) {
        if (comm->size > 1) {
            call->valid = 0;
            const yoke_status told = comm_round(comm, call, NULL, 0);
            (void)told; /* MISMATCH, of which this rank's own message is the better half */
        }
        return yoke_fail(YOKE_ERR_INVALID,
                         "%s: %s (type %d, reduction %d, root %d, count %" PRIu64
                         ") on rank %d of %d",
                         operation_names[call->operation], fault, call->type, call->reduction,
                         call->root, call->count, comm->rank, comm->size);
    }
    call->valid = 1;
    *done_out = comm->size == 1 || call->count == 0;
    return *done_out && comm->size > 1 ? comm_round(comm, call, NULL, 0) : YOKE_OK;
}

static yoke_status fail_no_comm(const char *operation)
{
    return yoke_fail(YOKE_ERR_INVALID, "%s: the communicator is NULL", operation);
}

/* One rank: the result is the input. */
static void copy_alone(const struct comm_call *call, const void *send, void *receive)
{
    if (send != receive && call->count > 0) {
        memmove(receive, send, call->count * fold_type_bytes((yoke_datatype)call->type));
    }
}

yoke_status yoke_comm_barrier(yoke_comm *comm)
{
    if (!comm) {
        return fail_no_comm("barrier");
    }
    struct comm_call call = {.operation = COMM_BARRIER};
    bool done;
    return begin_call(comm, &call, NULL, NULL, 1, &done);
}

yoke_status yoke_comm_broadcast(yoke_comm *comm, void *buffer, size_t count, yoke_datatype type,
                                int root)
{
    if (!comm) {
        return fail_no_comm("broadcast");
    }
    struct comm_call call = {
        .operation = COMM_BROADCAST, .type = (int32_t)type, .root = root, .count = count};
    bool done;
    YOKE_TRY(begin_call(comm, &call, buffer, buffer, 1, &done));
    if (done) {
        return YOKE_OK;
    }
    call.send = comm_find_place(comm, buffer, count * fold_type_bytes(type));
    return comm_run_broadcast(comm, &call, buffer);
}

yoke_status yoke_comm_allreduce(yoke_comm *comm, const void *send, void *receive, size_t count,
                                yoke_datatype type, yoke_reduction reduction)
{
    if (!comm) {
        return fail_no_comm("allreduce");
    }
    struct comm_call call = {.operation = COMM_ALLREDUCE,
                             .type = (int32_t)type,
                             .reduction = (int32_t)reduction,
                             .count = count};
    bool done;
    YOKE_TRY(begin_call(comm, &call, send, receive, 1, &done));
    if (done) {
        copy_alone(&call, send, receive);
        return YOKE_OK;
    }
    const size_t n_bytes = count * fold_type_bytes(type);
    call.send = comm_find_place(comm, send, n_bytes);
    call.receive = comm_find_place(comm, receive, n_bytes);
    return comm_run_allreduce(comm, &call, send, receive);
}

yoke_status yoke_comm_reduce_scatter(yoke_comm *comm, const void *send, void *receive, size_t count,
                                     yoke_datatype type, yoke_reduction reduction)
{
    if (!comm) {
        return fail_no_comm("reduce_scatter");
    }
    struct comm_call call = {.operation = COMM_REDUCE_SCATTER,
                             .type = (int32_t)type,
                             .reduction = (int32_t)reduction,
                             .count = count};
    bool done;
    YOKE_TRY(begin_call(comm, &call, send, receive, (size_t)comm->size, &done));
    if (done) {
        copy_alone(&call, send, receive);
        return YOKE_OK;
    }
    call.send = comm_find_place(comm, send, count * fold_type_bytes(type) * (size_t)comm->size);
    return comm_run_reduce_scatter(comm, &call, send, receive);
}

yoke_status yoke_comm_allgather(yoke_comm *comm, const void *send, void *receive, size_t count,
                                yoke_datatype type)
{
    if (!comm) {
        return fail_no_comm("allgather");
    }
    struct comm_call call = {.operation = COMM_ALLGATHER, .type = (int32_t)type, .count = count};
    bool done;
    YOKE_TRY(begin_call(comm, &call, send, receive, (size_t)comm->size, &done));
    if (done) {
        copy_alone(&call, send, receive);
        return YOKE_OK;
    }
    call.send = comm_find_place(comm, send, count * fold_type_bytes(type));
    return comm_run_allgather(comm, &call, send, receive);
}
