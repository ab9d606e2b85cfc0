/* test_config_advice.c - what a configuration is warned of that would run and end badly; and what it is not warned of.
 */
#include "base/take.h"
#include "tests/support/config_file.h"
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static ConfigFile file;

static void set_up(void) {
        config_file_open(&file);
        setenv("PATH", file.directory, 1);
}

static void tear_down(void) {
        setenv("PATH", "/usr/bin:/bin", 1);
        config_file_close(&file);
}

TestSuite(config_advice, .init = set_up, .fini = tear_down, .timeout = 30);

/* An executable of this name in PATH. */
static void have(const char *name, const char *text) {
        char path[160];
        config_file_write(&file, name, text);
        snprintf(path, sizeof path, "%s/%s", file.directory, name);
        cr_assert_eq(chmod(path, 0700), 0);
}

static void have_all(void) {
        static const char *const names[] = { "nginx",    "postgres",     "haproxy", "php-fpm8.2",  "apache2",
                                             "npm",      "yarn",         "npx",     "tini",        "dumb-init",
                                             "env",      "nice",         "gosu",    "sh",          "bash",
                                             "dash",     "redis-server", "server",  "supervisord", "bundle",
                                             "s6-svscan" };
        for (size_t i = 0; i < LENGTH_OF(names); i++)
                have(names[i], "");
}

/* What is said of a service with these lines, behind "[Service web]\n". */
static const char *advice(const char *format, ...) __attribute__((format(printf, 1, 2)));

static const char *advice(const char *format, ...) {
        char text[1000] = "[Service web]\n";
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(text + strlen(text), sizeof text - strlen(text), format, arguments);
        va_end(arguments);
        strcat(text, "\n");
        config_file_examine(&file, text);
        cr_assert_eq(file.answer, 0, "%s: %s", text, file.printed);
        return file.printed;
}

static unsigned lines(const char *text) {
        unsigned n = 0;
        for (; *text; text++)
                n += *text == '\n';
        return n;
}

/* ---- The whole sentence, once each ---- */

Test(config_advice, a_signal_that_the_program_would_rather_have_is_named_with_what_happens_otherwise) {
        have_all();
        cr_expect_str_eq(
                advice("ExecStart=nginx -g \"daemon off;\""),
                "conf.ini:2: warning: ExecStart: nginx ends well on SIGQUIT, so write KillSignal=SIGQUIT: SIGTERM "
                "cuts off the requests in hand\n");
        cr_expect_not_null(strstr(advice("ExecStart=postgres -D /x"),
                                  "KillSignal=SIGINT: on SIGTERM it waits until its "
                                  "last client has gone"));
}

Test(config_advice, a_shell_that_stays_is_told_of_with_what_to_write) {
        have_all();
        cr_expect_str_eq(advice("Shell=yes\nExecStart=cd /; server --port 80"),
                         "conf.ini:3: warning: ExecStart: the shell stays between endwell and server: SIGTERM ends the "
                         "shell alone, what it runs is asked only then, as a left-over, by SIGTERM whatever KillSignal "
                         "says, and its exit code is lost; write exec before server\n");
        cr_expect_not_null(
                strstr(advice("KillSignal=INT\nShell=yes\nExecStart=server"), "SIGINT ends the shell alone"));
}

Test(config_advice, a_script_that_stays_is_told_of_by_its_name) {
        have("start", "#!/bin/sh\nset -e\nserver --port 80\n");
        cr_expect_str_eq(
                advice("ExecStart=start"),
                "conf.ini:2: warning: ExecStart: the shell of start stays between endwell and server: SIGTERM ends "
                "the shell alone, what it runs is asked only then, as a left-over, by SIGTERM whatever KillSignal "
                "says, and its exit code is lost; write exec before server in its last line\n");
}

Test(config_advice, a_wrapper_that_may_keep_the_signal_is_told_of) {
        have_all();
        cr_expect_not_null(
                strstr(advice("ExecStart=npm start"), "conf.ini:2: warning: ExecStart: npm and its shell stay"));
        cr_expect_not_null(strstr(advice("ExecStart=yarn run web"), "yarn and its shell stay"));
}

Test(config_advice, what_goes_to_the_background_is_told_of) {
        have_all();
        cr_expect_not_null(
                strstr(advice("KillSignal=QUIT\nExecStart=nginx -c %s/none.conf", file.directory),
                       "nginx goes to the background, and with Type=simple the end of its first process is its "
                       "end: add -g \"daemon off;\", unless "));
        cr_expect_not_null(strstr(advice("ExecStart=redis-server --daemonize yes"), "leave --daemonize out\n"));
}

Test(config_advice, an_init_in_between_is_told_of_and_what_is_behind_it_is_looked_at) {
        have_all();
        cr_expect_not_null(strstr(advice("ExecStart=tini -- postgres -D /x"), "tini is an init, and so is endwell"));
        cr_expect_not_null(strstr(file.printed, "postgres ends well on SIGINT"));
        cr_expect_not_null(strstr(advice("ExecStart=supervisord -n"), "write a [Service] for each"));
        cr_expect_not_null(strstr(advice("ExecStart=s6-svscan /etc/s6"), "write a [Service] for each"));
}

Test(config_advice, children_that_KillMode_process_would_leave_are_told_of) {
        have_all();
        cr_expect_str_eq(
                advice("KillSignal=INT\nKillMode=process\nExecStart=postgres"),
                "conf.ini:3: warning: KillMode=process: web has processes of its own, and they are neither asked "
                "nor waited for: they die by SIGKILL when endwell is gone (exit code 84); leave it out\n");
        cr_expect_eq(lines(advice("KillMode=process\nShell=yes\nExecStart=server")), 2);
        cr_expect_str_eq(advice("KillMode=process\nExecStart=server"), "");
}

/* ---- Through what stands before ---- */

Test(config_advice, the_program_is_found_behind_what_becomes_it) {
        static const char *const rows[] = {
                "ExecStart=postgres",
                "ExecStart=env A=1 postgres",
                "ExecStart=nice -n 5 postgres",
                "ExecStart=gosu pg postgres",
                "ExecStart=env A=1 nice gosu pg postgres -D /x",
                "ExecStart=sh -c 'exec postgres'",
                "ExecStart=sh -ec 'cd /; exec env A=1 postgres -D /x'",
                "ExecStart=bash -c 'exec postgres'",
                "Shell=yes\nExecStart=exec postgres",
                "ExecStart=env A=1 sh -c 'exec gosu pg postgres'",
        };
        have_all();
        for (size_t i = 0; i < LENGTH_OF(rows); i++) {
                const char *said = advice("%s", rows[i]);
                cr_expect_not_null(strstr(said, "KillSignal=SIGINT"), "%s: %s", rows[i], said);
                cr_expect_eq(lines(said), 1, "%s: %s", rows[i], said);
        }
}

Test(config_advice, a_script_that_becomes_what_it_is_given_is_looked_through) {
        have_all();
        have("entry", "#!/usr/bin/env sh\nset -e\nif [ \"$1\" = x ]; then exec y; fi\nexec \"$@\"\n");
        cr_expect_not_null(strstr(advice("ExecStart=entry postgres -D /x"), "KillSignal=SIGINT"));
        cr_expect_str_eq(advice("ExecStart=entry server"), "");
        cr_expect_str_eq(advice("ExecStart=entry"), "");
        have("bad-entry", "#!/bin/bash\n\"$@\"\n");
        cr_expect_not_null(strstr(advice("ExecStart=bad-entry server"), "between endwell and what it is given"));
        cr_expect_not_null(strstr(advice("ExecStart=sh %s/bad-entry server", file.directory), "what it is given"));
}

/* ---- What nobody wants to read ---- */

Test(config_advice, what_is_well_or_not_sure_is_not_spoken_of) {
        static const char *const rows[] = {
                "ExecStart=server",
                "ExecStart=server nginx",
                "KillSignal=SIGTERM\nExecStart=postgres", /* whoever wrote a signal meant it */
                "KillSignal=QUIT\nExecStart=nginx -g 'daemon off;'",
                "KillSignal=WINCH\nExecStart=apache2 -DFOREGROUND",
                "ExecStart=sh -c 'exec server'",
                "ExecStart=bash -c 'server'", /* bash becomes it */
                "ExecStart=bash -c 'cd /; server'",
                "Shell=yes\nExecStart=trap 'exit 0' TERM; while :; do sleep 0.2; done",
                "Shell=yes\nExecStart=server & wait",
                "Shell=yes\nExecStart=server | server",
                "Shell=yes\nExecStart=echo hello; sleep 1000",
                "Shell=yes\nExecStart=while true; do server; done",
                "Type=oneshot\nShell=yes\nExecStart=server --migrate",
                "Type=oneshot\nExecStart=npm run migrate",
                "Type=notify\nKillSignal=QUIT\nExecStart=nginx",
                "ExecStart=npm install",
                "ExecStart=bundle exec puma",
                "ExecStart=env",
                "ExecStart=redis-server --daemonize no",
                "ExecStart=sh",
                "ExecStart=sh -s",
                "ExecStart=sh /no/such/script",
        };
        have_all();
        for (size_t i = 0; i < LENGTH_OF(rows); i++)
                cr_expect_str_eq(advice("%s", rows[i]), "", "%s: %s", rows[i], file.printed);
}

Test(config_advice, scripts_that_are_well_or_not_sure_are_not_spoken_of) {
        static char long_one[70 << 10];
        static const char *const texts[] = {
                "#!/bin/sh\nexec server\n",
                "#!/bin/sh\ntrap 'kill $!' TERM\nserver\n",
                "#!/usr/bin/python3\nserver\n",
                "\177ELF server",
                "server\n",
                "",
                "#!",
                "#!\n",
                "#!/bin/sh",
                "#!/bin/sh\nserver 'not closed\n",
                "#!/usr/bin/env\nserver\n",
                "#!/bin/sh\nwhile true; do server; done\n",
                "#!/bin/sh\nserver &\nwait\n",
                "#!/usr/bin/env node\nserver\n",
                long_one,
        };
        memset(long_one, '\n', sizeof long_one - 1);
        memcpy(long_one, "#!/bin/sh", 9);
        memcpy(long_one + sizeof long_one - 9, "\nserver\n", 8);
        for (size_t i = 0; i < LENGTH_OF(texts); i++) {
                have("script", texts[i]);
                cr_expect_str_eq(advice("ExecStart=script"), "", "%.40s: %s", texts[i], file.printed);
        }
}

Test(config_advice, a_configuration_of_nginx_may_say_that_it_stays) {
        have_all();
        config_file_write(&file, "stays.conf", "user www-data;\ndaemon off;\n");
        config_file_write(&file, "goes.conf", "user www-data;\n");
        cr_expect_str_eq(advice("KillSignal=QUIT\nExecStart=nginx -c %s/stays.conf", file.directory), "");
        cr_expect_not_null(strstr(advice("KillSignal=QUIT\nExecStart=nginx -c %s/goes.conf", file.directory),
                                  "add -g \"daemon off;\"\n"));
}

/* Nothing that a path may name can hold us up, nor is it changed. */
Test(config_advice, what_is_no_regular_file_is_not_read) {
        char path[200];
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        have_all();
        snprintf(path, sizeof path, "%s/fifo", file.directory);
        cr_assert_eq(mkfifo(path, 0700), 0);
        cr_expect_str_eq(advice("ExecStart=sh %s", path), "");
        cr_expect_not_null(strstr(advice("KillSignal=QUIT\nExecStart=nginx -c %s", path), "cannot be read here"));
        snprintf(address.sun_path, sizeof address.sun_path, "%s/socket", file.directory);
        _cleanup_(closep) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        cr_assert_eq(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
        cr_expect_str_eq(advice("ExecStart=sh %s", address.sun_path), "");
        cr_expect_str_eq(advice("ExecStart=sh /dev/zero"), "");
        cr_expect_str_eq(advice("ExecStart=sh %s", file.directory), "");
}

/* PID 1 loads the configuration, too, and has no time for other people's files. */
Test(config_advice, a_run_reads_no_script) {
        have("start", "#!/bin/sh\nserver --port 80\n");
        config_file_load(&file, "[Service web]\nExecStart=start\n");
        cr_expect_str_eq(file.printed, "");
        config_file_load(&file, "[Service web]\nShell=yes\nExecStart=server --port 80\n");
        cr_expect_eq(lines(file.printed), 1, "what the file itself says is told: %s", file.printed);
}

Test(config_advice, a_relative_script_is_looked_for_where_the_shell_would) {
        have_all();
        have("start.sh", "server\n");
        setenv("PATH", "/nowhere", 1);
        cr_expect_not_null(
                strstr(advice("WorkingDirectory=%s\nExecStart=%s/sh start.sh", file.directory, file.directory),
                       "the shell of start.sh stays"));
}
