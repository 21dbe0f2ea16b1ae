/* The alias table of the launchers' variables, and a name for the job.
 *
 * A family counts when its rank is set; its other variables are then taken from the same family, so
 * that left-overs of another launcher cannot mix in.
 *
 * The job's key keeps two jobs on one host apart. yoke's launcher draws a random YOKE_JOB_ID. Ranks
 * with RANK and WORLD_SIZE share MASTER_ADDR and MASTER_PORT. The MPI launchers give no such thing
 * to programs that do not speak their protocol; but all ranks of a host descend from one daemon,
 * the first ancestor whose own environment has no rank, and its pid and start time name the job. */
#include "comm/rendezvous/rank_env.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/core/env.h"

struct env_family {
    const char *rank;
    const char *size;
    const char *local_rank;
    const char *local_size;
    int keyed_by_daemon; /* the job is named by the launcher's process, not by MASTER_PORT */
};

static const struct env_family families[] = {
    {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", 0},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", 1},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE", 1},
    {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK",
     "MV2_COMM_WORLD_LOCAL_SIZE", 1},
};
enum { N_FAMILIES = sizeof families / sizeof *families };

/* ---- the launcher's daemon ---- */

/* The beginning of /proc/PID/NAME; returns its length, 0 when it cannot be read. */
static size_t read_proc(long pid, const char *name, char *buffer, size_t n_bytes)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/%s", pid, name);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return 0;
    }
    size_t n = 0;
    ssize_t got;
    while (n < n_bytes && (got = read(fd, buffer + n, n_bytes - n)) > 0) {
        n += (size_t)got;
    }
    close(fd);
    return n;
}

/* True when the process was started with `variable` in its environment. */
static int has_variable(long pid, const char *variable)
{
    static const size_t most_bytes = 1 << 20; /* several times the usual environment */
    int found = 0;
    FILE *file = NULL;
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/environ", pid);
    file = fopen(path, "re");
    const size_t n = strlen(variable);
    size_t at = 0; /* position within the present entry */
    int same = 1;  /* the entry so far is the beginning of "VARIABLE=" */
    int c;
    for (size_t i = 0; file && !found && i < most_bytes && (c = getc(file)) != EOF; i++) {
        if (c == '\0') {
            at = 0;
            same = 1;
        } else {
            same = same && at <= n && c == (at < n ? variable[at] : '=');
            found = same && at == n;
            at++;
        }
    }
    if (file) {
        fclose(file);
    }
    return found;
}

/* Parent and start time (fields 4 and 22 of /proc/PID/stat). 0 when they cannot be read. */
static int read_stat(long pid, long *parent_out, uint64_t *started_out)
{
    char text[1024];
    const size_t n = read_proc(pid, "stat", text, sizeof text - 1);
    text[n] = '\0';
    const char *at = strrchr(text, ')'); /* the name before it may contain anything */
    if (!at) {
        return 0;
    }
    *parent_out = strtol(at + 4, NULL, 10); /* ") S PARENT" */
    for (int field = 2; at && field < 22; field++) {
        at = strchr(at + 1, ' ');
    }
    *started_out = at ? strtoull(at, NULL, 10) : 0;
    return at != NULL;
}

static void name_daemon(const char *variable, char key[static RANK_ENV_KEY_BYTES])
{
    long pid = getppid();
    long parent = 0;
    uint64_t started = 0;
    while (read_stat(pid, &parent, &started) && parent > 0 && has_variable(pid, variable)) {
        pid = parent;
    }
    snprintf(key, RANK_ENV_KEY_BYTES, "daemon-%ld-%" PRIu64, pid, started);
}

/* ---- the key ---- */

/* FNV-1a (G. Fowler, L. C. Noll, K.-P. Vo): keys of any length become names of one length. */
static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; *text; text++) {
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    }
    return (hash ^ 0xff) * UINT64_C(0x100000001b3);
}

static void name_job(const struct env_family *family, char key[static RANK_ENV_KEY_BYTES])
{
    const char *job = env_get("YOKE_JOB_ID");
    if (!job && family->keyed_by_daemon) {
        name_daemon(family->rank, key);
        return;
    }
    static const char *const parts[][2] = {
        {"MASTER_ADDR", "127.0.0.1"}, {"MASTER_PORT", "29500"}, {"TORCHELASTIC_RUN_ID", ""}};
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    if (job) {
        hash = hash_text(hash, job);
    }
    for (size_t i = 0; !job && i < sizeof parts / sizeof *parts; i++) {
        const char *value = env_get(parts[i][0]);
        hash = hash_text(hash, value ? value : parts[i][1]);
    }
    snprintf(key, RANK_ENV_KEY_BYTES, "%s-%016" PRIx64, job ? "job" : "port", hash);
}

/* ---- the ranks ---- */

static yoke_status read_number(const char *name, int64_t least, int64_t most, int fallback,
                               int *value_out)
{
    int64_t value = 0;
    YOKE_TRY(env_get_int(name, least, most, fallback, &value));
    *value_out = (int)value;
    return YOKE_OK;
}

static yoke_status read_family(const struct env_family *family, struct rank_env *env)
{
    if (!env_get(family->size)) {
        return yoke_fail(YOKE_ERR_CONFIG, "%s is set but %s is not: set both or none", family->rank,
                         family->size);
    }
    YOKE_TRY(read_number(family->size, 1, RANK_ENV_MAX_SIZE, 1, &env->size));
    YOKE_TRY(read_number(family->rank, 0, env->size - 1, 0, &env->rank));
    YOKE_TRY(read_number(family->local_size, 1, env->size, env->size, &env->local_size));
    const int fallback = env->rank % env->local_size; /* hosts are filled one after the other */
    YOKE_TRY(read_number(family->local_rank, 0, env->local_size - 1, fallback, &env->local_rank));
    if (env->size > 1) {
        name_job(family, env->job_key);
    }
    return YOKE_OK;
}

yoke_status rank_env_read(struct rank_env *env_out)
{
    struct rank_env env = {.size = 1, .local_size = 1};
    for (int i = 0; i < N_FAMILIES; i++) {
        if (env_get(families[i].rank)) {
            YOKE_TRY(read_family(&families[i], &env));
            *env_out = env;
            return YOKE_OK;
        }
    }
    for (int i = 0; i < N_FAMILIES; i++) {
        int size = 1;
        YOKE_TRY(read_number(families[i].size, 1, RANK_ENV_MAX_SIZE, 1, &size));
        if (size > 1) {
            return yoke_fail(YOKE_ERR_CONFIG, "%s=%d is set but %s is not: set both or none",
                             families[i].size, size, families[i].rank);
        }
    }
    *env_out = env;
    return YOKE_OK;
}
