/* test_config_values.c - each key by itself: values that are taken, and values that are refused and why. */
#include "base/take.h"
#include "supervisor/config_keys.h"
#include "tests/support/config_file.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static ConfigFile file;

static void set_up(void) {
        config_file_open(&file);
}

static void tear_down(void) {
        config_file_close(&file);
}

TestSuite(config_values, .init = set_up, .fini = tear_down);

#define WEB "[Service web]\nExecStart=/bin/true\n"

/* A file with the line in a section of this kind; the number of the line. */
static unsigned load_line(ConfigKind kind, const char *line) {
        static const char *const before[] = {
                [CONFIG_SUPERVISOR] = WEB "[Supervisor]\n",
                [CONFIG_PHASE] = WEB "[Phase http]\n",
                [CONFIG_SERVICE] = WEB,
                [CONFIG_HOOK] = WEB "[Hook h]\nExec=/bin/true\nService=web\n",
        };
        char text[1024];
        unsigned number = 1;

        snprintf(text, sizeof text, "%s%s\n%s", before[kind], line,
                 kind == CONFIG_HOOK && strncmp(line, "On=", 3) != 0 ? "On=post-stop\n" : "");
        for (const char *at = before[kind]; *at; at++)
                number += *at == '\n';
        config_file_load(&file, text);
        return number;
}

typedef struct Row {
        ConfigKind kind;
        const char *line, *says;
} Row;

/* ---- Refused ---- */

static const Row bad[] = {
        { CONFIG_SUPERVISOR, "Mode=Production", "must be production, staging or development" },
        { CONFIG_SUPERVISOR, "GraceSec=999ms", "must be at least 1 s" },
        { CONFIG_SUPERVISOR, "GraceSec=0", "must be more than 0" },
        { CONFIG_SUPERVISOR, "GraceSec=infinity", "infinity is not allowed" },
        { CONFIG_SUPERVISOR, "GraceSec=-5", "is no span of time" },
        { CONFIG_SUPERVISOR, "GraceSec=53w", "longer than a year" },
        { CONFIG_SUPERVISOR, "GraceSec=99999999999999999999w", "too long" },
        { CONFIG_SUPERVISOR, "DeadlineSec=0", "must be more than 0" },
        { CONFIG_SUPERVISOR, "DeadlineSec=infinity", "infinity is not allowed" },
        { CONFIG_SUPERVISOR, "Phases=a a", "twice" },
        { CONFIG_SUPERVISOR, "Phases=a/b", "a/b is no name" },
        { CONFIG_SUPERVISOR, "Phases=\"\"", "is no name" },
        { CONFIG_SUPERVISOR, "Phases='a", "quote" },
        { CONFIG_SUPERVISOR, "RuntimeDirectory=run/endwell", "absolute path" },
        { CONFIG_SUPERVISOR, "JournalFile=", "absolute path" },
        { CONFIG_SUPERVISOR, "JournalMaxSize=16Q", "is no size" },
        { CONFIG_SUPERVISOR, "JournalMaxSize=4095", "at least 4K" },
        { CONFIG_SUPERVISOR, "LogFormat=xml", "must be auto, text, json or journal" },
        { CONFIG_SUPERVISOR, "LogLevel=loud", "must be err, warning, notice, info or debug" },
        { CONFIG_SUPERVISOR, "TerminationMessagePath=x", "absolute path" },
        { CONFIG_SUPERVISOR, "ControlGroup=no-such-group-here", "there is no group no-such-group-here in /etc/group" },
        { CONFIG_SUPERVISOR, "ControlGroup=99999999999", "too large for a group's number" },
        { CONFIG_SUPERVISOR, "ControlGroup=3000000000", "too large for a group's number" },
        { CONFIG_SUPERVISOR, "ExitCodeFrom=wed", "there is no service wed, did you mean web?" },
        { CONFIG_PHASE, "TimeoutSec=0", "must be more than 0" },
        { CONFIG_PHASE, "TimeoutSec=infinity", "infinity is not allowed" },
        { CONFIG_PHASE, "DelaySec=infinity", "infinity is not allowed" },
        { CONFIG_SERVICE, "Type=forking", "must be simple, notify, notify-fd:N or oneshot" },
        { CONFIG_SERVICE, "Type=notify-fd", "must be simple, notify, notify-fd:N or oneshot" },
        { CONFIG_SERVICE, "Type=notify-fd:N", "a number from 3 to 1023" },
        { CONFIG_SERVICE, "Type=notify-fd:", "a number from 3 to 1023" },
        { CONFIG_SERVICE, "Type=notify-fd:2", "a number from 3 to 1023" },
        { CONFIG_SERVICE, "Type=notify-fd:1024", "a number from 3 to 1023" },
        { CONFIG_SERVICE, "Type=notify-fd:+3", "a number from 3 to 1023" },
        { CONFIG_SERVICE, "Type=notify-fd:99999999999999999999", "a number from 3 to 1023" },
        { CONFIG_SERVICE, "WatchdogSec=99ms", "must be at least 100ms, or off" },
        { CONFIG_SERVICE, "WatchdogSec=never", "is no span of time" },
        { CONFIG_SERVICE, "FileDescriptorStoreMax=513", "a number from 0 to 512" },
        { CONFIG_SERVICE, "FileDescriptorStoreMax=-1", "a number from 0 to 512" },
        { CONFIG_SERVICE, "ReloadSignal=SIGKILL", "ends every program: no reload" },
        { CONFIG_SERVICE, "ReloadSignal=SIGSTOP", "only suspends" },
        { CONFIG_SERVICE, "ReloadSignal=restart", "is no signal" },
        { CONFIG_SERVICE, "TTY=/dev/tty1", "must be yes or no" },
        { CONFIG_SERVICE, "Listen=80", "neither tcp://ADDR:PORT nor unix:PATH" },
        { CONFIG_SERVICE, "LivenessProbe=80", "must begin with http://, tcp://, unix: or exec:" },
        { CONFIG_SERVICE, "EnvironmentFile=env", "absolute path" },
        { CONFIG_SERVICE, "Phase=", "no such phase" },
        { CONFIG_SERVICE, "Instances=0", "a number from 1 to 4096" },
        { CONFIG_SERVICE, "Instances=4097", "a number from 1 to 4096" },
        { CONFIG_SERVICE, "Instances=99999999999999999999999", "a number from 1 to 4096" },
        { CONFIG_SERVICE, "Instances=+3", "a number from 1 to 4096" },
        { CONFIG_SERVICE, "Instances=3x", "a number from 1 to 4096" },
        { CONFIG_SERVICE, "Essential=maybe", "must be yes or no" },
        { CONFIG_SERVICE, "Restart=on-success", "must be no, on-failure or always" },
        { CONFIG_SERVICE, "RestartSec=infinity", "infinity is not allowed" },
        { CONFIG_SERVICE, "RestartMaxDelaySec=soon", "is no span of time" },
        { CONFIG_SERVICE, "StartLimitBurst=-1", "a number from 0" },
        { CONFIG_SERVICE, "SuccessExitStatus=256", "256 is neither an exit code" },
        { CONFIG_SERVICE, "SuccessExitStatus=143 SIGNONE", "SIGNONE is neither an exit code" },
        { CONFIG_SERVICE, "SuccessExitStatus=SIGRTMAX", "SIGRTMAX is neither" },
        { CONFIG_SERVICE, "TimeoutStartSec=0", "write infinity for no limit" },
        { CONFIG_SERVICE, "TimeoutStopSec=0", "write infinity for no limit" },
        { CONFIG_SERVICE, "TimeoutStopSec=1 parsec", "is no span of time" },
        { CONFIG_SERVICE, "KillSignal=SIGSTOP", "only suspends" },
        { CONFIG_SERVICE, "KillSignal=0", "is no signal" },
        { CONFIG_SERVICE, "KillSignal=SIGTERMINATE", "is no signal" },
        { CONFIG_SERVICE, "KillMode=none", "must be mixed, control-group or process" },
        { CONFIG_SERVICE, "DrainUntil=empty", "must be exit or notify" },
        { CONFIG_SERVICE, "DrainedSignal=X", "is no signal" },
        { CONFIG_SERVICE, "WorkingDirectory=/no/such/folder", "No such file or directory" },
        { CONFIG_SERVICE, "WorkingDirectory=/etc/passwd", "Not a directory" },
        { CONFIG_SERVICE, "WorkingDirectory=~", "absolute path" },
        { CONFIG_SERVICE, "Environment=TOKEN", "word 1 is no NAME=VALUE" },
        { CONFIG_SERVICE, "Environment=A=1 2B=x", "word 2 is no NAME=VALUE" },
        { CONFIG_SERVICE, "Environment=A=\"b", "quote" },
        { CONFIG_SERVICE, "StandardOutput=stdout",
          "must be inherit, null, prefix, json, file:PATH, append:PATH or log:PATH" },
        { CONFIG_SERVICE, "StandardOutput=journal", "not in this version yet" },
        { CONFIG_SERVICE, "StandardOutput=log:web.log", "must be an absolute path" },
        { CONFIG_SERVICE, "StandardOutput=log:/dev/null", "is no regular file" },
        { CONFIG_SERVICE, "StandardOutput=log:/surely/not/here", "its folder cannot be written" },
        { CONFIG_SERVICE, "LogMaxSize=12", "must be at least 4K" },
        { CONFIG_SERVICE, "LogMaxFiles=0", "must be" },
        { CONFIG_SERVICE, "StandardOutput=file:/no/such/folder/x.log", "its folder cannot be written: No such file" },
        { CONFIG_SERVICE, "StandardOutput=append:/tmp", "the file cannot be written: Is a directory" },
        { CONFIG_SERVICE, "StandardOutput=append:/etc/passwd/x", "cannot be written: Not a directory" },
        { CONFIG_SERVICE, "StandardOutput=file:x.log", "absolute path" },
        { CONFIG_SERVICE, "Shell=perhaps", "must be yes or no" },
        { CONFIG_SERVICE, "AutoStart=perhaps", "must be yes or no" },
        { CONFIG_HOOK, "Service=wbe", "duplicate key Service" },
        { CONFIG_HOOK, "Phase=htpt", "did you mean http?" },
        { CONFIG_HOOK, "On=before-stop", "must be pre-start, post-start, pre-stop, post-stop, begin or end" },
        { CONFIG_HOOK, "TimeoutSec=0", "must be more than 0" },
        { CONFIG_HOOK, "TimeoutSec=infinity", "infinity is not allowed" },
        { CONFIG_HOOK, "OnFailure=retry", "must be continue or abort" },
        { CONFIG_HOOK, "LogPattern=(", "is no extended regular expression" },
        { CONFIG_HOOK, "LogPattern=", "the pattern is empty" },
        { CONFIG_HOOK, "LogPattern=[z-a]", "is no extended regular expression" },
        { CONFIG_HOOK, "WorkingDirectory=/no/such/folder", "No such file or directory" },
        { CONFIG_HOOK, "Litter=*.tmp", "Litter is not in this version yet" },
};

Test(config_values, each_bad_value_is_refused_at_its_line_with_its_reason) {
        for (size_t i = 0; i < LENGTH_OF(bad); i++) {
                char place[32];
                snprintf(place, sizeof place, "conf.ini:%u: ", load_line(bad[i].kind, bad[i].line));
                cr_expect_eq(file.answer, -EBADMSG, "%s was taken", bad[i].line);
                const char *found = strstr(file.printed, place);
                cr_expect_not_null(found, "%s: no complaint at %s but %s", bad[i].line, place, file.printed);
                cr_expect_not_null(strstr(file.printed, bad[i].says), "%s: said %s", bad[i].line, file.printed);
        }
}

/* A key without a reader would take anything. `"(` is an open quote, no path, no word, no number, no pattern. */
Test(config_values, every_key_of_this_version_has_a_reader_that_refuses_nonsense) {
        for (int kind = CONFIG_SUPERVISOR; kind <= CONFIG_HOOK; kind++)
                for (const SettingsKey *key = config_kinds[kind].keys; *key->name; key++) {
                        char text[256], place[160];
                        snprintf(text, sizeof text, "[Service other]\nExecStart=/bin/true\n[%s%s]\n%s=\"(\n",
                                 config_kinds[kind].name, config_kinds[kind].named ? " http" : "", key->name);
                        snprintf(place, sizeof place, "conf.ini:4: %s", key->name);
                        config_file_load(&file, text);
                        cr_expect_eq(file.answer, -EBADMSG);
                        cr_expect_not_null(strstr(file.printed, place), "%s: %s", key->name, file.printed);
                }
}

Test(config_values, sections_of_later_versions_say_so) {
        static const char *const names[] = { "Verify" };
        for (size_t i = 0; i < LENGTH_OF(names); i++) {
                char text[200], says[100];
                snprintf(text, sizeof text, WEB "[%s]\n", names[i]);
                snprintf(says, sizeof says, "conf.ini:3: the section [%s] is not in this version yet\n", names[i]);
                config_file_load(&file, text);
                cr_expect_eq(file.answer, -EBADMSG);
                cr_expect_str_eq(file.printed, says);
        }
}

Test(config_values, a_complaint_never_shows_what_may_be_a_secret) {
        setenv("SECRET", "hunter2 \"hunter2", 1);
        static const char *const lines[] = { "Environment=${SECRET}", "Environment=PASSWORD=${SECRET}" };
        for (size_t i = 0; i < LENGTH_OF(lines); i++) {
                load_line(CONFIG_SERVICE, lines[i]);
                cr_expect_eq(file.answer, -EBADMSG);
                cr_expect_null(strstr(file.printed, "hunter2"), "%s", file.printed);
        }
        config_file_load(&file, "[Service web]\nExecStart=/bin/true --password=${SECRET}\n");
        cr_expect_eq(file.answer, -EBADMSG);
        cr_expect_null(strstr(file.printed, "hunter2"), "%s", file.printed);
}

Test(config_values, a_very_long_bad_value_is_cut_in_the_complaint) {
        char line[600] = "Restart=";
        memset(line + 8, 'x', 500);
        load_line(CONFIG_SERVICE, line);
        cr_expect_lt(strlen(file.printed), 200);
}

/* ---- Taken ---- */

static const Config *must_take(ConfigKind kind, const char *line) {
        load_line(kind, line);
        cr_assert_eq(file.answer, 0, "%s: %s", line, file.printed);
        return file.config;
}

static const ServiceConfig *service_with(const char *line) {
        return &must_take(CONFIG_SERVICE, line)->services[0];
}

Test(config_values, good_values_of_the_supervisor) {
        cr_expect_eq(must_take(CONFIG_SUPERVISOR, "Mode=development")->mode, MODE_DEVELOPMENT);
        cr_expect_eq(must_take(CONFIG_SUPERVISOR, "GraceSec=1min 30s")->grace_usec, 90 * USEC_PER_SEC);
        cr_expect_eq(must_take(CONFIG_SUPERVISOR, "GraceSec=1")->deadline_usec, 500 * USEC_PER_MSEC);
        cr_expect_eq(must_take(CONFIG_SUPERVISOR, "DeadlineSec=30")->deadline_usec, 30 * USEC_PER_SEC);
        cr_expect_str_eq(must_take(CONFIG_SUPERVISOR, "RuntimeDirectory=/run/x")->runtime_directory, "/run/x");
        cr_expect_str_eq(must_take(CONFIG_SUPERVISOR, "JournalFile=/run/x/j")->journal_file, "/run/x/j");
        cr_expect_eq(must_take(CONFIG_SUPERVISOR, "JournalMaxSize=64K")->journal_max_size, 65536);
        cr_expect_eq(must_take(CONFIG_SUPERVISOR, "LogFormat=json")->log_format, LOG_FORMAT_JSON);
        cr_expect_eq(must_take(CONFIG_SUPERVISOR, "LogLevel=debug")->log_level, LOG_LEVEL_DEBUG);
        cr_expect_str_eq(must_take(CONFIG_SUPERVISOR, "TerminationMessagePath=/t")->termination_message_path, "/t");
        cr_expect_eq(must_take(CONFIG_SUPERVISOR, "ControlGroup=root")->control_group, 0);
        cr_expect_eq(must_take(CONFIG_SUPERVISOR, "ControlGroup=12345")->control_group, 12345);
        cr_expect_eq(must_take(CONFIG_SUPERVISOR, "ControlGroup=2147483647")->control_group, INT32_MAX);
        cr_expect_eq(must_take(CONFIG_SUPERVISOR, "ExitCodeFrom=web")->exit_code_from, 0);
}

Test(config_values, good_values_of_a_service) {
        cr_expect_eq(service_with("Type=oneshot")->type, SERVICE_ONESHOT);
        cr_expect_eq(service_with("Type=notify")->type, SERVICE_NOTIFY);
        cr_expect_eq(service_with("Phase=db")->phase, 2);
        cr_expect_eq(service_with("Instances=4096")->instances, 4096);
        cr_expect_not(service_with("Essential=OFF")->essential);
        cr_expect(service_with("Essential=True")->essential);
        cr_expect_eq(service_with("Restart=always")->restart, RESTART_ALWAYS);
        cr_expect_eq(service_with("RestartSec=0")->restart_usec, 0);
        cr_expect_eq(service_with("RestartMaxDelaySec=5min")->restart_max_usec, 300 * USEC_PER_SEC);
        cr_expect_eq(service_with("StartLimitBurst=20")->start_limit_burst, 20);
        cr_expect_eq(service_with("TimeoutStartSec=infinity")->timeout_start_usec, USEC_INFINITY);
        cr_expect_eq(service_with("TimeoutStopSec=infinity")->timeout_stop_usec, USEC_INFINITY);
        cr_expect_eq(service_with("TimeoutStopSec=1.5")->timeout_stop_usec, 1500 * USEC_PER_MSEC);
        cr_expect_eq(service_with("KillSignal=QUIT")->kill_signal, SIGQUIT);
        cr_expect_eq(service_with("KillSignal=SIGKILL")->kill_signal, SIGKILL);
        cr_expect_eq(service_with("KillMode=process")->kill_mode, KILL_PROCESS);
        cr_expect_eq(service_with("DrainUntil=notify")->drain_until, DRAIN_NOTIFY);
        cr_expect_eq(service_with("DrainedSignal=INT")->drained_signal, SIGINT);
        cr_expect_eq(service_with("Type=notify-fd:1023")->notify_fd, 1023);
        cr_expect_eq(service_with("WatchdogSec=100ms")->watchdog_usec, 100 * USEC_PER_MSEC);
        cr_expect_eq(service_with("WatchdogSec=off")->watchdog_usec, USEC_INFINITY);
        cr_expect_eq(service_with("WatchdogSec=0")->watchdog_usec, USEC_INFINITY);
        cr_expect_eq(service_with("WatchdogSec=infinity")->watchdog_usec, USEC_INFINITY);
        cr_expect_eq(service_with("FileDescriptorStoreMax=512")->descriptor_store_max, 512);
        cr_expect_eq(service_with("ReloadSignal=USR2")->reload_signal, SIGUSR2);
        cr_expect_str_eq(service_with("WorkingDirectory=/tmp")->working_directory, "/tmp");
        cr_expect_eq(service_with("StandardOutput=null")->outputs->standard_output.kind, OUTPUT_NULL);
        cr_expect_eq(service_error(service_with("StandardError=inherit"))->kind, OUTPUT_INHERIT);
}

Test(config_values, exit_codes_and_signals_are_told_apart) {
        const ExitSet *set = service_with("SuccessExitStatus=15 143 SIGINT 0\nSuccessExitStatus=255 HUP")->success;
        cr_expect(exit_set_has_code(set, 15) && exit_set_has_code(set, 143) && exit_set_has_code(set, 255));
        cr_expect(exit_set_has_signal(set, SIGINT) && exit_set_has_signal(set, SIGHUP));
        cr_expect(!exit_set_has_signal(set, 15) && !exit_set_has_code(set, SIGINT) && !exit_set_has_code(set, 14));
}

Test(config_values, what_is_typed_at_its_terminal_ends_a_foreground_program_well) {
        const ExitSet *set = service_with("TTY=yes")->success;
        for (int number = 1; number < 64; number++) {
                bool typed = number == SIGHUP || number == SIGINT || number == SIGQUIT;
                cr_expect_eq(exit_set_has_signal(set, number), typed, "signal %d", number);
                cr_expect_eq(exit_set_has_code(set, 128 + number), typed, "code %d", 128 + number);
        }
        set = service_with("TTY=yes\nSuccessExitStatus=3")->success;
        cr_expect(exit_set_has_code(set, 3) && exit_set_has_code(set, 130));
        cr_expect_null(service_with("TTY=no")->success);
}

Test(config_values, the_last_value_of_a_variable_wins_and_keeps_its_place) {
        char **environment = service_with("Environment=A=1 \"B=x y\" A=\nEnvironment='C=#;' B=2")->environment;
        cr_expect_str_eq(environment[0], "A=");
        cr_expect_str_eq(environment[1], "B=2");
        cr_expect_str_eq(environment[2], "C=#;");
        cr_expect_null(environment[3]);
}

Test(config_values, an_output_file_is_taken_when_it_can_be_written_or_made) {
        char line[200], path[128];
        snprintf(path, sizeof path, "%s/out.log", file.directory);
        snprintf(line, sizeof line, "StandardOutput=append:%s", path);
        const ServiceConfig *service = service_with(line);
        cr_expect_eq(service->outputs->standard_output.kind, OUTPUT_APPEND);
        cr_expect_str_eq(service->outputs->standard_output.path, path);
        cr_expect_neq(access(path, F_OK), 0, "reading a configuration makes no file");
        config_file_write(&file, "out.log", "old");
        snprintf(line, sizeof line, "StandardError=file:%s", path);
        cr_expect_eq(service_with(line)->outputs->standard_error.kind, OUTPUT_FILE);
}

Test(config_values, good_values_of_a_hook) {
        const HookConfig *hook = &must_take(CONFIG_HOOK, "TimeoutSec=2")->hooks[0];
        cr_expect(hook->timeout_usec == 2 * USEC_PER_SEC && hook->on == HOOK_POST_STOP);
        cr_expect_eq(must_take(CONFIG_HOOK, "On=pre-start")->hooks[0].on, HOOK_PRE_START);
        cr_expect_eq(must_take(CONFIG_HOOK, "OnFailure=abort")->hooks[0].on_failure, ON_FAILURE_ABORT);
}

/* ---- Patterns ---- */

static void load_pattern(const char *pattern) {
        char text[2048];
        snprintf(text, sizeof text, WEB "[Hook h]\nService=web\nLogPattern=%s\n", pattern);
        config_file_load(&file, text);
}

Test(config_values, patterns_that_people_write_are_taken) {
        static const char *const good[] = {
                "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$$",
                "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{1,6})?Z closing",
                "(([0-9]{1,3})\\.){3}[0-9]{1,3}",
                "[]{}(+*]+done",
                "[^]]+[[:space:]]*\\{closed\\}",
        };
        for (size_t i = 0; i < LENGTH_OF(good); i++) {
                load_pattern(good[i]);
                cr_expect_eq(file.answer, 0, "%s: %s", good[i], file.printed);
        }
}

Test(config_values, patterns_that_would_eat_the_memory_are_refused_before_they_are_compiled) {
        char nested[1100] = "", plus[900] = "";
        memset(nested, '(', 400);
        strcat(nested, "a");
        memset(nested + 401, ')', 400);
        for (int i = 0; i < 30; i++)
                strcat(plus, "(");
        strcat(plus, "a");
        for (int i = 0; i < 30; i++)
                strcat(plus, "+)");
        const char *const bombs[] = { "a{32767}",        "(a{255}){255}", "((a{1,99}b{1,99}){99})+",
                                      "(a{200,}){200,}", nested,          plus };
        for (size_t i = 0; i < LENGTH_OF(bombs); i++) {
                load_pattern(bombs[i]);
                cr_expect_eq(file.answer, -EBADMSG, "%s", bombs[i]);
                cr_expect_not_null(strstr(file.printed, "too large"), "%s: %s", bombs[i], file.printed);
        }
}
