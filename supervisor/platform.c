/* platform.c - the table of platforms, and the judgement; see platform.h. */
#include "supervisor/platform.h"
#include "base/enumeration.h"
#include "base/names.h"
#include "shutdown/budget.h"
#include "supervisor/span.h"
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define ROOM_USEC (1 * USEC_PER_SEC) /* between our deadline and the end of the grace, at least */

static const char *const words[_PLATFORM_MAX] = {
        [PLATFORM_KUBERNETES] = "kubernetes", [PLATFORM_ECS] = "ecs",         [PLATFORM_DOCKER] = "docker",
        [PLATFORM_CLOUD_RUN] = "cloud-run",   [PLATFORM_FLY] = "fly",         [PLATFORM_NOMAD] = "nomad",
        [PLATFORM_HEROKU] = "heroku",         [PLATFORM_SYSTEMD] = "systemd",
};

ENUMERATION(platform, Platform, words)

const char *platform_nearest(const char *text) {
        return name_nearest(text, words, _PLATFORM_MAX);
}

static const PlatformFacts platforms[_PLATFORM_MAX] = {
        [PLATFORM_KUBERNETES] = { .name = "Kubernetes",
                                  .first_signal = SIGTERM,
                                  .signal_setting = "the image's STOPSIGNAL",
                                  .takes_stopsignal = true,
                                  .late_endpoints = true,
                                  .grace_usec = 30 * USEC_PER_SEC,
                                  .most_usec = USEC_INFINITY,
                                  .setting = "terminationGracePeriodSeconds: %",
                                  .before = "a preStop hook runs, and its time is part of the grace (2 s are left when "
                                            "it "
                                            "took all of it)",
                                  .meanwhile = "the pod leaves the endpoints; requests go on coming until all have "
                                               "heard of it" },
        [PLATFORM_ECS] = { .name = "Amazon ECS",
                           .first_signal = SIGTERM,
                           .signal_setting = "the image's STOPSIGNAL",
                           .takes_stopsignal = true,
                           .grace_usec = 30 * USEC_PER_SEC,
                           .most_usec = 120 * USEC_PER_SEC,
                           .most_words = "on Fargate",
                           .setting = "\"stopTimeout\": %",
                           .before = "the service takes the task out of its load balancer and waits until its "
                                     "connections are drained" },
        [PLATFORM_DOCKER] = { .name = "Docker",
                              .first_signal = SIGTERM,
                              .signal_setting = "the image's STOPSIGNAL, or --stop-signal,",
                              .takes_stopsignal = true,
                              .grace_usec = 10 * USEC_PER_SEC,
                              .most_usec = USEC_INFINITY,
                              .setting = "docker stop -t %, docker run --stop-timeout %, or stop_grace_period: %s in "
                                         "Compose" },
        [PLATFORM_CLOUD_RUN] = { .name = "Cloud Run",
                                 .first_signal = SIGTERM,
                                 .grace_usec = 10 * USEC_PER_SEC,
                                 .most_usec = 10 * USEC_PER_SEC },
        [PLATFORM_FLY] = { .name = "Fly.io",
                           .first_signal = SIGINT,
                           .signal_setting = "kill_signal in fly.toml",
                           .grace_usec = 5 * USEC_PER_SEC,
                           .most_usec = 300 * USEC_PER_SEC,
                           .most_words = "on shared processors",
                           .setting = "kill_timeout = % in fly.toml" },
        [PLATFORM_NOMAD] = { .name = "Nomad",
                             .first_signal = SIGINT,
                             .signal_setting = "kill_signal, or under the Docker driver the image's STOPSIGNAL,",
                             .takes_stopsignal = true,
                             .grace_usec = 5 * USEC_PER_SEC,
                             .most_usec = 30 * USEC_PER_SEC,
                             .most_words = "unless the client's max_kill_timeout is raised",
                             .setting = "kill_timeout = \"%s\" in the task" },
        [PLATFORM_HEROKU] = { .name = "Heroku",
                              .first_signal = SIGTERM,
                              .every_process = true,
                              .grace_usec = 30 * USEC_PER_SEC,
                              .most_usec = 30 * USEC_PER_SEC },
        [PLATFORM_SYSTEMD] = { .name = "systemd",
                               .first_signal = SIGTERM,
                               .signal_setting = "KillSignal= in the unit",
                               .grace_usec = 90 * USEC_PER_SEC,
                               .most_usec = USEC_INFINITY,
                               .setting = "TimeoutStopSec=%",
                               .advice =
                                       "Type=notify, NotifyAccess=main, and KillMode=mixed: otherwise SIGTERM goes to "
                                       "every process at once, and the phases lose their order" },
};

const PlatformFacts *platform_facts(Platform platform) {
        return &platforms[platform];
}

const char *platform_write_setting(const PlatformFacts *facts, usec_t grace_usec,
                                   char ret_text[static PLATFORM_TEXT_MAX]) {
        unsigned long long seconds = (grace_usec + USEC_PER_SEC - 1) / USEC_PER_SEC;
        size_t used = 0;

        ret_text[0] = '\0';
        for (const char *at = facts->setting; at && *at; at++) {
                size_t room = PLATFORM_TEXT_MAX - used;
                int n = *at == '%' ? snprintf(ret_text + used, room, "%llu", seconds)
                                   : snprintf(ret_text + used, room, "%c", *at);
                used += (size_t)n < room ? (size_t)n : room - 1;
        }
        return ret_text;
}

/* ---- The judgement ---- */

typedef struct Judgement {
        const PlatformFacts *facts;
        const PlatformPlan *plan;
        PlatformFinding *findings;
        size_t n;
} Judgement;

static void find(Judgement *judgement, PlatformTopic topic, bool is_error, const char *format, ...)
        __attribute__((format(printf, 4, 5)));

static void find(Judgement *judgement, PlatformTopic topic, bool is_error, const char *format, ...) {
        PlatformFinding *finding = &judgement->findings[judgement->n++];
        va_list arguments;

        finding->topic = topic;
        finding->is_error = is_error;
        va_start(arguments, format);
        vsnprintf(finding->text, sizeof finding->text, format, arguments);
        va_end(arguments);
}

static void judge_fixed_grace(Judgement *judgement) {
        const PlatformFacts *facts = judgement->facts;
        const PlatformPlan *plan = judgement->plan;

        find(judgement, PLATFORM_TOPIC_GRACE, true,
             "%s kills %s after its first signal, and nothing changes that, but this plan counts on %s and may take "
             "until %s: write GraceSec=%llu",
             facts->name, SPAN(facts->grace_usec), SPAN(plan->grace_usec), SPAN(plan->deadline_usec),
             (unsigned long long)(facts->grace_usec / USEC_PER_SEC));
}

static void judge_grace(Judgement *judgement) {
        const PlatformFacts *facts = judgement->facts;
        const PlatformPlan *plan = judgement->plan;
        char setting[PLATFORM_TEXT_MAX], most[120] = "";

        if (plan->grace_usec <= facts->grace_usec)
                return;
        if (!facts->setting) {
                judge_fixed_grace(judgement);
                return;
        }
        if (plan->grace_usec > facts->most_usec)
                snprintf(most, sizeof most, "; more than %s is not possible %s", SPAN(facts->most_usec),
                         facts->most_words);
        find(judgement, PLATFORM_TOPIC_GRACE, false,
             "%s kills after %s unless it is told otherwise, but this plan counts on %s and may take until %s: set "
             "%.160s, "
             "or write GraceSec=%llu%s",
             facts->name, SPAN(facts->grace_usec), SPAN(plan->grace_usec), SPAN(plan->deadline_usec),
             platform_write_setting(facts, plan->grace_usec, setting),
             (unsigned long long)(facts->grace_usec / USEC_PER_SEC), most);
}

static void judge_deadline(Judgement *judgement) {
        const PlatformPlan *plan = judgement->plan;
        usec_t room = usec_sub(plan->grace_usec, plan->deadline_usec);

        if (!plan->deadline_is_given || room >= usec_min(ROOM_USEC, plan->grace_usec / 2))
                return;
        find(judgement, PLATFORM_TOPIC_DEADLINE, false,
             "leaves %s of the grace: its clock runs before the signal is here, and what is late by that much is "
             "killed "
             "in the middle; leave 1 s or more, or leave it out (it would be %s before the end)",
             SPAN(room), SPAN(usec_sub(plan->grace_usec, budget_default_deadline(plan->grace_usec))));
}

static void judge_delay(Judgement *judgement) {
        const PlatformPlan *plan = judgement->plan;

        if (!judgement->facts->late_endpoints || !plan->serves_http || plan->http_delay_usec > 0)
                return;
        find(judgement, PLATFORM_TOPIC_DELAY, false,
             "%s sends new requests for some seconds after SIGTERM, until every proxy knows that the pod has "
             "left the endpoints: write DelaySec=5 into [Phase http], so that it serves on meanwhile (a preStop hook "
             "that waits does the same)",
             judgement->facts->name);
}

static void judge_order(Judgement *judgement) {
        const PlatformPlan *plan = judgement->plan;

        if (!judgement->facts->every_process || !plan->later)
                return;
        find(judgement, PLATFORM_TOPIC_ORDER, false,
             "%s sends SIGTERM, perhaps several times, to every process and not to the first one alone: %.40s would "
             "end "
             "together with the phases before it; let it ignore SIGTERM and end on another KillSignal",
             judgement->facts->name, plan->later);
}

static void judge_signal(Judgement *judgement) {
        const PlatformPlan *plan = judgement->plan;
        char text[SIGNAL_TEXT_MAX];

        if (!judgement->facts->takes_stopsignal || !plan->odd_program)
                return;
        find(judgement, PLATFORM_TOPIC_SIGNAL, false,
             "the images of %.40s have STOPSIGNAL %s, and to endwell that is no end: a Dockerfile that builds on one "
             "must say STOPSIGNAL SIGTERM",
             plan->odd_program, signal_to_string(plan->odd_signal, text));
}

size_t platform_judge(const PlatformFacts *facts, const PlatformPlan *plan,
                      PlatformFinding ret[static _PLATFORM_TOPIC_MAX]) {
        Judgement judgement = { .facts = facts, .plan = plan, .findings = ret };

        if (facts)
                judge_grace(&judgement);
        judge_deadline(&judgement);
        if (!facts)
                return judgement.n;
        judge_delay(&judgement);
        judge_order(&judgement);
        judge_signal(&judgement);
        return judgement.n;
}
