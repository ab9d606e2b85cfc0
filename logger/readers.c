/* readers.c - a listening socket, and for each reader his place in the ring. */
#include "logger/readers.h"
#include "base/packet.h"
#include "base/peer.h"
#include "base/take.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#define REQUEST_MAX      512
#define PACKET_MAX       (16 * ENTRY_MAX)
#define PACKETS_AT_ONCE  8
#define CONNECTIONS_MAX  50 /* in 100 ms: also keeps a lack of descriptors from making us busy */
#define PRIORITY_READERS 10 /* who reads along must not hold up who writes */

typedef struct Reader {
        Readers *owner;
        struct Reader *next;
        sd_event_source *source;
        int fd;
        bool asked, follow, answered;
        uint64_t left; /* entries still to be sent, unless it follows */
        KeptReader place;
        size_t length; /* of the packet that waits; 0: none */
        char packet[PACKET_MAX];
} Reader;

struct Readers {
        sd_event *event;
        sd_event_source *source;
        const Kept *kept;
        Reader *first;
        unsigned n;
        int fd, group;
        char path[sizeof((struct sockaddr_un *)NULL)->sun_path];
};

static void drop(Reader *reader) {
        for (Reader **link = &reader->owner->first; *link; link = &(*link)->next)
                if (*link == reader) {
                        *link = reader->next;
                        break;
                }
        reader->owner->n--;
        sd_event_source_disable_unref(reader->source);
        close_fd(reader->fd);
        free(reader);
}

/* ---- What is sent ---- */

/* The packet that waits. 0: sent; -EAGAIN; or -errno. */
static int send_packet(Reader *reader) {
        ssize_t n;

        do
                n = send(reader->fd, reader->packet, reader->length, MSG_DONTWAIT | MSG_NOSIGNAL);
        while (n < 0 && errno == EINTR);
        if (n < 0)
                return -errno;
        reader->length = 0;
        return 0;
}

static void add_line(Reader *reader, const KeptLine *line) {
        Entry entry = line->entry;
        size_t length, n;

        do {
                n = entry_write_json(&entry, reader->packet + reader->length, &length);
                reader->length += length;
                entry.text += n;
                entry.length -= n;
                entry.continues = true;
        } while (entry.length > 0);
}

/* A text of KEPT_TEXT_MAX control characters becomes this many entries. */
#define ENTRIES_OF_A_LINE (6 * KEPT_TEXT_MAX / (ENTRY_MAX - 512) + 1)

/* False: there is nothing to say now. */
static bool fill_packet(Reader *reader) {
        KeptLine line;

        while (reader->length + (size_t)ENTRIES_OF_A_LINE * ENTRY_MAX <= sizeof reader->packet || reader->length == 0) {
                if (!reader->follow && reader->left == 0)
                        break;
                if (!kept_read(reader->owner->kept, &reader->place, &line)) {
                        reader->left = 0;
                        break;
                }
                reader->left -= reader->left > 0;
                if (reader->place.missed) {
                        reader->place.missed = false;
                        reader->length += (size_t)sprintf(reader->packet + reader->length, "MISSED=1\n");
                }
                add_line(reader, &line);
        }
        return reader->length > 0;
}

/* -EAGAIN: the socket is full; 0: all was sent; 1: there is more; or -errno. */
static int serve(Reader *reader) {
        for (int i = 0; i < PACKETS_AT_ONCE; i++) {
                if (reader->length == 0 && !fill_packet(reader))
                        return 0;
                int r = send_packet(reader);
                if (r < 0)
                        return r;
        }
        return 1;
}

/* ---- What is asked ---- */

static void begin_answer(Reader *reader, const Packet *request) {
        uint64_t lines = UINT64_MAX, instance = KEPT_ALL;
        const char *service = packet_get(request, "LOGS");

        snprintf(reader->place.service, sizeof reader->place.service, "%s", service ? service : "");
        (void)packet_get_unsigned(request, "INSTANCE", &instance);
        (void)packet_get_unsigned(request, "LINES", &lines);
        reader->place.instance = (unsigned)instance;
        reader->follow = packet_get(request, "FOLLOW") != NULL;
        reader->asked = true;
        uint64_t there = kept_count(reader->owner->kept, &reader->place);
        reader->left = there < lines ? there : lines;
        kept_rewind(reader->owner->kept, &reader->place, lines);
        reader->length = (size_t)sprintf(reader->packet, "KEPT=%llu\n", (unsigned long long)reader->left);
}

/* False: he is gone, or says what nobody understands. */
static bool hear(Reader *reader) {
        char words[REQUEST_MAX];
        Packet request;

        packet_init(&request, words, sizeof words);
        int r = packet_receive(reader->fd, &request);
        if (r == -EAGAIN)
                return true;
        if (r != PACKET_RECEIVED)
                return false;
        bool good = !reader->asked && packet_get(&request, "LOGS");
        if (good)
                begin_answer(reader, &request);
        packet_done(&request);
        return good;
}

static int on_reader(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        Reader *reader = userdata;
        int r = 0;

        (void)fd;
        if (revents & (EPOLLIN | EPOLLHUP | EPOLLERR) && !hear(reader)) {
                drop(reader);
                return 0;
        }
        if (reader->asked)
                r = serve(reader);
        if ((r < 0 && r != -EAGAIN) || (reader->asked && r == 0 && !reader->follow))
                drop(reader);
        else
                sd_event_source_set_io_events(source, EPOLLIN | (reader->asked && r != 0 ? EPOLLOUT : 0u));
        return 0;
}

void readers_wake(Readers *readers) {
        for (Reader *reader = readers->first; reader; reader = reader->next)
                if (reader->follow)
                        sd_event_source_set_io_events(reader->source, EPOLLIN | EPOLLOUT);
}

void readers_finish(Readers *readers) {
        for (Reader *reader = readers->first; reader; reader = reader->next)
                while (reader->asked && serve(reader) == 1)
                        continue;
}

/* ---- Who asks ---- */

static void admit(Readers *readers, int fd) {
        Peer peer;
        bool may = readers->n < READERS_MAX && peer_may(fd, readers->group, &peer);
        Reader *reader = may ? calloc(1, sizeof *reader) : NULL;

        if (!reader) {
                close_fd(fd);
                return;
        }
        *reader = (Reader){ .owner = readers, .next = readers->first, .fd = fd };
        readers->first = reader;
        readers->n++;
        if (sd_event_add_io(readers->event, &reader->source, fd, EPOLLIN, on_reader, reader) < 0 ||
            sd_event_source_set_priority(reader->source, PRIORITY_READERS) < 0)
                drop(reader);
}

static int on_connection(sd_event_source *source, int listening, uint32_t revents, void *userdata) {
        (void)source, (void)revents;
        int fd = accept4(listening, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0)
                admit(userdata, fd);
        return 0;
}

/* ---- Life ---- */

static int open_socket(Readers *readers, const ReadersPlan *plan) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };

        if (strlen(plan->path) >= sizeof address.sun_path)
                return -ENAMETOOLONG;
        strcpy(address.sun_path, plan->path);
        strcpy(readers->path, plan->path);
        readers->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (readers->fd < 0)
                return -errno;
        (void)unlink(plan->path); /* of a logger before this one */
        /* The mode is set before the name appears, so that there is no moment at which others may connect. */
        int r = fchmod(readers->fd, 0600) < 0 || bind(readers->fd, (struct sockaddr *)&address, sizeof address) < 0
                        ? -errno
                        : 0;
        if (r == 0 && plan->group >= 0 &&
            (chown(plan->path, (uid_t)-1, (gid_t)plan->group) < 0 || chmod(plan->path, 0660) < 0))
                r = -errno;
        return r < 0 ? r : listen(readers->fd, READERS_MAX) < 0 ? -errno : 0;
}

int readers_new(Readers **ret, sd_event *event, const ReadersPlan *plan) {
        Readers *readers = calloc(1, sizeof *readers);
        if (!readers)
                return -ENOMEM;
        *readers = (Readers){ .event = event, .kept = plan->kept, .fd = -1, .group = plan->group };
        int r = open_socket(readers, plan);
        if (r >= 0)
                r = sd_event_add_io(event, &readers->source, readers->fd, EPOLLIN, on_connection, readers);
        if (r >= 0)
                r = sd_event_source_set_priority(readers->source, PRIORITY_READERS);
        if (r >= 0)
                r = sd_event_source_set_ratelimit(readers->source, 100 * USEC_PER_MSEC, CONNECTIONS_MAX);
        if (r < 0) {
                readers_free(readers);
                return r;
        }
        *ret = readers;
        return 0;
}

Readers *readers_free(Readers *readers) {
        if (!readers)
                return NULL;
        while (readers->first)
                drop(readers->first);
        sd_event_source_disable_unref(readers->source);
        if (readers->fd >= 0 && readers->path[0])
                (void)unlink(readers->path);
        close_fd(readers->fd);
        free(readers);
        return NULL;
}
