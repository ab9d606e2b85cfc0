/* prober_talk.c - the words between PID 1 and the prober. */
#include "base/clock.h"
#include "base/packet.h"
#include "supervisor/child.h"
#include "supervisor/prober_link_internal.h"
#include <errno.h>
#include <signal.h>
#include <string.h>

#define LATE_USEC   (100 * USEC_PER_MSEC)
#define MESSAGE_MAX 256

static void answer(ProberLink *link, uint32_t number, ProbeAnswer found, const char *detail) {
        prober_queue_move(&link->queue, number, QUEUE_FREE); /* first: the next question may follow at once */
        link->plan.answered(link->plan.userdata, number, found, detail);
}

void prober_answer_all(ProberLink *link, QueuePlace place, const char *detail) {
        for (uint32_t number; (number = prober_queue_first(&link->queue, place)) != QUEUE_NONE;)
                answer(link, number, PROBE_UNKNOWN, detail);
}

/* ---- To the prober ---- */

static const char *word_of(ProbeBy by) {
        switch (by) {
        case PROBE_BY_HTTP: return "http";
        case PROBE_BY_TCP: return "tcp";
        case PROBE_BY_UNIX: return "unix";
        case PROBE_BY_NONE:
        case PROBE_BY_EXEC:
        case _PROBE_BY_MAX: break;
        }
        return NULL;
}

bool prober_can_do(const ProberRequest *what) {
        return what->target && word_of(what->by);
}

static int send_request(const ProberLink *link, const QueueItem *item) {
        char head[MESSAGE_MAX];
        Packet packet;

        packet_init(&packet, head, sizeof head);
        packet_add_unsigned(&packet, "ASK", item->id);
        packet_add(&packet, "BY", word_of(item->what.by));
        packet_add_unsigned(&packet, "TIMEOUT", usec_sub(item->due_usec, clock_now_usec()));
        if (item->what.method)
                packet_add(&packet, "METHOD", item->what.method);
        if (item->what.purpose == PROBER_HOOK)
                packet_add_unsigned(&packet, "HOOK", 1);
        packet_set_body(&packet, item->what.target);
        return packet_send(link->helper.socket, &packet);
}

/* Until the socket is full. Who is dead gets nothing, and what waits goes to the next one. */
void prober_send_waiting(ProberLink *link) {
        uint32_t number;
        int r = 0;

        while (r == 0 && (number = prober_queue_first(&link->queue, QUEUE_WAITING)) != QUEUE_NONE) {
                r = send_request(link, &link->queue.items[number]);
                if (r == 0) {
                        prober_queue_move(&link->queue, number, QUEUE_SENT);
                } else if (r != -EAGAIN && r != -EPIPE && r != -ECONNRESET) {
                        helper_say(&link->helper, LOG_LEVEL_WARNING,
                                   "a request could not be sent to the prober: %s; it is not made", strerror(-r));
                        prober_link_call_off(link, number);
                        r = 0;
                }
        }
        helper_want_to_write(&link->helper, r == -EAGAIN);
}

/* Where it cannot be said, its own timeout ends the work. */
void prober_send_cancel(const ProberLink *link, uint64_t id) {
        char head[64];
        Packet packet;

        packet_init(&packet, head, sizeof head);
        packet_add_unsigned(&packet, "CANCEL", id);
        (void)packet_send(link->helper.socket, &packet);
}

/* ---- From the prober ---- */

static int read_answer(const Packet *packet, ProbeAnswer *ret) {
        const char *word = packet_get(packet, "RESULT");

        if (!word)
                return -EINVAL;
        if (strcmp(word, "succeeded") == 0)
                *ret = PROBE_SUCCEEDED;
        else if (strcmp(word, "failed") == 0)
                *ret = PROBE_FAILED;
        else
                *ret = PROBE_UNKNOWN;
        return 0;
}

void prober_on_message(void *userdata, const Packet *packet) {
        ProberLink *link = userdata;
        const char *detail = packet_get(packet, "DETAIL");
        ProbeAnswer found;
        uint64_t id;

        link->patience = sd_event_source_disable_unref(link->patience);
        if (packet_get_unsigned(packet, "ANSWER", &id) < 0 || read_answer(packet, &found) < 0)
                return;
        uint32_t number = prober_queue_find(&link->queue, id);
        if (number != QUEUE_NONE)
                answer(link, number, found, detail ? detail : "");
}

/* ---- One that hangs ---- */

static int on_impatient(sd_event_source *source, uint64_t due, void *userdata);

void prober_be_patient(ProberLink *link) {
        if (link->patience || link->helper.pid == 0 || link->helper.finishing)
                return;
        usec_t due = usec_add(clock_now_usec(), PROBER_PATIENCE_USEC);
        (void)sd_event_add_time(link->helper.event, &link->patience, CLOCK_MONOTONIC, due, USEC_PER_MSEC, on_impatient,
                                link);
}

static int on_impatient(sd_event_source *source, uint64_t due, void *userdata) {
        ProberLink *link = userdata;

        sd_event_source_disable_unref(source);
        link->patience = NULL;
        if (clock_now_usec() > usec_add(due, LATE_USEC)) { /* it is we who were stopped, or both */
                prober_be_patient(link);
                return 0;
        }
        helper_say(&link->helper, LOG_LEVEL_WARNING, "the prober said nothing for %d s; it is killed",
                   (int)(PROBER_PATIENCE_USEC / USEC_PER_SEC));
        (void)child_signal(link->helper.pid, SIGKILL); /* gone meanwhile: its end is told next */
        return 0;
}
