/* logger_streams.c - keeps, sends, drains and bounds the pipes that go through the logger. */
#include "supervisor/logger_streams.h"
#include "base/packet.h"
#include "base/take.h"
#include "supervisor/logger_link.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>

#define SLOT_BITS   22 /* MEMBERS_MAX * 2 * (LOGGER_RUNS_MAX + LOGGER_HOOKS_MAX) fits */
#define SLOT_MASK   ((UINT64_C(1) << SLOT_BITS) - 1)
#define HEAD_MAX    512 /* of a message: its words without the body */
#define DRAIN_BYTES 4096
#define DRAIN_TURNS 16

int link_streams_init(LinkStreams *streams, sd_event *event, const Config *config) {
        *streams = (LinkStreams){ .event = event, .config = config };
        streams->newest = calloc(LINK_SIDES * config->n_members, sizeof *streams->newest);
        return streams->newest || config->n_members == 0 ? 0 : -ENOMEM;
}

static uint32_t *newest_of(LinkStreams *streams, uint32_t member, unsigned side) {
        return &streams->newest[LINK_SIDES * member + side];
}

/* The slot can be used again; the memory of all slots stays, at most as many as ever lived at once. */
static void release(LinkStreams *streams, LinkStream *stream) {
        sd_event_source_disable_unref(TAKE(stream->drain));
        stream->pipe = close_fd(stream->pipe);
        stream->state = STREAM_FREE;
        streams->n_used--;
}

static void unlink_stream(LinkStreams *streams, const LinkStream *stream) {
        uint32_t *link = newest_of(streams, stream->member, stream->side);

        while (*link && *link != stream->slot + 1)
                link = &streams->items[*link - 1].older;
        if (*link)
                *link = stream->older;
}

void link_streams_close(LinkStreams *streams, LinkStream *stream) {
        if (stream->state != STREAM_CLOSING)
                unlink_stream(streams, stream);
        release(streams, stream);
}

void link_streams_done(LinkStreams *streams) {
        for (uint32_t i = 0; i < streams->n; i++)
                if (streams->items[i].state != STREAM_FREE)
                        release(streams, &streams->items[i]);
        free(streams->items);
        free(streams->newest);
        *streams = (LinkStreams){ 0 };
}

LinkStream *link_streams_find(LinkStreams *streams, uint64_t id) {
        uint64_t slot = id & SLOT_MASK;

        if (slot >= streams->n || streams->items[slot].id != id || streams->items[slot].state == STREAM_FREE)
                return NULL;
        return &streams->items[slot];
}

LinkStream *link_streams_newest(LinkStreams *streams, uint32_t member, unsigned side) {
        uint32_t slot = *newest_of(streams, member, side);
        return slot ? &streams->items[slot - 1] : NULL;
}

/* ---- Opening ---- */

/* Slots move when there are more: nothing may keep a pointer to one. */
static LinkStream *take_slot(LinkStreams *streams) {
        if (streams->n_used < streams->n)
                for (uint32_t i = 0; i < streams->n; i++)
                        if (streams->items[i].state == STREAM_FREE)
                                return &streams->items[i];
        if (streams->n == streams->size) {
                uint32_t size = streams->size ? 2 * streams->size : 16;
                LinkStream *items = size > SLOT_MASK ? NULL : reallocarray(streams->items, size, sizeof *items);
                if (!items)
                        return NULL;
                streams->items = items;
                streams->size = size;
        }
        streams->items[streams->n].state = STREAM_FREE;
        return &streams->items[streams->n++];
}

/* A target that takes nothing must not let the pipes of run after run pile up. */
static void make_room(LinkStreams *streams, uint32_t member, unsigned side) {
        LinkStream *oldest = NULL;
        unsigned n = 0;

        for (uint32_t slot = *newest_of(streams, member, side); slot; slot = oldest->older) {
                oldest = &streams->items[slot - 1];
                n++;
        }
        if (n < (side < LINK_HOOK_STDOUT ? LOGGER_RUNS_MAX : LOGGER_HOOKS_MAX))
                return;
        streams->dropped(streams->userdata, oldest);
        unlink_stream(streams, oldest);
        oldest->pipe = close_fd(oldest->pipe);
        if (oldest->state == STREAM_SENT) {
                oldest->state = STREAM_CLOSING;
                streams->unsent = true;
        } else {
                release(streams, oldest);
        }
}

int link_streams_open(LinkStreams *streams, const LinkWriter *writer) {
        const ServiceConfig *config = &streams->config->services[writer->service];
        bool is_error = writer->side == LINK_STDERR || writer->side == LINK_HOOK_STDERR;
        int ends[2];

        make_room(streams, writer->member, writer->side);
        LinkStream *stream = take_slot(streams);
        if (!stream)
                return -ENOMEM;
        if (pipe2(ends, O_CLOEXEC) < 0)
                return -errno;
        if (fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0) { /* only the logger's end: services expect to be made to wait */
                int r = -errno;
                close_fd(ends[0]);
                close_fd(ends[1]);
                return r;
        }
        uint32_t slot = (uint32_t)(stream - streams->items), *newest = newest_of(streams, writer->member, writer->side);
        *stream = (LinkStream){ .state = STREAM_UNSENT,
                                .id = ++streams->serial << SLOT_BITS | slot,
                                .member = writer->member,
                                .slot = slot,
                                .older = *newest,
                                .service = writer->service,
                                .side = (uint8_t)writer->side,
                                .hook = writer->hook,
                                .instance = writer->instance,
                                .pipe = ends[0],
                                .output = is_error ? service_error(config) : service_output(config) };
        *newest = slot + 1;
        streams->n_used++;
        streams->unsent = true;
        return ends[1];
}

/* ---- Telling the logger ---- */

static int send_hook(const LinkStream *stream, const HookConfig *hook, int socket) {
        char head[HEAD_MAX];
        Packet packet;

        packet_init(&packet, head, sizeof head);
        packet_add_unsigned(&packet, "HOOK", stream->id);
        packet_add(&packet, "NAME", hook->name);
        packet_set_body(&packet, hook->log_pattern);
        return packet_send(socket, &packet);
}

/* Those that an earlier call could not send. */
static int send_hooks(LinkStreams *streams, LinkStream *stream, int socket) {
        unsigned n = 0;

        for (size_t i = 0; i < streams->config->n_hooks; i++) {
                const HookConfig *hook = &streams->config->hooks[i];
                if (!hook->log_pattern || hook->service != (int)stream->service || stream->hook || n++ < stream->sent)
                        continue;
                int r = send_hook(stream, hook, socket);
                if (r < 0 && r != -EMSGSIZE) /* too long for this kernel's sockets: the logger's own limit is higher */
                        return r;
                stream->sent++;
        }
        return 0;
}

static bool is_error(const LinkStream *stream) {
        return stream->side == LINK_STDERR || stream->side == LINK_HOOK_STDERR;
}

static void add_source(const LinkStreams *streams, const LinkStream *stream, Packet *packet) {
        const ServiceConfig *service = &streams->config->services[stream->service];

        packet_add(packet, "SERVICE", service->name);
        packet_add_unsigned(packet, "INSTANCE", stream->instance);
        if (service->instances > 1)
                packet_add(packet, "MANY", "1");
        if (stream->hook)
                packet_add(packet, "HOOK_NAME", stream->hook);
        if (stream->pid > 0)
                packet_add_unsigned(packet, "PID", (uint64_t)stream->pid);
        if (is_error(stream))
                packet_add(packet, "STDERR", "1");
}

/* What becomes of the bytes, and where they go. The logger opens files: an open() on a dead file system or a FIFO may
 * take for ever. */
static void add_target(const LinkStreams *streams, const LinkStream *stream, Packet *packet) {
        static const char *const formats[_OUTPUT_KIND_MAX] = {
                /* the first four: unchanged */
                [OUTPUT_INHERIT] = "inherit", [OUTPUT_NULL] = "null",     [OUTPUT_FILE] = "file",
                [OUTPUT_APPEND] = "append",   [OUTPUT_PREFIX] = "prefix", [OUTPUT_JSON] = "json",
                [OUTPUT_LOG] = "lines",
        };
        const Outputs *outputs = streams->config->services[stream->service].outputs;
        OutputKind kind = stream->output->kind;
        int inherited = is_error(stream) ? STDERR_FILENO : STDOUT_FILENO;

        packet_add(packet, "FORMAT", formats[kind]);
        if (!stream->output->path && kind != OUTPUT_NULL && fcntl(inherited, F_GETFD) >= 0)
                packet_add_fd(packet, inherited);
        if (kind == OUTPUT_LOG) {
                packet_add_unsigned(packet, "MAX_SIZE", outputs->log_max_size ? outputs->log_max_size : LOG_MAX_SIZE);
                packet_add_unsigned(packet, "MOST", outputs->log_max_files ? outputs->log_max_files : LOG_MAX_FILES);
        }
        if (kind == OUTPUT_FILE && !stream->emptied)
                packet_add(packet, "TRUNCATE", "1");
        if (stream->output->path)
                packet_set_body(packet, stream->output->path);
}

static int send_open(const LinkStreams *streams, const LinkStream *stream, int socket) {
        char head[HEAD_MAX];
        Packet packet;

        packet_init(&packet, head, sizeof head);
        packet_add_unsigned(&packet, "OPEN", stream->id);
        packet_add_fd(&packet, stream->pipe);
        add_source(streams, stream, &packet);
        add_target(streams, stream, &packet);
        return packet_send(socket, &packet);
}

static int send_close(const LinkStream *stream, int socket) {
        char head[HEAD_MAX];
        Packet packet;

        packet_init(&packet, head, sizeof head);
        packet_add_unsigned(&packet, "CLOSE", stream->id);
        return packet_send(socket, &packet);
}

static int send_one(LinkStreams *streams, LinkStream *stream, int socket) {
        int r;

        switch (stream->state) {
        case STREAM_UNSENT:
                r = send_hooks(streams, stream, socket);
                if (r >= 0)
                        r = send_open(streams, stream, socket);
                if (r >= 0)
                        stream->state = STREAM_SENT;
                return r;
        case STREAM_CLOSING:
                r = send_close(stream, socket);
                if (r >= 0)
                        release(streams, stream);
                return r;
        case STREAM_FREE:
        case STREAM_SENT:
        case STREAM_DRAINED: break;
        }
        return 0;
}

int link_streams_send(LinkStreams *streams, int socket) {
        for (uint32_t i = 0; i < streams->n && streams->unsent; i++) {
                int r = send_one(streams, &streams->items[i], socket);
                /* Too many descriptors on their way: it gets better when the logger has taken some. */
                if (r < 0)
                        return r == -ETOOMANYREFS ? -EAGAIN : r;
        }
        streams->unsent = false;
        return 0;
}

void link_streams_forget(LinkStreams *streams) {
        for (uint32_t i = 0; i < streams->n; i++) {
                LinkStream *stream = &streams->items[i];
                if (stream->state == STREAM_CLOSING) {
                        release(streams, stream);
                } else if (stream->state != STREAM_FREE) {
                        sd_event_source_disable_unref(TAKE(stream->drain));
                        stream->state = STREAM_UNSENT;
                        stream->sent = 0;
                        streams->unsent = true;
                }
        }
}

/* ---- Nobody serves them ---- */

static int on_drain(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        LinkStreams *streams = userdata;
        char scrap[DRAIN_BYTES];
        ssize_t n = 1;

        (void)revents;
        for (int i = 0; i < DRAIN_TURNS && n > 0; i++)
                n = read(fd, scrap, sizeof scrap);
        if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)))
                return 0;
        for (uint32_t i = 0; i < streams->n; i++)
                if (streams->items[i].drain == source) {
                        link_streams_close(streams, &streams->items[i]);
                        break;
                }
        return 0;
}

void link_streams_drain(LinkStreams *streams, LinkStream *stream) {
        if (stream->drain || stream->state == STREAM_FREE || stream->state == STREAM_CLOSING)
                return;
        stream->state = STREAM_DRAINED;
        /* Without memory for a source the reading end is closed: EPIPE is an answer, to wait for ever is none. */
        if (sd_event_add_io(streams->event, &stream->drain, stream->pipe, EPOLLIN, on_drain, streams) < 0)
                link_streams_close(streams, stream);
}

void link_streams_drain_all(LinkStreams *streams) {
        for (uint32_t i = 0; i < streams->n; i++)
                link_streams_drain(streams, &streams->items[i]);
}
