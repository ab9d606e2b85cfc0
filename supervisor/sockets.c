/* sockets.c - see sockets.h. */
#include "supervisor/sockets.h"
#include "base/take.h"
#include "supervisor/parcel.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/un.h>

typedef union Address {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
        struct sockaddr_un path;
} Address;

typedef struct Held {
        Address address;
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

static int read_path(const char *path, Address *ret, socklen_t *ret_length) {
        size_t length = strlen(path);
        if (length == 0 || length >= sizeof ret->path.sun_path)
                return -EINVAL;
        *ret = (Address){ .path = { .sun_family = AF_UNIX } };
        memcpy(ret->path.sun_path, path, length + 1);
        *ret_length = sizeof ret->path;
        return 0;
}

/* "ADDR:PORT", the address in brackets when it is an IPv6 one; config_*.c has looked at it before. */
static int read_port(const char *text, Address *ret, socklen_t *ret_length) {
        const char *colon = strrchr(text, ':');
        char host[INET6_ADDRSTRLEN];
        bool v6 = *text == '[';
        long length = colon ? colon - text - 2 * v6 : 0;
        if (length <= 0 || length >= (long)sizeof host || (v6 && colon[-1] != ']'))
                return -EINVAL;
        memcpy(host, text + v6, (size_t)length);
        host[length] = '\0';
        in_port_t port = htons((uint16_t)strtoul(colon + 1, NULL, 10));
        *ret = v6 ? (Address){ .v6 = { .sin6_family = AF_INET6, .sin6_port = port } }
                  : (Address){ .v4 = { .sin_family = AF_INET, .sin_port = port } };
        *ret_length = v6 ? sizeof ret->v6 : sizeof ret->v4;
        void *bytes = v6 ? (void *)&ret->v6.sin6_addr : &ret->v4.sin_addr;
        return inet_pton(ret->any.sa_family, host, bytes) == 1 ? 0 : -EINVAL;
}

static bool has_v4_port(const Sockets *sockets, in_port_t port) {
        for (size_t s = 0; s < sockets->n_services; s++)
                for (size_t i = 0; i < sockets->holdings[s].listening.n; i++) {
                        const Address *address = &sockets->holdings[s].held[i].address;
                        if (address->any.sa_family == AF_INET && address->v4.sin_port == port)
                                return true;
                }
        return false;
}

/* ---- Birth and end ---- */

static int add_one(Holding *holding, const ListenConfig *config, size_t i) {
        ListeningSocket *socket = &holding->listening.sockets[i];
        Held *held = &holding->held[i];
        bool is_path = config->by == LISTEN_UNIX;
        *socket = (ListeningSocket){ .fd = -1, .address = &held->address.any, .mode = (mode_t)config->mode };
        snprintf(held->step, sizeof held->step, "listen %s%s", listen_by_to_string(config->by), config->address);
        return is_path ? read_path(config->address, &held->address, &socket->length)
                       : read_port(config->address, &held->address, &socket->length);
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
                                        has_v4_port(sockets, held->address.v6.sin6_port);
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
