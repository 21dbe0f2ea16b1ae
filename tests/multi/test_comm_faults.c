/* What may go wrong between ranks ends in an error on every rank, soon, with a name: disagreement,
 * wrong arguments, death, departure, ranks that never come. */
#include "multi/ranks.h"

#include <stdbool.h>

/* ---- disagreement ---- */

static void disagree(void *context)
{
    (void)context;
    yoke_comm *comm = NULL;
    float x[2000] = {0};
    CHECK_OK(yoke_comm_create_from_env(&comm));
    const int rank = yoke_comm_rank(comm);
    CHECK_FAIL(yoke_comm_allreduce(comm, x, x, rank == 2 ? 1500 : 2000, YOKE_FLOAT32, YOKE_SUM),
               YOKE_ERR_MISMATCH,
               "call 1 (allreduce): the count is 2,000 on rank 0 and 1,500 on "
               "rank 2");
    CHECK_FAIL(
        yoke_comm_allreduce(comm, x, x, 5, rank == 1 ? YOKE_FLOAT64 : YOKE_FLOAT32, YOKE_SUM),
        YOKE_ERR_MISMATCH, "the type is float32 on rank 0 and float64 on rank 1");
    CHECK_FAIL(yoke_comm_allreduce(comm, x, x, 5, YOKE_FLOAT32, rank == 1 ? YOKE_MAX : YOKE_SUM),
               YOKE_ERR_MISMATCH, "the reduction is sum on rank 0 and max on rank 1");
    CHECK_FAIL(yoke_comm_broadcast(comm, x, 5, YOKE_FLOAT32, rank == 2), YOKE_ERR_MISMATCH,
               "the root is 0 on rank 0 and 1 on rank 2");
    CHECK_FAIL(rank == 0 ? yoke_comm_barrier(comm)
                         : yoke_comm_broadcast(comm, x, 5, YOKE_FLOAT32, 0),
               YOKE_ERR_MISMATCH, "the operation is barrier on rank 0 and broadcast on rank 1");
    void *block = NULL;
    CHECK_FAIL(yoke_comm_alloc(comm, rank == 1 ? 4096 : 8192, &block), YOKE_ERR_MISMATCH,
               "(alloc): the count is 8,192 on rank 0 and 4,096 on rank 1");
    CHECK(block == NULL);
    for (int i = 0; i < 2000; i++) {
        CHECK(x[i] == 0.0f);
        x[i] = 1.0f;
    }
    CHECK_OK(yoke_comm_allreduce(comm, x, x, 2000, YOKE_FLOAT32, YOKE_SUM));
    CHECK(x[1999] == 3.0f);
    yoke_comm_destroy(comm);
}

static void all_ranks_learn_of_a_disagreement_and_go_on(void **state)
{
    (void)state;
    ranks_run(3, disagree, NULL);
}

static void pass_wrong_arguments(void *context)
{
    (void)context;
    yoke_comm *comm = NULL;
    int64_t x[4] = {0};
    CHECK_OK(yoke_comm_create_from_env(&comm));
    const int rank = yoke_comm_rank(comm);
    const bool odd = yoke_comm_size(comm) == 1 || rank == 1;
    const yoke_status wanted = odd ? YOKE_ERR_INVALID : YOKE_ERR_MISMATCH;
    CHECK_FAIL(yoke_comm_allreduce(comm, odd ? NULL : x, x, 4, YOKE_INT64, YOKE_SUM), wanted,
               odd ? "allreduce: a buffer is NULL" : "rank 1 made call 1 (allreduce) with a wrong");
    CHECK_FAIL(yoke_comm_allreduce(comm, x, x, 4, odd ? (yoke_datatype)77 : YOKE_INT64, YOKE_SUM),
               wanted, odd ? "no such type" : "wrong argument");
    CHECK_FAIL(
        yoke_comm_reduce_scatter(comm, x, x, 1, YOKE_INT64, odd ? (yoke_reduction)-1 : YOKE_SUM),
        wanted, odd ? "no such reduction" : "wrong argument");
    CHECK_FAIL(yoke_comm_broadcast(comm, x, 4, YOKE_INT64, odd ? 9 : 0), wanted,
               odd ? "no such root" : "wrong argument");
    CHECK_FAIL(yoke_comm_allgather(comm, x, x, odd ? SIZE_MAX / 8 : 1, YOKE_INT64), wanted,
               odd ? "the count is larger than memory" : "wrong argument");
    CHECK_OK(yoke_comm_barrier(comm));
    yoke_comm_destroy(comm);
}

static void a_wrong_argument_is_an_error_on_all(void **state)
{
    (void)state;
    ranks_run(1, pass_wrong_arguments, NULL);
    ranks_run(3, pass_wrong_arguments, NULL);
}

static void null_is_refused(void **state)
{
    (void)state;
    float x = 0;
    EXPECT_FAIL(yoke_comm_create_from_env(NULL), YOKE_ERR_INVALID, "NULL");
    EXPECT_FAIL(yoke_comm_barrier(NULL), YOKE_ERR_INVALID, "barrier");
    EXPECT_FAIL(yoke_comm_allreduce(NULL, &x, &x, 1, YOKE_FLOAT32, YOKE_SUM), YOKE_ERR_INVALID,
                "allreduce");
    EXPECT_FAIL(yoke_comm_alloc(NULL, 1, NULL), YOKE_ERR_INVALID, "alloc");
    yoke_comm_destroy(NULL);
}

/* ---- death ---- */

enum way { IN_BARRIER, IN_ALLREDUCE, IN_ALLOCATED, IN_ALLOC, N_WAYS };

struct death {
    enum way way;
    int victim;
    bool leaves;   /* destroys its communicator and lives on, instead of being killed */
    int to_parent; /* the victim writes when it is ready, the others when they got the error */
};

static void tell_time(const struct death *death)
{
    const double now = clock_now();
    CHECK(write(death->to_parent, &now, sizeof now) == sizeof now);
}

/* One call after the other until one fails. */
static yoke_status call_for_ever(yoke_comm *comm, enum way way, float *x, float *shared,
                                 size_t count)
{
    yoke_status status = YOKE_OK;
    void *block;
    while (status == YOKE_OK) {
        if (way == IN_BARRIER) {
            status = yoke_comm_barrier(comm);
        } else if (way == IN_ALLOC) {
            status = yoke_comm_alloc(comm, 4096, &block);
        } else {
            float *buffer = way == IN_ALLOCATED ? shared : x;
            status = yoke_comm_allreduce(comm, buffer, buffer, count, YOKE_FLOAT32, YOKE_MAX);
        }
    }
    return status;
}

static void be_the_victim(const struct death *death, yoke_comm *comm, float *x, float *shared,
                          size_t count)
{
    tell_time(death);
    if (!death->leaves) {
        (void)!call_for_ever(comm, death->way, x, shared, count); /* killed somewhere in here */
        exit(1);
    }
    free(x);
    yoke_comm_destroy(comm);
    clock_sleep(1.0); /* alive, but gone from the group */
    exit(0);
}

static void die_or_survive(void *context)
{
    enum { COUNT = 300000 };
    const struct death *death = context;
    yoke_comm *comm = NULL;
    void *block;
    CHECK_OK(yoke_comm_create_from_env(&comm));
    CHECK_OK(yoke_comm_alloc(comm, COUNT * sizeof(float), &block));
    float *x = calloc(COUNT, sizeof *x);
    CHECK(x);
    CHECK_OK(yoke_comm_barrier(comm));
    if (yoke_comm_rank(comm) == death->victim) {
        be_the_victim(death, comm, x, block, COUNT);
    }
    const yoke_status status = call_for_ever(comm, death->way, x, block, COUNT);
    char who[32];
    snprintf(who, sizeof who, "rank %d ", death->victim);
    CHECK(status == YOKE_ERR_PEER_LOST);
    CHECK(strstr(yoke_last_error(), who));
    static const char *const calls[] = {"barrier", "allreduce", "allreduce", "alloc"};
    tell_time(death);
    CHECK(strstr(yoke_last_error(), death->leaves ? "left the group" : "died"));
    CHECK(strstr(yoke_last_error(), calls[death->way]));
    CHECK_FAIL(yoke_comm_barrier(comm), YOKE_ERR_PEER_LOST, who);
    free(x);
    yoke_comm_destroy(comm);
}

/* Kills the victim `delay` seconds after it said that it is ready; the others must have the right
 * error within a second of that. */
static void try_death(struct death death, double delay)
{
    int pipe_ends[2];
    double when = 0.0;
    assert_int_equal(pipe(pipe_ends), 0);
    death.to_parent = pipe_ends[1];
    const struct ranks ranks = ranks_start(3, die_or_survive, &death);
    close(pipe_ends[1]); /* so that the reads end when all ranks have */
    assert_int_equal(read(pipe_ends[0], &when, sizeof when), sizeof when);
    clock_sleep(delay);
    const double killed = clock_now();
    if (!death.leaves) {
        kill(ranks.pids[death.victim], SIGKILL);
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(read(pipe_ends[0], &when, sizeof when), sizeof when);
        assert_true(when - killed < 1.0);
    }
    for (int r = 0; r < 3; r++) {
        const bool was_killed = r == death.victim && !death.leaves;
        assert_int_equal(ranks_wait_one(ranks.pids[r]), was_killed ? 128 + SIGKILL : 0);
    }
    close(pipe_ends[0]);
}

static void a_killed_rank_is_named_by_all(void **state)
{
    (void)state;
    for (int way = IN_BARRIER; way < N_WAYS; way++) {
        for (int victim = 0; victim < 3; victim++) {
            try_death((struct death){.way = (enum way)way, .victim = victim},
                      0.004 * victim + 0.001 * way);
        }
    }
}

static void a_rank_that_leaves_is_named_by_all(void **state)
{
    (void)state;
    try_death((struct death){.way = IN_BARRIER, .victim = 1, .leaves = true}, 0.0);
    try_death((struct death){.way = IN_ALLREDUCE, .victim = 0, .leaves = true}, 0.0);
}

/* A rank may leave as soon as its own last call is over: nobody needs it any more. */
static void leave_at_different_times(void *context)
{
    (void)context;
    for (int i = 0; i < 40; i++) {
        char job[64];
        snprintf(job, sizeof job, "leave-%ld-%d", (long)getppid(), i);
        setenv("YOKE_JOB_ID", job, 1);
        yoke_comm *comm = NULL;
        double x = 1.0;
        CHECK_OK(yoke_comm_create_from_env(&comm));
        CHECK_OK(yoke_comm_allreduce(comm, &x, &x, 1, YOKE_FLOAT64, YOKE_SUM));
        CHECK(x == 4.0);
        yoke_comm_destroy(comm);
    }
}

static void leaving_after_the_last_call_is_no_error(void **state)
{
    (void)state;
    ranks_run(4, leave_at_different_times, NULL);
}

/* ---- waiting ---- */

static void be_late(void *context)
{
    const char *path = context;
    setenv("YOKE_STALL_WARN", "1", 1);
    CHECK(freopen(getenv("RANK")[0] == '0' ? path : "/dev/null", "w", stderr));
    yoke_comm *comm = NULL;
    CHECK_OK(yoke_comm_create_from_env(&comm));
    if (yoke_comm_rank(comm) == 1) {
        clock_sleep(1.5);
    }
    CHECK_OK(yoke_comm_barrier(comm));
    yoke_comm_destroy(comm);
}

static void a_long_wait_is_reported_once(void **state)
{
    (void)state;
    char folder[64];
    char path[96];
    struct file_map map;
    test_folder_make(folder);
    snprintf(path, sizeof path, "%s/log", folder);
    ranks_run(2, be_late, path);
    EXPECT_OK(file_map_open(path, &map));
    char *text = strndup((const char *)map.data, map.size_bytes);
    file_map_close(&map);
    const char *line = strstr(text, "rank 0 has waited 1 s for rank 1 (pid ");
    assert_non_null(line);
    assert_non_null(strstr(line, "in barrier, call 1"));
    assert_null(strstr(line + strlen("rank 0 has waited"), "has waited"));
    free(text);
    test_folder_remove(folder);
}

/* ---- meeting ---- */

struct meeting_error {
    yoke_status status;
    const char *part;
};

static void fail_to_meet(void *context)
{
    const struct meeting_error *wanted = context;
    yoke_comm *comm = NULL;
    setenv("YOKE_CONNECT_TIMEOUT", wanted->status == YOKE_ERR_TIMEOUT ? "2" : "50", 1);
    CHECK_FAIL(yoke_comm_create_from_env(&comm), wanted->status, wanted->part);
    CHECK(comm == NULL);
}

static void ranks_that_never_come_are_named(void **state)
{
    (void)state;
    char job[64];
    ranks_name_job(job);
    struct meeting_error wanted = {YOKE_ERR_TIMEOUT, "rank 1, 3 of 4 never came"};
    const pid_t first = ranks_start_one(0, 4, job, fail_to_meet, &wanted);
    const pid_t third = ranks_start_one(2, 4, job, fail_to_meet, &wanted);
    assert_int_equal(ranks_wait_one(first), 0);
    assert_int_equal(ranks_wait_one(third), 0);
    wanted.part = "rank 0 of 4 was not found";
    assert_int_equal(ranks_wait_one(ranks_start_one(2, 4, job, fail_to_meet, &wanted)), 0);
}

static void two_of_one_rank_are_refused(void **state)
{
    (void)state;
    char job[64];
    ranks_name_job(job);
    struct meeting_error wanted = {YOKE_ERR_MISMATCH, "are rank 1"};
    const pid_t pids[] = {ranks_start_one(1, 3, job, fail_to_meet, &wanted),
                          ranks_start_one(1, 3, job, fail_to_meet, &wanted),
                          ranks_start_one(0, 3, job, fail_to_meet, &wanted)};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(ranks_wait_one(pids[i]), 0);
    }
}

static void different_sizes_are_refused(void **state)
{
    (void)state;
    char job[64];
    ranks_name_job(job);
    struct meeting_error wanted = {YOKE_ERR_MISMATCH, "was started for 2 ranks, rank 0 for 3"};
    const pid_t first = ranks_start_one(0, 3, job, fail_to_meet, &wanted);
    const pid_t other = ranks_start_one(1, 2, job, fail_to_meet, &wanted);
    assert_int_equal(ranks_wait_one(first), 0);
    assert_int_equal(ranks_wait_one(other), 0);
}

static void come_and_die(void *context)
{
    yoke_comm *comm = NULL;
    alarm(1); /* dies while it waits for the last rank */
    (void)!yoke_comm_create_from_env(&comm);
    (void)context;
}

static void stay_for_the_dead(void *context)
{
    (void)context;
    yoke_comm *comm = NULL;
    setenv("YOKE_CONNECT_TIMEOUT", "50", 1);
    CHECK_FAIL(yoke_comm_create_from_env(&comm), YOKE_ERR_PEER_LOST,
               "ended before all ranks had come");
}

static void death_before_the_last_one_comes_is_noticed(void **state)
{
    (void)state;
    char job[64];
    ranks_name_job(job);
    const pid_t first = ranks_start_one(0, 3, job, stay_for_the_dead, NULL);
    const pid_t dead = ranks_start_one(1, 3, job, come_and_die, NULL);
    assert_int_equal(ranks_wait_one(dead), 128 + SIGALRM);
    assert_int_equal(ranks_wait_one(first), 0);
}

static void sum_the_job(void *context)
{
    const int64_t own = *(const int64_t *)context;
    int64_t sum = 0;
    yoke_comm *comm = NULL;
    CHECK_OK(yoke_comm_create_from_env(&comm));
    for (int i = 0; i < 50; i++) {
        CHECK_OK(yoke_comm_allreduce(comm, &own, &sum, 1, YOKE_INT64, YOKE_SUM));
        CHECK(sum == 2 * own);
    }
    yoke_comm_destroy(comm);
}

static void jobs_do_not_mix(void **state)
{
    (void)state;
    enum { N_JOBS = 4 };
    struct ranks jobs[N_JOBS];
    int64_t values[N_JOBS];
    for (int j = 0; j < N_JOBS; j++) {
        values[j] = 1000 + j;
        jobs[j] = ranks_start(2, sum_the_job, &values[j]);
    }
    for (int j = 0; j < N_JOBS; j++) {
        ranks_wait(&jobs[j]);
    }
}

static void several_hosts_are_refused(void **state)
{
    (void)state;
    yoke_comm *comm = NULL;
    ranks_set_env(0, 4, "hosts");
    setenv("LOCAL_WORLD_SIZE", "2", 1);
    EXPECT_FAIL(yoke_comm_create_from_env(&comm), YOKE_ERR_UNSUPPORTED,
                "2 of 4 ranks are on this host");
    assert_null(comm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_ranks_learn_of_a_disagreement_and_go_on),
        cmocka_unit_test(a_wrong_argument_is_an_error_on_all),
        cmocka_unit_test(null_is_refused),
        cmocka_unit_test(a_killed_rank_is_named_by_all),
        cmocka_unit_test(a_rank_that_leaves_is_named_by_all),
        cmocka_unit_test(leaving_after_the_last_call_is_no_error),
        cmocka_unit_test(a_long_wait_is_reported_once),
        cmocka_unit_test(ranks_that_never_come_are_named),
        cmocka_unit_test(two_of_one_rank_are_refused),
        cmocka_unit_test(different_sizes_are_refused),
        cmocka_unit_test(death_before_the_last_one_comes_is_noticed),
        cmocka_unit_test(jobs_do_not_mix),
        cmocka_unit_test(several_hosts_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
