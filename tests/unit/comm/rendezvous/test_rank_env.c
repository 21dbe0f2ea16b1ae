/* The launchers' variables: families, defaults, contradictions, the job's key. */
#include "support.h"

#include <sys/wait.h>

#include "comm/rendezvous/rank_env.h"

static const char *const variables[] = {
    "RANK",
    "WORLD_SIZE",
    "LOCAL_RANK",
    "LOCAL_WORLD_SIZE",
    "PMI_RANK",
    "PMI_SIZE",
    "MPI_LOCALRANKID",
    "MPI_LOCALNRANKS",
    "OMPI_COMM_WORLD_RANK",
    "OMPI_COMM_WORLD_SIZE",
    "OMPI_COMM_WORLD_LOCAL_RANK",
    "OMPI_COMM_WORLD_LOCAL_SIZE",
    "MV2_COMM_WORLD_RANK",
    "MV2_COMM_WORLD_SIZE",
    "MASTER_ADDR",
    "MASTER_PORT",
    "YOKE_JOB_ID",
    "TORCHELASTIC_RUN_ID",
};

static int set_up(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        unsetenv(variables[i]);
    }
    return 0;
}

static void expect_ranks(int rank, int size, int local_rank, int local_size)
{
    struct rank_env env;
    EXPECT_OK(rank_env_read(&env));
    assert_int_equal(env.rank, rank);
    assert_int_equal(env.size, size);
    assert_int_equal(env.local_rank, local_rank);
    assert_int_equal(env.local_size, local_size);
}

static void nothing_set_is_one_rank(void **state)
{
    (void)state;
    expect_ranks(0, 1, 0, 1);
    setenv("RANK", "", 1);
    setenv("WORLD_SIZE", "1", 1);
    expect_ranks(0, 1, 0, 1);
}

static void every_family_counts(void **state)
{
    setenv("RANK", "2", 1);
    setenv("WORLD_SIZE", "4", 1);
    expect_ranks(2, 4, 2, 4);
    setenv("LOCAL_RANK", "0", 1);
    setenv("LOCAL_WORLD_SIZE", "2", 1);
    expect_ranks(2, 4, 0, 2);
    set_up(state);
    setenv("PMI_RANK", "1", 1);
    setenv("PMI_SIZE", "3", 1);
    setenv("MPI_LOCALRANKID", "1", 1);
    setenv("MPI_LOCALNRANKS", "3", 1);
    expect_ranks(1, 3, 1, 3);
    set_up(state);
    setenv("OMPI_COMM_WORLD_RANK", "5", 1);
    setenv("OMPI_COMM_WORLD_SIZE", "6", 1);
    setenv("OMPI_COMM_WORLD_LOCAL_RANK", "1", 1);
    setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "2", 1);
    expect_ranks(5, 6, 1, 2);
    set_up(state);
    setenv("MV2_COMM_WORLD_RANK", "0", 1);
    setenv("MV2_COMM_WORLD_SIZE", "2", 1);
    expect_ranks(0, 2, 0, 2);
}

static void families_do_not_mix(void **state)
{
    (void)state;
    setenv("RANK", "1", 1);
    setenv("WORLD_SIZE", "2", 1);
    setenv("PMI_RANK", "7", 1);
    setenv("PMI_SIZE", "9", 1);
    setenv("MPI_LOCALRANKID", "8", 1);
    expect_ranks(1, 2, 1, 2);
}

static void contradictions_name_the_variable(void **state)
{
    struct rank_env env;
    setenv("RANK", "1", 1);
    EXPECT_FAIL(rank_env_read(&env), YOKE_ERR_CONFIG, "RANK is set but WORLD_SIZE is not");
    setenv("WORLD_SIZE", "1", 1);
    EXPECT_FAIL(rank_env_read(&env), YOKE_ERR_CONFIG, "RANK='1'");
    setenv("WORLD_SIZE", "many", 1);
    EXPECT_FAIL(rank_env_read(&env), YOKE_ERR_CONFIG, "WORLD_SIZE='many'");
    setenv("WORLD_SIZE", "1025", 1);
    EXPECT_FAIL(rank_env_read(&env), YOKE_ERR_CONFIG, "from 1 to 1024");
    set_up(state);
    setenv("PMI_SIZE", "2", 1);
    EXPECT_FAIL(rank_env_read(&env), YOKE_ERR_CONFIG, "PMI_SIZE=2 is set but PMI_RANK is not");
    set_up(state);
    setenv("RANK", "1", 1);
    setenv("WORLD_SIZE", "2", 1);
    setenv("LOCAL_RANK", "2", 1);
    EXPECT_FAIL(rank_env_read(&env), YOKE_ERR_CONFIG, "LOCAL_RANK='2'");
    setenv("LOCAL_RANK", "0", 1);
    setenv("LOCAL_WORLD_SIZE", "3", 1);
    EXPECT_FAIL(rank_env_read(&env), YOKE_ERR_CONFIG, "LOCAL_WORLD_SIZE='3'");
}

static void read_key(char key[static RANK_ENV_KEY_BYTES])
{
    struct rank_env env;
    EXPECT_OK(rank_env_read(&env));
    memcpy(key, env.job_key, RANK_ENV_KEY_BYTES);
}

static void keys_differ_between_jobs(void **state)
{
    (void)state;
    char a[RANK_ENV_KEY_BYTES];
    char b[RANK_ENV_KEY_BYTES];
    setenv("RANK", "0", 1);
    setenv("WORLD_SIZE", "2", 1);
    read_key(a);
    setenv("RANK", "1", 1);
    setenv("MASTER_ADDR", "127.0.0.1", 1);
    setenv("MASTER_PORT", "29500", 1);
    read_key(b);
    assert_string_equal(a, b);
    setenv("MASTER_PORT", "29501", 1);
    read_key(b);
    assert_string_not_equal(a, b);
    setenv("YOKE_JOB_ID", "x", 1);
    read_key(a);
    assert_string_not_equal(a, b);
    setenv("MASTER_PORT", "29502", 1);
    read_key(b);
    assert_string_equal(a, b);
}

/* This program was not started with PMI_RANK, so its forked ranks take it for their daemon. */
static void mpi_jobs_are_named_by_their_daemon(void **state)
{
    (void)state;
    char keys[2][RANK_ENV_KEY_BYTES];
    setenv("PMI_RANK", "0", 1);
    setenv("PMI_SIZE", "2", 1);
    for (int r = 0; r < 2; r++) {
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        const pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            struct rank_env env = {0};
            setenv("PMI_RANK", r ? "1" : "0", 1);
            const int good = rank_env_read(&env) == YOKE_OK &&
                             write(ends[1], env.job_key, sizeof env.job_key) > 0;
            _exit(good ? 0 : 1);
        }
        int code;
        assert_int_equal(read(ends[0], keys[r], RANK_ENV_KEY_BYTES), RANK_ENV_KEY_BYTES);
        assert_int_equal(waitpid(pid, &code, 0), pid);
        assert_int_equal(code, 0);
        close(ends[0]);
        close(ends[1]);
    }
    assert_string_equal(keys[0], keys[1]);
    char wanted[64];
    snprintf(wanted, sizeof wanted, "daemon-%ld-", (long)getpid());
    assert_int_equal(strncmp(keys[0], wanted, strlen(wanted)), 0);
}

#define CASE(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(nothing_set_is_one_rank),  CASE(every_family_counts),
        CASE(families_do_not_mix),      CASE(contradictions_name_the_variable),
        CASE(keys_differ_between_jobs), CASE(mpi_jobs_are_named_by_their_daemon),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
