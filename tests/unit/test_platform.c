/* test_platform.c - what platforms do, and what is said of a plan that does not fit one. */
#include "base/take.h"
#include "supervisor/platform.h"
#include "supervisor/signals.h"
#include <criterion/criterion.h>
#include <string.h>

#define SEC USEC_PER_SEC

static PlatformFinding findings[_PLATFORM_TOPIC_MAX];

static PlatformPlan plan_of(usec_t grace, usec_t deadline) {
        return (PlatformPlan){ .grace_usec = grace, .deadline_usec = deadline };
}

/* NULL: nothing of this topic. */
static const PlatformFinding *finding(int platform, PlatformPlan plan, PlatformTopic topic) {
        size_t n = platform_judge(platform < 0 ? NULL : platform_facts((Platform)platform), &plan, findings);
        cr_assert_leq(n, _PLATFORM_TOPIC_MAX);
        for (size_t i = 0; i < n; i++)
                if (findings[i].topic == topic)
                        return &findings[i];
        return NULL;
}

/* ---- The table ---- */

Test(platform, the_words_are_those_of_the_command_line) {
        static const char *const words[] = { "kubernetes", "ecs",   "docker", "cloud-run",
                                             "fly",        "nomad", "heroku", "systemd" };
        cr_assert_eq(LENGTH_OF(words), _PLATFORM_MAX);
        for (size_t i = 0; i < LENGTH_OF(words); i++) {
                cr_expect_eq(platform_from_string(words[i]), (int)i);
                cr_expect_str_eq(platform_to_string((Platform)i), words[i]);
        }
        cr_expect_lt(platform_from_string("Kubernetes"), 0);
        cr_expect_str_eq(platform_nearest("kubernets"), "kubernetes");
        cr_expect_str_eq(platform_nearest("cloudrun"), "cloud-run");
        cr_expect_null(platform_nearest("mainframe"));
}

Test(platform, the_figures_are_the_platforms_own) {
        static const struct {
                Platform platform;
                int signal;
                unsigned grace, most; /* seconds; 0: no bound */
        } rows[] = {
                { PLATFORM_KUBERNETES, SIGTERM, 30, 0 }, { PLATFORM_ECS, SIGTERM, 30, 120 },
                { PLATFORM_DOCKER, SIGTERM, 10, 0 },     { PLATFORM_CLOUD_RUN, SIGTERM, 10, 10 },
                { PLATFORM_FLY, SIGINT, 5, 300 },        { PLATFORM_NOMAD, SIGINT, 5, 30 },
                { PLATFORM_HEROKU, SIGTERM, 30, 30 },    { PLATFORM_SYSTEMD, SIGTERM, 90, 0 },
        };
        for (size_t i = 0; i < LENGTH_OF(rows); i++) {
                const PlatformFacts *facts = platform_facts(rows[i].platform);
                cr_expect_eq(facts->first_signal, rows[i].signal, "%s", facts->name);
                cr_expect_eq(facts->grace_usec, rows[i].grace * SEC, "%s", facts->name);
                cr_expect_eq(facts->most_usec, rows[i].most ? rows[i].most * SEC : USEC_INFINITY, "%s", facts->name);
        }
}

Test(platform, each_ones_first_signal_begins_the_ending) {
        for (int i = 0; i < _PLATFORM_MAX; i++) {
                SignalMeaning meaning = signal_meaning(platform_facts((Platform)i)->first_signal, true, false);
                cr_expect(meaning == SIGNAL_ENDS || meaning == SIGNAL_ENDS_INT || meaning == SIGNAL_ENDS_QUIT, "%s",
                          platform_to_string((Platform)i));
        }
}

Test(platform, a_bound_is_either_changed_by_nothing_or_has_its_words) {
        for (int i = 0; i < _PLATFORM_MAX; i++) {
                const PlatformFacts *facts = platform_facts((Platform)i);
                if (!facts->setting)
                        cr_expect_eq(facts->most_usec, facts->grace_usec, "%s", facts->name);
                else
                        cr_expect_eq(facts->most_words != NULL, facts->most_usec != USEC_INFINITY, "%s", facts->name);
        }
}

Test(platform, the_setting_is_written_as_the_platform_wants_it_in_whole_seconds) {
        char text[PLATFORM_TEXT_MAX];
        static const struct {
                Platform platform;
                const char *text;
        } rows[] = {
                { PLATFORM_KUBERNETES, "terminationGracePeriodSeconds: 46" },
                { PLATFORM_ECS, "\"stopTimeout\": 46" },
                { PLATFORM_DOCKER,
                  "docker stop -t 46, docker run --stop-timeout 46, or stop_grace_period: 46s in Compose" },
                { PLATFORM_FLY, "kill_timeout = 46 in fly.toml" },
                { PLATFORM_NOMAD, "kill_timeout = \"46s\" in the task" },
                { PLATFORM_SYSTEMD, "TimeoutStopSec=46" },
                { PLATFORM_HEROKU, "" },
                { PLATFORM_CLOUD_RUN, "" },
        };
        for (size_t i = 0; i < LENGTH_OF(rows); i++)
                cr_expect_str_eq(platform_write_setting(platform_facts(rows[i].platform), 45 * SEC + 1, text),
                                 rows[i].text);
}

/* ---- The grace ---- */

Test(platform, a_plan_that_fits_the_default_is_told_nothing) {
        for (int i = -1; i < _PLATFORM_MAX; i++)
                cr_expect_eq(platform_judge(i < 0 ? NULL : platform_facts((Platform)i),
                                            &(PlatformPlan){ 5 * SEC, 3 * SEC }, findings),
                             0, "%s: %s", i < 0 ? "any" : platform_to_string((Platform)i), findings[0].text);
}

Test(platform, a_grace_beyond_the_default_names_the_setting_and_its_value) {
        for (int i = 0; i < _PLATFORM_MAX; i++) {
                const PlatformFacts *facts = platform_facts((Platform)i);
                char setting[PLATFORM_TEXT_MAX];
                const PlatformFinding *found = finding(i, plan_of(100 * SEC, 90 * SEC), PLATFORM_TOPIC_GRACE);
                cr_assert_not_null(found, "%s", facts->name);
                platform_write_setting(facts, 100 * SEC, setting);
                cr_expect_eq(found->is_error, facts->setting == NULL, "%s: only what nothing can change is an error",
                             facts->name);
                cr_expect_not_null(strstr(found->text, setting), "%s", found->text);
                cr_expect_not_null(strstr(found->text, "1 min 40 s"), "%s", found->text);
                cr_expect_not_null(strstr(found->text, "GraceSec="), "%s", found->text);
                cr_expect_lt(strlen(found->text), PLATFORM_TEXT_MAX - 1, "%s", found->text);
        }
}

Test(platform, a_grace_of_exactly_the_default_fits_and_a_microsecond_more_does_not) {
        for (int i = 0; i < _PLATFORM_MAX; i++) {
                usec_t grace = platform_facts((Platform)i)->grace_usec;
                cr_expect_null(finding(i, plan_of(grace, grace / 2), PLATFORM_TOPIC_GRACE), "%d", i);
                cr_expect_not_null(finding(i, plan_of(grace + 1, grace / 2), PLATFORM_TOPIC_GRACE), "%d", i);
        }
}

Test(platform, what_cannot_be_set_is_said_with_where_it_can_be) {
        const PlatformFinding *found = finding(PLATFORM_ECS, plan_of(150 * SEC, 100 * SEC), PLATFORM_TOPIC_GRACE);
        cr_expect_not_null(strstr(found->text, "more than 2 min is not possible on Fargate"), "%s", found->text);
        found = finding(PLATFORM_ECS, plan_of(120 * SEC, 100 * SEC), PLATFORM_TOPIC_GRACE);
        cr_expect_null(strstr(found->text, "Fargate"), "%s", found->text);
        found = finding(PLATFORM_NOMAD, plan_of(31 * SEC, 20 * SEC), PLATFORM_TOPIC_GRACE);
        cr_expect_not_null(strstr(found->text, "max_kill_timeout"), "%s", found->text);
}

/* ---- The deadline ---- */

Test(platform, a_deadline_that_leaves_no_room_is_told_everywhere_but_only_when_somebody_wrote_it) {
        PlatformPlan plan = plan_of(30 * SEC, 30 * SEC - SEC / 5);
        cr_expect_null(finding(-1, plan, PLATFORM_TOPIC_DEADLINE));
        plan.deadline_is_given = true;
        for (int i = -1; i < _PLATFORM_MAX; i++)
                cr_expect_not_null(finding(i, plan, PLATFORM_TOPIC_DEADLINE), "%d", i);
        cr_expect_not_null(strstr(finding(-1, plan, PLATFORM_TOPIC_DEADLINE)->text, "200 ms"), "%s", findings[0].text);
        plan.deadline_usec = 29 * SEC;
        cr_expect_null(finding(-1, plan, PLATFORM_TOPIC_DEADLINE));
}

Test(platform, of_a_short_grace_half_is_room_enough) {
        PlatformPlan plan = plan_of(SEC, SEC / 2);
        plan.deadline_is_given = true;
        cr_expect_null(finding(-1, plan, PLATFORM_TOPIC_DEADLINE), "the default leaves no more");
        plan.deadline_usec++;
        cr_expect_not_null(finding(-1, plan, PLATFORM_TOPIC_DEADLINE));
}

/* ---- The rest ---- */

Test(platform, only_behind_kubernetes_endpoints_a_delay_is_missed_and_only_where_http_is_served) {
        PlatformPlan plan = plan_of(5 * SEC, 3 * SEC);
        for (int i = -1; i < _PLATFORM_MAX; i++) {
                plan.serves_http = true;
                cr_expect_eq(finding(i, plan, PLATFORM_TOPIC_DELAY) != NULL, i == PLATFORM_KUBERNETES, "%d", i);
                plan.serves_http = false;
                cr_expect_null(finding(i, plan, PLATFORM_TOPIC_DELAY));
        }
        plan.serves_http = true;
        plan.http_delay_usec = 1;
        cr_expect_null(finding(PLATFORM_KUBERNETES, plan, PLATFORM_TOPIC_DELAY));
}

Test(platform, where_every_process_is_signalled_who_should_end_later_is_named) {
        PlatformPlan plan = plan_of(5 * SEC, 3 * SEC);
        plan.later = "worker";
        for (int i = -1; i < _PLATFORM_MAX; i++) {
                const PlatformFinding *found = finding(i, plan, PLATFORM_TOPIC_ORDER);
                cr_expect_eq(found != NULL, i == PLATFORM_HEROKU, "%d", i);
                cr_expect(!found || strstr(found->text, "worker"));
        }
        plan.later = NULL;
        cr_expect_null(finding(PLATFORM_HEROKU, plan, PLATFORM_TOPIC_ORDER));
}

Test(platform, an_images_stop_signal_that_is_no_end_is_told_where_it_counts) {
        PlatformPlan plan = plan_of(5 * SEC, 3 * SEC);
        plan.odd_program = "haproxy";
        plan.odd_signal = SIGUSR1;
        for (int i = -1; i < _PLATFORM_MAX; i++) {
                const PlatformFinding *found = finding(i, plan, PLATFORM_TOPIC_SIGNAL);
                bool counts =
                        i == PLATFORM_KUBERNETES || i == PLATFORM_ECS || i == PLATFORM_DOCKER || i == PLATFORM_NOMAD;
                cr_expect_eq(found != NULL, counts, "%d", i);
                cr_expect(!found || (strstr(found->text, "SIGUSR1") && strstr(found->text, "STOPSIGNAL SIGTERM")));
        }
}
