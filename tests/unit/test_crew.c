/* test_crew.c - probes, watchdogs, held sockets and reloads of a small crew, happening by happening. The whole of the
 * crew is played in simulated time by tests/sim/. */
#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "supervisor/crew.h"

#define SECOND    USEC_PER_SEC
#define WEB       0 /* the member */
#define STARTUP   0 /* probe runs of `web` when it has all three */
#define LIVENESS  1
#define READINESS 2

typedef struct Fake {
        Crew *crew;
        usec_t now;
        pid_t next_pid;
        char diary[4096]; /* what was asked: "spawn:0 probe:1 off:1 signal:0:15:liveness close:0", blanks between */
        char events[8192];
        int refuses; /* of the next checks: -errno */
        int spawn_fails;
        const char *spawn_step; /* what fails then; NULL: not told */
        char error[96];         /* of the last exit */
} Fake;

static void note(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void note(char *text, size_t size, const char *format, ...) {
        size_t used = strlen(text);
        if (used > 0 && used + 1 < size) {
                text[used++] = ' ';
                text[used] = '\0';
        }
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(text + used, size - used, format, arguments);
        va_end(arguments);
}

#define NOTE(fake, ...) note((fake)->diary, sizeof(fake)->diary, __VA_ARGS__)

static usec_t on_now(void *self) {
        return ((Fake *)self)->now;
}

static uint32_t on_random(void *self) {
        (void)self;
        return UINT32_MAX / 2;
}

static int on_spawn(void *self, uint32_t member, pid_t *ret_pid) {
        Fake *fake = self;
        if (fake->spawn_fails < 0) {
                if (fake->spawn_step)
                        crew_on_spawn_failed(fake->crew, member, fake->spawn_step, -fake->spawn_fails);
                return fake->spawn_fails;
        }
        NOTE(fake, "spawn:%u", member);
        *ret_pid = ++fake->next_pid;
        return 0;
}

static int on_spawn_hook(void *self, uint32_t run, pid_t *ret_pid) {
        (void)run;
        *ret_pid = ++((Fake *)self)->next_pid;
        return 0;
}

static void on_signal(void *self, uint32_t member, Whom whom, int number, const char *reason) {
        Fake *fake = self;
        pid_t pid = crew_view(fake->crew, member).pid;
        NOTE(fake, "signal:%u:%d:%s", member, number, reason);
        if (pid > 0 && whom != WHOM_REST)
                crew_told(fake->crew, member, pid, NULL, number, reason);
}

static void on_signal_hook(void *self, uint32_t run, int number) {
        (void)self, (void)run, (void)number;
}

static void on_survey(void *self) {
        (void)self;
}

static int on_probe(void *self, uint32_t run) {
        Fake *fake = self;
        NOTE(fake, "probe:%u", run);
        return fake->refuses;
}

static void on_call_off(void *self, uint32_t run) {
        NOTE((Fake *)self, "off:%u", run);
}

static void on_close(void *self, uint32_t service) {
        NOTE((Fake *)self, "close:%u", service);
}

static void on_drop(void *self, uint32_t member) {
        NOTE((Fake *)self, "drop:%u", member);
}

static void on_record(void *self, const Event *event) {
        Fake *fake = self;
        if (event->kind == EVENT_SERVICE_EXITED)
                snprintf(fake->error, sizeof fake->error, "%s", event->error ? event->error : "");
        note(fake->events, sizeof fake->events, "%s%s%s", event_kind_to_string(event->kind),
             event->kind == EVENT_PROBE_CHANGED ? event->ok ? "+" : "-" : "",
             event->kind == EVENT_SERVICE_GONE        ? event->cause
             : event->kind == EVENT_READINESS_CHANGED ? event->ready ? "+" : "-"
             : event->kind == EVENT_HOOK_REFUSED      ? event->reason
             : event->kind == EVENT_STARTUP_PROGRESS  ? event->detail
                                                      : "");
}

static bool on_withdraw(void *self) {
        (void)self;
        return false;
}

static void on_finish(void *self, int code, const char *explanation) {
        (void)explanation;
        NOTE((Fake *)self, "finish:%d", code);
}

static const Stage stage = {
        .now = on_now,
        .random = on_random,
        .spawn = on_spawn,
        .spawn_hook = on_spawn_hook,
        .signal = on_signal,
        .signal_hook = on_signal_hook,
        .survey = on_survey,
        .probe = on_probe,
        .call_off_probe = on_call_off,
        .close_sockets = on_close,
        .drop_store = on_drop,
        .record = on_record,
        .withdraw = on_withdraw,
        .finish = on_finish,
};

static ProbeConfig probes[_PROBE_KIND_MAX];
static Config *config;
static Fake fake;

static ProbeConfig probe_by(ProbeBy by) {
        return (ProbeConfig){
                .by = by, .period_usec = 10 * SECOND, .timeout_usec = 1 * SECOND, .failures = 1, .successes = 1
        };
}

static void prepare(void) {
        static char word[] = "web";
        static char *argv[] = { word, NULL };
        memset(probes, 0, sizeof probes);
        fake = (Fake){ .now = 1000 * SECOND, .next_pid = 100 };
        cr_assert_eq(config_for_command(argv, &config), 0);
        config->single = false;
        ServiceConfig *web = &config->services[0];
        web->probes = probes;
        web->restart = RESTART_ALWAYS;
        web->start_limit_burst = 5;
        web->restart_usec = 1 * SECOND;
        web->restart_max_usec = 30 * SECOND;
        web->timeout_stop_usec = 5 * SECOND;
        web->timeout_start_usec = 90 * SECOND;
        web->watchdog_usec = USEC_INFINITY;
}

static void begin(void) {
        cr_assert_eq(crew_new(&fake.crew, config, &stage, &fake, true), 0);
        crew_start(fake.crew);
        crew_on_executed(fake.crew, WEB);
}

static void tidy(void) {
        fake.crew = crew_free(fake.crew);
        config->services[0].probes = NULL;
        config->services[0].listens = NULL;
        config->services[0].n_listens = 0;
        config = config_free(config);
}

TestSuite(crew, .init = prepare, .fini = tidy, .timeout = 30);

static void forget(void) {
        fake.diary[0] = fake.events[0] = '\0';
}

static void expect_diary(const char *want) {
        cr_expect_str_eq(fake.diary, want, "have: %s\nwant: %s", fake.diary, want);
        fake.diary[0] = '\0';
}

/* Lets time pass, instant by instant. */
static void pass(usec_t span) {
        usec_t until = fake.now + span;
        while (crew_next_usec(fake.crew) <= until) {
                fake.now = crew_next_usec(fake.crew) > fake.now ? crew_next_usec(fake.crew) : fake.now;
                crew_on_time(fake.crew);
        }
        fake.now = until;
}

static void answer(uint32_t run, ProbeAnswer what) {
        crew_on_probed(fake.crew, run, what, what == PROBE_FAILED ? "HTTP 503" : NULL);
}

static const char *state(void) {
        return crew_view(fake.crew, WEB).state;
}

static void die(int code, int status) {
        crew_on_exited(fake.crew, WEB, (Ended){ .code = code, .status = status });
        crew_on_surveyed(fake.crew);
}

static void say(NotifyWords words) {
        crew_on_notify(fake.crew, WEB, 101, &words);
}

static bool told(const char *event) {
        return strstr(fake.events, event) != NULL;
}

Test(crew, probe_runs_are_numbered_by_member_and_kind_and_only_those_that_exist) {
        probes[PROBE_LIVENESS] = probe_by(PROBE_BY_TCP);
        probes[PROBE_READINESS] = probe_by(PROBE_BY_EXEC);
        config->services[0].instances = 2;
        config->n_members = 2;
        begin();
        cr_assert_eq(crew_probe_runs(fake.crew), 4);
        for (uint32_t i = 0; i < 4; i++) {
                ProbeView view = crew_probe_view(fake.crew, i);
                cr_expect_eq(view.member, i / 2);
                cr_expect_eq(view.kind, i % 2 ? PROBE_READINESS : PROBE_LIVENESS);
                cr_expect_eq(view.probe, &probes[view.kind]);
                cr_expect_eq(view.timeout_usec, 1 * SECOND);
        }
}

Test(crew, an_init_task_has_no_probes) {
        probes[PROBE_LIVENESS] = probe_by(PROBE_BY_TCP);
        config->services[0].type = SERVICE_ONESHOT;
        begin();
        cr_assert_eq(crew_probe_runs(fake.crew), 0);
}

Test(crew, a_readiness_probe_makes_a_simple_service_ready_at_its_first_success) {
        probes[PROBE_READINESS] = probe_by(PROBE_BY_HTTP);
        probes[PROBE_READINESS].delay_usec = 2 * SECOND;
        begin();
        cr_assert_str_eq(state(), "starting");
        pass(2 * SECOND - 1);
        expect_diary("spawn:0");
        pass(1);
        expect_diary("probe:0");
        answer(0, PROBE_FAILED);
        cr_expect_str_eq(state(), "starting");
        cr_expect_str_eq(crew_view(fake.crew, WEB).unready_probe, "readiness");
        cr_expect_str_eq(crew_view(fake.crew, WEB).unready_detail, "HTTP 503");
        pass(100 * USEC_PER_MSEC);
        expect_diary("probe:0");
        answer(0, PROBE_SUCCEEDED);
        cr_expect_str_eq(state(), "ready");
        cr_expect(crew_view(fake.crew, WEB).ready);
        cr_expect_null(crew_view(fake.crew, WEB).unready_probe);
        pass(10 * SECOND - 1);
        expect_diary("");
        pass(1);
        expect_diary("probe:0");
}

Test(crew, who_says_that_it_is_ready_needs_its_probe_and_its_word) {
        probes[PROBE_READINESS] = probe_by(PROBE_BY_HTTP);
        config->services[0].type = SERVICE_NOTIFY;
        begin();
        pass(0);
        answer(0, PROBE_SUCCEEDED);
        cr_expect_str_eq(state(), "starting");
        crew_on_ready_line(fake.crew, WEB);
        cr_expect_str_eq(state(), "starting", "the line is another type's word");
        say((NotifyWords){ .ready = true });
        cr_expect_str_eq(state(), "ready");
}

Test(crew, a_newline_is_the_word_of_notify_fd_and_ready_1_is_not) {
        config->services[0].type = SERVICE_NOTIFY_FD;
        begin();
        say((NotifyWords){ .ready = true });
        cr_expect_str_eq(state(), "starting");
        crew_on_ready_line(fake.crew, WEB);
        cr_expect_str_eq(state(), "ready");
        say((NotifyWords){ .reloading = true });
        say((NotifyWords){ .ready = true });
        crew_on_ready_line(fake.crew, WEB);
        cr_expect_str_eq(state(), "ready");
}

static void let_it_rest(void) {
        pass(0);
        crew_on_surveyed(fake.crew);
}

Test(crew, who_ends_with_0_before_it_said_that_it_is_ready_has_not_started) {
        config->services[0].type = SERVICE_NOTIFY;
        config->services[0].restart = RESTART_ON_FAILURE;
        begin();
        die(CLD_EXITED, 0);
        cr_expect_str_eq(state(), "backoff");
        cr_expect(told("service_gonecrashed"));
        cr_expect(!told("ending_started"));
        cr_expect_str_eq(crew_result(fake.crew, WEB).service_result, "protocol");
}

Test(crew, who_ends_with_0_before_its_probe_succeeded_has_not_started) {
        static const ProbeKind kinds[] = { PROBE_STARTUP, PROBE_READINESS };
        for (unsigned i = 0; i < 2; i++) {
                memset(probes, 0, sizeof probes);
                probes[kinds[i]] = probe_by(PROBE_BY_HTTP);
                config->services[0].restart = RESTART_NO;
                forget();
                begin();
                die(CLD_EXITED, 0);
                let_it_rest();
                cr_expect(told("service_gave_up"), "%u: %s", i, fake.events);
                fake.crew = crew_free(fake.crew);
        }
}

Test(crew, who_ends_with_0_and_tells_nothing_of_its_readiness_is_done) {
        probes[PROBE_LIVENESS] = probe_by(PROBE_BY_HTTP);
        config->services[0].restart = RESTART_ON_FAILURE;
        begin();
        die(CLD_EXITED, 0);
        let_it_rest();
        cr_expect_str_eq(state(), "done");
        cr_expect(told("service_goneclean"));
        cr_expect(!told("service_gave_up"));
}

Test(crew, who_is_told_to_stop_before_it_was_ready_and_ends_with_0_has_not_failed) {
        config->services[0].type = SERVICE_NOTIFY;
        begin();
        crew_end(fake.crew, "signal", false);
        die(CLD_EXITED, 0);
        let_it_rest();
        cr_expect_str_eq(state(), "done");
        cr_expect(told("service_goneclean"));
}

static void stop_by_hand(void) {
        uint32_t member;
        cr_assert_eq(crew_steer(fake.crew, STEER_STOP, &(SteerTarget){ .service = 0 }, 1, NULL, NULL, &member), 0);
}

Test(crew, who_had_failed_for_good_by_itself_has_although_a_person_stopped_it_before_its_rest_was_gone) {
        config->services[0].restart = RESTART_NO;
        begin();
        crew_on_orphan_adopted(fake.crew, WEB, 200, "child");
        die(CLD_KILLED, SIGKILL);
        stop_by_hand();
        pass(5 * SECOND); /* the child outlives SIGKILL */
        cr_expect_str_eq(state(), "left");
        cr_expect(told("service_gave_up"), "%s", fake.events);
        cr_expect(told("ending_started"));
}

Test(crew, who_was_stopped_by_a_person_and_left_something_behind_has_not_failed) {
        config->services[0].restart = RESTART_NO;
        begin();
        crew_on_orphan_adopted(fake.crew, WEB, 200, "child");
        stop_by_hand();
        die(CLD_EXITED, 0);
        pass(20 * SECOND);
        cr_expect_str_eq(state(), "left");
        cr_expect(!told("service_gave_up"), "%s", fake.events);
        cr_expect(!told("ending_started"));
}

Test(crew, what_failed_before_there_was_a_child_is_told_with_its_step) {
        static const char *const steps[] = { NULL, "socket" }, *const wanted[] = { "fork: ", "socket: " };
        for (unsigned i = 0; i < 2; i++) {
                fake.spawn_fails = -EMFILE;
                fake.spawn_step = steps[i];
                begin();
                let_it_rest();
                cr_expect_str_eq(state(), "backoff");
                cr_expect_eq(strncmp(fake.error, wanted[i], strlen(wanted[i])), 0, "%s", fake.error);
                fake.spawn_fails = 0;
                pass(2 * SECOND);
                crew_on_executed(fake.crew, WEB);
                die(CLD_EXITED, 1);
                cr_expect_str_eq(fake.error, "", "the next run has no fault of the last one");
                fake.crew = crew_free(fake.crew);
        }
}

static void with_pre_stop_hook(void) {
        static char *argv[] = { (char *)"hook", NULL };
        static HookConfig hook;
        hook = (HookConfig){ .name = "leave",
                             .argv = argv,
                             .service = 0,
                             .phase = -1,
                             .on = HOOK_PRE_STOP,
                             .timeout_usec = 1 * SECOND };
        config->hooks = &hook;
        config->n_hooks = 1;
        begin();
}

static void without_hooks(void) {
        fake.crew = crew_free(fake.crew);
        config->hooks = NULL;
        config->n_hooks = 0;
}

Test(crew, the_pre_stop_hook_of_who_was_never_ready_does_not_run_and_that_is_told) {
        config->services[0].type = SERVICE_NOTIFY;
        with_pre_stop_hook();
        crew_end(fake.crew, "signal", false);
        pass(0);
        cr_expect_str_eq(state(), "stopping");
        cr_expect(told("hook_refusednever_ready"), "%s", fake.events);
        without_hooks();
}

Test(crew, the_pre_stop_hook_of_who_is_ill_does_not_run_and_that_is_told_with_its_illness) {
        probes[PROBE_LIVENESS] = probe_by(PROBE_BY_TCP);
        with_pre_stop_hook();
        pass(0);
        cr_assert_str_eq(state(), "ready");
        answer(0, PROBE_FAILED);
        cr_expect_str_eq(state(), "stopping");
        cr_expect(told("hook_refusedliveness"), "%s", fake.events);
        without_hooks();
}

Test(crew, the_pre_stop_hook_of_who_is_ready_runs) {
        with_pre_stop_hook();
        crew_end(fake.crew, "signal", false);
        pass(0);
        cr_expect_str_eq(state(), "pre-stop");
        cr_expect(!told("hook_refused"));
        without_hooks();
}

static void with_all_three(ProbeBy by) {
        for (int kind = 0; kind < _PROBE_KIND_MAX; kind++)
                probes[kind] = probe_by(by);
        begin();
        pass(0);
        expect_diary("spawn:0 probe:0");
}

Test(crew, the_others_wait_until_the_startup_probe_has_succeeded) {
        with_all_three(PROBE_BY_TCP);
        answer(STARTUP, PROBE_SUCCEEDED);
        cr_expect_str_eq(state(), "starting");
        pass(0);
        expect_diary("probe:1 probe:2");
        answer(READINESS, PROBE_SUCCEEDED);
        cr_expect_str_eq(state(), "ready");
        answer(LIVENESS, PROBE_SUCCEEDED);
        pass(30 * SECOND);
        cr_expect(strstr(fake.diary, "probe:0") == NULL, "it has decided: %s", fake.diary);
}

Test(crew, a_failed_startup_probe_ends_the_run_as_failed) {
        with_all_three(PROBE_BY_TCP);
        answer(STARTUP, PROBE_FAILED);
        expect_diary("signal:0:15:startup");
        cr_expect_str_eq(state(), "stopping");
        die(CLD_EXITED, 0);
        cr_expect(told("service_gonetimeout"), "%s", fake.events);
        cr_expect_str_eq(crew_result(fake.crew, WEB).service_result, "timeout");
        cr_expect_str_eq(state(), "backoff");
        cr_expect_eq(crew_view(fake.crew, WEB).failures, 1);
}

Test(crew, a_dead_service_is_asked_killed_and_restarted_and_what_it_was_is_forgotten) {
        with_all_three(PROBE_BY_TCP);
        answer(STARTUP, PROBE_SUCCEEDED);
        pass(0);
        answer(READINESS, PROBE_SUCCEEDED);
        forget();
        answer(LIVENESS, PROBE_FAILED);
        expect_diary("signal:0:15:liveness");
        pass(5 * SECOND);
        expect_diary("signal:0:9:liveness");
        die(CLD_KILLED, SIGKILL);
        cr_expect(told("service_gonetimeout"), "%s", fake.events);
        pass(1 * SECOND);
        expect_diary("spawn:0");
        crew_on_executed(fake.crew, WEB);
        cr_expect_eq(crew_probe_view(fake.crew, STARTUP).opinion, PROBE_UNDECIDED);
        cr_expect_eq(crew_probe_view(fake.crew, LIVENESS).opinion, PROBE_GOOD);
        cr_expect_eq(crew_probe_view(fake.crew, READINESS).opinion, PROBE_UNDECIDED);
        cr_expect_str_eq(state(), "starting");
}

/* How long the member has from being asked until it is killed. */
static usec_t time_to_stop(void) {
        usec_t since = fake.now;
        forget();
        while (!strstr(fake.diary, "signal:0:9:") && crew_next_usec(fake.crew) < USEC_INFINITY)
                pass(crew_next_usec(fake.crew) - fake.now);
        cr_assert(strstr(fake.diary, "signal:0:9:"), "have: %s", fake.diary);
        return fake.now - since;
}

static void begin_with_phase_of_30_s(void) {
        config->budget.timeout_usec[0] = 30 * SECOND;
        config->services[0].timeout_stop_usec = USEC_UNSET;
        forget();
        begin();
        pass(0);
}

Test(crew, without_a_limit_of_its_own_a_sick_service_has_the_time_of_its_phase_to_stop) {
        probes[PROBE_LIVENESS] = probe_by(PROBE_BY_TCP);
        begin_with_phase_of_30_s();
        answer(0, PROBE_FAILED);
        cr_expect_eq(time_to_stop(), 30 * SECOND);
}

Test(crew, who_is_not_ready_in_time_has_the_time_of_its_phase_to_stop) {
        config->services[0].type = SERVICE_NOTIFY;
        begin_with_phase_of_30_s();
        pass(90 * SECOND);
        cr_assert_str_eq(state(), "stopping");
        cr_expect_eq(time_to_stop(), 30 * SECOND);
}

Test(crew, a_limit_of_its_own_is_a_sick_services_too) {
        config->services[0].watchdog_usec = 1 * SECOND;
        begin_with_phase_of_30_s();
        fake.crew = crew_free(fake.crew);
        config->services[0].timeout_stop_usec = 20 * SECOND;
        begin();
        pass(1 * SECOND);
        cr_assert_str_eq(state(), "stopping");
        cr_expect_eq(time_to_stop(), 20 * SECOND);
}

Test(crew, a_check_that_takes_too_long_is_called_off_and_the_next_waits_for_its_end) {
        probes[PROBE_LIVENESS] = probe_by(PROBE_BY_EXEC);
        probes[PROBE_LIVENESS].failures = 3;
        probes[PROBE_LIVENESS].timeout_usec = 9500 * USEC_PER_MSEC;
        begin();
        pass(9500 * USEC_PER_MSEC);
        expect_diary("spawn:0 probe:0 off:0");
        pass(800 * USEC_PER_MSEC);
        expect_diary("");
        answer(0, PROBE_SUCCEEDED); /* too late: it only says that nothing of it is left */
        pass(0);
        expect_diary("probe:0");
        answer(0, PROBE_FAILED);
        pass(10 * SECOND);
        answer(0, PROBE_FAILED);
        expect_diary("probe:0 signal:0:15:liveness");
}

Test(crew, checks_that_cannot_be_ended_are_no_sign_of_life) {
        probes[PROBE_LIVENESS] = probe_by(PROBE_BY_EXEC);
        probes[PROBE_LIVENESS].failures = 3;
        begin();
        pass(1 * SECOND);
        expect_diary("spawn:0 probe:0 off:0");
        pass(20 * SECOND);
        expect_diary("signal:0:15:liveness");
}

Test(crew, what_nobody_could_look_at_says_nothing) {
        probes[PROBE_LIVENESS] = probe_by(PROBE_BY_HTTP);
        fake.refuses = -EBUSY;
        begin();
        pass(30 * SECOND);
        expect_diary("spawn:0 probe:0 probe:0 probe:0 probe:0");
        fake.refuses = 0;
        pass(10 * SECOND);
        answer(0, PROBE_UNKNOWN);
        cr_expect_str_eq(state(), "ready");
}

/* It was asked in the run that is over. */
Test(crew, who_looks_from_elsewhere_keeps_the_time_and_his_silence_says_nothing) {
        probes[PROBE_LIVENESS] = probe_by(PROBE_BY_HTTP);
        begin();
        crew_on_executed(fake.crew, WEB);
        forget();
        pass(0);
        expect_diary("probe:0");
        pass(1500 * USEC_PER_MSEC);
        expect_diary("");
        answer(0, PROBE_SUCCEEDED);
        pass(8500 * USEC_PER_MSEC);
        expect_diary("probe:0");
        pass(2 * SECOND);
        expect_diary("off:0");
        pass(60 * SECOND);
        expect_diary("");
        answer(0, PROBE_UNKNOWN);
        pass(0);
        expect_diary("probe:0");
        cr_expect_not(told("probe_changed"), "%s", fake.events);
        answer(0, PROBE_FAILED);
        cr_expect(told("probe_changed"), "%s", fake.events);
}

Test(crew, an_old_answer_says_nothing_of_a_new_run) {
        probes[PROBE_LIVENESS] = probe_by(PROBE_BY_HTTP);
        begin();
        pass(0);
        die(CLD_EXITED, 1);
        expect_diary("spawn:0 probe:0 off:0");
        pass(1 * SECOND);
        crew_on_executed(fake.crew, WEB);
        pass(0);
        expect_diary("spawn:0");
        answer(0, PROBE_FAILED);
        cr_expect_str_eq(state(), "ready");
        pass(0);
        expect_diary("probe:0");
}

Test(crew, a_command_that_looks_keeps_its_service_from_being_gone_until_it_is_given_up) {
        probes[PROBE_LIVENESS] = probe_by(PROBE_BY_EXEC);
        begin();
        pass(0);
        die(CLD_EXITED, 1);
        expect_diary("spawn:0 probe:0 off:0");
        cr_expect_str_eq(state(), "clearing");
        cr_expect_not(told("service_gone"));
        pass(1 * SECOND);
        cr_expect(told("service_left"), "%s", fake.events);
        crew_on_surveyed(fake.crew);
        cr_expect(told("service_gonecrashed"), "%s", fake.events);
        pass(1 * SECOND);
        crew_on_executed(fake.crew, WEB);
        pass(20 * SECOND);
        expect_diary("spawn:0"); /* the old one is in the way */
        answer(0, PROBE_UNKNOWN);
        pass(0);
        expect_diary("probe:0");
}

static void become_ready(void) {
        begin();
        pass(0);
        answer(0, PROBE_SUCCEEDED);
        cr_assert_str_eq(state(), "ready");
        forget();
}

Test(crew, a_readiness_probe_takes_readiness_and_gives_it_back_and_nothing_else) {
        probes[PROBE_READINESS] = probe_by(PROBE_BY_HTTP);
        become_ready();
        pass(10 * SECOND);
        answer(0, PROBE_FAILED);
        cr_expect_str_eq(state(), "ready");
        cr_expect_not(crew_view(fake.crew, WEB).ready);
        cr_expect_not(crew_overview(fake.crew).ready);
        pass(10 * SECOND);
        answer(0, PROBE_SUCCEEDED);
        cr_expect(crew_overview(fake.crew).ready);
        cr_expect_str_eq(fake.events, "probe_changed- readiness_changed- probe_changed+ readiness_changed+");
        expect_diary("probe:0 probe:0");
}

/* Ready for 50 s, not for 10, ready for 50 s: no stretch of 60. */
Test(crew, only_an_unbroken_stretch_of_readiness_sets_the_count_back) {
        probes[PROBE_READINESS] = probe_by(PROBE_BY_HTTP);
        become_ready();
        for (int i = 1; i <= 11; i++) {
                pass(10 * SECOND);
                answer(0, i == 5 ? PROBE_FAILED : PROBE_SUCCEEDED);
        }
        die(CLD_EXITED, 1);
        cr_expect_eq(crew_view(fake.crew, WEB).failures, 1);
        pass(1 * SECOND);
        crew_on_executed(fake.crew, WEB);
        pass(0);
        answer(0, PROBE_SUCCEEDED);
        for (int i = 1; i <= 11; i++) {
                pass(10 * SECOND);
                answer(0, i == 4 ? PROBE_FAILED : PROBE_SUCCEEDED);
        }
        die(CLD_EXITED, 1); /* ready for 60 s at its end */
        cr_expect_eq(crew_view(fake.crew, WEB).failures, 1);
}

Test(crew, no_probe_looks_and_none_kills_after_the_ending_began) {
        with_all_three(PROBE_BY_TCP);
        answer(STARTUP, PROBE_SUCCEEDED);
        pass(0);
        answer(READINESS, PROBE_SUCCEEDED);
        forget();
        config->services[0].watchdog_usec = 2 * SECOND;
        say((NotifyWords){ .watchdog = true });
        crew_end(fake.crew, "signal", false);
        expect_diary("off:1 signal:0:15:ending");
        answer(LIVENESS, PROBE_FAILED);
        say((NotifyWords){ .watchdog_trigger = true });
        pass(3 * SECOND);
        expect_diary("");
        pass(2 * SECOND);
        expect_diary("signal:0:9:stop_timeout");
        die(CLD_KILLED, SIGKILL);
        crew_on_surveyed(fake.crew);
        expect_diary("finish:81");
        cr_expect_not(told("watchdog_expired"), "%s", fake.events);
}

Test(crew, a_watchdog_runs_from_ready_on_and_its_core_is_wanted) {
        config->services[0].type = SERVICE_NOTIFY;
        config->services[0].watchdog_usec = 10 * SECOND;
        begin();
        pass(30 * SECOND);
        say((NotifyWords){ .ready = true });
        pass(8 * SECOND);
        say((NotifyWords){ .watchdog = true });
        pass(9 * SECOND);
        expect_diary("spawn:0");
        pass(1 * SECOND);
        expect_diary("signal:0:6:watchdog");
        cr_expect(told("watchdog_expired"));
        pass(5 * SECOND);
        expect_diary("signal:0:9:watchdog");
        die(CLD_DUMPED, SIGABRT);
        cr_expect(told("service_gonetimeout"));
        cr_expect_str_eq(crew_result(fake.crew, WEB).service_result, "watchdog");
        cr_expect_eq(crew_view(fake.crew, WEB).failures, 1);
}

Test(crew, a_service_may_change_its_watchdog_for_this_run_and_pull_it_itself) {
        begin();
        pass(100 * SECOND);
        say((NotifyWords){ .watchdog_usec = 4 * SECOND }); /* it had none */
        pass(3 * SECOND);
        say((NotifyWords){ .watchdog_usec = 10 * SECOND }); /* counts from the same sign of life */
        pass(6 * SECOND);
        expect_diary("spawn:0");
        pass(1 * SECOND);
        expect_diary("signal:0:6:watchdog");
        die(CLD_KILLED, SIGABRT);
        pass(1 * SECOND);
        crew_on_executed(fake.crew, WEB);
        pass(100 * SECOND);
        expect_diary("spawn:0");
        say((NotifyWords){ .watchdog_trigger = true });
        expect_diary("signal:0:6:watchdog");
        say((NotifyWords){ .watchdog_trigger = true });
        expect_diary("");
}

static ListenConfig listens[1];

static void hold(void) {
        config->services[0].listens = listens;
        config->services[0].n_listens = 1;
        config->services[0].descriptor_store_max = 4;
}

Test(crew, held_sockets_are_closed_just_before_the_asking_of_an_ending) {
        hold();
        begin();
        forget();
        crew_end(fake.crew, "signal", false);
        expect_diary("close:0 signal:0:15:ending");
        die(CLD_EXITED, 0);
        crew_on_surveyed(fake.crew);
        expect_diary("drop:0 finish:0");
}

Test(crew, held_sockets_outlive_a_crash_an_illness_and_every_restart_but_not_the_last_run) {
        hold();
        config->services[0].start_limit_burst = 2;
        begin();
        say((NotifyWords){ .watchdog_trigger = true });
        die(CLD_KILLED, SIGABRT);
        pass(1 * SECOND);
        crew_on_executed(fake.crew, WEB);
        expect_diary("spawn:0 signal:0:6:watchdog spawn:0");
        die(CLD_EXITED, 1);
        expect_diary("close:0 drop:0 finish:83");
}

Test(crew, nobody_connects_into_nothing_when_an_ending_forbids_the_restart) {
        hold();
        begin();
        say((NotifyWords){ .watchdog_trigger = true });
        forget();
        crew_end(fake.crew, "signal", false); /* it dies already, and will not come back */
        expect_diary("close:0");
}

Test(crew, a_reload_signals_each_that_has_a_signal_for_it_once) {
        config->services[0].reload_signal = SIGHUP;
        cr_assert_eq(crew_new(&fake.crew, config, &stage, &fake, true), 0);
        crew_start(fake.crew);
        cr_expect_eq(crew_reload(fake.crew), 0, "before exec a signal ends it");
        crew_on_executed(fake.crew, WEB);
        forget();
        cr_expect_eq(crew_reload(fake.crew), 1);
        expect_diary("signal:0:1:reload");
        cr_expect_str_eq(fake.events, "service_signalled reload_finished");
        cr_expect_str_eq(state(), "ready");
        crew_end(fake.crew, "signal", false);
        forget();
        cr_expect_eq(crew_reload(fake.crew), 0);
        expect_diary("");
}

/* ---- A start-up that takes long ---- */

/* Answers each check as it comes. */
static void pass_and_answer(usec_t span, ProbeAnswer what) {
        for (usec_t until = fake.now + span; fake.now < until; forget()) {
                pass(100 * USEC_PER_MSEC);
                if (strstr(fake.diary, "probe:0"))
                        answer(0, what);
                if (told("startup_progress"))
                        return;
        }
}

Test(crew, a_slow_start_says_after_five_seconds_and_then_every_five_what_it_waits_for) {
        probes[PROBE_READINESS] = probe_by(PROBE_BY_HTTP);
        probes[PROBE_READINESS].period_usec = 1 * SECOND;
        config->services[0].timeout_start_usec = USEC_INFINITY;
        begin();
        usec_t began = fake.now;
        for (unsigned i = 1; i <= 5; i++) {
                forget();
                pass_and_answer(20 * SECOND, PROBE_FAILED);
                cr_expect_eq(fake.now - began, i * 5 * SECOND, "%u", i);
                cr_expect(told("startup_progressweb (readiness probe: HTTP 503)"), "%s", fake.events);
        }
        forget();
        pass_and_answer(60 * SECOND, PROBE_SUCCEEDED);
        cr_expect(!told("startup_progress"), "it is over: %s", fake.events);
}

Test(crew, a_start_of_less_than_five_seconds_says_nothing_and_leaves_no_instant_behind) {
        config->services[0].type = SERVICE_NOTIFY;
        begin();
        pass(5 * SECOND - 1);
        say((NotifyWords){ .ready = true });
        cr_expect(!told("startup_progress") && told("startup_finished"), "%s", fake.events);
        cr_expect_eq(crew_next_usec(fake.crew), USEC_INFINITY, "nobody is to be woken");
}

Test(crew, an_ending_begins_the_waiting_of_its_own) {
        config->services[0].type = SERVICE_NOTIFY;
        begin();
        pass(4 * SECOND);
        crew_end(fake.crew, "signal", false);
        pass(3 * SECOND);
        cr_expect(!told("startup_progress") && told("drain_progress"), "%s", fake.events);
}

Test(crew, why_somebody_is_waited_for_is_said_as_far_as_it_is_known) {
        char text[512];
        config->services[0].type = SERVICE_NOTIFY;
        begin();
        cr_expect_eq(crew_write_awaited(fake.crew, text, sizeof text), 1);
        cr_expect_str_eq(text, "web (no READY=1 yet)");
        say((NotifyWords){ .ready = true });
        cr_expect_eq(crew_write_awaited(fake.crew, text, sizeof text), 0);
        cr_expect_str_eq(text, "");
}

Test(crew, who_fails_again_and_again_is_waited_for_with_the_number_of_failures) {
        char text[512];
        probes[PROBE_STARTUP] = probe_by(PROBE_BY_TCP);
        begin();
        crew_write_awaited(fake.crew, text, sizeof text);
        cr_expect_str_eq(text, "web (startup probe)");
        die(CLD_EXITED, 1);
        cr_expect_str_eq(state(), "backoff");
        crew_write_awaited(fake.crew, text, sizeof text);
        cr_expect_str_eq(text, "web (1 failed in a row)");
}

Test(crew, of_many_the_first_are_named_and_the_rest_counted) {
        char text[512], small[64];
        config->services[0].type = SERVICE_NOTIFY;
        config->services[0].instances = 20;
        config->n_members = 20;
        begin();
        cr_expect_eq(crew_write_awaited(fake.crew, text, sizeof text), 20);
        cr_expect(strncmp(text, "web@1 (no READY=1 yet), web@2", 29) == 0, "%s", text);
        cr_expect_not_null(strstr(text, "web@8 (no READY=1 yet) and 12 more"), "%s", text);
        cr_expect_eq(crew_write_awaited(fake.crew, small, sizeof small), 20);
        cr_expect_str_eq(small, "web@1 (no READY=1 yet) and 19 more", "what does not fit is counted");
        cr_expect_eq(crew_write_awaited(fake.crew, small, 30), 20);
        cr_expect_str_eq(small, "20 more");
}

/* ---- The built-in services ---- */

#define BESIDE 1 /* a second service, and its member */

static ServiceConfig *add_beside(void) {
        ServiceConfig *services = calloc(2, sizeof *services);
        cr_assert_not_null(services);
        services[0] = services[1] = config->services[0];
        services[1].name = "beside";
        services[1].argv = NULL;
        services[1].probes = NULL;
        services[1].essential = false;
        free(config->services);
        config->services = services;
        config->n_services = config->n_members = 2;
        return &services[1];
}

Test(crew, nobody_waits_for_who_stands_aside_and_its_death_changes_no_readiness) {
        ServiceConfig *beside = add_beside();
        beside->aside = true;
        beside->type = SERVICE_NOTIFY; /* and never says that it is ready */
        begin();
        cr_expect(told("startup_finished"), "%s", fake.events);
        cr_expect(told("readiness_changed+"), "%s", fake.events);
        forget();
        crew_on_exited(fake.crew, BESIDE, (Ended){ .code = CLD_KILLED, .status = SIGKILL });
        crew_on_surveyed(fake.crew);
        cr_expect(told("service_restart_scheduled"), "%s", fake.events);
        cr_expect(!told("readiness_changed"), "%s", fake.events);
}

Test(crew, who_does_not_stand_aside_is_waited_for) {
        add_beside()->type = SERVICE_NOTIFY;
        begin();
        cr_expect(!told("startup_finished"), "%s", fake.events);
}

Test(crew, what_is_built_in_does_not_keep_the_container_up) {
        for (int builtin = 0; builtin < 2; builtin++) {
                ServiceConfig *beside = builtin ? &config->services[BESIDE] : add_beside();
                beside->builtin = builtin;
                config->services[WEB].essential = false;
                config->services[WEB].restart = RESTART_ON_FAILURE;
                begin();
                forget();
                die(CLD_EXITED, 0);
                cr_expect_eq(told("ending_started"), builtin, "%s", fake.events);
                fake.crew = crew_free(fake.crew);
        }
}

Test(crew, what_is_built_in_and_done_is_not_one_of_those_who_are_waited_for) {
        ServiceConfig *beside = add_beside();
        beside->builtin = true;
        beside->essential = true;
        beside->type = SERVICE_ONESHOT;
        config->services[WEB].essential = false;
        config->services[WEB].restart = RESTART_ON_FAILURE;
        begin();
        crew_on_executed(fake.crew, BESIDE);
        crew_on_exited(fake.crew, BESIDE, (Ended){ .code = CLD_EXITED });
        crew_on_surveyed(fake.crew);
        cr_expect(!told("ending_started"), "%s", fake.events);
        die(CLD_EXITED, 0);
        cr_expect(told("ending_started"), "%s", fake.events);
}

Test(crew, who_is_asked_and_dies_of_a_signal_of_its_own_has_crashed) {
        static const struct {
                Ended how;
                const char *cause;
        } cases[] = {
                { { .code = CLD_EXITED, .status = 3 }, "service_goneclean" }, /* its own affair */
                { { .code = CLD_KILLED, .status = SIGTERM }, "service_goneclean" },
                { { .code = CLD_DUMPED, .status = SIGSEGV }, "service_gonecrashed" },
                { { .code = CLD_KILLED, .status = SIGKILL }, "service_gonecrashed" }, /* not by us */
        };

        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
                begin();
                crew_end(fake.crew, "request", false);
                forget();
                crew_on_exited(fake.crew, WEB, cases[i].how);
                crew_on_surveyed(fake.crew);
                cr_expect(told(cases[i].cause), "%zu: %s", i, fake.events);
                fake.crew = crew_free(fake.crew);
        }
}

Test(crew, what_the_reaper_reports_stands_in_the_overview) {
        begin();
        cr_expect(!crew_overview(fake.crew).ledger.settled && !crew_overview(fake.crew).ledger.quiet);
        crew_on_reaper_settled(fake.crew, "x", 3, 1);
        crew_on_reaper_settled(fake.crew, "x", 1, 0);
        crew_on_database_quiet(fake.crew, 2);
        LedgerReport report = crew_overview(fake.crew).ledger;
        cr_expect(report.settled && report.quiet);
        cr_expect_eq(report.released, 4);
        cr_expect_eq(report.buried, 1);
        cr_expect_eq(report.sessions, 2);
        cr_expect(told("reaper_settled") && told("database_quiet"), "%s", fake.events);
}
