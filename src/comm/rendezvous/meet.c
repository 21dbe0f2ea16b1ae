/* The rendezvous of one host.
 *
 *   rank r                         rank 0
 *   connect (again and again) ---> accept, check the user
 *   hello {rank, size, pid} + own process descriptor --->
 *                                  ... until all have come, one was wrong, or time is over
 *   <--- {status, text}            the verdict: the same for all
 *   <--- {rank q, pid} + process descriptor of q, for every q
 *
 * A process descriptor is made by its own process, so no pid is ever looked up: neither PID
 * namespaces nor reused numbers can mislead. */
#define _GNU_SOURCE /* struct ucred, accept4 */
#include "comm/rendezvous/meet.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/core/clock.h"
#include "base/core/env.h"
#include "base/core/memory.h"
#include "base/core/str.h"
#include "comm/rendezvous/packet.h"

static const double hello_seconds = 2.0;   /* a connected peer sends its hello at once */
static const double verdict_seconds = 5.0; /* beyond the deadline, for rank 0 to say what failed */

struct meet_address {
    struct sockaddr_un address;
    socklen_t length;
};

static struct meet_address make_address(const char *key)
{
    struct meet_address out = {.address = {.sun_family = AF_UNIX}};
    /* A leading NUL makes the name abstract: no file, gone with its socket. */
    const int n = snprintf(out.address.sun_path + 1, sizeof out.address.sun_path - 1, "yoke-%u-%s",
                           (unsigned)geteuid(), key);
    out.length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
    return out;
}

static yoke_status open_socket(int *socket_out)
{
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return yoke_fail(YOKE_ERR_IO, "cannot make a Unix socket: %m");
    }
    *socket_out = fd;
    return YOKE_OK;
}

static yoke_status open_own_pidfd(int *pidfd_out)
{
    const int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
    if (fd < 0) {
        return yoke_fail(YOKE_ERR_UNSUPPORTED, "ranks need pidfd_open (Linux 5.3): %m");
    }
    *pidfd_out = fd;
    return YOKE_OK;
}

/* The kernel's word on who is at the other end. */
static yoke_status check_user(int socket)
{
    struct ucred user;
    socklen_t length = sizeof user;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &user, &length) < 0) {
        return yoke_fail(YOKE_ERR_IO, "cannot ask who the other rank is: %m");
    }
    if (user.uid != geteuid()) {
        return yoke_fail(YOKE_ERR_BUSY, "the meeting place of this job belongs to user %u",
                         (unsigned)user.uid);
    }
    return YOKE_OK;
}

static void forget_peer(struct meet_peer *peer)
{
    if (peer->socket >= 0) {
        close(peer->socket);
    }
    if (peer->pidfd >= 0) {
        close(peer->pidfd);
    }
    *peer = (struct meet_peer){-1, -1, 0};
}

/* ---- rank 0 ---- */

static yoke_status listen_at(const char *key, int *listener_out)
{
    int listener;
    YOKE_TRY(open_socket(&listener));
    const struct meet_address at = make_address(key);
    if (bind(listener, (const struct sockaddr *)&at.address, at.length) < 0 ||
        listen(listener, RANK_ENV_MAX_SIZE) < 0) {
        const int busy = errno == EADDRINUSE;
        const yoke_status status =
            busy ? yoke_fail(YOKE_ERR_BUSY, "another job on this host is being started with the "
                                            "same name: give each its own MASTER_PORT")
                 : yoke_fail(YOKE_ERR_IO, "cannot listen for the other ranks: %m");
        close(listener);
        return status;
    }
    *listener_out = listener;
    return YOKE_OK;
}

/* Takes one connection; strangers and silent ones are turned away and count as not come. */
static yoke_status greet(struct meeting *meeting, int listener)
{
    struct meet_peer peer = {.socket = accept4(listener, NULL, NULL, SOCK_CLOEXEC), .pidfd = -1};
    struct packet hello;
    if (peer.socket < 0 || check_user(peer.socket) < 0 ||
        packet_receive(peer.socket, clock_now() + hello_seconds, &hello, &peer.pidfd) < 0) {
        forget_peer(&peer);
        return YOKE_OK;
    }
    yoke_status status = YOKE_OK;
    if (hello.size != meeting->size) {
        status = yoke_fail(YOKE_ERR_MISMATCH,
                           "rank %d (pid %lld) was started for %d ranks, rank 0 for %d", hello.rank,
                           (long long)hello.pid, hello.size, meeting->size);
    } else if (hello.rank < 1 || hello.rank >= meeting->size || peer.pidfd < 0) {
        status = yoke_fail(YOKE_ERR_MISMATCH, "a process (pid %lld) came as rank %d of %d",
                           (long long)hello.pid, hello.rank, meeting->size);
    } else if (meeting->peers[hello.rank].socket >= 0) {
        status =
            yoke_fail(YOKE_ERR_MISMATCH,
                      "two processes (pid %lld and %lld) are rank %d: two jobs with one "
                      "MASTER_PORT?",
                      (long long)meeting->peers[hello.rank].pid, (long long)hello.pid, hello.rank);
    }
    if (status < 0) {
        struct packet verdict = {.status = status};
        snprintf(verdict.text, sizeof verdict.text, "%s", yoke_last_error());
        const yoke_status ignored = packet_send(peer.socket, &verdict, -1);
        (void)ignored; /* the peer that is turned away may be gone; the error stands */
        forget_peer(&peer);
        return yoke_fail(status, "%s", verdict.text);
    }
    peer.pid = hello.pid;
    meeting->peers[hello.rank] = peer;
    return YOKE_OK;
}

static yoke_status fail_missing(const struct meeting *meeting, int64_t seconds)
{
    struct str ranks = {0};
    yoke_status status = YOKE_OK;
    for (int r = 1; r < meeting->size && status >= 0; r++) {
        if (meeting->peers[r].socket < 0) {
            status = str_printf(&ranks, "%s%d", ranks.len ? ", " : "", r);
        }
    }
    if (status >= 0) {
        status = yoke_fail(YOKE_ERR_TIMEOUT,
                           "rank %s of %d never came to rank 0 on %s within %lld s "
                           "(YOKE_CONNECT_TIMEOUT)",
                           str_text(&ranks), meeting->size, meeting->host, (long long)seconds);
    }
    str_fini(&ranks);
    return status;
}

/* A rank that has come may die before the last one comes. */
static yoke_status check_guests(const struct meeting *meeting)
{
    for (int r = 1; r < meeting->size; r++) {
        struct pollfd item = {.fd = meeting->peers[r].pidfd, .events = POLLIN};
        if (item.fd >= 0 && poll(&item, 1, 0) > 0) {
            return yoke_fail(YOKE_ERR_PEER_LOST,
                             "rank %d (pid %lld on %s) ended before all ranks had come", r,
                             (long long)meeting->peers[r].pid, meeting->host);
        }
    }
    return YOKE_OK;
}

static yoke_status gather_peers(struct meeting *meeting, int listener, int64_t seconds)
{
    const double deadline = clock_now() + (double)seconds;
    int n_missing = meeting->size - 1;
    while (n_missing > 0) {
        struct pollfd item = {.fd = listener, .events = POLLIN};
        if (poll(&item, 1, 100) > 0) {
            YOKE_TRY(greet(meeting, listener));
        }
        YOKE_TRY(check_guests(meeting));
        n_missing = 0;
        for (int r = 1; r < meeting->size; r++) {
            n_missing += meeting->peers[r].socket < 0;
        }
        if (n_missing > 0 && clock_now() > deadline) {
            return fail_missing(meeting, seconds);
        }
    }
    return YOKE_OK;
}

/* Tells everyone who came how the meeting ended, and hands out all process descriptors. */
static yoke_status give_verdict(const struct meeting *meeting, yoke_status status, int own_pidfd)
{
    struct packet verdict = {.status = status, .size = meeting->size};
    snprintf(verdict.text, sizeof verdict.text, "%s", status < 0 ? yoke_last_error() : "");
    for (int r = 1; r < meeting->size; r++) {
        if (meeting->peers[r].socket < 0) {
            continue;
        }
        const yoke_status sent = packet_send(meeting->peers[r].socket, &verdict, -1);
        if (status >= 0) {
            YOKE_TRY(sent);
        }
        for (int q = 0; q < meeting->size && status >= 0; q++) {
            const struct packet card = {.rank = q,
                                        .pid = q == 0 ? (int64_t)getpid() : meeting->peers[q].pid};
            YOKE_TRY(packet_send(meeting->peers[r].socket, &card,
                                 q == 0 ? own_pidfd : meeting->peers[q].pidfd));
        }
    }
    return status < 0 ? yoke_fail(status, "%s", verdict.text) : YOKE_OK;
}

static yoke_status host_meeting(struct meeting *meeting, const char *key, int64_t seconds)
{
    int listener = -1;
    int own_pidfd = -1;
    yoke_status status = YOKE_OK;
    YOKE_TRY_GOTO(open_own_pidfd(&own_pidfd));
    YOKE_TRY_GOTO(listen_at(key, &listener));
    status = gather_peers(meeting, listener, seconds);
    status = give_verdict(meeting, status, own_pidfd);
done:
    if (own_pidfd >= 0) {
        close(own_pidfd);
    }
    if (listener >= 0) {
        close(listener);
    }
    return status;
}

/* ---- the other ranks ---- */

static yoke_status connect_to(const char *key, int size, int64_t seconds, int *socket_out)
{
    const double deadline = clock_now() + (double)seconds;
    const struct meet_address at = make_address(key);
    int fd = -1;
    YOKE_TRY(open_socket(&fd));
    double pause = 0.001;
    while (connect(fd, (const struct sockaddr *)&at.address, at.length) < 0) {
        if (errno != ECONNREFUSED && errno != EINTR && errno != EAGAIN) {
            const yoke_status status = yoke_fail(YOKE_ERR_IO, "cannot connect to rank 0: %m");
            close(fd);
            return status;
        }
        if (clock_now() > deadline) {
            close(fd);
            return yoke_fail(YOKE_ERR_TIMEOUT,
                             "rank 0 of %d was not found on this host within %lld s "
                             "(YOKE_CONNECT_TIMEOUT)",
                             size, (long long)seconds);
        }
        clock_sleep(pause);
        pause = pause < 0.05 ? 2 * pause : pause;
    }
    const yoke_status status = check_user(fd);
    if (status < 0) {
        close(fd);
        return status;
    }
    *socket_out = fd;
    return YOKE_OK;
}

static yoke_status say_hello(const struct meeting *meeting, int socket)
{
    int pidfd;
    YOKE_TRY(open_own_pidfd(&pidfd));
    const struct packet hello = {
        .rank = meeting->rank, .size = meeting->size, .pid = (int64_t)getpid()};
    const yoke_status status = packet_send(socket, &hello, pidfd);
    close(pidfd);
    return status;
}

static yoke_status hear_verdict(struct meeting *meeting, int socket, double deadline)
{
    struct packet packet;
    int fd = -1;
    YOKE_TRY(packet_receive(socket, deadline, &packet, &fd));
    if (packet.status < 0) {
        return yoke_fail((yoke_status)packet.status, "%s", packet.text);
    }
    for (int q = 0; q < meeting->size; q++) {
        YOKE_TRY(packet_receive(socket, deadline, &packet, &fd));
        if (q == meeting->rank) {
            close(fd);
            fd = -1;
        }
        meeting->peers[q].pidfd = fd;
        meeting->peers[q].pid = packet.pid;
    }
    return YOKE_OK;
}

static yoke_status join_meeting(struct meeting *meeting, const char *key, int64_t seconds)
{
    const double deadline = clock_now() + (double)seconds + verdict_seconds;
    YOKE_TRY(connect_to(key, meeting->size, seconds, &meeting->peers[0].socket));
    yoke_status status = say_hello(meeting, meeting->peers[0].socket);
    if (status == YOKE_OK) {
        status = hear_verdict(meeting, meeting->peers[0].socket, deadline);
    }
    if (status == YOKE_ERR_PEER_LOST || status == YOKE_ERR_TIMEOUT) {
        yoke_fail_prefix(status, "while rank %d met rank 0 on %s", meeting->rank, meeting->host);
    }
    return status;
}

/* ---- both ---- */

yoke_status meet_open(const struct rank_env *env, struct meeting *meeting_out)
{
    if (env->local_size != env->size) {
        return yoke_fail(YOKE_ERR_UNSUPPORTED,
                         "%d of %d ranks are on this host: this version of yoke joins the ranks of "
                         "one host only",
                         env->local_size, env->size);
    }
    int64_t seconds = 0;
    YOKE_TRY(env_get_int("YOKE_CONNECT_TIMEOUT", 1, 86400, 60, &seconds));
    struct meeting meeting = {.rank = env->rank, .size = env->size};
    gethostname(meeting.host, sizeof meeting.host - 1);
    YOKE_TRY(MEM_NEW(meeting.peers, (size_t)env->size));
    for (int r = 0; r < env->size; r++) {
        meeting.peers[r] = (struct meet_peer){-1, -1, 0};
    }
    meeting.peers[env->rank].pid = (int64_t)getpid();
    yoke_status status = YOKE_OK;
    if (env->size > 1) {
        status = env->rank == 0 ? host_meeting(&meeting, env->job_key, seconds)
                                : join_meeting(&meeting, env->job_key, seconds);
    }
    if (status < 0) {
        meet_close(&meeting);
        return status;
    }
    *meeting_out = meeting;
    return YOKE_OK;
}

void meet_close(struct meeting *meeting)
{
    for (int r = 0; meeting->peers && r < meeting->size; r++) {
        forget_peer(&meeting->peers[r]);
    }
    mem_free(meeting->peers);
    *meeting = (struct meeting){0};
}
