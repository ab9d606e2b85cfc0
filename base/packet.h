/* packet.h - messages between PID 1 and its built-in processes: words and descriptors on a SOCK_SEQPACKET socket.
 *
 * A message is lines `KEY=VALUE`, then, if it has one, an empty line and a body of any bytes but NUL. Never blocks,
 * never allocates: the buffer is the caller's. A sender's descriptors and body are borrowed; a receiver owns the
 * descriptors that came, until packet_done(). Source: unix(7), cmsg(3). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PACKET_FDS_MAX 3

typedef struct Packet {
        char *text; /* the caller's buffer; after packet_receive() each line ends in NUL */
        size_t size, length;
        const char *body; /* NULL: none */
        int fds[PACKET_FDS_MAX];
        unsigned n_fds;
        bool overflowed;
} Packet;

bool packet_is_socket(int fd); /* of the kind that they travel on */

void packet_init(Packet *packet, char *buffer, size_t size);
void packet_add(Packet *packet, const char *key, const char *value); /* no newline in `value` */
void packet_add_unsigned(Packet *packet, const char *key, uint64_t value);
void packet_add_fd(Packet *packet, int fd);
void packet_set_body(Packet *packet, const char *body);

/* 0; -EAGAIN: the socket is full; -EMSGSIZE: too long for the buffer or the socket; -EPIPE: nobody there; or -errno. */
int packet_send(int socket, const Packet *packet);

#define PACKET_RECEIVED 1
/* PACKET_RECEIVED; 0: the other side has closed; -EAGAIN: nothing there; -EMSGSIZE: a message that was too long,
 * -EBADMSG: descriptors that could not be taken (there is no room for them); the words can be read, all descriptors are
 * closed; or -errno. `ret` must have been given its buffer by packet_init(). */
int packet_receive(int socket, Packet *ret);
void packet_done(Packet *packet); /* closes what came and was not taken */

const char *packet_get(const Packet *packet, const char *key); /* of a received packet; NULL: not in there */
/* 0; -ENOENT: not in there; -EINVAL, -ERANGE: no such number. */
int packet_get_unsigned(const Packet *packet, const char *key, uint64_t *ret);
/* The next descriptor that came, now the caller's; -1: none is left. */
int packet_take_fd(Packet *packet);
