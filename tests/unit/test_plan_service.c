/* test_plan_service.c - what `endwell check` shows of a service besides its place in the plans, and what it keeps back.
 */
#include "base/take.h"
#include "supervisor/plan.h"
#include "supervisor/plan_service.h"
#include "tests/support/config_file.h"
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static ConfigFile file;

static void set_up(void) {
        config_file_open(&file);
        config_file_write(&file, "env", "TOKEN=s3cret\n");
        char text[2000];
        snprintf(text, sizeof text,
                 "[Service web]\nExecStart=/bin/true\nType=notify-fd:10\n"
                 "UMask=0027\nNice=3\nOOMScoreAdjust=1000\nNoNewPrivileges=yes\nLimitNOFILE=16:32\nLimitCORE=0\n"
                 "LimitSTACK=0:1M\nCapabilityBoundingSet=~\n"
                 "Listen=tcp://127.0.0.1:8080 name=http unix:/tmp/x.sock mode=0660\n"
                 "FileDescriptorStoreMax=4\nInstances=2\nReloadSignal=HUP\nWatchdogSec=10\n"
                 "ReadinessProbe=http://localhost/ready?s3cret period=5s successes=2\n"
                 "LivenessProbe=exec:true s3cret delay=1min\nStartupProbe=tcp://[::1]:5432\n"
                 "Environment=A=s3cret\nEnvironmentFile=%s/env\nPassEnvironment=HOME\nUnsetEnvironment=B\n"
                 "[Service plain]\nExecStart=/bin/true\n"
                 "[Service shell]\nExecStart=/bin/true\nTTY=yes\nUser=%u\n"
                 "[Hook drain]\nService=web\nOn=pre-stop\nHttp=POST http://balancer/drain?s3cret\n"
                 "[Hook note]\nPhase=http\nOn=end\nExec=/bin/true s3cret\nUser=%u\n",
                 file.directory, geteuid(), geteuid());
        config_file_load(&file, text);
        cr_assert_eq(file.answer, 0, "%s", file.printed);
}

static void tear_down(void) {
        config_file_close(&file);
}

TestSuite(plan_service, .init = set_up, .fini = tear_down);

static char *print_service(size_t i) {
        char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        plan_print_service(&file.config->services[i], 2, out);
        fclose(out);
        return text;
}

Test(plan_service, a_person_reads_a_line_for_each_thing_that_there_is) {
        _cleanup_(freep) char *web = print_service(0), *plain = print_service(1), *shell = print_service(2);
        cr_expect_str_eq(
                web,
                "  umask 0027, nice 3, OOM score 1000, no new privileges\n"
                "  may have of capabilities: all\n"
                "  limits NOFILE 16:32, CORE 0, STACK 0:1048576\n"
                "  has its socket held: tcp://127.0.0.1:8080, named http\n"
                "  has its socket held: unix:/tmp/x.sock, mode 0660, named web\n"
                "  may store descriptors: 4\n"
                "  is ready at a newline on descriptor 10\n"
                "  has started: tcp://[::1]:5432 every 10 s, 1 s each; no after 3 in a row\n"
                "  is alive: exec:true ... every 10 s, 1 s each, the first after 1 min; no after 3 in a row\n"
                "  is ready: http://localhost:80/ready?... every 5 s, 1 s each; yes after 2 in a row; no after 3 in "
                "a row\n"
                "  says WATCHDOG=1 at least every 10 s\n"
                "  is reloaded by SIGHUP\n",
                "%s", web);
        cr_expect_str_eq(plain, "");
        cr_expect_eq(strncmp(shell, "  runs as ", 10), 0, "%s", shell);
        cr_expect_not_null(strstr(shell, "\n  has the terminal\n"), "%s", shell);
}

Test(plan_service, the_request_of_a_hook_is_shown_up_to_its_query) {
        char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        plan_print_request(&file.config->hooks[0], out);
        fclose(out);
        cr_expect_str_eq(text, "POST http://balancer:80/drain?...");
        free(text);
}

static json_t *load_json(char **ret_text) {
        size_t size;
        FILE *out = open_memstream(ret_text, &size);
        cr_assert_eq(plan_print_json(file.config, NULL, file.complaints, out), 0);
        fclose(out);
        json_error_t error;
        json_t *root = json_loads(*ret_text, 0, &error);
        cr_assert_not_null(root, "%s", error.text);
        return root;
}

/* A member by its path: names, and numbers of arrays. */
static json_t *find(json_t *value, const char *path) {
        char copy[100], *rest = copy, *word;
        snprintf(copy, sizeof copy, "%s", path);
        while ((word = strsep(&rest, ".")))
                value = json_is_array(value) ? json_array_get(value, (size_t)atoi(word)) : json_object_get(value, word);
        return value;
}

Test(plan_service, a_program_reads_the_same) {
        _cleanup_(freep) char *text = NULL;
        json_t *root = load_json(&text);
        json_t *web = find(root, "plan.start.2.services.0"), *plain = find(root, "plan.start.2.services.1");
        static const struct {
                const char *path, *dump;
        } rows[] = {
                { "service", "\"web\"" },
                { "type", "\"notify-fd\"" },
                { "rights.user", "null" },
                { "rights.uid", "null" },
                { "rights.groups", "null" },
                { "rights.umask", "\"0027\"" },
                { "rights.nice", "3" },
                { "rights.oom_score_adjust", "1000" },
                { "rights.limits.LimitNOFILE", "{\"soft\":16,\"hard\":32}" },
                { "rights.limits.LimitSTACK.hard", "1048576" },
                { "rights.no_new_privileges", "true" },
                { "rights.bounding.5", "\"CAP_KILL\"" },
                { "rights.ambient", "[]" },
                { "listen.0", "{\"address\":\"tcp://127.0.0.1:8080\",\"mode\":null,\"name\":\"http\"}" },
                { "listen.1", "{\"address\":\"unix:/tmp/x.sock\",\"mode\":\"0660\",\"name\":\"web\"}" },
                { "probes.readiness.target", "\"http://localhost:80/ready\"" },
                { "probes.readiness.by", "\"http\"" },
                { "probes.readiness.successes", "2" },
                { "probes.liveness.target", "\"true\"" },
                { "probes.liveness.delay_us", "60000000" },
                { "probes.startup.target", "\"[::1]:5432\"" },
                { "watchdog_us", "10000000" },
                { "descriptor_store_max", "4" },
                { "notify_fd", "10" },
                { "reload_signal", "\"SIGHUP\"" },
                { "tty", "false" },
                { "environment", "[\"A\",\"TOKEN\"]" },
                { "pass_environment", "[\"HOME\"]" },
                { "unset_environment", "[\"B\"]" },
        };
        for (size_t i = 0; i < LENGTH_OF(rows); i++) {
                _cleanup_(freep) char *dump = json_dumps(find(web, rows[i].path), JSON_COMPACT | JSON_ENCODE_ANY);
                cr_expect(dump && strcmp(dump, rows[i].dump) == 0, "%s: %s", rows[i].path, dump);
        }
        _cleanup_(freep) char *dump = json_dumps(plain, JSON_COMPACT);
        cr_expect_str_eq(dump,
                         "{\"service\":\"plain\",\"type\":\"simple\",\"instances\":1,\"essential\":true,\"builtin\":"
                         "false,\"after\":[],"
                         "\"requires\":[],\"rights\":null,\"listen\":[],"
                         "\"probes\":{\"startup\":null,\"liveness\":null,\"readiness\":null},\"watchdog_us\":null,"
                         "\"descriptor_store_max\":0,\"notify_fd\":null,\"reload_signal\":null,\"tty\":false,"
                         "\"environment\":[],\"pass_environment\":null,\"unset_environment\":[]}",
                         "%s", dump);
        _cleanup_(freep) char *hook = json_dumps(find(root, "plan.stop.0.hooks.0"), JSON_COMPACT);
        cr_expect_not_null(strstr(hook, "\"method\":\"POST\",\"url\":\"http://balancer:80/drain\",\"user\":null"), "%s",
                           hook);
        json_decref(root);
}

Test(plan_service, no_secret_is_in_either) {
        _cleanup_(freep) char *json = NULL;
        json_decref(load_json(&json));
        char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        cr_assert_eq(plan_print(file.config, out), 0);
        fclose(out);
        cr_expect_null(strstr(json, "s3cret"), "%s", json);
        cr_expect_null(strstr(text, "s3cret"), "%s", text);
        cr_expect_not_null(strstr(text, "end of the phase, at most 5 s, as "), "%s", text);
        cr_expect_null(strstr(file.printed, "s3cret"), "%s", file.printed);
        free(text);
}

Test(plan_service, held_and_stored_descriptors_are_counted) {
        unsigned long with = plan_descriptors(file.config);
        file.config->services[0].n_listens = 0;
        cr_expect_eq(with - plan_descriptors(file.config), 2);
        file.config->services[0].n_listens = 2;
        file.config->services[0].descriptor_store_max = 0;
        cr_expect_eq(with - plan_descriptors(file.config), 8, "four for each of two instances");
        file.config->services[0].type = SERVICE_SIMPLE;
        cr_expect_eq(with - plan_descriptors(file.config), 10);
}
