/* Records over SOCK_SEQPACKET, descriptors beside them (SCM_RIGHTS). */
#define _GNU_SOURCE /* MSG_CMSG_CLOEXEC */
#include "comm/rendezvous/packet.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/core/clock.h"

union control {
    struct cmsghdr header; /* for its alignment */
    char bytes[CMSG_SPACE(sizeof(int))];
};

yoke_status packet_send(int socket, const struct packet *packet, int fd)
{
    struct packet record = *packet;
    record.magic = PACKET_MAGIC;
    record.version = PACKET_VERSION;
    struct iovec part = {&record, sizeof record};
    union control control = {0};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (fd >= 0) {
        message.msg_control = &control;
        message.msg_controllen = sizeof control;
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(header), &fd, sizeof fd);
    }
    ssize_t n;
    do {
        n = sendmsg(socket, &message, MSG_NOSIGNAL);
    } while (n < 0 && errno == EINTR);
    if (n < 0 && (errno == EPIPE || errno == ECONNRESET)) {
        return yoke_fail(YOKE_ERR_PEER_LOST, "the other rank has gone");
    }
    if (n < 0) {
        return yoke_fail(YOKE_ERR_IO, "cannot send to another rank: %m");
    }
    return YOKE_OK;
}

static yoke_status wait_readable(int socket, double deadline)
{
    struct pollfd item = {.fd = socket, .events = POLLIN};
    for (;;) {
        const double left = deadline - clock_now();
        const int n = poll(&item, 1, left > 0 ? (int)(left * 1e3) + 1 : 0);
        if (n > 0) {
            return YOKE_OK;
        }
        if (n < 0 && errno != EINTR) {
            return yoke_fail(YOKE_ERR_IO, "cannot wait for another rank: %m");
        }
        if (left <= 0) {
            return yoke_fail(YOKE_ERR_TIMEOUT, "no message of the other rank arrived in time");
        }
    }
}

static int take_descriptor(struct msghdr *message)
{
    int fd = -1;
    for (struct cmsghdr *h = CMSG_FIRSTHDR(message); h; h = CMSG_NXTHDR(message, h)) {
        if (h->cmsg_level == SOL_SOCKET && h->cmsg_type == SCM_RIGHTS &&
            h->cmsg_len == CMSG_LEN(sizeof fd)) {
            memcpy(&fd, CMSG_DATA(h), sizeof fd);
        }
    }
    return fd;
}

yoke_status packet_receive(int socket, double deadline, struct packet *packet_out, int *fd_out)
{
    struct packet record = {0};
    struct iovec part = {&record, sizeof record};
    union control control = {0};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    YOKE_TRY(wait_readable(socket, deadline));
    ssize_t n;
    do {
        n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    } while (n < 0 && errno == EINTR);
    if (n == 0 || (n < 0 && errno == ECONNRESET)) {
        return yoke_fail(YOKE_ERR_PEER_LOST, "the other rank has gone");
    }
    if (n < 0) {
        return yoke_fail(YOKE_ERR_IO, "cannot receive from another rank: %m");
    }
    const int fd = take_descriptor(&message);
    if (n != sizeof record || record.magic != PACKET_MAGIC || record.version != PACKET_VERSION) {
        if (fd >= 0) {
            close(fd);
        }
        return yoke_fail(YOKE_ERR_MISMATCH, "the other process is no rank of this version of yoke");
    }
    record.text[PACKET_TEXT_BYTES - 1] = '\0';
    *packet_out = record;
    *fd_out = fd;
    return YOKE_OK;
}
