/* Several ranks of one test: forked processes with the launcher's variables.
 *
 * cmocka's checks end a test by a jump, which a forked child must not do: a rank uses CHECK, which
 * prints and ends the process. The parent fails the test when a rank's exit code is not 0. */
#ifndef TESTS_MULTI_RANKS_H
#define TESTS_MULTI_RANKS_H

#include "support.h"

#include <signal.h>
#include <sys/wait.h>

#include "base/core/clock.h"
#include "yoke/comm.h"

enum { RANKS_MAX = 16 };

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s; last error: %s\n", __FILE__, __LINE__, #condition,         \
                    yoke_last_error());                                                            \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#define CHECK_OK(expression) CHECK((expression) == YOKE_OK)
#define CHECK_FAIL(expression, wanted, part)                                                       \
    CHECK((expression) == (wanted) && strstr(yoke_last_error(), (part)))

struct ranks {
    int size;
    pid_t pids[RANKS_MAX];
};

/* Gives this process the variables of a rank. */
static inline void ranks_set_env(int rank, int size, const char *job)
{
    char text[32];
    snprintf(text, sizeof text, "%d", rank);
    setenv("RANK", text, 1);
    setenv("LOCAL_RANK", text, 1);
    snprintf(text, sizeof text, "%d", size);
    setenv("WORLD_SIZE", text, 1);
    setenv("LOCAL_WORLD_SIZE", text, 1);
    setenv("YOKE_JOB_ID", job, 1);
}

/* A name that no other test and no other run has. */
static inline void ranks_name_job(char job[static 64])
{
    static int n;
    snprintf(job, 64, "test-%ld-%d", (long)getpid(), n++);
}

static inline pid_t ranks_start_one(int rank, int size, const char *job, void (*body)(void *),
                                    void *context)
{
    fflush(NULL);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        ranks_set_env(rank, size, job);
        alarm(60); /* a rank that hangs fails its test instead of the whole run */
        body(context);
        exit(0);
    }
    return pid;
}

static inline struct ranks ranks_start(int size, void (*body)(void *), void *context)
{
    struct ranks ranks = {.size = size};
    char job[64];
    ranks_name_job(job);
    for (int r = 0; r < size; r++) {
        ranks.pids[r] = ranks_start_one(r, size, job, body, context);
    }
    return ranks;
}

/* Waits for a rank: its exit code, or 128 + signal. */
static inline int ranks_wait_one(pid_t pid)
{
    int state = 0;
    assert_int_equal(waitpid(pid, &state, 0), pid);
    return WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
}

static inline void ranks_wait(const struct ranks *ranks)
{
    int n_failed = 0;
    for (int r = 0; r < ranks->size; r++) {
        const int code = ranks_wait_one(ranks->pids[r]);
        if (code != 0) {
            fprintf(stderr, "rank %d of %d: exit code %d\n", r, ranks->size, code);
            n_failed++;
        }
    }
    assert_int_equal(n_failed, 0);
}

static inline void ranks_run(int size, void (*body)(void *), void *context)
{
    const struct ranks ranks = ranks_start(size, body, context);
    ranks_wait(&ranks);
}

#endif
