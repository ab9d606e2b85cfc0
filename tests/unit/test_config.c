/* test_config.c - whole configurations: what they become, and how sections, phases and services hang together. */
#include "base/take.h"
#include "supervisor/config.h"
#include "tests/support/config_file.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static ConfigFile file;

static void set_up(void) {
        config_file_open(&file);
}

static void tear_down(void) {
        config_file_close(&file);
}

TestSuite(config, .init = set_up, .fini = tear_down);

#define WEB "[Service web]\nExecStart=/bin/sleep 1000\n"

static const Config *must_load(const char *text) {
        config_file_load(&file, text);
        cr_assert_eq(file.answer, 0, "it answered %d: %s", file.answer, file.printed);
        return file.config;
}

/* Exactly these complaints. */
static void must_refuse(const char *text, const char *complaints) {
        config_file_load(&file, text);
        cr_expect_eq(file.answer, -EBADMSG, "%s: answered %d", text, file.answer);
        cr_expect_null(file.config);
        cr_expect_str_eq(file.printed, complaints, "%s: said %s", text, file.printed);
}

/* ---- Defaults ---- */

Test(config, one_command_is_a_whole_configuration_with_the_defaults_of_the_contract) {
        const Config *config = must_load(WEB);
        const ServiceConfig *web = &config->services[0];

        cr_expect(config->mode == MODE_PRODUCTION && config->n_services == 1 && config->n_members == 1);
        cr_expect(config->grace_usec == 30 * USEC_PER_SEC && config->deadline_usec == 27 * USEC_PER_SEC);
        cr_expect_eq(config->n_phases, 3);
        cr_expect_str_eq(config->phases[0].name, "http");
        cr_expect_str_eq(config->phases[2].name, "db");
        cr_expect(config->journal_max_size == 16 << 20 && config->control_group == -1 && config->exit_code_from == -1);
        cr_expect(config->log_format == LOG_FORMAT_AUTO && config->log_level == LOG_LEVEL_INFO);
        cr_expect_eq(config->budget.timeout_usec[0], 26460000, "the one phase with a member has it all");

        cr_expect(web->phase == 0 && web->instances == 1 && web->type == SERVICE_SIMPLE && web->essential);
        cr_expect(web->restart == RESTART_ON_FAILURE && web->kill_mode == KILL_MIXED && web->drain_until == DRAIN_EXIT);
        cr_expect(web->restart_usec == 500000 && web->restart_max_usec == 30 * USEC_PER_SEC);
        cr_expect(web->start_limit_burst == 5 && web->timeout_start_usec == 90 * USEC_PER_SEC);
        cr_expect(web->timeout_stop_usec == USEC_UNSET && web->kill_signal == SIGTERM && web->depth == 1);
        cr_expect(!web->relations && !web->success && !web->outputs);
        cr_expect_str_eq(web->argv[0], "/bin/sleep");
        cr_expect_str_eq(web->argv[1], "1000");
        cr_expect_null(web->argv[2]);
        cr_expect_null(web->environment);
        cr_expect_str_eq(web->file, file.path);
        cr_expect_eq(web->line, 1);
}

/* ---- Where the file and the mode come from ---- */

Test(config, the_environment_names_the_file_and_the_mode_when_the_command_line_does_not) {
        config_file_write(&file, "conf.ini", "[Supervisor]\nMode=staging\n" WEB);
        setenv("ENDWELL_CONFIG", file.path, 1);
        config_file_load_path(&file, NULL, NULL);
        cr_assert_eq(file.answer, 0);
        cr_expect_eq(file.config->mode, MODE_STAGING);

        setenv("ENDWELL_MODE", "development", 1);
        config_file_load_path(&file, NULL, NULL);
        cr_assert_eq(file.answer, 0);
        cr_expect_eq(file.config->mode, MODE_DEVELOPMENT);

        config_file_load_path(&file, NULL, "production");
        cr_assert_eq(file.answer, 0);
        cr_expect_eq(file.config->mode, MODE_PRODUCTION);
}

Test(config, a_bad_mode_is_complained_about_where_it_stands) {
        config_file_write(&file, "conf.ini", WEB);
        setenv("ENDWELL_MODE", "prod", 1);
        config_file_load_path(&file, file.path, NULL);
        cr_expect_eq(file.answer, -EBADMSG);
        cr_expect_str_eq(file.printed, "$ENDWELL_MODE:0: Mode=prod: must be production, staging or development\n");
        config_file_load_path(&file, file.path, "dev");
        cr_expect_str_eq(file.printed, "--mode:0: Mode=dev: must be production, staging or development\n");
}

Test(config, a_file_that_is_not_there_is_an_error) {
        config_file_load_path(&file, file.path, NULL);
        cr_expect_eq(file.answer, -EBADMSG);
        cr_expect_str_eq(file.printed, "conf.ini:0: cannot be read: No such file or directory\n");
}

Test(config, a_drop_in_replaces_values_adds_to_lists_and_changes_the_digest) {
        char first_digest[17];
        strcpy(first_digest, must_load(WEB "Environment=A=1\nInstances=2\n")->digest);

        char directory[128];
        snprintf(directory, sizeof directory, "%s.d", file.path);
        cr_assert_eq(mkdir(directory, 0700), 0);
        config_file_write(&file, "conf.ini.d/10.ini", "[Service web]\nEnvironment=B=2 A=3\nInstances=7\n");
        config_file_load_path(&file, file.path, NULL);
        cr_assert_eq(file.answer, 0, "%s", file.printed);
        cr_expect_eq(file.config->services[0].instances, 7);
        cr_expect_str_eq(file.config->services[0].environment[0], "A=3");
        cr_expect_str_eq(file.config->services[0].environment[1], "B=2");
        cr_expect_eq(file.config->n_files, 2);
        cr_expect_str_neq(file.config->digest, first_digest);
}

Test(config, the_digest_is_fnv1a_of_the_bytes_and_not_of_the_secrets_in_them) {
        setenv("PASSWORD", "one", 1);
        char digest[17];
        strcpy(digest, must_load(WEB "Environment=PASSWORD=${PASSWORD}\n")->digest);
        setenv("PASSWORD", "two", 1);
        cr_expect_str_eq(must_load(WEB "Environment=PASSWORD=${PASSWORD}\n")->digest, digest);
        cr_expect_str_eq(file.config->services[0].environment[0], "PASSWORD=two");
        cr_expect_eq(strspn(digest, "0123456789abcdef"), 16);
        /* Another implementation's answer for the bytes of WEB and the NUL that ends each file. */
        cr_expect_str_eq(must_load(WEB)->digest, "0a38c5c5f1018da7");
}

/* ---- Phases ---- */

Test(config, phases_are_the_users_and_each_service_stands_in_its_own) {
        const Config *config =
                must_load("[Supervisor]\nPhases=edge core\nPhases=last\n[Phase core]\nTimeoutSec=3\nDelaySec=1\n"
                          "[Service a]\nExecStart=/bin/true\nPhase=last\n"
                          "[Service b]\nExecStart=/bin/true\nPhase=edge\n");
        cr_expect_eq(config->n_phases, 3);
        cr_expect_str_eq(config->phases[2].name, "last");
        cr_expect(config->services[0].phase == 2 && config->services[1].phase == 0);
        cr_expect(config->phases[1].timeout_usec == 3 * USEC_PER_SEC && config->phases[1].delay_usec == USEC_PER_SEC);
        cr_expect(config->phases[1].line == 4 && config->phases[0].line == 2 && config->phases[2].line == 3);
        cr_expect(config->phases[0].timeout_usec == USEC_INFINITY);
}

Test(config, an_empty_value_takes_back_what_a_list_had) {
        const Config *config = must_load("[Supervisor]\nPhases=a b\nPhases=\nPhases=c\n" WEB
                                         "Environment=A=1\nEnvironment=\nEnvironment=B=2\n"
                                         "SuccessExitStatus=3\nSuccessExitStatus=\nSuccessExitStatus=4\n"
                                         "[Service db]\nExecStart=/bin/true\nAfter=web\nAfter=\n");
        cr_expect_eq(config->n_phases, 1);
        cr_expect_str_eq(config->phases[0].name, "c");
        cr_expect_str_eq(config->services[0].environment[0], "B=2");
        cr_expect_null(config->services[0].environment[1]);
        cr_expect(!exit_set_has_code(config->services[0].success, 3));
        cr_expect(exit_set_has_code(config->services[0].success, 4));
        cr_expect_eq(service_after(&config->services[1])->n, 0);
}

Test(config, if_one_service_names_a_phase_all_must) {
        must_refuse(WEB "[Service db]\nExecStart=/bin/true\nPhase=db\n",
                    "conf.ini:1: the service web names no Phase, but others do: then each one must\n");
}

Test(config, seventeen_phases_are_one_too_many) {
        config_file_load(&file, "[Supervisor]\nPhases=a b c d e f g h i j k l m n o p\n" WEB);
        cr_expect_eq(file.answer, 0, "%s", file.printed);
        must_refuse("[Supervisor]\nPhases=a b c d e f g h i j k l m n o p\nPhases=q\n" WEB,
                    "conf.ini:3: Phases=q: more than 16 phases\n");
}

Test(config, a_phase_section_that_is_in_no_list_is_refused_with_the_nearest_name) {
        must_refuse(
                "[Phase worker]\nTimeoutSec=1\nDelaySec=never\n" WEB,
                "conf.ini:1: [Phase worker]: there is no such phase in Phases=http workers db, did you mean workers?\n"
                "conf.ini:3: DelaySec=never: is no span of time (write 500ms, 30s, 5min or \"1h 30min\")\n");
}

/* ---- Services and their relations ---- */

Test(config, requires_implies_after_and_before_is_the_reverse) {
        const Config *config = must_load("[Service a]\nExecStart=/bin/true\nAfter=b\nRequires=c b\n"
                                         "[Service b]\nExecStart=/bin/true\nAfter=c c\n"
                                         "[Service c]\nExecStart=/bin/true\n");
        const ServiceConfig *a = &config->services[0], *b = &config->services[1], *c = &config->services[2];

        cr_expect(service_after(a)->n == 2 && service_after(a)->items[0] == 1 && service_after(a)->items[1] == 2);
        cr_expect(service_requires(a)->n == 2 && service_requires(a)->items[0] == 2 &&
                  service_requires(a)->items[1] == 1);
        cr_expect(service_after(b)->n == 1 && service_after(b)->items[0] == 2 && service_requires(b)->n == 0);
        cr_expect(service_before(a)->n == 0 && service_before(b)->n == 1 && service_before(b)->items[0] == 0);
        cr_expect(service_before(c)->n == 2 && service_before(c)->items[0] == 0 && service_before(c)->items[1] == 1);
        cr_expect(a->depth == 3 && b->depth == 2 && c->depth == 1);
}

Test(config, a_cycle_is_printed_at_a_line_that_is_part_of_it) {
        must_refuse("[Service a]\nExecStart=/bin/true\nAfter=b\n[Service b]\nExecStart=/bin/true\nRequires=c\n"
                    "[Service c]\nExecStart=/bin/true\nAfter=a-not\nAfter=a\n[Service a-not]\nExecStart=/bin/true\n",
                    "conf.ini:3: each waits for the next, so none could start: a -> b -> c -> a\n");
        must_refuse(WEB "After=web\n", "conf.ini:3: each waits for the next, so none could start: web -> web\n");
}

Test(config, after_does_not_reach_into_another_phase) {
        must_refuse("[Service web]\nExecStart=/bin/true\nPhase=http\nAfter=db\n"
                    "[Service db]\nExecStart=/bin/true\nPhase=db\n",
                    "conf.ini:4: After=db: db is in the phase db and web in http: between phases the order of Phases= "
                    "decides, so it is already up before\n");
}

Test(config, an_unknown_service_is_named_with_its_nearest) {
        must_refuse(WEB "After=wbe\nRequires=web2 nobody-like-this\n",
                    "conf.ini:3: After=wbe: there is no service wbe, did you mean web?\n"
                    "conf.ini:4: Requires=web2 nobody-like-this: there is no service web2, did you mean web?\n"
                    "conf.ini:4: Requires=web2 nobody-like-this: there is no service nobody-like-this\n");
}

Test(config, all_instances_together_have_a_limit) {
        char text[4096] = "";
        for (int i = 0; i < 15; i++)
                sprintf(text + strlen(text), "[Service s%d]\nExecStart=/bin/true\nInstances=4096\n", i);
        must_refuse(text, "conf.ini:43: with the 4096 instances of s14 there are more than 60000 in all\n");
}

Test(config, a_shell_gets_the_text_as_it_is) {
        const Config *config = must_load("[Service web]\nShell=yes\nExecStart=echo \"a  b\" | cat; exec sleep 1\n");
        cr_expect_str_eq(config->services[0].argv[0], "/bin/sh");
        cr_expect_str_eq(config->services[0].argv[1], "-c");
        cr_expect_str_eq(config->services[0].argv[2], "echo \"a  b\" | cat; exec sleep 1");
        cr_expect_null(config->services[0].argv[3]);
}

Test(config, nothing_to_run_is_an_error) {
        must_refuse("[Supervisor]\nGraceSec=10\n", "conf.ini:0: there is no [Service NAME] in it: nothing would run\n");
}

Test(config, a_longer_first_delay_lifts_the_default_of_the_longest) {
        cr_expect_eq(must_load(WEB "RestartSec=60\n")->services[0].restart_max_usec, 60 * USEC_PER_SEC);
        must_refuse(WEB "RestartSec=60\nRestartMaxDelaySec=10\n",
                    "conf.ini:4: RestartMaxDelaySec=10: is less than RestartSec, with which the delays begin\n");
}

/* ---- Hooks ---- */

Test(config, a_hook_has_the_directory_and_the_environment_of_its_service_and_its_own) {
        const Config *config = must_load(WEB "WorkingDirectory=/tmp\nEnvironment=A=1 B=2\n"
                                             "[Hook h]\nService=web\nOn=pre-stop\nExec=/bin/true now\n"
                                             "Environment=B=3 C=4\nOnFailure=abort\n");
        const HookConfig *hook = &config->hooks[0];

        cr_expect(hook->service == 0 && hook->phase == -1 && hook->on == HOOK_PRE_STOP);
        cr_expect(hook->timeout_usec == 5 * USEC_PER_SEC && hook->on_failure == ON_FAILURE_ABORT);
        cr_expect_str_eq(hook->argv[1], "now");
        cr_expect_str_eq(hook->working_directory, "/tmp");
        cr_expect_str_eq(hook->environment[0], "A=1");
        cr_expect_str_eq(hook->environment[1], "B=3");
        cr_expect_str_eq(hook->environment[2], "C=4");
        cr_expect_null(hook->environment[3]);
}

Test(config, hooks_that_could_never_run_are_refused) {
        must_refuse(WEB "[Hook h]\nOn=pre-stop\nExec=/bin/true\n",
                    "conf.ini:3: the hook h has neither Service nor Phase, so it would never run\n");
        must_refuse(WEB "[Hook h]\nService=web\nPhase=http\nOn=pre-stop\nExec=/bin/true\n",
                    "conf.ini:5: Phase=http: the hook has Service=web too: it can belong to one of them only\n");
        must_refuse(WEB "[Hook h]\nPhase=http\nOn=pre-stop\nExec=/bin/true\n",
                    "conf.ini:5: On=pre-stop: is an edge of a service; with Phase= it must be begin or end\n");
        must_refuse(
                WEB "[Hook h]\nService=web\nOn=begin\nExec=/bin/true\n",
                "conf.ini:5: On=begin: is an edge of a phase; with Service= it must be pre-start, post-start, pre-stop "
                "or post-stop\n");
        must_refuse(WEB "[Hook h]\nService=web\nExec=/bin/true\n",
                    "conf.ini:3: the hook h has Exec, but no On: when shall it run?\n");
        must_refuse(WEB "[Hook h]\nService=web\nOn=pre-stop\n",
                    "conf.ini:3: the hook h has neither Exec nor Http nor LogPattern: what shall it do?\n");
        must_refuse(WEB "[Hook h]\nService=web\nOn=pre-stop\nLogPattern=^bye\nExec=/bin/true\n",
                    "conf.ini:6: LogPattern: the hook has Exec too, line 7: it does one thing only\n");
}

Test(config, a_pattern_needs_no_edge_and_must_not_explode) {
        const Config *config =
                must_load(WEB "[Hook h]\nService=web\nLogPattern=^closing [0-9]{4}-([0-9a-f]{8}){4}$$\n");
        cr_expect_str_eq(config->hooks[0].log_pattern, "^closing [0-9]{4}-([0-9a-f]{8}){4}$");
        cr_expect_null(config->hooks[0].argv);
        must_refuse(
                WEB "[Hook h]\nService=web\nLogPattern=(((a{255}){255}){255}){255}\n",
                "conf.ini:5: LogPattern=(((a{255}){255}){255}){255}: its repetitions or parentheses would make it too "
                "large\n");
}

/* ---- The budget ---- */

Test(config, the_arithmetic_of_an_ending_that_does_not_fit_is_shown) {
        must_refuse(
                "[Supervisor]\nGraceSec=30\nDeadlineSec=20\n[Phase http]\nTimeoutSec=15\nDelaySec=2\n[Phase db]\n"
                "TimeoutSec=5\n" WEB,
                "conf.ini:3: the ending does not fit: http delay 2 s + http 15 s + db 5 s = 22 s, but the phases may "
                "have 19.6 s: the deadline 20 s - the reserve 400 ms (GraceSec is 30 s)\n");
        must_refuse(
                "[Phase http]\nTimeoutSec=40\n" WEB,
                "conf.ini:2: the ending does not fit: http 40 s = 40 s, but the phases may have 26.46 s: the deadline "
                "27 s - the reserve 540 ms (GraceSec is 30 s)\n");
        must_refuse(
                "[Supervisor]\nDeadlineSec=31\n" WEB,
                "conf.ini:2: DeadlineSec=31: endwell must be gone before the orchestrator kills it: at most GraceSec, "
                "which is 30 s\n");
}

Test(config, pre_stop_hooks_of_a_chain_are_added_up) {
        static const char chain[] = "[Phase http]\nTimeoutSec=%s\n[Service a]\nExecStart=/bin/true\nAfter=b\n"
                                    "[Service b]\nExecStart=/bin/true\n"
                                    "[Hook ha]\nService=a\nOn=pre-stop\nTimeoutSec=4\nExec=/bin/true\n"
                                    "[Hook hb]\nService=b\nOn=pre-stop\nTimeoutSec=3\nExec=/bin/true\n"
                                    "[Hook hc]\nService=b\nOn=pre-stop\nTimeoutSec=2\nExec=/bin/true\n";
        char text[sizeof chain + 16];

        snprintf(text, sizeof text, chain, "7500ms");
        must_load(text);
        snprintf(text, sizeof text, chain, "7");
        must_refuse(text,
                    "conf.ini:11: the hook ha may take 4 s, with what runs before and after it 7 s: it can eat the "
                    "phase http, which has 7 s; write a shorter TimeoutSec\n");
}

Test(config, a_default_timeout_against_a_share_that_nobody_wrote_is_only_a_warning) {
        must_load("[Supervisor]\nGraceSec=5\n" WEB "[Hook h]\nService=web\nOn=pre-stop\nExec=/bin/true\n");
        cr_expect_str_eq(
                file.printed,
                "conf.ini:5: warning: the hook h may take 5 s, with what runs before and after it 5 s: it can eat "
                "the phase http, which has 2.75 s; write a shorter TimeoutSec (5 s is the default)\n");
}

/* ---- Advice ---- */

Test(config, what_is_odd_but_possible_is_a_warning) {
        must_load("[Service web]\nExecStart=no-such-program-anywhere\nStartLimitBurst=0\nTimeoutStopSec=90\n"
                  "DrainedSignal=INT\n");
        cr_expect_str_eq(
                file.printed,
                "conf.ini:2: warning: ExecStart: the program no-such-program-anywhere cannot be found\n"
                "conf.ini:3: warning: StartLimitBurst=0: web would be restarted for ever, however often it fails\n"
                "conf.ini:4: warning: TimeoutStopSec=90: is longer than the phase http can last (26.46 s): web "
                "would be killed earlier\n"
                "conf.ini:5: warning: DrainedSignal=INT: is only used with DrainUntil=notify\n");
}

Test(config, a_program_is_looked_for_where_the_child_would) {
        char text[400];
        config_file_write(&file, "tool", "#!/bin/sh\n");
        snprintf(text, sizeof text, "[Service web]\nEnvironment=PATH=%s\nExecStart=tool\n", file.directory);
        must_load(text);
        cr_expect_str_eq(file.printed, "conf.ini:3: warning: ExecStart: the program tool may not be executed\n");

        char path[128];
        snprintf(path, sizeof path, "%s/tool", file.directory);
        cr_assert_eq(chmod(path, 0700), 0);
        config_file_load_path(&file, file.path, NULL);
        cr_expect_str_eq(file.printed, "");

        snprintf(text, sizeof text, "[Service web]\nWorkingDirectory=%s\nExecStart=./tool\n", file.directory);
        must_load(text);
        cr_expect_str_eq(file.printed, "");
}

Test(config, programs_that_end_well_by_another_signal_are_known) {
        static const char *const rows[][2] = {
                { "nginx", "SIGQUIT" },   { "php-fpm8.2", "SIGQUIT" },          { "postgres", "SIGINT" },
                { "haproxy", "SIGUSR1" }, { "apache2-foreground", "SIGWINCH" }, { "httpd-foreground", "SIGWINCH" },
        };
        for (size_t i = 0; i < LENGTH_OF(rows); i++) {
                char text[200], path[128], name[64];
                snprintf(name, sizeof name, "%s", rows[i][0]);
                config_file_write(&file, name, "");
                snprintf(path, sizeof path, "%s/%s", file.directory, name);
                cr_assert_eq(chmod(path, 0700), 0);
                snprintf(text, sizeof text, "[Service web]\nExecStart=%s\n", path);
                must_load(text);
                cr_expect_not_null(strstr(file.printed, rows[i][1]), "%s: %s", rows[i][0], file.printed);
                snprintf(text, sizeof text, "[Service web]\nKillSignal=TERM\nExecStart=%s\n", path);
                must_load(text);
                cr_expect_str_eq(file.printed, "", "whoever wrote a signal meant it");
        }
}

/* ---- Memory ---- */

Test(config, a_service_is_small) {
        cr_expect_leq(sizeof(ServiceConfig), 300);
}

Test(config, what_can_be_freed_is_nothing) {
        cr_expect_null(config_free(NULL));
}
