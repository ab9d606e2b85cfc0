/* sockets.c - see sockets.h. */
#include "supervisor/sockets.h"
#include "base/socket_address.h"
#include "base/take.h"
#include "supervisor/parcel.h"
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/un.h>

typedef struct Held {
        SocketAddress address;
        char step[sizeof "listen unix:" + sizeof((struct sockaddr_un *)NULL)->sun_path];
        bool only_v6;
} Held;

typedef struct Holding {
        Listening listening;
        Held *held; /* as many */
} Holding;

struct Sockets {
        size_t n_services;
        int lock_fd;
        Holding holdings[];
};

/* ---- Addresses ---- */

/* config_*.c has looked at it before. */
static int read_address(const ListenConfig *config, SocketAddress *ret) {
        SocketAddress addresses[SOCKET_ADDRESSES_MAX];
        if (config->by == LISTEN_UNIX)
                return socket_address_parse_path(config->address, ret);
        int n = socket_address_parse_port(config->address, addresses);
        if (n != 1)
                return n < 0 ? n : -EINVAL;
        *ret = addresses[0];
        return 0;
}

static bool has_v4_port(const Sockets *sockets, in_port_t port) {
        for (size_t s = 0; s < sockets->n_services; s++)
                for (size_t i = 0; i < sockets->holdings[s].listening.n; i++) {
                        const SocketAddress *address = &sockets->holdings[s].held[i].address;
                        if (address->any.sa_family == AF_INET && address->ipv4.sin_port == port)
                                return true;
                }
        return false;
}

/* ---- Birth and end ---- */

static int add_one(Holding *holding, const ListenConfig *config, size_t i) {
        ListeningSocket *socket = &holding->listening.sockets[i];
        Held *held = &holding->held[i];
        *socket = (ListeningSocket){ .fd = -1, .address = &held->address.any, .mode = (mode_t)config->mode };
        snprintf(held->step, sizeof held->step, "listen %s%s", listen_by_to_string(config->by), config->address);
        int r = read_address(config, &held->address);
        socket->length = held->address.length;
        return r;
}

static int add_service(Sockets *sockets, size_t index, const ServiceConfig *config) {
        Holding *holding = &sockets->holdings[index];
        holding->listening = (Listening){ .uid = config->rights ? config->rights->uid : (uid_t)-1,
                                          .gid = config->rights ? config->rights->gid : (gid_t)-1,
                                          .lock_fd = sockets->lock_fd,
                                          .lock = (off_t)index };
        if (config->n_listens == 0)
                return 0;
        holding->listening.sockets = calloc(config->n_listens, sizeof *holding->listening.sockets);
        holding->held = calloc(config->n_listens, sizeof *holding->held);
        int r = holding->listening.sockets && holding->held ? 0 : -ENOMEM;
        for (size_t i = 0; r >= 0 && i < config->n_listens; i++) {
                r = add_one(holding, &config->listens[i], i);
                holding->listening.n = i + 1;
        }
        return r;
}

static void part_v6_from_v4(Sockets *sockets) {
        for (size_t s = 0; s < sockets->n_services; s++)
                for (size_t i = 0; i < sockets->holdings[s].listening.n; i++) {
                        Held *held = &sockets->holdings[s].held[i];
                        held->only_v6 = held->address.any.sa_family == AF_INET6 &&
                                        has_v4_port(sockets, held->address.ipv6.sin6_port);
                }
}

static void sockets_freep(Sockets **sockets) {
        sockets_free(*sockets);
}

int sockets_new(Sockets **ret, const Config *config) {
        size_t n = config->n_services;
        _cleanup_(sockets_freep) Sockets *sockets = calloc(1, sizeof *sockets + n * sizeof(Holding));
        if (!sockets)
                return -ENOMEM;
        sockets->n_services = n;
        sockets->lock_fd = memfd_create("endwell-listen", MFD_CLOEXEC);
        int r = sockets->lock_fd < 0 ? -errno : 0;
        for (size_t s = 0; r >= 0 && s < n; s++)
                r = add_service(sockets, s, &config->services[s]);
        if (r < 0)
                return r;
        part_v6_from_v4(sockets);
        *ret = TAKE(sockets);
        return 0;
}

Sockets *sockets_free(Sockets *sockets) {
        if (!sockets)
                return NULL;
        for (size_t s = 0; s < sockets->n_services; s++) {
                sockets_close(sockets, (uint32_t)s);
                free(sockets->holdings[s].listening.sockets);
                free(sockets->holdings[s].held);
        }
        close_fd(sockets->lock_fd);
        free(sockets);
        return NULL;
}

/* ---- What is held ---- */

/* A child's shutdown(2) is for ever on a Unix socket, which refuses everybody then, though it still listens. On TCP it
 * only ends the listening, and the next child begins it again. */
static bool is_spoilt(const ListeningSocket *socket) {
        struct pollfd look = { .fd = socket->fd, .events = POLLRDHUP };
        return socket->address->sa_family == AF_UNIX && listening_is_done(socket->fd) && poll(&look, 1, 0) > 0 &&
               look.revents & (POLLRDHUP | POLLHUP);
}

static int make(const Held *held) {
        _cleanup_(closep) int fd = socket(held->address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd < 0)
                return -errno;
        /* Connections of an earlier run that are not quite over stand in nobody's way. */
        if (held->address.any.sa_family != AF_UNIX &&
            setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int)) < 0)
                return -errno;
        if (held->only_v6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &(int){ 1 }, sizeof(int)) < 0)
                return -errno;
        return TAKE_FD(fd);
}

/* Without blocking, whatever the service has made of it: it may have connected it, and set it to linger. */
static void let_go(ListeningSocket *socket) {
        if (socket->fd >= 0)
                parcel_close_one(socket->fd);
        socket->fd = -1;
}

int sockets_open(Sockets *sockets, uint32_t service, const Listening **ret, bool *ret_done) {
        Holding *holding = &sockets->holdings[service];
        bool done = true;
        for (size_t i = 0; i < holding->listening.n; i++) {
                ListeningSocket *socket = &holding->listening.sockets[i];
                if (socket->fd >= 0 && is_spoilt(socket))
                        let_go(socket);
                if (socket->fd < 0)
                        socket->fd = make(&holding->held[i]);
                if (socket->fd < 0)
                        return socket->fd;
                done = done && listening_is_done(socket->fd);
        }
        *ret = &holding->listening;
        *ret_done = done;
        return 0;
}

void sockets_reset(Sockets *sockets, uint32_t service) {
        const Listening *listening = &sockets->holdings[service].listening;
        for (size_t i = 0; i < listening->n; i++) {
                int fd = listening->sockets[i].fd;
                int flags = fd < 0 ? -1 : fcntl(fd, F_GETFL);
                if (flags < 0)
                        continue;
                /* Neither can fail, but that there is no filter. */
                (void)fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
                (void)setsockopt(fd, SOL_SOCKET, SO_DETACH_FILTER, &(int){ 0 }, sizeof(int));
        }
}

void sockets_close(Sockets *sockets, uint32_t service) {
        Listening *listening = &sockets->holdings[service].listening;
        for (size_t i = 0; i < listening->n; i++)
                let_go(&listening->sockets[i]);
}

const char *sockets_step(const Sockets *sockets, uint32_t service, size_t which) {
        const Holding *holding = &sockets->holdings[service];
        return which < holding->listening.n ? holding->held[which].step : "listen";
}
