/* The launcher, with shell scripts as ranks. */
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "app/launch/launch.h"
#include "app/launch/rank_report.h"
#include "base/core/clock.h"
#include "machine/topology/core_plan.h"

static char folder[64];

static int set_up(void **state)
{
    (void)state;
    unsetenv("OMP_NUM_THREADS");
    unsetenv("YOKE_REPORT_FD");
    test_folder_make(folder);
    setenv("FOLDER", folder, 1);
    alarm(120); /* a launcher that hangs fails its test instead of the whole run */
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    test_folder_remove(folder);
    return 0;
}

static int run(int n_ranks, bool label, const char *script)
{
    char *argv[] = {"sh", "-c", (char *)script, NULL};
    const struct launch_job job = {
        .program = "/bin/sh", .argv = argv, .n_ranks = n_ranks, .label = label, .bind = true};
    int code = -1;
    EXPECT_OK(launch_run(&job, &code));
    return code;
}

/* The content of a file that a rank wrote, without the last line break. */
static const char *read_back(const char *name, char text[static 1024])
{
    char path[128];
    struct file_map map;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    EXPECT_OK(file_map_open(path, &map));
    const size_t n = map.size_bytes < 1023 ? map.size_bytes : 1023;
    memcpy(text, map.data, n);
    text[n] = '\0';
    text[strcspn(text, "\n")] = '\0';
    file_map_close(&map);
    return text;
}

static void wait_for_file(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    while (!file_exists(path)) {
        clock_sleep(0.005); /* the alarm bounds it */
    }
}

static void ranks_get_their_environment(void **state)
{
    (void)state;
    char text[1024];
    char job[1024];
    char wanted[64];
    assert_int_equal(run(2, false,
                         "echo $RANK $WORLD_SIZE $LOCAL_RANK $LOCAL_WORLD_SIZE $MASTER_ADDR "
                         "> $FOLDER/ranks$RANK; echo $MASTER_PORT $YOKE_JOB_ID > $FOLDER/job$RANK;"
                         "echo $OMP_NUM_THREADS $(nproc --all > /dev/null; OMP_NUM_THREADS= nproc) "
                         "> $FOLDER/cores$RANK"),
                     0);
    assert_string_equal(read_back("ranks0", text), "0 2 0 2 127.0.0.1");
    assert_string_equal(read_back("ranks1", text), "1 2 1 2 127.0.0.1");
    assert_string_equal(read_back("job0", job), read_back("job1", text));
    assert_true(strlen(strchr(job, ' ')) == 33 && atoi(job) > 0);
    struct core_share share;
    EXPECT_OK(core_plan_share(1, 2, &share));
    snprintf(wanted, sizeof wanted, "%d %d", share.n_cpus, share.n_cpus);
    assert_string_equal(read_back("cores1", text), wanted);
    assert_int_equal(run(1, false, "echo $MASTER_PORT $YOKE_JOB_ID > $FOLDER/job0"), 0);
    assert_string_not_equal(read_back("job0", text), job);
}

static void the_users_thread_count_stays(void **state)
{
    (void)state;
    char text[1024];
    setenv("OMP_NUM_THREADS", "3", 1);
    assert_int_equal(run(1, false, "echo $OMP_NUM_THREADS > $FOLDER/threads"), 0);
    assert_string_equal(read_back("threads", text), "3");
}

static void only_rank_0_reads_the_terminal(void **state)
{
    (void)state;
    char text[1024];
    assert_int_equal(run(2, false, "readlink /proc/self/fd/0 > $FOLDER/in$RANK"), 0);
    assert_string_equal(read_back("in1", text), "/dev/null");
}

static void expect_error(const char *part)
{
    if (!strstr(yoke_last_error(), part)) {
        fail_msg("'%s' is not in '%s'", part, yoke_last_error());
    }
}

static void the_failing_rank_stops_the_others(void **state)
{
    (void)state;
    char host[65] = "";
    gethostname(host, sizeof host - 1);
    const double began = clock_now();
    assert_int_equal(run(3, false, "[ $RANK = 1 ] && exit 7; exec sleep 100"), 7);
    assert_true(clock_now() - began < 50.0);
    expect_error("rank 1 of 3 on ");
    expect_error(host);
    expect_error("ended with exit code 7");
}

static void a_killed_rank_is_reported_with_its_signal(void **state)
{
    (void)state;
    assert_int_equal(run(2, false, "[ $RANK = 1 ] && kill -9 $$; exec sleep 100"), 128 + SIGKILL);
    expect_error("rank 1 of 2");
    expect_error("was killed by signal 9 (Killed)");
}

static void the_cause_is_told_from_the_consequence(void **state)
{
    (void)state;
    /* 10 is the exit code of a rank that lost its peer: it ends first, the other one is to blame.
     */
    assert_int_equal(yoke_status_exit_code(YOKE_ERR_PEER_LOST), 10);
    assert_int_equal(run(2, false,
                         "[ $RANK = 0 ] && { while ! [ -e $FOLDER/ready ]; do sleep 0.01; done; "
                         "exit 10; }; trap 'exit 3' TERM; touch $FOLDER/ready; "
                         "while :; do sleep 0.01; done"),
                     3);
    expect_error("rank 1 of 2");
    /* The peer that left is still on its way to its own exit code. */
    assert_int_equal(run(2, false,
                         "[ $RANK = 0 ] && { while ! [ -e $FOLDER/left ]; do sleep 0.01; done; "
                         "exit 10; }; touch $FOLDER/left; sleep 0.3; exit 7"),
                     7);
    expect_error("rank 1 of 2");
}

static void last_words_come_along(void **state)
{
    (void)state;
    assert_int_equal(run(2, false,
                         "[ $RANK = 0 ] && exec sleep 100;"
                         "printf 'cannot open x.json' > /proc/self/fd/$YOKE_REPORT_FD; exit 7"),
                     7);
    expect_error("ended with exit code 7: cannot open x.json");
}

static void a_stubborn_rank_is_killed(void **state)
{
    (void)state;
    const double began = clock_now();
    assert_int_equal(run(2, false,
                         "trap '' TERM; touch $FOLDER/ready$RANK;"
                         "[ $RANK = 0 ] && exec sleep 100;"
                         "while ! [ -e $FOLDER/ready0 ]; do sleep 0.01; done; exit 5"),
                     5);
    assert_true(clock_now() - began >= 4.9);
    expect_error("rank 1 of 2");
}

static void what_cannot_start_is_an_error(void **state)
{
    (void)state;
    char *argv[] = {"x", NULL};
    struct launch_job job = {.program = "/nonexistent/x", .argv = argv, .n_ranks = 2, .bind = true};
    int code = -1;
    EXPECT_OK(launch_run(&job, &code));
    assert_int_equal(code, 126);
    expect_error("cannot run /nonexistent/x: No such file");
    job.n_ranks = 0;
    EXPECT_FAIL(launch_run(&job, &code), YOKE_ERR_INVALID, "0 ranks");
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void labels_stand_before_every_line(void **state)
{
    (void)state;
    char text[1024];
    char path[128];
    snprintf(path, sizeof path, "%s/out", folder);
    fflush(NULL);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        const int file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
        dup2(file, STDOUT_FILENO);
        dup2(file, STDERR_FILENO);
        char *argv[] = {"sh", "-c", "echo one; echo two >&2; printf 'no end'", NULL};
        const struct launch_job job = {
            .program = "/bin/sh", .argv = argv, .n_ranks = 2, .label = true};
        int code = -1;
        _exit(launch_run(&job, &code) < 0 ? 1 : code);
    }
    int exit_state;
    assert_int_equal(waitpid(pid, &exit_state, 0), pid);
    assert_int_equal(exit_state, 0);
    struct file_map map;
    EXPECT_OK(file_map_open(path, &map));
    snprintf(text, sizeof text, "%.*s", (int)map.size_bytes, (const char *)map.data);
    file_map_close(&map);
    char *lines[7];
    size_t n = 0;
    for (char *line = strtok(text, "\n"); line && n < 7; line = strtok(NULL, "\n")) {
        lines[n++] = line;
    }
    assert_int_equal(n, 6);
    qsort(lines, n, sizeof *lines, compare_lines);
    static const char *const wanted[] = {"[rank 0] no end", "[rank 0] one", "[rank 0] two",
                                         "[rank 1] no end", "[rank 1] one", "[rank 1] two"};
    for (size_t i = 0; i < n; i++) {
        assert_string_equal(lines[i], wanted[i]);
    }
}

static void remove_file(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    unlink(path);
}

/* A launcher of two ranks in a process of its own; returns when both ranks are ready. */
static pid_t start_launcher(const char *script)
{
    remove_file("ready0");
    remove_file("ready1");
    fflush(NULL);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        char *argv[] = {"sh", "-c", (char *)script, NULL};
        const struct launch_job job = {.program = "/bin/sh", .argv = argv, .n_ranks = 2};
        int code = -1;
        if (launch_run(&job, &code) < 0 ||
            (code != 0 && !strstr(yoke_last_error(), "stopped by signal 15"))) {
            _exit(99);
        }
        _exit(code);
    }
    wait_for_file("ready0");
    wait_for_file("ready1");
    return pid;
}

static void signals_go_on_to_all_ranks(void **state)
{
    (void)state;
    char text[1024];
    const pid_t pid = start_launcher("trap 'echo got > $FOLDER/term$RANK; exit 0' TERM;"
                                     "touch $FOLDER/ready$RANK; while :; do sleep 0.01; done");
    kill(pid, SIGTERM);
    int exit_state;
    assert_int_equal(waitpid(pid, &exit_state, 0), pid);
    assert_string_equal(read_back("term0", text), "got");
    assert_string_equal(read_back("term1", text), "got");
    assert_int_equal(exit_state, 0); /* the ranks ended well, so the job did */

    const pid_t other = start_launcher("touch $FOLDER/ready$RANK; exec sleep 100");
    kill(other, SIGTERM);
    assert_int_equal(waitpid(other, &exit_state, 0), other);
    assert_true(WIFEXITED(exit_state));
    assert_int_equal(WEXITSTATUS(exit_state), 128 + SIGTERM);
}

static void ranks_die_with_the_launcher(void **state)
{
    (void)state;
    char text[1024];
    const pid_t pid =
        start_launcher("echo $$ > $FOLDER/pid$RANK; touch $FOLDER/ready$RANK; exec sleep 100");
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    for (int r = 0; r < 2; r++) {
        char name[16];
        snprintf(name, sizeof name, "pid%d", r);
        const pid_t rank = atoi(read_back(name, text));
        assert_true(rank > 0);
        char path[64];
        snprintf(path, sizeof path, "/proc/%d/cmdline", (int)rank);
        char c;
        /* Gone, or a zombie that nobody reaps: then its command line is empty. */
        for (;;) {
            const int fd = open(path, O_RDONLY);
            const ssize_t n = fd >= 0 ? read(fd, &c, 1) : 0;
            if (fd >= 0) {
                close(fd);
            }
            if (n <= 0) {
                break;
            }
            clock_sleep(0.005);
        }
    }
}

static void reports_need_a_launcher(void **state)
{
    (void)state;
    char buffer[RANK_REPORT_BYTES];
    char text[16];
    assert_false(rank_report_send("nobody listens"));
    int fd = -1;
    EXPECT_OK(rank_report_create(&fd));
    assert_string_equal(rank_report_read(fd, buffer), "");
    snprintf(text, sizeof text, "%d", fd);
    setenv("YOKE_REPORT_FD", text, 1);
    assert_true(rank_report_send("heard"));
    assert_string_equal(rank_report_read(fd, buffer), "heard");
    close(fd);
    assert_false(rank_report_send("closed"));
    setenv("YOKE_REPORT_FD", "x", 1);
    assert_false(rank_report_send("nonsense"));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(ranks_get_their_environment),
        CASE(the_users_thread_count_stays),
        CASE(only_rank_0_reads_the_terminal),
        CASE(the_failing_rank_stops_the_others),
        CASE(a_killed_rank_is_reported_with_its_signal),
        CASE(the_cause_is_told_from_the_consequence),
        CASE(last_words_come_along),
        CASE(a_stubborn_rank_is_killed),
        CASE(what_cannot_start_is_an_error),
        CASE(labels_stand_before_every_line),
        CASE(signals_go_on_to_all_ranks),
        CASE(ranks_die_with_the_launcher),
        CASE(reports_need_a_launcher),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
