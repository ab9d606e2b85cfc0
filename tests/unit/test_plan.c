/* test_plan.c - `endwell check`: what it prints for people and for programs, and what it answers. */
#include "base/take.h"
#include "supervisor/plan.h"
#include "supervisor/verbs.h"
#include "tests/support/config_file.h"
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static ConfigFile file;

static void set_up(void) {
        config_file_open(&file);
}

static void tear_down(void) {
        config_file_close(&file);
}

TestSuite(plan, .init = set_up, .fini = tear_down);

static const char shop[] = "[Supervisor]\nGraceSec=60\n[Phase http]\nDelaySec=5\nTimeoutSec=12\n"
                           "[Service web]\nPhase=http\nExecStart=/bin/true\nInstances=2\nAfter=api\n"
                           "[Service api]\nPhase=http\nType=notify\nExecStart=/bin/true\nKillMode=process\n"
                           "[Service migrate]\nPhase=workers\nType=oneshot\nExecStart=/bin/true\n"
                           "[Service worker]\nPhase=workers\nInstances=14\nRequires=migrate\nExecStart=/bin/true\n"
                           "Essential=no\nTimeoutStopSec=20\nKillSignal=INT\n"
                           "[Hook announce]\nService=web\nOn=pre-stop\nExec=/bin/true\nOnFailure=abort\n"
                           "[Hook warm]\nService=web\nOn=post-start\nExec=/bin/true\nTimeoutSec=2\n"
                           "[Hook bye]\nService=worker\nLogPattern=^bye\n";

static char *print_plan(void) {
        char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);

        cr_assert_eq(plan_print(file.config, out), 0);
        fclose(out);
        return text;
}

Test(plan, a_person_reads_start_stop_and_the_arithmetic) {
        config_file_load(&file, shop);
        cr_assert_eq(file.answer, 0, "%s", file.printed);
        _cleanup_(freep) char *text = print_plan();
        const char *body = strchr(text, '\n') + 1; /* the first line has the path and the digest */

        cr_expect_str_eq(body, "\n"
                               "start, phase after phase:\n"
                               "  db        (nothing)\n"
                               "  workers   migrate     oneshot\n"
                               "            worker x14  simple   requires migrate, not essential\n"
                               "  http      api         notify\n"
                               "            web x2      simple   after api\n"
                               "            hook warm: post-start of web, at most 2 s\n"
                               "\n"
                               "stop, phase after phase; what one does not use, the next has more:\n"
                               "  http      serves on for 5 s, then has 12 s, is over by 17 s\n"
                               "            web x2      SIGTERM\n"
                               "            api         SIGTERM to the main process only, when gone: web\n"
                               "            hook announce: pre-stop of web, at most 5 s, a failure is exit 80\n"
                               "  workers   has 35.92 s, is over by 52.92 s\n"
                               "            worker x14  SIGINT, at most 20 s\n"
                               "            migrate     SIGTERM if it is not done yet, when gone: worker\n"
                               "            hook bye: a line of the output of worker that matches ^bye\n"
                               "  db        has 0 s, is over by 52.92 s\n"
                               "\n"
                               "budget:\n"
                               "  grace            1 min  the orchestrator gives\n"
                               "  deadline          54 s  endwell is gone by then\n"
                               "  reserve         1.08 s  of it kept for the last kill and the summary\n"
                               "  http              17 s  delay 5 s + TimeoutSec 12 s\n"
                               "  workers        35.92 s  its share\n"
                               "  db                 0 s  its share\n"
                               "  sum            52.92 s  all of deadline - reserve\n");
        cr_expect_not_null(strstr(text, "(production; 3 phases, 4 services, 18 instances, 3 hooks; digest "), "%s",
                           text);
}

Test(plan, time_that_is_left_is_said) {
        config_file_load(&file, "[Phase http]\nTimeoutSec=10\n[Service web]\nExecStart=/bin/true\n");
        _cleanup_(freep) char *text = print_plan();
        cr_expect_not_null(strstr(text, "of 26.46 s (deadline - reserve): 16.46 s left\n"), "%s", text);
}

Test(plan, development_says_that_it_is_not_productions_path) {
        config_file_load(&file, "[Supervisor]\nMode=development\n[Service web]\nExecStart=/bin/true\n");
        _cleanup_(freep) char *text = print_plan();
        cr_expect_not_null(strstr(text, "Mode=development takes a short cut"), "%s", text);
}

Test(plan, no_line_ends_in_a_blank) {
        config_file_load(&file, shop);
        _cleanup_(freep) char *text = print_plan();
        cr_expect_null(strstr(text, " \n"), "%s", text);
}

/* ---- JSON ---- */

static json_t *load_json_on(const PlatformFacts *platform) {
        char *text = NULL;
        size_t size;
        json_error_t error;
        FILE *out = open_memstream(&text, &size);

        cr_assert_eq(plan_print_json(file.config, platform, file.complaints, out), 0);
        fclose(out);
        json_t *value = json_loads(text, 0, &error);
        cr_assert_not_null(value, "%s: %s", error.text, text);
        free(text);
        return value;
}

static json_t *load_json(void) {
        return load_json_on(NULL);
}

Test(plan, a_program_reads_the_same) {
        config_file_load(&file, shop);
        json_t *all = load_json();
        const char *digest, *phase, *service, *after, *signal_text;
        json_int_t grace, reserve, limit, instances, stop;
        json_t *none;

        cr_expect_eq(json_unpack(all, "{s:[], s:{s:s, s:I, s:I}}", "errors", "plan", "config_digest", &digest,
                                 "grace_us", &grace, "reserve_us", &reserve),
                     0);
        cr_expect(strcmp(digest, file.config->digest) == 0 && grace == 60000000 && reserve == 1080000);

        json_t *plan = json_object_get(all, "plan");
        json_t *start = json_array_get(json_object_get(plan, "start"), 2);
        cr_expect_eq(json_unpack(json_array_get(json_object_get(start, "services"), 1), "{s:s, s:I, s:[s]}", "service",
                                 &service, "instances", &instances, "after", &after),
                     0);
        cr_expect(strcmp(service, "web") == 0 && instances == 2 && strcmp(after, "api") == 0);

        json_t *workers = json_array_get(json_object_get(plan, "stop"), 1);
        cr_expect_eq(json_unpack(workers, "{s:s, s:I}", "phase", &phase, "limit_us", &limit), 0);
        cr_expect(strcmp(phase, "workers") == 0 && limit == 52920000);
        json_t *first = json_array_get(json_object_get(workers, "services"), 0);
        cr_expect_eq(json_unpack(first, "{s:s, s:s, s:I}", "service", &service, "kill_signal", &signal_text,
                                 "timeout_stop_us", &stop),
                     0);
        cr_expect(strcmp(service, "worker") == 0 && strcmp(signal_text, "SIGINT") == 0 && stop == 20000000);
        json_t *second = json_array_get(json_object_get(workers, "services"), 1);
        cr_expect_eq(json_unpack(second, "{s:o}", "timeout_stop_us", &none), 0);
        cr_expect(json_is_null(none), "what is not given has no number");
        json_decref(all);
}

Test(plan, errors_and_warnings_are_apart_and_the_plan_is_null) {
        config_file_load(&file,
                         "[Service web]\nExecStart=/no/such/program\nRestart=no\nStartLimitBurst=0\nKillMode=\"\n");
        json_t *all = load_json();
        const char *name, *message;
        int line;

        cr_expect_eq(json_array_size(json_object_get(all, "errors")), 1);
        cr_expect_eq(json_array_size(json_object_get(all, "warnings")), 2);
        cr_expect(json_is_null(json_object_get(all, "plan")));
        cr_expect_eq(json_unpack(json_array_get(json_object_get(all, "errors"), 0), "{s:s, s:i, s:s}", "file", &name,
                                 "line", &line, "message", &message),
                     0);
        cr_expect(strcmp(name, file.path) == 0 && line == 5 && strstr(message, "KillMode=\""));
        json_decref(all);
}

Test(plan, a_thousand_services_outgrow_the_first_buffer_and_are_still_json) {
        char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        for (int i = 0; i < 1000; i++)
                fprintf(out, "[Service a-service-with-quite-a-long-name-%d]\nExecStart=/bin/true\n", i);
        fclose(out);
        config_file_load(&file, text);
        free(text);
        json_t *all = load_json();
        json_t *phase = json_array_get(json_object_get(json_object_get(all, "plan"), "start"), 2);
        cr_expect_eq(json_array_size(json_object_get(phase, "services")), 1000);
        json_decref(all);
}

/* ---- The verb ---- */

static int check(char *a, char *b, char *c) {
        char *argv[] = { (char[]){ "check" }, (char[]){ "-c" }, file.path, a, b, c, NULL };
        int argc = 0;
        while (argv[argc])
                argc++;
        int code = verb_check(argc, argv);
        fflush(NULL);
        return code;
}

static unsigned long descriptors_with(const char *keys) {
        char text[400];
        snprintf(text, sizeof text, "[Service web]\nExecStart=/bin/true\nInstances=3\n%s", keys);
        config_file_load(&file, text);
        cr_assert_eq(file.answer, 0, "%s", file.printed);
        return plan_descriptors(file.config);
}

Test(plan, what_is_held_for_services_counts_among_the_descriptors) {
        unsigned long plain = descriptors_with("");
        cr_expect_eq(descriptors_with("FileDescriptorStoreMax=100\n"), plain + 300);
        cr_expect_eq(plan_stored_descriptors(file.config), 300);
        cr_expect_eq(descriptors_with("Listen=tcp://127.0.0.1:8080 tcp://127.0.0.1:8081\n"), plain + 2);
        cr_expect_eq(descriptors_with("Type=notify-fd:9\n"), plain + 3);
        cr_expect_eq(descriptors_with("[Hook mark]\nService=web\nLogPattern=x\n"), plain + 6);
}

Test(plan, the_verb_answers_0_78_and_64) {
        cr_redirect_stdout();
        cr_redirect_stderr();
        config_file_write(&file, "conf.ini", "[Service web]\nExecStart=/bin/true\n");
        cr_expect_eq(check(NULL, NULL, NULL), 0);
        cr_expect_eq(check((char[]){ "--json" }, NULL, NULL), 0);
        cr_expect_eq(check((char[]){ "--mode=staging" }, NULL, NULL), 0);
        cr_expect_eq(check((char[]){ "--help" }, NULL, NULL), 0);
        cr_expect_eq(check((char[]){ "--mode" }, (char[]){ "nonsense" }, NULL), 78);
        cr_expect_eq(check((char[]){ "--platform" }, (char[]){ "ecs" }, NULL), 0);
        cr_expect_eq(check((char[]){ "--platform=docker" }, NULL, NULL), 0, "a warning does not change the code");
        cr_expect_eq(check((char[]){ "--platform=cloud-run" }, NULL, NULL), 78, "what nothing can change is an error");
        cr_expect_eq(check((char[]){ "--platform=cloud-run" }, (char[]){ "--json" }, NULL), 78);
        cr_expect_eq(check((char[]){ "--platform=ECS" }, NULL, NULL), 64);
        cr_expect_eq(check((char[]){ "--platform" }, NULL, NULL), 64);
        cr_expect_eq(check((char[]){ "--mode" }, NULL, NULL), 64);
        cr_expect_eq(check((char[]){ "--nonsense" }, NULL, NULL), 64);
        cr_expect_eq(check((char[]){ "-z" }, NULL, NULL), 64);
        cr_expect_eq(check((char[]){ "word" }, NULL, NULL), 64);
        config_file_write(&file, "conf.ini", "[Service web]\n");
        cr_expect_eq(check(NULL, NULL, NULL), 78);
        cr_expect_eq(check((char[]){ "--json" }, NULL, NULL), 78);
}

Test(plan, errors_go_to_stderr_with_their_lines) {
        cr_redirect_stderr();
        config_file_write(&file, "conf.ini", "[Service web]\nRestart=x\n");
        cr_expect_eq(check(NULL, NULL, NULL), 78);
        char expected[400];
        snprintf(expected, sizeof expected,
                 "%s:1: the service web has no ExecStart: what shall it run?\n"
                 "%s:2: Restart=x: must be no, on-failure or always\n"
                 "endwell check: 2 errors: nothing would be started\n",
                 file.path, file.path);
        cr_assert_stderr_eq_str(expected);
}

Test(plan, an_unknown_platform_is_refused_with_the_nearest) {
        cr_redirect_stderr();
        cr_expect_eq(check((char[]){ "--platform=kubernets" }, NULL, NULL), 64);
        char text[200] = "";
        FILE *said = cr_get_redirected_stderr();
        cr_expect_not_null(fgets(text, sizeof text, said));
        cr_expect_str_eq(text,
                         "endwell check: --platform kubernets: there is no such platform, did you mean kubernetes?\n");
}

/* ---- Platforms ---- */

static char *print_platform(Platform platform) {
        char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);

        plan_print_platform(file.config, platform_facts(platform), out);
        fclose(out);
        return text;
}

/* What was judged, as one text. */
static const char *judge(int platform) {
        complaints_free(file.complaints);
        cr_assert_eq(complaints_new(&file.complaints), 0);
        plan_judge(file.config, platform < 0 ? NULL : platform_facts((Platform)platform), file.complaints);
        config_file_print(&file);
        return file.printed;
}

Test(plan, a_person_reads_step_by_step_what_the_platform_will_do) {
        config_file_load(&file, "[Service web]\nExecStart=/bin/true\n");
        _cleanup_(freep) char *kubernetes = print_platform(PLATFORM_KUBERNETES), *fly = print_platform(PLATFORM_FLY);
        _cleanup_(freep) char *heroku = print_platform(PLATFORM_HEROKU), *systemd = print_platform(PLATFORM_SYSTEMD);

        cr_expect_str_eq(
                kubernetes,
                "\non Kubernetes:\n"
                "  before     a preStop hook runs, and its time is part of the grace (2 s are left when it took all "
                "of it)\n"
                "  meanwhile  the pod leaves the endpoints; requests go on coming until all have heard of it\n"
                "  signal     SIGTERM to the first process; the image's STOPSIGNAL can make it another one\n"
                "  then       the ending begins\n"
                "  gone       endwell, after 27 s at the latest; a preStop hook may take the other 3 s\n"
                "  SIGKILL    to all that lives, 30 s after the signal unless it is told otherwise; this plan needs "
                "terminationGracePeriodSeconds: 30 at least\n");
        cr_expect_str_eq(
                fly, "\non Fly.io:\n"
                     "  signal     SIGINT to the first process; kill_signal in fly.toml can make it another one\n"
                     "  then       the ending begins; a second signal of that kind would make it a fast one\n"
                     "  gone       endwell, after 27 s at the latest\n"
                     "  SIGKILL    to all that lives, 5 s after the signal, or after 30 s with kill_timeout = 30 in "
                     "fly.toml\n");
        cr_expect_not_null(strstr(heroku, "SIGTERM to every process, perhaps several times\n"));
        cr_expect_not_null(strstr(heroku, "30 s after the signal; nothing changes that\n"));
        cr_expect_not_null(strstr(systemd, "  needs      Type=notify, NotifyAccess=main, and KillMode=mixed"));
}

Test(plan, what_a_platform_does_not_allow_is_said_at_the_line_that_asks_for_it) {
        config_file_load(&file, "[Supervisor]\nGraceSec=60\nDeadlineSec=59.9\n[Phase http]\nTimeoutSec=9\n"
                                "[Service web]\nPhase=http\nExecStart=haproxy\nKillSignal=USR1\n"
                                "[Service worker]\nPhase=workers\nExecStart=/bin/true\n");
        cr_assert_not_null(file.config, "%s", file.printed);
        static const struct {
                int platform;
                const char *begins[5];
        } rows[] = {
                { -1, { "conf.ini:3: warning: DeadlineSec: leaves 100 ms" } },
                { PLATFORM_KUBERNETES,
                  { "conf.ini:2: warning: GraceSec: Kubernetes kills after 30 s",
                    "conf.ini:3: warning: DeadlineSec: ", "conf.ini:4: warning: Kubernetes sends new requests",
                    "conf.ini:6: warning: the images of haproxy have STOPSIGNAL SIGUSR1" } },
                { PLATFORM_HEROKU,
                  { "conf.ini:2: GraceSec: Heroku kills 30 s after", "conf.ini:3: warning: DeadlineSec: ",
                    "conf.ini:10: warning: Heroku sends SIGTERM, perhaps several times, to every process" } },
                { PLATFORM_SYSTEMD, { "conf.ini:3: warning: DeadlineSec: " } },
        };
        for (size_t i = 0; i < LENGTH_OF(rows); i++) {
                const char *at = judge(rows[i].platform);
                for (size_t j = 0; rows[i].begins[j]; j++) {
                        cr_expect(strncmp(at, rows[i].begins[j], strlen(rows[i].begins[j])) == 0, "%zu.%zu: %s", i, j,
                                  at);
                        at = strchr(at, '\n') ? strchr(at, '\n') + 1 : at;
                }
                cr_expect_str_eq(at, "", "%zu: more than was wanted", i);
        }
}

Test(plan, a_phase_without_a_section_is_told_of_at_its_first_service) {
        config_file_load(&file, "[Service web]\nExecStart=/bin/true\n");
        cr_expect(strncmp(judge(PLATFORM_KUBERNETES), "conf.ini:1: warning: Kubernetes sends", 37) == 0, "%s",
                  file.printed);
        config_file_load(&file, "[Supervisor]\nPhases=web\n[Service web]\nExecStart=/bin/true\n");
        cr_expect_str_eq(judge(PLATFORM_KUBERNETES), "", "no phase is named http");
}

Test(plan, a_program_reads_what_the_platform_does) {
        config_file_load(&file, "[Supervisor]\nGraceSec=45\n[Service web]\nExecStart=/bin/true\n");
        json_t *all = load_json_on(platform_facts(PLATFORM_SYSTEMD));
        const char *name, *signal_text, *setting;
        json_int_t grace;
        int needed;
        cr_expect_eq(json_unpack(json_object_get(all, "platform"), "{s:s, s:s, s:I, s:s, s:b, s:n}", "name", &name,
                                 "signal", &signal_text, "grace_us", &grace, "setting", &setting, "setting_is_needed",
                                 &needed, "most_us"),
                     0);
        cr_expect(strcmp(name, "systemd") == 0 && strcmp(signal_text, "SIGTERM") == 0 && grace == 90000000 && !needed);
        cr_expect_str_eq(setting, "TimeoutStopSec=45");
        json_decref(all);
        all = load_json();
        cr_expect(json_is_null(json_object_get(all, "platform")));
        json_decref(all);
}

/* ---- The runtime directory ---- */

Test(plan, a_runtime_directory_that_cannot_be_used_is_an_error_and_nothing_is_made) {
        char path[128], text[300], expected[400];
        cr_redirect_stderr();
        cr_redirect_stdout();
        snprintf(path, sizeof path, "%s/run", file.directory);
        snprintf(text, sizeof text, "[Supervisor]\nRuntimeDirectory=%s\n[Service web]\nExecStart=/bin/true\n", path);
        config_file_write(&file, "conf.ini", text);
        cr_expect_eq(check(NULL, NULL, NULL), 0);
        cr_expect_lt(access(path, F_OK), 0, "it was only tried");
        config_file_write(&file, "run", "no directory");
        cr_expect_eq(check(NULL, NULL, NULL), 78);
        snprintf(expected, sizeof expected,
                 "%s:2: RuntimeDirectory=%s: it cannot be used: Not a directory\n"
                 "endwell check: 1 error: it would not end, or not start, as planned here\n",
                 file.path, path);
        cr_assert_stderr_eq_str(expected);
}
