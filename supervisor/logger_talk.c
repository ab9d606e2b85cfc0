/* logger_talk.c - the words between PID 1 and the logger. */
#include "base/packet.h"
#include "base/take.h"
#include "supervisor/logger_link_internal.h"
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>

#define MESSAGE_MAX      256
#define SENTENCE_MAX     512
#define MESSAGES_AT_ONCE 16
#define LAST_TURNS       64
#define WAKE_UPS         50 /* in WAKE_UPS_USEC: a flood of marks holds up its service, not PID 1 */
#define WAKE_UPS_USEC    (100 * USEC_PER_MSEC)

void link_say(const LoggerLink *link, LogLevel level, const char *format, ...) {
        char sentence[SENTENCE_MAX];
        va_list ap;

        va_start(ap, format);
        vsnprintf(sentence, sizeof sentence, format, ap);
        va_end(ap);
        link->plan.say(link->plan.userdata, level, sentence);
}

/* ---- To the logger ---- */

static int send_number(const LoggerLink *link, const char *key, uint64_t value) {
        char head[64];
        Packet packet;

        packet_init(&packet, head, sizeof head);
        packet_add_unsigned(&packet, key, value);
        return packet_send(link->socket, &packet);
}

static int send_all(LoggerLink *link) {
        int r = link_journal_send(&link->journal, link->socket);

        if (r >= 0)
                r = link_streams_send(&link->streams, link->socket);
        if (r >= 0 && link->reopen_unsent) {
                r = send_number(link, "REOPEN", 1);
                link->reopen_unsent = r < 0;
        }
        if (r >= 0 && link->settle_unsent) {
                r = send_number(link, "SETTLE", link->settling);
                link->settle_unsent = r < 0;
        }
        return r;
}

/* What cannot be sent now is sent when the socket can be written; what cannot be sent to a dead one is sent to the
 * next. */
void link_send_or_wait(LoggerLink *link) {
        if (link->socket < 0)
                return;
        int r = send_all(link);
        if (r < 0 && r != -EAGAIN && r != -EPIPE && r != -ECONNRESET)
                link_say(link, LOG_LEVEL_WARNING,
                         "a message to the logger could not be sent: %s; tried again with the next", strerror(-r));
        sd_event_source_set_io_events(link->talk, r == -EAGAIN ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

/* ---- From the logger ---- */

void link_call_settled(LoggerLink *link) {
        link->settling = 0;
        link->settle_unsent = false;
        link->plan.settled(link->plan.userdata);
}

static void say_output_error(LoggerLink *link, const LinkStream *stream, int error) {
        const char *service = link->plan.config->services[stream->service].name;
        const char *name = stream->side == 0 ? "stdout" : "stderr";
        const char *path = stream->output->path ? stream->output->path : "where endwell's own goes";

        if (error != 0)
                link_say(link, LOG_LEVEL_WARNING,
                         "the %s of %s@%u could not be written to %s: %s; it is dropped until that works", name,
                         service, stream->instance, path, strerror(error));
        else
                link_say(link, LOG_LEVEL_NOTICE, "the %s of %s@%u is written to %s again", name, service,
                         stream->instance, path);
}

static void on_refused(LoggerLink *link, LinkStream *stream, int error) {
        link_say(link, LOG_LEVEL_ERR,
                 "the logger could not take the output of %s@%u: %s; it is dropped until the next start",
                 link->plan.config->services[stream->service].name, stream->instance, strerror(error));
        link_streams_drain(&link->streams, stream);
}

static void on_stream_message(LoggerLink *link, LinkStream *stream, const Packet *packet) {
        const char *hook = packet_get(packet, "MARK");
        uint64_t number;

        if (hook && !link->finishing)
                link->plan.marked(link->plan.userdata, stream->member, hook, stream->pid);
        else if (packet_get(packet, "OPENED"))
                stream->emptied = true;
        else if (packet_get(packet, "ENDED"))
                link_streams_close(&link->streams, stream);
        else if (packet_get_unsigned(packet, "ERROR", &number) == 0)
                say_output_error(link, stream, (int)number);
        else if (packet_get_unsigned(packet, "REFUSED", &number) == 0)
                on_refused(link, stream, (int)number);
}

static void say_journal_error(LoggerLink *link, int error) {
        if (error != 0)
                link_say(link, LOG_LEVEL_WARNING,
                         "the journal %s could not be written: %s; tried again every second, "
                         "the last 256 KiB stay in memory",
                         link->plan.journal_path, strerror(error));
        else
                link_say(link, LOG_LEVEL_NOTICE, "the journal %s is written again", link->plan.journal_path);
}

static void on_message(LoggerLink *link, const Packet *packet) {
        uint64_t number;

        if (packet_get_unsigned(packet, "STREAM", &number) == 0) {
                LinkStream *stream = link_streams_find(&link->streams, number);
                if (stream && stream->state == STREAM_SENT)
                        on_stream_message(link, stream, packet);
        } else if (packet_get_unsigned(packet, "SETTLED", &number) == 0) {
                if (link->settling == number)
                        link_call_settled(link);
        } else if (packet_get(packet, "JOURNAL_BEGUN")) {
                link->journal.begun = true;
        } else if (packet_get_unsigned(packet, "JOURNAL_ERROR", &number) == 0) {
                say_journal_error(link, (int)number);
        }
}

/* At most `most` messages. False when the logger has closed its side: its exit is told by the roster. */
static bool hear(LoggerLink *link, unsigned most) {
        char text[MESSAGE_MAX];
        Packet packet;

        packet_init(&packet, text, sizeof text);
        for (unsigned i = 0; i < most; i++) {
                int r = packet_receive(link->socket, &packet);
                if (r != PACKET_RECEIVED)
                        return r == -EAGAIN;
                on_message(link, &packet);
                packet_done(&packet);
        }
        return true;
}

static int on_talk(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        LoggerLink *link = userdata;

        (void)fd;
        if (revents & EPOLLOUT)
                link_send_or_wait(link);
        if (revents & (EPOLLIN | EPOLLHUP | EPOLLERR) && !hear(link, MESSAGES_AT_ONCE))
                sd_event_source_set_enabled(source, SD_EVENT_OFF);
        return 0;
}

int link_listen(LoggerLink *link) {
        int r = sd_event_add_io(link->event, &link->talk, link->socket, EPOLLIN, on_talk, link);
        if (r >= 0)
                r = sd_event_source_set_ratelimit(link->talk, WAKE_UPS_USEC, WAKE_UPS);
        return r < 0 ? r : 0;
}

void link_hear_last_words(LoggerLink *link) {
        /* More than a socket holds; each call is bounded all the same, should somebody else keep its other end open. */
        for (unsigned i = 0; i < LAST_TURNS && link->socket >= 0 && hear(link, MESSAGES_AT_ONCE); i++)
                continue;
}
