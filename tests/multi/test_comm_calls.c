/* Every collective between real processes: sizes 1 to 5, all types and reductions, counts around
 * the borders of the ways (boards, stages, shared blocks), in place and not. */
#include "multi/ranks.h"

#include <fcntl.h>
#include <stdbool.h>

#include "comm/group/fold.h"

enum { MARK = 0x5c, GUARD_BYTES = 64 };

/* Element i of rank r. Small whole numbers: sums are exact in every type, whatever the order. */
static void put_value(yoke_datatype type, void *array, size_t i, int rank, size_t salt)
{
    const unsigned value = (unsigned)((i * 7 + (size_t)rank * 13 + salt) % 41);
    switch (type) {
    case YOKE_FLOAT32:
        ((float *)array)[i] = (float)value - 20.0f;
        break;
    case YOKE_FLOAT64:
        ((double *)array)[i] = value * 0.5;
        break;
    case YOKE_INT64:
        ((int64_t *)array)[i] = (int64_t)value - 30;
        break;
    case YOKE_UINT8:
        ((uint8_t *)array)[i] = (uint8_t)value;
        break;
    }
}

static void fill(yoke_datatype type, void *array, size_t count, int rank)
{
    for (size_t i = 0; i < count; i++) {
        put_value(type, array, i, rank, 0);
    }
}

/* The reduction of element i over all ranks, computed the obvious way. */
static void put_reduction(yoke_datatype type, yoke_reduction reduction, void *out, size_t to,
                          size_t i, int size)
{
    double result = 0.0;
    for (int r = 0; r < size; r++) {
        _Alignas(8) unsigned char one[8];
        double value = 0.0;
        put_value(type, one, 0, r, i * 7);
        value = type == YOKE_FLOAT32   ? (double)*(float *)(void *)one
                : type == YOKE_FLOAT64 ? *(double *)(void *)one
                : type == YOKE_INT64   ? (double)*(int64_t *)(void *)one
                                       : (double)one[0];
        if (r == 0) {
            result = value;
        } else if (reduction == YOKE_SUM) {
            result += value;
        } else if (reduction == YOKE_MIN ? value < result : value > result) {
            result = value;
        }
    }
    switch (type) {
    case YOKE_FLOAT32:
        ((float *)out)[to] = (float)result;
        break;
    case YOKE_FLOAT64:
        ((double *)out)[to] = result;
        break;
    case YOKE_INT64:
        ((int64_t *)out)[to] = (int64_t)result;
        break;
    case YOKE_UINT8:
        ((uint8_t *)out)[to] = (uint8_t)result;
        break;
    }
}

/* Two buffers with guards, private or from yoke_comm_alloc. */
struct buffers {
    unsigned char *send;
    unsigned char *receive;
    unsigned char *wanted;
    size_t capacity;
    size_t receive_bytes; /* the guard begins here */
    bool allocated;
};

static struct buffers make_buffers(yoke_comm *comm, size_t capacity, bool allocated)
{
    struct buffers b = {.capacity = capacity, .allocated = allocated};
    if (allocated) {
        void *block;
        CHECK_OK(yoke_comm_alloc(comm, capacity + GUARD_BYTES, &block));
        b.send = block;
        for (size_t i = 0; i < capacity; i++) {
            CHECK(b.send[i] == 0);
        }
        CHECK_OK(yoke_comm_alloc(comm, capacity + GUARD_BYTES, &block));
        b.receive = block;
    } else {
        b.send = malloc(capacity + GUARD_BYTES);
        b.receive = malloc(capacity + GUARD_BYTES);
    }
    b.wanted = malloc(capacity + GUARD_BYTES);
    CHECK(b.send && b.receive && b.wanted);
    return b;
}

static void free_buffers(struct buffers *b)
{
    if (!b->allocated) {
        free(b->send);
        free(b->receive);
    }
    free(b->wanted);
}

static void mark(struct buffers *b, size_t n_bytes)
{
    b->receive_bytes = n_bytes;
    memset(b->receive, MARK, n_bytes + GUARD_BYTES);
}

static void expect_result(const struct buffers *b, const unsigned char *got, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++) {
        if (got[i] != b->wanted[i]) {
            fprintf(stderr, "byte %zu of %zu is %d, wanted %d\n", i, n_bytes, got[i], b->wanted[i]);
            exit(1);
        }
    }
    for (size_t i = 0; i < GUARD_BYTES; i++) {
        CHECK(b->receive[b->receive_bytes + i] == MARK);
    }
}

static void try_allreduce(yoke_comm *comm, struct buffers *b, size_t count, yoke_datatype type,
                          yoke_reduction reduction)
{
    const int size = yoke_comm_size(comm);
    const size_t n_bytes = count * fold_type_bytes(type);
    for (size_t i = 0; i < count; i++) {
        put_reduction(type, reduction, b->wanted, i, i, size);
    }
    mark(b, n_bytes);
    fill(type, b->send, count, yoke_comm_rank(comm));
    CHECK_OK(yoke_comm_allreduce(comm, b->send, b->receive, count, type, reduction));
    expect_result(b, b->receive, n_bytes);
    fill(type, b->receive, count, yoke_comm_rank(comm));
    CHECK_OK(yoke_comm_allreduce(comm, b->receive, b->receive, count, type, reduction));
    expect_result(b, b->receive, n_bytes);
}

static void try_reduce_scatter(yoke_comm *comm, struct buffers *b, size_t count, yoke_datatype type,
                               yoke_reduction reduction)
{
    const int size = yoke_comm_size(comm);
    const size_t rank = (size_t)yoke_comm_rank(comm);
    const size_t n_bytes = count * fold_type_bytes(type);
    for (size_t i = 0; i < count; i++) {
        put_reduction(type, reduction, b->wanted, i, rank * count + i, size);
    }
    mark(b, n_bytes);
    fill(type, b->send, count * (size_t)size, (int)rank);
    CHECK_OK(yoke_comm_reduce_scatter(comm, b->send, b->receive, count, type, reduction));
    expect_result(b, b->receive, n_bytes);
    unsigned char *own = b->send + rank * n_bytes;
    CHECK_OK(yoke_comm_reduce_scatter(comm, b->send, own, count, type, reduction));
    expect_result(b, own, n_bytes);
}

static void try_allgather(yoke_comm *comm, struct buffers *b, size_t count, yoke_datatype type)
{
    const int size = yoke_comm_size(comm);
    const size_t n_bytes = count * fold_type_bytes(type);
    for (int r = 0; r < size; r++) {
        fill(type, b->wanted + (size_t)r * n_bytes, count, r);
    }
    mark(b, n_bytes * (size_t)size);
    fill(type, b->send, count, yoke_comm_rank(comm));
    CHECK_OK(yoke_comm_allgather(comm, b->send, b->receive, count, type));
    expect_result(b, b->receive, n_bytes * (size_t)size);
    mark(b, n_bytes * (size_t)size);
    unsigned char *own = b->receive + (size_t)yoke_comm_rank(comm) * n_bytes;
    fill(type, own, count, yoke_comm_rank(comm));
    CHECK_OK(yoke_comm_allgather(comm, own, b->receive, count, type));
    expect_result(b, b->receive, n_bytes * (size_t)size);
}

static void try_broadcast(yoke_comm *comm, struct buffers *b, size_t count, yoke_datatype type)
{
    const size_t n_bytes = count * fold_type_bytes(type);
    for (int root = 0; root < yoke_comm_size(comm); root++) {
        fill(type, b->wanted, count, root);
        mark(b, n_bytes);
        if (yoke_comm_rank(comm) == root) {
            fill(type, b->receive, count, root);
        }
        CHECK_OK(yoke_comm_broadcast(comm, b->receive, count, type, root));
        expect_result(b, b->receive, n_bytes);
    }
}

/* Counts at the borders: nothing, one, the boards' 4 KiB, a chunk of the stages, several chunks. */
static const size_t counts[] = {0, 1, 2, 17, 63, 512, 1024, 1025, 4097, 32771, 70001};

static void try_everything(yoke_comm *comm, bool allocated)
{
    const size_t size = (size_t)yoke_comm_size(comm);
    struct buffers b = make_buffers(comm, 70001 * 8 * size, allocated);
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        for (int type = YOKE_FLOAT32; type <= YOKE_UINT8; type++) {
            for (int reduction = YOKE_SUM; reduction <= YOKE_MAX; reduction++) {
                if (counts[c] > 1025 && (type + reduction) % 3 != 0) {
                    continue; /* large ones: each type and each reduction once or twice */
                }
                try_allreduce(comm, &b, counts[c], (yoke_datatype)type, (yoke_reduction)reduction);
                try_reduce_scatter(comm, &b, counts[c], (yoke_datatype)type,
                                   (yoke_reduction)reduction);
            }
            try_allgather(comm, &b, counts[c], (yoke_datatype)type);
            try_broadcast(comm, &b, counts[c], (yoke_datatype)type);
            CHECK_OK(yoke_comm_barrier(comm));
        }
    }
    free_buffers(&b);
}

static void run_everything(void *context)
{
    yoke_comm *comm = NULL;
    CHECK_OK(yoke_comm_create_from_env(&comm));
    try_everything(comm, *(const bool *)context);
    yoke_comm_destroy(comm);
}

static void private_buffers_of_1_to_5_ranks(void **state)
{
    (void)state;
    bool allocated = false;
    for (int size = 1; size <= 5; size++) {
        ranks_run(size, run_everything, &allocated);
    }
}

static void allocated_buffers_of_1_to_5_ranks(void **state)
{
    (void)state;
    bool allocated = true;
    for (int size = 1; size <= 5; size++) {
        ranks_run(size, run_everything, &allocated);
    }
}

/* Sums whose rounding depends on the order: all ranks have the bits of rank order. */
static void sum_in_rank_order(void *context)
{
    (void)context;
    enum { COUNT = 70001 };
    yoke_comm *comm = NULL;
    CHECK_OK(yoke_comm_create_from_env(&comm));
    const int rank = yoke_comm_rank(comm);
    float *send = malloc(COUNT * sizeof *send);
    float *receive = malloc(COUNT * sizeof *receive);
    CHECK(send && receive);
    for (int i = 0; i < COUNT; i++) {
        send[i] = (float)(i + 1) / (float)(3 + 5 * rank);
    }
    CHECK_OK(yoke_comm_allreduce(comm, send, receive, COUNT, YOKE_FLOAT32, YOKE_SUM));
    for (int i = 0; i < COUNT; i++) {
        float wanted = (float)(i + 1) / 3.0f;
        for (int r = 1; r < yoke_comm_size(comm); r++) {
            wanted += (float)(i + 1) / (float)(3 + 5 * r);
        }
        CHECK(receive[i] == wanted);
    }
    free(send);
    free(receive);
    yoke_comm_destroy(comm);
}

static void sums_have_the_bits_of_rank_order(void **state)
{
    (void)state;
    ranks_run(4, sum_in_rank_order, NULL);
}

/* One rank's buffer is shared memory, the other's is not: both go the same way. */
static void mix_buffers(void *context)
{
    (void)context;
    enum { COUNT = 50000 };
    yoke_comm *comm = NULL;
    CHECK_OK(yoke_comm_create_from_env(&comm));
    void *block;
    CHECK_OK(yoke_comm_alloc(comm, 3 * COUNT * sizeof(int64_t), &block));
    int64_t *own = calloc(3 * COUNT, sizeof *own);
    CHECK(own);
    int64_t *x = yoke_comm_rank(comm) == 1 ? block : own;
    for (int i = 0; i < COUNT; i++) {
        x[i] = i + yoke_comm_rank(comm);
    }
    CHECK_OK(yoke_comm_allreduce(comm, x, x, COUNT, YOKE_INT64, YOKE_SUM));
    for (int i = 0; i < COUNT; i++) {
        CHECK(x[i] == 3 * i + 3);
    }
    CHECK_OK(yoke_comm_broadcast(comm, x, COUNT, YOKE_INT64, 1));
    CHECK_OK(yoke_comm_allgather(comm, x, x, COUNT / 3, YOKE_INT64));
    free(own);
    yoke_comm_destroy(comm);
}

static void shared_and_private_buffers_mix(void **state)
{
    (void)state;
    ranks_run(3, mix_buffers, NULL);
}

/* Ranks that run ahead must not overwrite what slower ones still read. */
static void race_ahead(void *context)
{
    (void)context;
    enum { ROUNDS = 300, COUNT = 9000 };
    yoke_comm *comm = NULL;
    CHECK_OK(yoke_comm_create_from_env(&comm));
    const int rank = yoke_comm_rank(comm);
    void *block;
    CHECK_OK(yoke_comm_alloc(comm, COUNT * sizeof(float), &block));
    float *shared = block;
    float *own = malloc(COUNT * sizeof *own);
    CHECK(own);
    for (int round = 0; round < ROUNDS; round++) {
        float *x = round % 3 == 0 ? shared : own;
        const size_t count = round % 5 == 0 ? 100 : COUNT;
        for (size_t i = 0; i < count; i++) {
            x[i] = (float)(round + rank);
        }
        if ((round + rank) % 7 == 0) {
            clock_sleep(0.0005);
        }
        CHECK_OK(yoke_comm_allreduce(comm, x, x, count, YOKE_FLOAT32, YOKE_SUM));
        for (size_t i = 0; i < count; i++) {
            CHECK(x[i] == (float)(3 * round + 3));
        }
    }
    free(own);
    yoke_comm_destroy(comm);
}

static void fast_and_slow_ranks_stay_apart(void **state)
{
    (void)state;
    ranks_run(3, race_ahead, NULL);
}

/* Groups that come and go leave no descriptor behind. */
static int count_descriptors(void)
{
    int n = 0;
    for (int fd = 0; fd < 256; fd++) {
        n += fcntl(fd, F_GETFD) >= 0;
    }
    return n;
}

static void come_and_go(void *context)
{
    const char *job = context;
    const int before = count_descriptors();
    for (int i = 0; i < 50; i++) {
        char name[96];
        snprintf(name, sizeof name, "%s-%d", job, i);
        setenv("YOKE_JOB_ID", name, 1);
        yoke_comm *comm = NULL;
        void *block;
        CHECK_OK(yoke_comm_create_from_env(&comm));
        CHECK_OK(yoke_comm_alloc(comm, 10000, &block));
        CHECK_OK(yoke_comm_barrier(comm));
        yoke_comm_destroy(comm);
    }
    CHECK(count_descriptors() == before);
}

static void groups_leave_nothing_behind(void **state)
{
    (void)state;
    char job[64];
    ranks_name_job(job);
    ranks_run(3, come_and_go, job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(private_buffers_of_1_to_5_ranks),
        cmocka_unit_test(allocated_buffers_of_1_to_5_ranks),
        cmocka_unit_test(sums_have_the_bits_of_rank_order),
        cmocka_unit_test(shared_and_private_buffers_mix),
        cmocka_unit_test(fast_and_slow_ranks_stay_apart),
        cmocka_unit_test(groups_leave_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
