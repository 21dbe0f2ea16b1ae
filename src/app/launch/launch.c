/* The launcher.
 *
 *   running --a rank says that it lost a peer--> waiting
 *   running, waiting --a rank fails by itself or a signal comes--> stopping (SIGTERM or the signal)
 *   waiting --last_words_seconds--> stopping (SIGTERM sent)
 *   stopping --grace_seconds, or a second signal--> killing (SIGKILL sent)
 *   any of them --the last rank is reaped--> done
 *
 * A lost peer has left its group and is about to end: it is given the time to say why.
 * The cause is told from its consequences at the end: a rank that lost its peer, or died of the
 * SIGTERM that stopped it, did not fail by itself. Of the ranks that did, the first one reaped is
 * reported. */
#define _GNU_SOURCE /* pipe2, strsignal */
#include "app/launch/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/launch/line_label.h"
#include "app/launch/rank_report.h"
#include "base/core/clock.h"
#include "base/core/env.h"
#include "base/core/log.h"
#include "base/core/memory.h"
#include "machine/topology/core_plan.h"

static const double grace_seconds = 5.0;
static const double last_words_seconds = 2.0;

enum { CODE_CANNOT_START = 126 };

struct rank_process {
    pid_t pid;                   /* 0 when it has been reaped or was never started */
    pid_t old_pid;               /* stays, for messages */
    int code;                    /* exit code, 128 + signal */
    int order;                   /* the how-manieth it was to end, from 1; 0 while it runs */
    bool stopped;                /* ended because it had been told to */
    int report;                  /* its last words */
    struct line_label labels[2]; /* standard output, standard error */
};

struct launcher {
    const struct launch_job *job;
    struct rank_process *ranks;
    struct core_share *shares;
    int n_running;
    int n_ended;
    int signal_fd;
    sigset_t old_mask;
    bool masked;
    int stop_signal;  /* 0: running */
    double stop_time; /* when waiting becomes stopping, 0: not waiting */
    double kill_time; /* when stopping becomes killing */
    bool killed;
    int user_signal; /* what the user sent, 0: nothing */
    char port[16];
    char job_id[40];
};

/* ---- before the ranks ---- */

/* A port that is free now: the job's name for programs that know only MASTER_PORT. */
static yoke_status choose_port(int wanted, char text[static 16])
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int port = wanted;
    if (port == 0) {
        const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) < 0 ||
            getsockname(fd, (struct sockaddr *)&address, &length) < 0) {
            const yoke_status status = yoke_fail(YOKE_ERR_IO, "cannot find a free port: %m");
            if (fd >= 0) {
                close(fd);
            }
            return status;
        }
        close(fd);
        port = ntohs(address.sin_port);
    }
    snprintf(text, 16, "%d", port);
    return YOKE_OK;
}

static yoke_status draw_job_id(char text[static 40])
{
    uint64_t random[2];
    if (getrandom(random, sizeof random, 0) != sizeof random) {
        return yoke_fail(YOKE_ERR_IO, "cannot draw a random name for the job: %m");
    }
    snprintf(text, 40, "%016llx%016llx", (unsigned long long)random[0],
             (unsigned long long)random[1]);
    return YOKE_OK;
}

static yoke_status plan_cores(struct launcher *l)
{
    for (int r = 0; r < l->job->n_ranks; r++) {
        YOKE_TRY(core_plan_share(r, l->job->n_ranks, &l->shares[r]));
    }
    if (l->shares[0].shared) {
        log_warning(
            "There are fewer cores to use than %d ranks: ranks share cores and wait for each "
            "other.",
            l->job->n_ranks);
    }
    return YOKE_OK;
}

static yoke_status take_signals(struct launcher *l)
{
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGCHLD);
    sigaddset(&mask, SIGINT);
    sigaddset(&mask, SIGTERM);
    sigaddset(&mask, SIGHUP);
    sigprocmask(SIG_BLOCK, &mask, &l->old_mask);
    l->masked = true;
    l->signal_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
    if (l->signal_fd < 0) {
        return yoke_fail(YOKE_ERR_IO, "cannot wait for signals: %m");
    }
    return YOKE_OK;
}

/* ---- a rank's process ---- */

static void set_number(const char *name, int value)
{
    char text[16];
    snprintf(text, sizeof text, "%d", value);
    setenv(name, text, 1);
}

static void set_environment(const struct launcher *l, int rank)
{
    set_number("RANK", rank);
    set_number("LOCAL_RANK", rank);
    set_number("WORLD_SIZE", l->job->n_ranks);
    set_number("LOCAL_WORLD_SIZE", l->job->n_ranks);
    set_number("YOKE_REPORT_FD", l->ranks[rank].report);
    setenv("MASTER_ADDR", "127.0.0.1", 1);
    setenv("MASTER_PORT", l->port, 1);
    setenv("YOKE_JOB_ID", l->job_id, 1);
    if (!env_get("OMP_NUM_THREADS")) {
        set_number("OMP_NUM_THREADS", l->shares[rank].n_cpus);
    }
}

/* Where a rank's output goes, and rank 0 alone reads the terminal. */
static void set_streams(const int ends[2], int rank)
{
    for (int i = 0; i < 2; i++) {
        if (ends[i] >= 0) {
            dup2(ends[i], i == 0 ? STDOUT_FILENO : STDERR_FILENO);
        }
    }
    if (rank > 0) {
        const int none = open("/dev/null", O_RDONLY);
        if (none >= 0) {
            dup2(none, STDIN_FILENO);
            close(none);
        }
    }
}

/* In the child: becomes the rank. Never returns. */
static void become_rank(const struct launcher *l, int rank, pid_t parent, const int ends[2])
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(CODE_CANNOT_START); /* the launcher died before the line above */
    }
    sigprocmask(SIG_SETMASK, &l->old_mask, NULL);
    for (int r = 0; r < l->job->n_ranks; r++) {
        if (r != rank && l->ranks[r].report >= 0) {
            close(l->ranks[r].report);
        }
    }
    set_streams(ends, rank);
    set_environment(l, rank);
    yoke_status status = l->job->bind ? core_plan_bind(&l->shares[rank]) : YOKE_OK;
    if (status >= 0) {
        execv(l->job->program, l->job->argv);
        status = yoke_fail(YOKE_ERR_IO, "cannot run %s: %m", l->job->program);
    }
    rank_report_send(yoke_last_error());
    _exit(CODE_CANNOT_START);
}

/* Pipes for both streams, or none. `ends` are the rank's ends, -1 without a label. */
static yoke_status open_labels(struct launcher *l, int rank, int ends[2])
{
    ends[0] = ends[1] = -1;
    for (int i = 0; i < 2 && l->job->label; i++) {
        int pair[2];
        if (pipe2(pair, O_CLOEXEC) < 0) {
            return yoke_fail(YOKE_ERR_IO, "cannot make a pipe to rank %d: %m", rank);
        }
        fcntl(pair[0], F_SETFL, O_NONBLOCK);
        line_label_init(&l->ranks[rank].labels[i], pair[0], i == 0 ? STDOUT_FILENO : STDERR_FILENO,
                        rank);
        ends[i] = pair[1];
    }
    return YOKE_OK;
}

static yoke_status start_rank(struct launcher *l, int rank)
{
    int ends[2];
    const pid_t parent = getpid();
    yoke_status status = YOKE_OK;
    YOKE_TRY_GOTO(rank_report_create(&l->ranks[rank].report));
    YOKE_TRY_GOTO(open_labels(l, rank, ends));
    const pid_t pid = fork();
    if (pid == 0) {
        become_rank(l, rank, parent, ends);
    }
    if (pid < 0) {
        status = yoke_fail(YOKE_ERR_IO, "cannot start rank %d of %d: %m", rank, l->job->n_ranks);
        goto done;
    }
    l->ranks[rank].pid = pid;
    l->ranks[rank].old_pid = pid;
    l->n_running++;
done:
    for (int i = 0; i < 2; i++) {
        if (ends[i] >= 0) {
            close(ends[i]);
        }
    }
    return status;
}

/* ---- while they run ---- */

static void send_to_all(const struct launcher *l, int signal)
{
    for (int r = 0; r < l->job->n_ranks; r++) {
        if (l->ranks[r].pid > 0) {
            kill(l->ranks[r].pid, signal);
        }
    }
}

/* Tells the ranks to stop; from the second time on it insists. */
static void stop_all(struct launcher *l, int signal, bool send)
{
    if (l->stop_signal == 0) {
        l->stop_signal = signal;
        l->kill_time = clock_now() + grace_seconds;
        if (send) {
            send_to_all(l, signal);
        }
    } else if (l->user_signal != 0 && !l->killed) {
        l->kill_time = clock_now();
    }
}

static bool lost_a_peer(const struct rank_process *rank)
{
    return rank->code == yoke_status_exit_code(YOKE_ERR_PEER_LOST);
}

static void reap(struct launcher *l)
{
    for (int r = 0; r < l->job->n_ranks; r++) {
        struct rank_process *rank = &l->ranks[r];
        int state;
        if (rank->pid == 0 || waitpid(rank->pid, &state, WNOHANG) != rank->pid) {
            continue;
        }
        rank->pid = 0;
        rank->code = WIFSIGNALED(state) ? 128 + WTERMSIG(state) : WEXITSTATUS(state);
        rank->stopped = l->user_signal != 0 || (l->stop_signal != 0 && WIFSIGNALED(state));
        rank->order = ++l->n_ended;
        l->n_running--;
    }
    for (int r = 0; r < l->job->n_ranks && l->stop_signal == 0; r++) {
        const struct rank_process *rank = &l->ranks[r];
        if (rank->order == 0 || rank->code == 0) {
            continue;
        }
        if (!lost_a_peer(rank)) {
            stop_all(l, SIGTERM, true);
        } else if (l->stop_time == 0) {
            l->stop_time = clock_now() + last_words_seconds;
        }
    }
}

static void take_signal(struct launcher *l)
{
    struct signalfd_siginfo info;
    while (read(l->signal_fd, &info, sizeof info) == sizeof info) {
        if (info.ssi_signo == SIGCHLD) {
            continue; /* they merge: all ranks are looked at anyway */
        }
        /* Ctrl-C in the terminal reaches the ranks without help: they are of the same group. */
        const bool from_terminal = info.ssi_code == SI_KERNEL;
        const bool first = l->user_signal == 0;
        if (first) {
            l->user_signal = (int)info.ssi_signo;
        }
        if (first && l->stop_signal != 0) {
            continue; /* they are being stopped already */
        }
        stop_all(l, (int)info.ssi_signo, !from_terminal);
    }
}

/* Sleeps until something happens, 100 ms at most while a time runs. */
static void wait_for_events(struct launcher *l, struct pollfd *items)
{
    nfds_t n = 0;
    items[n++] = (struct pollfd){.fd = l->signal_fd, .events = POLLIN};
    for (int r = 0; r < l->job->n_ranks && l->job->label; r++) {
        for (int i = 0; i < 2; i++) {
            items[n++] = (struct pollfd){.fd = l->ranks[r].labels[i].from, .events = POLLIN};
        }
    }
    poll(items, n, l->stop_signal != 0 || l->stop_time > 0 ? 100 : -1);
    for (int r = 0; r < l->job->n_ranks && l->job->label; r++) {
        for (int i = 0; i < 2; i++) {
            line_label_pump(&l->ranks[r].labels[i]);
        }
    }
}

static void supervise(struct launcher *l, struct pollfd *items)
{
    while (l->n_running > 0) {
        wait_for_events(l, items);
        take_signal(l);
        reap(l);
        if (l->stop_signal == 0 && l->stop_time > 0 && clock_now() >= l->stop_time) {
            stop_all(l, SIGTERM, true);
        }
        if (l->stop_signal != 0 && !l->killed && clock_now() >= l->kill_time) {
            l->killed = true;
            send_to_all(l, SIGKILL);
        }
    }
}

/* ---- afterwards ---- */

static bool failed_by_itself(const struct rank_process *rank)
{
    return rank->code != 0 && !rank->stopped && !lost_a_peer(rank);
}

/* The rank to report: the first that failed by itself, else the first that failed; -1 for none. */
static int find_culprit(const struct launcher *l)
{
    int best = -1;
    for (int r = 0; r < l->job->n_ranks; r++) {
        const struct rank_process *rank = &l->ranks[r];
        if (rank->code == 0) {
            continue;
        }
        const struct rank_process *now = best >= 0 ? &l->ranks[best] : NULL;
        const bool better =
            !now || failed_by_itself(rank) > failed_by_itself(now) ||
            (failed_by_itself(rank) == failed_by_itself(now) && rank->order < now->order);
        best = better ? r : best;
    }
    return best;
}

/* The exit code of the job, and its one line. */
static int conclude(const struct launcher *l)
{
    const int culprit = find_culprit(l);
    if (culprit < 0) {
        return 0;
    }
    const struct rank_process *rank = &l->ranks[culprit];
    char host[65] = "";
    char words[RANK_REPORT_BYTES];
    char how[64];
    gethostname(host, sizeof host - 1);
    rank_report_read(rank->report, words);
    if (l->user_signal != 0 && !failed_by_itself(rank)) {
        (void)!yoke_fail(YOKE_ERR_CANCELLED, "stopped by signal %d (%s)", l->user_signal,
                         strsignal(l->user_signal));
        return 128 + l->user_signal;
    }
    if (rank->code > 128) {
        snprintf(how, sizeof how, "was killed by signal %d (%s)", rank->code - 128,
                 strsignal(rank->code - 128));
    } else {
        snprintf(how, sizeof how, "ended with exit code %d", rank->code);
    }
    (void)!yoke_fail(YOKE_ERR_PEER_LOST, "rank %d of %d on %s (pid %ld) %s%s%s", culprit,
                     l->job->n_ranks, host, (long)rank->old_pid, how, words[0] ? ": " : "", words);
    return rank->code;
}

static yoke_status open_launcher(struct launcher *l, struct pollfd **items_out)
{
    const size_t n = (size_t)l->job->n_ranks;
    if (l->job->n_ranks < 1 || l->job->n_ranks > LAUNCH_MAX_RANKS) {
        return yoke_fail(YOKE_ERR_INVALID, "%d ranks: expected 1 to %d", l->job->n_ranks,
                         LAUNCH_MAX_RANKS);
    }
    YOKE_TRY(MEM_NEW(l->ranks, n));
    for (size_t r = 0; r < n; r++) {
        l->ranks[r].report = -1;
        l->ranks[r].labels[0].from = -1;
        l->ranks[r].labels[1].from = -1;
    }
    YOKE_TRY(MEM_NEW(l->shares, n));
    YOKE_TRY(MEM_NEW(*items_out, 1 + 2 * n));
    YOKE_TRY(choose_port(l->job->port, l->port));
    YOKE_TRY(draw_job_id(l->job_id));
    YOKE_TRY(plan_cores(l));
    return take_signals(l);
}

static void close_launcher(struct launcher *l)
{
    for (int r = 0; l->ranks && r < l->job->n_ranks; r++) {
        line_label_fini(&l->ranks[r].labels[0]);
        line_label_fini(&l->ranks[r].labels[1]);
        if (l->ranks[r].report >= 0) {
            close(l->ranks[r].report);
        }
    }
    if (l->signal_fd >= 0) {
        close(l->signal_fd);
    }
    if (l->masked) {
        sigprocmask(SIG_SETMASK, &l->old_mask, NULL);
    }
    mem_free(l->ranks);
    mem_free(l->shares);
}

yoke_status launch_run(const struct launch_job *job, int *exit_code_out)
{
    struct launcher l = {.job = job, .signal_fd = -1};
    struct pollfd *items = NULL;
    yoke_status status = YOKE_OK;
    YOKE_TRY_GOTO(open_launcher(&l, &items));
    for (int r = 0; r < job->n_ranks && status >= 0; r++) {
        status = start_rank(&l, r);
    }
    if (status < 0) {
        stop_all(&l, SIGKILL, true);
    }
    supervise(&l, items);
    if (status >= 0) {
        *exit_code_out = conclude(&l);
    }
done:
    close_launcher(&l);
    mem_free(items);
    return status;
}
