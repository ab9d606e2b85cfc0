/* test_status.c - what `status` answers. */
#include "supervisor/status.h"
#include <criterion/criterion.h>
#include <string.h>

TestSuite(status, .timeout = 60);

static size_t count(const char *text, const char *what) {
        size_t n = 0;

        for (const char *at = text; (at = strstr(at, what)); at++)
                n++;
        return n;
}

/* A world in which every process can be made and nothing ends. */
static usec_t now(void *self) {
        (void)self;
        return 1000000000;
}

static uint32_t dice(void *self) {
        return (*(uint32_t *)self)++;
}

static int spawn(void *self, uint32_t member, pid_t *ret_pid) {
        (void)self;
        *ret_pid = 4000000 + (pid_t)member;
        return 0;
}

static void signal_member(void *self, uint32_t member, Whom whom, int number, const char *reason) {
        (void)self, (void)member, (void)whom, (void)number, (void)reason;
}

static void signal_hook(void *self, uint32_t run, int number) {
        (void)self, (void)run, (void)number;
}

static void survey(void *self) {
        (void)self;
}

static int probe(void *self, uint32_t run) {
        (void)self, (void)run;
        return 0;
}

static void call_off_probe(void *self, uint32_t run) {
        (void)self, (void)run;
}

static void record(void *self, const Event *event) {
        (void)self, (void)event;
}

static bool withdraw(void *self) {
        (void)self;
        return false;
}

static void finish(void *self, int code, const char *explanation) {
        (void)self, (void)code, (void)explanation;
}

static const Stage stage = { .now = now,
                             .random = dice,
                             .spawn = spawn,
                             .spawn_hook = spawn,
                             .signal = signal_member,
                             .signal_hook = signal_hook,
                             .survey = survey,
                             .probe = probe,
                             .call_off_probe = call_off_probe,
                             .record = record,
                             .withdraw = withdraw,
                             .finish = finish };
static uint32_t seed;

static Config *config_with(uint16_t instances) {
        char word[] = "sleep";
        char *argv[] = { word, NULL };
        Config *config = NULL;

        cr_assert_eq(config_for_command(argv, &config), 0);
        config->services[0].instances = instances;
        config->n_members = instances;
        return config;
}

Test(status, everything_fits_one_mebibyte_with_4096_instances_that_all_have_a_text) {
        static char buffer[1024 * 1024];
        Config *config = config_with(INSTANCES_MAX);
        Crew *crew = NULL;
        Json json;

        cr_assert_eq(crew_new(&crew, config, &stage, &seed, true), 0);
        crew_start(crew);
        for (uint32_t i = 0; i < INSTANCES_MAX; i++) {
                NotifyWords words = { .has_status = true };
                memset(words.status, '"', sizeof words.status - 1); /* each takes two bytes */
                crew_on_executed(crew, i);
                crew_on_notify(crew, i, 0, &words);
        }
        json_init(&json, buffer, sizeof buffer);
        status_write(crew, config, &json);
        size_t n = json_finish(&json);
        cr_assert_not(json_overflowed(&json), "%zu bytes were not enough", n);
        cr_assert_eq(count(buffer, "\"instance\":"), INSTANCES_MAX);
        cr_assert_eq(count(buffer, "\"status\":"), INSTANCES_MAX);
        crew_free(crew);
        config_free(config);
}

/* As many members start, and checks begin, as the crew has turns; so many at once. */
static void take_turns(Crew *crew) {
        for (size_t turn = 0; turn < crew_size(crew); turn += 32)
                crew_on_time(crew);
}

/* Each of them is not ready for a reason that is as long as it can be. */
static void fail_every_check(Crew *crew) {
        static char detail[256];
        memset(detail, '"', sizeof detail - 1);
        detail[sizeof detail - 1] = '\0';
        take_turns(crew);
        for (uint32_t i = 0; i < crew_probe_runs(crew); i++)
                crew_on_probed(crew, i, PROBE_FAILED, detail);
}

Test(status, it_still_fits_when_none_of_4096_is_ready_and_each_says_why) {
        static char buffer[1024 * 1024];
        static ProbeConfig probes[_PROBE_KIND_MAX] = {
                [PROBE_READINESS] = { .by = PROBE_BY_TCP,
                                      .period_usec = 10 * USEC_PER_SEC,
                                      .timeout_usec = 1 * USEC_PER_SEC,
                                      .failures = 3,
                                      .successes = 1 },
        };
        Config *config = config_with(INSTANCES_MAX);
        Crew *crew = NULL;
        Json json;

        config->services[0].probes = probes;
        cr_assert_eq(crew_new(&crew, config, &stage, &seed, true), 0);
        cr_assert_eq(crew_probe_runs(crew), INSTANCES_MAX);
        crew_start(crew);
        take_turns(crew);
        for (uint32_t i = 0; i < INSTANCES_MAX; i++) {
                NotifyWords words = { .has_status = true };
                memset(words.status, '"', sizeof words.status - 1);
                crew_on_executed(crew, i);
                crew_on_notify(crew, i, 0, &words);
        }
        fail_every_check(crew);
        json_init(&json, buffer, sizeof buffer);
        status_write(crew, config, &json);
        size_t n = json_finish(&json);
        cr_assert_not(json_overflowed(&json), "%zu bytes were not enough", n);
        cr_assert_eq(count(buffer, "\"not_ready\":\"readiness: "), INSTANCES_MAX);
        cr_assert_eq(count(buffer, "\"state\":\"starting\""), INSTANCES_MAX);
        crew_free(crew);
        config->services[0].probes = NULL;
        config_free(config);
}

Test(status, an_ending_says_how_long_and_for_whom) {
        static char buffer[64 * 1024];
        Config *config = config_with(2);
        Crew *crew = NULL;
        Json json;

        cr_assert_eq(crew_new(&crew, config, &stage, &seed, true), 0);
        crew_start(crew);
        crew_on_executed(crew, 0);
        crew_on_executed(crew, 1);
        crew_end(crew, "request", false);
        json_init(&json, buffer, sizeof buffer);
        status_write(crew, config, &json);
        json_finish(&json);
        cr_assert(strstr(buffer, "\"cause\":\"request\""), "%s", buffer);
        cr_assert(strstr(buffer, "\"awaited\":2"), "%s", buffer);
        cr_assert(strstr(buffer, "\"deadline_us\":"), "%s", buffer);
        cr_assert_eq(count(buffer, "\"state\":\"stopping\""), 2, "%s", buffer);
        cr_assert_eq(count(buffer, "\"awaited\":true"), 2, "%s", buffer);
        cr_assert_eq(count(buffer, "\"limit_us\":"), 3, "%s", buffer);
        cr_assert(strstr(buffer, "\"pid\":4000001"), "%s", buffer);
        crew_free(crew);
        config_free(config);
}
