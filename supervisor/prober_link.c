/* prober_link.c - the life of the prober process, and what the rest of PID 1 asks of it. */
#include "supervisor/prober_link.h"
#include "base/clock.h"
#include "supervisor/child.h"
#include "supervisor/prober_link_internal.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGES_AT_ONCE 32

/* ---- Its life ---- */

static void disconnect(ProberLink *link) {
        helper_disconnect(&link->helper);
        link->patience = sd_event_source_disable_unref(link->patience);
}

static int spawn(ProberLink *link) {
        char *argv[] = { link->helper.program,
                         (char *)"--log-format",
                         (char *)log_format_to_string(link->plan.log_format),
                         (char *)"--log-level",
                         (char *)log_level_to_string(link->plan.log_level),
                         NULL };

        return helper_start(&link->helper, argv);
}

static void give_up(ProberLink *link) {
        link->helper.given_up = true;
        helper_say(&link->helper, LOG_LEVEL_ERR,
                   "the prober was given up after %u failures in a row: no service is probed by http, tcp or unix, and "
                   "hooks by Http fail; SIGUSR2 tries again",
                   link->helper.failures);
        prober_answer_all(link, QUEUE_WAITING, "the prober was given up");
}

static int on_start(sd_event_source *source, uint64_t usec, void *userdata);

/* For those who wait, and at most once a second. */
static void start_soon(ProberLink *link) {
        if (link->helper.pid != 0 || link->starter || link->helper.finishing || link->helper.given_up ||
            prober_queue_first(&link->queue, QUEUE_WAITING) == QUEUE_NONE)
                return;
        usec_t due = clock_now_usec();
        if (link->helper.started_usec > 0)
                due = usec_max(due, usec_add(link->helper.started_usec, HELPER_RESTART_USEC));
        if (sd_event_add_time(link->helper.event, &link->starter, CLOCK_MONOTONIC, due, USEC_PER_MSEC, on_start, link) <
            0)
                helper_say(&link->helper, LOG_LEVEL_ERR,
                           "the prober could not be started: %s; tried again with the next request", strerror(ENOMEM));
}

/* After a failure that was said and counted. What was in its hands is unknown, what waited goes on waiting. */
static void go_on_without(ProberLink *link) {
        disconnect(link);
        if (link->helper.finishing)
                return;
        if (link->helper.failures >= PROBER_FAILURES_MAX)
                give_up(link);
        prober_answer_all(link, QUEUE_SENT, "the prober died");
        start_soon(link);
}

static int on_start(sd_event_source *source, uint64_t usec, void *userdata) {
        ProberLink *link = userdata;

        (void)usec;
        sd_event_source_disable_unref(source);
        link->starter = NULL;
        if (spawn(link) < 0)
                go_on_without(link);
        else if (link->helper.talk)
                prober_send_waiting(link);
        return 0;
}

void prober_link_on_exited(ProberLink *link, Ended how) {
        char text[HELPER_DESCRIPTION_SIZE];

        helper_bury(&link->helper);
        if (!link->helper.finishing) {
                helper_count_failure(&link->helper);
                helper_say(&link->helper, LOG_LEVEL_WARNING, "the prober %s (failure %u of at most %d in a row)",
                           helper_describe_end(how, text), link->helper.failures, PROBER_FAILURES_MAX);
        }
        go_on_without(link);
}

pid_t prober_link_pid(const ProberLink *link) {
        return link->helper.pid;
}

/* ---- What the rest of PID 1 asks ---- */

int prober_link_ask(ProberLink *link, uint32_t request, const ProberRequest *what) {
        if (!prober_can_do(what))
                return -EINVAL;
        if (link->helper.finishing)
                return -ESHUTDOWN;
        if (link->helper.given_up)
                return -ENOTCONN;
        int r = prober_queue_add(&link->queue, request, what, clock_now_usec());
        if (r < 0)
                return r;
        if (link->helper.talk)
                prober_send_waiting(link);
        else
                start_soon(link);
        return 0;
}

static int on_tell(sd_event_source *source, void *userdata) {
        (void)source;
        prober_answer_all(userdata, QUEUE_CALLED_OFF, "called off");
        return 0;
}

void prober_link_call_off(ProberLink *link, uint32_t request) {
        QueuePlace place = request < link->queue.n_items ? link->queue.items[request].place : QUEUE_FREE;

        if (place != QUEUE_WAITING && place != QUEUE_SENT)
                return;
        if (place == QUEUE_SENT && link->helper.socket >= 0)
                prober_send_cancel(link, link->queue.items[request].id);
        prober_be_patient(link);
        prober_queue_move(&link->queue, request, QUEUE_CALLED_OFF);
        (void)sd_event_source_set_enabled(link->teller, SD_EVENT_ONESHOT);
}

void prober_link_retry(ProberLink *link) {
        link->helper.given_up = false;
        link->helper.failures = 0;
}

bool prober_link_finish(ProberLink *link) {
        link->helper.finishing = true;
        link->starter = sd_event_source_disable_unref(link->starter);
        (void)sd_event_source_set_enabled(link->teller, SD_EVENT_OFF);
        disconnect(link);
        return link->helper.pid != 0 && child_signal(link->helper.pid, SIGKILL) >= 0;
}

static void on_writable(void *userdata) {
        prober_send_waiting(userdata);
}

int prober_link_new(ProberLink **ret, sd_event *event, const ProberPlan *plan) {
        ProberLink *link = calloc(1, sizeof *link);
        if (!link)
                return -ENOMEM;
        link->plan = *plan;
        int r = helper_init(&link->helper, event,
                            &(HelperPlan){ .name = "prober",
                                           .program = plan->program,
                                           .environment = plan->environment,
                                           .messages_at_once = MESSAGES_AT_ONCE,
                                           .heard = prober_on_message,
                                           .writable = on_writable,
                                           .link = link,
                                           .spawned = plan->spawned,
                                           .say = plan->say,
                                           .userdata = plan->userdata });
        if (r >= 0)
                r = prober_queue_init(&link->queue, plan->n_requests);
        if (r >= 0)
                r = sd_event_add_defer(event, &link->teller, on_tell, link);
        if (r >= 0)
                r = sd_event_source_set_enabled(link->teller, SD_EVENT_OFF);
        if (r < 0) {
                prober_link_free(link);
                return r;
        }
        *ret = link;
        return 0;
}

ProberLink *prober_link_free(ProberLink *link) {
        if (!link)
                return NULL;
        sd_event_source_disable_unref(link->starter);
        sd_event_source_disable_unref(link->teller);
        disconnect(link);
        prober_queue_done(&link->queue);
        helper_done(&link->helper);
        free(link);
        return NULL;
}
