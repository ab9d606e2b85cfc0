/* hub.c - what PID 1 says, carried out; and the end. */
#include "logger/hub.h"
#include "base/log.h"
#include "base/packet.h"
#include "base/take.h"
#include "logger/journal.h"
#include "logger/opening.h"
#include "logger/outbox.h"
#include "logger/patterns.h"
#include "logger/readers.h"
#include "logger/stream.h"
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/epoll.h>

#define MESSAGE_MAX      (80 * 1024) /* an expression of 64 KiB and its words */
#define PRIORITY_HUB     (-20)
#define MESSAGES_AT_ONCE 64

typedef struct Place {
        struct Place *next;
        Stream *stream;
} Place;

struct Hub {
        sd_event *event;
        sd_event_source *input, *watch, *limit;
        int socket;
        Outbox *outbox;
        Journal *journal;
        Place *places;
        ScribeRoom room;
        LogFiles log_files;
        Readers *readers; /* NULL: none */
        Patterns coming;  /* HOOKs whose OPEN is still to come */
        uint64_t coming_id;
        bool settling, ending;
        int exit_code;
        uint64_t settle_number;
        char buffer[MESSAGE_MAX];
};

/* ---- Streams ---- */

static void each_stream_resume(Hub *hub) {
        for (Place *place = hub->places, *next; place; place = next) {
                next = place->next; /* the stream may end, and its place with it */
                stream_resume(place->stream);
        }
}

static void remove_stream(Hub *hub, uint64_t id) {
        for (Place **link = &hub->places; *link; link = &(*link)->next) {
                Place *place = *link;
                if (stream_id(place->stream) != id)
                        continue;
                *link = place->next;
                stream_free(place->stream);
                free(place);
                return;
        }
}

static void on_stream_ended(void *userdata, Stream *stream) {
        Hub *hub = userdata;
        uint64_t id = stream_id(stream);

        outbox_say(hub->outbox, "STREAM=%" PRIu64 "\nENDED=1\n", id);
        remove_stream(hub, id);
}

static void on_hook(Hub *hub, const Packet *packet, uint64_t id) {
        const char *name = packet_get(packet, "NAME");

        if (id != hub->coming_id)
                patterns_done(&hub->coming);
        hub->coming_id = id;
        int r = name && packet->body ? patterns_add(&hub->coming, name, packet->body) : -EINVAL;
        if (r == -E2BIG)
                log_err("hook %s is not watched for: a service can have at most %d LogPattern hooks", name,
                        PATTERNS_MAX);
        else if (r < 0)
                log_err("hook %s is not watched for: %s", name ? name : "without a name", strerror(-r));
}

/* 0 when the plan was taken over. */
static int add_stream(Hub *hub, const StreamPlan *plan) {
        Place *place = malloc(sizeof *place);
        if (!place)
                return -ENOMEM;
        int r = stream_new(&place->stream, hub->event, plan);
        if (r < 0) {
                free(place);
                return r;
        }
        place->next = hub->places;
        hub->places = place;
        return 0;
}

static void on_kept(void *userdata) {
        Hub *hub = userdata;
        if (hub->readers)
                readers_wake(hub->readers);
}

static void on_open(Hub *hub, Packet *packet, uint64_t id) {
        StreamPlan plan = { .id = id,
                            .room = &hub->room,
                            .log_files = &hub->log_files,
                            .outbox = hub->outbox,
                            .on_kept = on_kept,
                            .on_ended = on_stream_ended,
                            .userdata = hub };

        opening_read(packet, &plan);
        plan.pipe = packet_take_fd(packet);
        target_from_fd(&plan.target, packet_take_fd(packet));
        if (id == hub->coming_id)
                plan.patterns = hub->coming;
        int r = plan.pipe < 0 ? -EBADF : add_stream(hub, &plan);
        if (r < 0) {
                /* PID 1 then drains the pipe itself: nobody may block on it. */
                outbox_say(hub->outbox, "STREAM=%" PRIu64 "\nREFUSED=%d\n", id, -r);
                close_fd(plan.pipe);
                target_done(&plan.target);
                patterns_done(&plan.patterns);
        }
        if (id == hub->coming_id)
                hub->coming = (Patterns){ 0 };
}

/* ---- The end ---- */

static bool everything_is_idle(const Hub *hub) {
        for (const Place *place = hub->places; place; place = place->next)
                if (!stream_is_idle(place->stream))
                        return false;
        return true;
}

static void finish(Hub *hub) {
        if (hub->readers)
                readers_finish(hub->readers);
        sd_event_exit(hub->event, hub->exit_code);
}

/* After each event: has everything been passed on? */
static int on_any_event(sd_event_source *source, void *userdata) {
        Hub *hub = userdata;

        (void)source;
        if (everything_is_idle(hub))
                finish(hub);
        return 0;
}

static int on_end_limit(sd_event_source *source, uint64_t usec, void *userdata) {
        Hub *hub = userdata;

        (void)source, (void)usec;
        log_warning("ended with output that was not taken within %" PRIu64 " ms",
                    (uint64_t)(HUB_END_USEC / USEC_PER_MSEC));
        finish(hub);
        return 0;
}

static void end_journal(Hub *hub) {
        int r = hub->journal ? journal_finish(hub->journal) : 0;

        if (r < 0) {
                log_err("the end of the journal could not be written: %s", strerror(-r));
                hub->exit_code = 1;
        }
}

static void begin_end(Hub *hub) {
        if (hub->ending)
                return;
        hub->ending = true;
        outbox_stop(hub->outbox); /* nothing may follow the last line of the journal, so marks are of no use now */
        sd_event_source_set_enabled(hub->input, SD_EVENT_OFF);
        end_journal(hub);
        each_stream_resume(hub);
        int r = sd_event_add_post(hub->event, &hub->watch, on_any_event, hub);
        if (r >= 0)
                r = sd_event_add_time_relative(hub->event, &hub->limit, CLOCK_MONOTONIC, HUB_END_USEC, 1, on_end_limit,
                                               hub);
        if (r < 0 || everything_is_idle(hub))
                finish(hub);
}

/* ---- The journal ---- */

static bool on_journal_error(void *userdata, int error) {
        Hub *hub = userdata;
        if (outbox_room(hub->outbox) == 0)
                return false;
        outbox_say(hub->outbox, "JOURNAL_ERROR=%d\n", error);
        return true;
}

static bool on_journal_begun(void *userdata) {
        Hub *hub = userdata;
        if (outbox_room(hub->outbox) == 0)
                return false;
        outbox_say(hub->outbox, "JOURNAL_BEGUN=1\n");
        return true;
}

static void on_journal_end(void *userdata) {
        begin_end(userdata);
}

static void on_journal(Hub *hub, Packet *packet, uint64_t handed) {
        int pipe = packet_take_fd(packet);
        int r = pipe < 0 || !hub->journal ? -EINVAL : journal_attach(hub->journal, pipe, handed);

        if (r < 0)
                log_err("the journal's pipe could not be used: %s; its file stays as it is", strerror(-r));
        if (!hub->journal)
                close_fd(pipe);
}

/* ---- PID 1 ---- */

/* Answers SETTLE once every stream has said what it had to say. */
static void go_on_settling(Hub *hub) {
        bool settled = true;

        for (Place *place = hub->places; place; place = place->next)
                settled = stream_settle(place->stream) && settled;
        if (!settled || outbox_room(hub->outbox) == 0)
                return;
        hub->settling = false;
        outbox_say(hub->outbox, "SETTLED=%" PRIu64 "\n", hub->settle_number);
        each_stream_resume(hub); /* those that have come to their end */
}

static void on_settle(Hub *hub, uint64_t number) {
        hub->settling = true;
        hub->settle_number = number;
        go_on_settling(hub);
}

static void on_reopen(Hub *hub) {
        if (hub->journal)
                journal_reopen(hub->journal);
        for (Place *place = hub->places, *next; place; place = next) {
                next = place->next;
                stream_reopen(place->stream);
        }
}

static void on_message(Hub *hub, Packet *packet) {
        uint64_t number;

        if (packet_get_unsigned(packet, "OPEN", &number) == 0)
                on_open(hub, packet, number);
        else if (packet_get_unsigned(packet, "HOOK", &number) == 0)
                on_hook(hub, packet, number);
        else if (packet_get_unsigned(packet, "CLOSE", &number) == 0)
                remove_stream(hub, number);
        else if (packet_get_unsigned(packet, "SETTLE", &number) == 0)
                on_settle(hub, number);
        else if (packet_get_unsigned(packet, "JOURNAL", &number) == 0)
                on_journal(hub, packet, number);
        else if (packet_get(packet, "REOPEN"))
                on_reopen(hub);
        else
                log_err("a message was not understood and ignored: %s", packet->text);
}

/* Most likely out of descriptors; the words came, so that PID 1 can be told which stream it is. */
static void on_broken_message(Hub *hub, const Packet *packet, int error) {
        uint64_t id;

        log_err("a message of PID 1 could not be taken: %s", strerror(-error));
        if (packet_get_unsigned(packet, "OPEN", &id) == 0)
                outbox_say(hub->outbox, "STREAM=%" PRIu64 "\nREFUSED=%d\n", id, EMFILE);
}

static int on_readable(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        Hub *hub = userdata;
        Packet packet;

        (void)source, (void)revents;
        packet_init(&packet, hub->buffer, sizeof hub->buffer);
        /* An answer to each may be needed: with too little room the rest is left in the socket. */
        for (int i = 0; i < MESSAGES_AT_ONCE && !hub->ending && outbox_room(hub->outbox) > 1; i++) {
                int r = packet_receive(fd, &packet);
                if (r == PACKET_RECEIVED) {
                        on_message(hub, &packet);
                        packet_done(&packet);
                } else if (r == -EMSGSIZE || r == -EBADMSG) {
                        on_broken_message(hub, &packet, r);
                } else if (r != -EAGAIN) {
                        begin_end(hub);
                } else {
                        break;
                }
        }
        if (outbox_room(hub->outbox) <= 1)
                sd_event_source_set_enabled(hub->input, SD_EVENT_OFF);
        return 0;
}

static void on_outbox_room(void *userdata) {
        Hub *hub = userdata;

        each_stream_resume(hub);
        if (hub->settling)
                go_on_settling(hub);
        if (!hub->ending)
                sd_event_source_set_enabled(hub->input, SD_EVENT_ON);
}

/* ---- Life ---- */

/* That nobody can read along costs no line. */
static void open_readers(Hub *hub, const HubPlan *plan) {
        ReadersPlan readers = { .path = plan->logs_path, .group = plan->group };

        hub->room.kept = kept_new();
        readers.kept = hub->room.kept;
        int r = hub->room.kept ? readers_new(&hub->readers, hub->event, &readers) : -ENOMEM;
        if (r < 0)
                log_warning("could not listen on %s: %s; `endwell logs` will not be answered", plan->logs_path,
                            strerror(-r));
}

static int open_parts(Hub *hub, const HubPlan *plan) {
        JournalPlan journal = { .path = plan->journal_path,
                                .max_size = plan->journal_max_size,
                                .userdata = hub,
                                .on_error = on_journal_error,
                                .on_begun = on_journal_begun,
                                .on_end = on_journal_end };

        int r = outbox_new(&hub->outbox, hub->event, hub->socket, on_outbox_room, hub);
        if (r >= 0)
                r = sd_event_add_io(hub->event, &hub->input, hub->socket, EPOLLIN, on_readable, hub);
        if (r >= 0)
                r = sd_event_source_set_priority(hub->input, PRIORITY_HUB);
        if (r >= 0 && plan->journal_path)
                r = journal_new(&hub->journal, hub->event, &journal);
        if (r >= 0 && plan->logs_path)
                open_readers(hub, plan);
        return r < 0 ? r : 0;
}

int hub_new(Hub **ret, sd_event *event, const HubPlan *plan) {
        Hub *hub = calloc(1, sizeof *hub);
        if (!hub)
                return -ENOMEM;
        hub->event = sd_event_ref(event);
        hub->socket = plan->socket;
        int r = open_parts(hub, plan);
        if (r < 0) {
                hub_free(hub);
                return r;
        }
        *ret = hub;
        return 0;
}

Hub *hub_free(Hub *hub) {
        if (!hub)
                return NULL;
        while (hub->places)
                remove_stream(hub, stream_id(hub->places->stream));
        sd_event_source_disable_unref(hub->input);
        sd_event_source_disable_unref(hub->watch);
        sd_event_source_disable_unref(hub->limit);
        readers_free(hub->readers);
        kept_free(hub->room.kept);
        journal_free(hub->journal);
        outbox_free(hub->outbox);
        patterns_done(&hub->coming);
        sd_event_unref(hub->event);
        free(hub);
        return NULL;
}
