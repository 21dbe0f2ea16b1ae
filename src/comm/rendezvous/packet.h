/* One message of the ranks' Unix sockets: a fixed record, with a file descriptor or without.
 *
 * The sockets are SOCK_SEQPACKET: a record arrives whole or not at all. */
#ifndef COMM_RENDEZVOUS_PACKET_H
#define COMM_RENDEZVOUS_PACKET_H

#include <stdint.h>

#include "base/core/status.h"

enum { PACKET_MAGIC = 0x656b6f79, PACKET_VERSION = 1, PACKET_TEXT_BYTES = 512 };

struct packet {
    uint32_t magic;
    uint32_t version;
    int32_t status; /* an error of the sender, with `text`; else YOKE_OK */
    int32_t rank;
    int32_t size;
    int64_t pid;
    uint64_t bytes;
    char text[PACKET_TEXT_BYTES];
};

/* Sends a record, and a copy of `fd` unless it is -1. YOKE_ERR_PEER_LOST when the other end is
 * gone. */
yoke_status packet_send(int socket, const struct packet *packet, int fd) YOKE_MUST_USE;

/* Waits until the monotonic time `deadline` for a record. *fd_out is the descriptor that came with
 * it, owned by the caller, or -1. YOKE_ERR_TIMEOUT, YOKE_ERR_PEER_LOST (end of stream), or
 * YOKE_ERR_MISMATCH for a record of another version of yoke. */
yoke_status packet_receive(int socket, double deadline, struct packet *packet_out,
                           int *fd_out) YOKE_MUST_USE;

#endif
