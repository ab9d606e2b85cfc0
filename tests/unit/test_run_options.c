/* test_run_options.c - the words after `endwell run`, in both forms. */
#include "base/take.h"
#include "supervisor/run_options.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <string.h>

#define WORDS_MAX 40

static RunOptions options;
static char problem[256];
static char storage[512], *words[WORDS_MAX + 1];

/* Splits at blanks; "_" stands for an empty word. */
static int parse(const char *line) {
        int n = 0;

        config_free(options.single);
        options = (RunOptions){ 0 };
        *problem = '\0';
        snprintf(storage, sizeof storage, "run %s", line);
        for (char *word = strtok(storage, " "); word && n < WORDS_MAX; word = strtok(NULL, " "))
                words[n++] = strcmp(word, "_") == 0 ? word + 1 : word;
        words[n] = NULL;
        return run_options_parse(n, words, &options, problem);
}

static void must_parse(const char *line) {
        cr_assert_eq(parse(line), 0, "%s: %s", line, problem);
}

static void forget(void) {
        options.single = config_free(options.single);
}

TestSuite(run_options, .fini = forget);

Test(run_options, without_words_everything_is_the_default) {
        must_parse("");
        cr_expect(!options.config_path && !options.mode && !options.command && !options.single);
}

Test(run_options, the_first_form_takes_a_file_and_a_mode) {
        must_parse("-c my.ini --mode staging");
        cr_expect_str_eq(options.config_path, "my.ini");
        cr_expect_str_eq(options.mode, "staging");
        must_parse("--config=other.ini --mode=production");
        cr_expect_str_eq(options.config_path, "other.ini");
        cr_expect_null(options.single);
}

Test(run_options, the_second_form_makes_one_essential_service_of_the_command) {
        must_parse("-- /usr/bin/sleep 10 -c --grace");
        const Config *config = options.single;
        const ServiceConfig *service = &config->services[0];

        cr_expect(config->single && config->n_services == 1 && config->n_members == 1 && config->n_phases == 1);
        cr_expect_str_eq(config->phases[0].name, "command");
        cr_expect_null(config->path);
        cr_expect_str_eq(service->name, "sleep");
        cr_expect_str_eq(service->argv[0], "/usr/bin/sleep");
        cr_expect_str_eq(service->argv[2], "-c");
        cr_expect_str_eq(service->argv[3], "--grace");
        cr_expect_null(service->argv[4]);
        cr_expect_str_eq(options.command[0], "/usr/bin/sleep");
        cr_expect(service->essential && service->restart == RESTART_NO && service->kill_mode == KILL_MIXED);
        cr_expect(service->type == SERVICE_SIMPLE && service->kill_signal == SIGTERM);
        cr_expect(config->grace_usec == 30 * USEC_PER_SEC && config->deadline_usec == 27 * USEC_PER_SEC);
        cr_expect_eq(config->budget.timeout_usec[0], 26460000);
        for (unsigned i = 0; i <= 64; i++)
                cr_expect_eq(config->rewrite[i], i, "every signal is passed on as it is");
}

Test(run_options, names_are_made_of_what_a_name_may_have) {
        static const char *const rows[][2] = {
                { "/usr/bin/sleep", "sleep" },
                { "a+b@c", "abc" },
                { "./run.sh", "run.sh" },
                { "/", "command" },
                { "+++", "command" },
                { "\xC3\xA9t\xC3\xA9", "t" },
                { "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" },
        };
        for (size_t i = 0; i < LENGTH_OF(rows); i++) {
                char line[100];
                snprintf(line, sizeof line, "-- %s", rows[i][0]);
                must_parse(line);
                cr_expect_str_eq(options.single->services[0].name, rows[i][1]);
        }
}

Test(run_options, each_option_of_the_second_form_arrives) {
        must_parse("-s -g -w -e 143 --remap-exit 0 -e255 -p KILL --stop-signal=QUIT --grace 1min --rewrite 15:3 "
                   "-r HUP:0 "
                   "--rewrite SIGUSR1:RTMIN+1 -- x");
        const Config *config = options.single;

        cr_expect(options.subreaper && options.parent_death_signal == SIGKILL);
        cr_expect(config->ask_group && config->say_orphans);
        cr_expect(config->remap[143 / 8] == 1 << (143 % 8) && config->remap[0] == 1 && config->remap[31] == 128);
        cr_expect_eq(config->services[0].kill_signal, SIGQUIT);
        cr_expect(config->grace_usec == 60 * USEC_PER_SEC && config->deadline_usec == 54 * USEC_PER_SEC);
        cr_expect_eq(config->budget.deadline_usec, 54 * USEC_PER_SEC);
        cr_expect(config->rewrite[SIGTERM] == SIGQUIT && config->rewrite[SIGHUP] == 0);
        cr_expect(config->rewrite[SIGUSR1] == SIGRTMIN + 1 && config->rewrite[SIGINT] == SIGINT);
}

Test(run_options, what_is_well_is_said_with_v_and_everything_with_two) {
        static const struct {
                const char *line;
                LogLevel level;
        } rows[] = {
                { "-- x", LOG_LEVEL_NOTICE },
                { "-v -- x", LOG_LEVEL_INFO },
                { "-vv -- x", LOG_LEVEL_DEBUG },
                { "-vvv --verbose -- x", LOG_LEVEL_DEBUG },
        };
        for (size_t i = 0; i < LENGTH_OF(rows); i++) {
                must_parse(rows[i].line);
                cr_expect_eq(options.single->log_level, rows[i].level, "%s", rows[i].line);
        }
}

Test(run_options, with_a_command_c_is_single_child_and_the_last_word_wins) {
        must_parse("-g -c -- x");
        cr_expect_not(options.single->ask_group);
        must_parse("-cg -- x");
        cr_expect(options.single->ask_group);
        must_parse("--single-child --group -sw -- x");
        cr_expect(options.single->ask_group && options.subreaper && options.single->say_orphans);
}

Test(run_options, what_stands_behind_the_dashes_is_the_commands_own) {
        must_parse("-- sh -- -x --nonsense");
        cr_expect_str_eq(options.single->services[0].argv[1], "--");
        cr_expect_str_eq(options.single->services[0].argv[3], "--nonsense");
}

Test(run_options, what_is_wrong_is_named) {
        static const char *const rows[][2] = {
                { "sleep 5", "endwell run -- sleep" },
                { "-c", "-c needs a word after it" },
                { "--mode", "--mode needs a word after it" },
                { "--mode prod", "must be production, staging or development" },
                { "-x", "there is no option -x" },
                { "--nonsense", "there is no option --nonsense" },
                { "-g", "there is no option -g" },
                { "--grace 5", "there is no option --grace" },
                { "--", "there is no command after --" },
                { "-- _", "there is no command after --" },
                { "-c my.ini -- x", "my.ini (-c is --single-child here" },
                { "--mode staging -- x", "there is no option --mode" },
                { "-e 256 -- x", "--remap-exit 256" },
                { "-e -1 -- x", "--remap-exit -1" },
                { "-e x -- x", "from 0 to 255" },
                { "-p NOPE -- x", "-p NOPE: there is no such signal" },
                { "--stop-signal 99 -- x", "--stop-signal 99" },
                { "--grace 0.5 -- x", "--grace 0.5" },
                { "--grace infinity -- x", "--grace infinity" },
                { "--grace soon -- x", "must be a span of time" },
                { "--rewrite 15 -- x", "write FROM:TO" },
                { "--rewrite :3 -- x", "there is no signal" },
                { "--rewrite 15: -- x", "there is no signal" },
                { "--rewrite 0:3 -- x", "there is no signal 0" },
                { "--rewrite 15:99 -- x", "there is no signal 99" },
                { "--rewrite KILL:TERM -- x", "KILL is never passed on" },
                { "--rewrite CHLD:TERM -- x", "CHLD is never passed on" },
                { "--rewrite aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa:3 -- x", "write FROM:TO" },
        };
        for (size_t i = 0; i < LENGTH_OF(rows); i++) {
                cr_expect_eq(parse(rows[i][0]), -EINVAL, "%s was taken", rows[i][0]);
                cr_expect_not_null(strstr(problem, rows[i][1]), "%s: said %s", rows[i][0], problem);
                cr_expect(!options.single && !options.command && !options.config_path, "untouched: %s", rows[i][0]);
        }
}
