/* gateway_link.c - the life of the gateway process. */
#include "supervisor/gateway_link.h"
#include "base/clock.h"
#include "supervisor/child.h"
#include "supervisor/helper.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RESTART_MOST_USEC (30 * USEC_PER_SEC)
#define WORDS_MAX         16

struct GatewayLink {
        Helper helper;
        GatewayPlan plan;
        char *control;
        sd_event_source *starter;
        bool resting;
};

/* It has nothing to say here. */
static void on_heard(void *userdata, const Packet *packet) {
        (void)userdata, (void)packet;
}

static void on_writable(void *userdata) {
        (void)userdata;
}

static int spawn(GatewayLink *link) {
        const GatewayConfig *config = link->plan.config;
        char *argv[WORDS_MAX] = { link->helper.program,
                                  (char *)"--socket",
                                  link->control,
                                  (char *)"--listen",
                                  config->listen,
                                  (char *)"--dashboard",
                                  (char *)(config->dashboard ? "yes" : "no"),
                                  (char *)"--log-format",
                                  (char *)log_format_to_string(link->plan.log_format),
                                  (char *)"--log-level",
                                  (char *)log_level_to_string(link->plan.log_level),
                                  config->ready_when ? (char *)"--ready-when" : NULL,
                                  config->ready_when };

        return helper_start(&link->helper, argv);
}

static int on_start(sd_event_source *source, uint64_t usec, void *userdata);

static void start_later(GatewayLink *link) {
        unsigned doublings = link->helper.failures > 1 ? link->helper.failures - 1 : 0;
        usec_t span = usec_min(RESTART_MOST_USEC, HELPER_RESTART_USEC << (doublings < 5 ? doublings : 5));

        helper_disconnect(&link->helper);
        if (link->resting || link->starter)
                return;
        int r = sd_event_add_time(link->helper.event, &link->starter, CLOCK_MONOTONIC, usec_add(clock_now_usec(), span),
                                  USEC_PER_MSEC, on_start, link);
        if (r < 0)
                helper_say(&link->helper, LOG_LEVEL_ERR, "the gateway cannot be started again: %s; nobody answers",
                           strerrordesc_np(-r));
}

static int on_start(sd_event_source *source, uint64_t usec, void *userdata) {
        GatewayLink *link = userdata;

        (void)usec;
        sd_event_source_disable_unref(source);
        link->starter = NULL;
        if (spawn(link) < 0)
                start_later(link);
        return 0;
}

void gateway_link_on_exited(GatewayLink *link, Ended how) {
        char text[HELPER_DESCRIPTION_SIZE];

        helper_bury(&link->helper);
        if (!link->helper.finishing) {
                helper_count_failure(&link->helper);
                helper_say(&link->helper, LOG_LEVEL_WARNING, "the gateway %s; %s", helper_describe_end(how, text),
                           link->resting ? "the ending goes on without it" : "it is started again");
        }
        start_later(link);
}

pid_t gateway_link_pid(const GatewayLink *link) {
        return link->helper.pid;
}

void gateway_link_rest(GatewayLink *link) {
        link->resting = true;
        link->starter = sd_event_source_disable_unref(link->starter);
}

bool gateway_link_finish(GatewayLink *link) {
        gateway_link_rest(link);
        link->helper.finishing = true;
        helper_disconnect(&link->helper); /* it reads this as the end */
        return link->helper.pid != 0;
}

int gateway_link_new(GatewayLink **ret, sd_event *event, const GatewayPlan *plan) {
        GatewayLink *link = calloc(1, sizeof *link);
        if (!link)
                return -ENOMEM;
        link->plan = *plan;
        int r = helper_init(&link->helper, event,
                            &(HelperPlan){ .name = "gateway",
                                           .program = plan->program,
                                           .environment = plan->environment,
                                           .rights = plan->config->rights,
                                           .messages_at_once = 1,
                                           .heard = on_heard,
                                           .writable = on_writable,
                                           .link = link,
                                           .spawned = plan->spawned,
                                           .say = plan->say,
                                           .userdata = plan->userdata });
        link->control = strdup(plan->control);
        if (r < 0 || !link->control) {
                gateway_link_free(link);
                return -ENOMEM;
        }
        if (spawn(link) < 0)
                start_later(link);
        *ret = link;
        return 0;
}

GatewayLink *gateway_link_free(GatewayLink *link) {
        if (!link)
                return NULL;
        sd_event_source_disable_unref(link->starter);
        helper_done(&link->helper);
        free(link->control);
        free(link);
        return NULL;
}
