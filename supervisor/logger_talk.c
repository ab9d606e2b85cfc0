/* logger_talk.c - the words between PID 1 and the logger. */
#include "base/packet.h"
#include "supervisor/logger_link_internal.h"
#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* ---- To the logger ---- */

static int send_number(const LoggerLink *link, const char *key, uint64_t value) {
        char head[64];
        Packet packet;

        packet_init(&packet, head, sizeof head);
        packet_add_unsigned(&packet, key, value);
        return packet_send(link->helper.socket, &packet);
}

static int send_all(LoggerLink *link) {
        int r = link_journal_send(&link->journal, link->helper.socket);

        if (r >= 0)
                r = link_streams_send(&link->streams, link->helper.socket);
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
        if (link->helper.socket < 0)
                return;
        int r = send_all(link);
        if (r < 0 && r != -EAGAIN && r != -EPIPE && r != -ECONNRESET)
                helper_say(&link->helper, LOG_LEVEL_WARNING,
                           "a message to the logger could not be sent: %s; tried again with the next", strerror(-r));
        helper_want_to_write(&link->helper, r == -EAGAIN);
}

/* ---- From the logger ---- */

void link_call_settled(LoggerLink *link) {
        link->settling = 0;
        link->settle_unsent = false;
        link->plan.settled(link->plan.userdata);
}

static void say_output_error(LoggerLink *link, const LinkStream *stream, int error) {
        const char *service = link->plan.config->services[stream->service].name;
        const char *name = stream->side % 2 == LINK_STDOUT ? "stdout" : "stderr";
        const char *path = stream->output->path ? stream->output->path : "where endwell's own goes";

        if (error != 0)
                helper_say(&link->helper, LOG_LEVEL_WARNING,
                           "the %s of %s@%u could not be written to %s: %s; it is dropped until that works", name,
                           service, stream->instance, path, strerror(error));
        else
                helper_say(&link->helper, LOG_LEVEL_NOTICE, "the %s of %s@%u is written to %s again", name, service,
                           stream->instance, path);
}

static void on_refused(LoggerLink *link, LinkStream *stream, int error) {
        helper_say(&link->helper, LOG_LEVEL_ERR,
                   "the logger could not take the output of %s@%u: %s; it is dropped until the next start",
                   link->plan.config->services[stream->service].name, stream->instance, strerror(error));
        link_streams_drain(&link->streams, stream);
}

static void on_stream_message(LoggerLink *link, LinkStream *stream, const Packet *packet) {
        const char *hook = packet_get(packet, "MARK");
        uint64_t number;

        if (hook && !link->helper.finishing)
                link->plan.marked(link->plan.userdata, stream->member, hook, stream->pid);
        else if (packet_get_unsigned(packet, "DROPPED", &number) == 0 && !link->helper.finishing)
                link->plan.lost(link->plan.userdata, stream->member, number);
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
                helper_say(&link->helper, LOG_LEVEL_WARNING,
                           "the journal %s could not be written: %s; tried again every second, "
                           "the last 256 KiB stay in memory",
                           link->plan.journal_path, strerror(error));
        else
                helper_say(&link->helper, LOG_LEVEL_NOTICE, "the journal %s is written again", link->plan.journal_path);
}

void link_on_message(void *userdata, const Packet *packet) {
        LoggerLink *link = userdata;
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
