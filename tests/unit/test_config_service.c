/* test_config_service.c - probes, held sockets and the rest of a service, out of whole files: what reaches the Config,
 * what contradicts itself, and what is warned of. */
#include "base/take.h"
#include "tests/support/config_file.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

static ConfigFile file;

static void set_up(void) {
        config_file_open(&file);
}

static void tear_down(void) {
        config_file_close(&file);
}

TestSuite(config_service, .init = set_up, .fini = tear_down);

#define WEB "[Service web]\nExecStart=/bin/true\n"

static const Config *must_load(const char *text) {
        config_file_load(&file, text);
        cr_assert_eq(file.answer, 0, "%s: said %s", text, file.printed);
        return file.config;
}

/* Each "DIRECTORY/" in what was said becomes an @. */
static void shorten(void) {
        size_t length = strlen(file.directory) + 1;
        for (char *at = file.printed; (at = strstr(at, file.directory));) {
                *at = '@';
                memmove(at + 1, at + length, strlen(at + length) + 1);
        }
}

static void must_say(const char *text, int answer, const char *says) {
        config_file_load(&file, text);
        shorten();
        cr_expect_eq(file.answer, answer, "%s: said %s", text, file.printed);
        cr_expect_str_eq(file.printed, says, "%s: said %s", text, file.printed);
}

static void must_refuse(const char *text, const char *says) {
        must_say(text, -EBADMSG, says);
}

static void must_warn(const char *text, const char *says) {
        must_say(text, 0, says);
}

/* ---- Probes ---- */

Test(config_service, each_probe_has_its_place_and_what_is_not_there_is_none) {
        const ServiceConfig *web = must_load(WEB "ReadinessProbe=http://localhost:8080/ready\n"
                                                 "LivenessProbe=exec:/bin/true failures=5\n")
                                           ->services;
        cr_expect_eq(web->probes[PROBE_READINESS].by, PROBE_BY_HTTP);
        cr_expect_str_eq(web->probes[PROBE_READINESS].target, "http://localhost:8080/ready");
        cr_expect_eq(web->probes[PROBE_LIVENESS].failures, 5);
        cr_expect_eq(web->probes[PROBE_STARTUP].by, PROBE_BY_NONE);
        cr_expect_null(must_load(WEB)->services->probes);
        cr_expect_null(must_load(WEB "ReadinessProbe=none\n")->services->probes);
}

Test(config_service, a_drop_in_can_take_a_probe_away) {
        char path[128];
        snprintf(path, sizeof path, "%s/conf.ini.d", file.directory);
        cr_assert_eq(mkdir(path, 0700), 0);
        config_file_write(&file, "conf.ini.d/1.ini", "[Service web]\nReadinessProbe=none\nWatchdogSec=off\n");
        const ServiceConfig *web =
                must_load(WEB "Type=notify\nReadinessProbe=tcp://localhost:80\nWatchdogSec=5\n")->services;
        cr_expect_null(web->probes);
        cr_expect_eq(web->watchdog_usec, USEC_INFINITY);
}

Test(config_service, a_bad_probe_is_complained_about_without_its_value) {
        must_refuse(WEB "ReadinessProbe=http://app:s3cret@localhost/\n",
                    "conf.ini:3: ReadinessProbe: a user or a password cannot stand before the host\n");
        must_refuse(WEB "StartupProbe=exec:check --token s3cret successes=2\n",
                    "conf.ini:3: StartupProbe: successes must be 1 here: only readiness can come back after a "
                    "failure\n");
}

Test(config_service, a_oneshot_has_no_probes) {
        must_refuse(WEB "Type=oneshot\nLivenessProbe=exec:/bin/true\n",
                    "conf.ini:4: LivenessProbe: a oneshot is ready and done when it exits with 0: it has no probes\n");
}

Test(config_service, probes_that_can_hardly_be_meant_so_are_warned_of) {
        must_warn(WEB "ReadinessProbe=tcp://localhost:8080 period=1s timeout=2s\n",
                  "conf.ini:3: warning: ReadinessProbe: its timeout, 2 s, is longer than its period, 1 s: a check that "
                  "hangs holds up the next\n");
        must_warn(WEB "ReadinessProbe=tcp://localhost:8080\nLivenessProbe=tcp://localhost:8080 failures=2\n",
                  "conf.ini:4: warning: LivenessProbe: kills after 20 s of failures, but readiness is withdrawn only "
                  "after 30 s: let liveness be the more patient one\n");
        must_warn(WEB "StartupProbe=tcp://localhost:8080 failures=8 delay=11s\n",
                  "conf.ini:3: warning: StartupProbe: allows 1 min 31 s, but TimeoutStartSec, 1 min 30 s, ends the "
                  "start earlier: raise it\n");
        must_warn(WEB "StartupProbe=tcp://localhost:8080 failures=8 delay=10s\nLivenessProbe=unix:/x\n"
                      "ReadinessProbe=unix:/x\n",
                  "");
        must_warn(WEB "TimeoutStartSec=infinity\nStartupProbe=tcp://localhost:8080 failures=1000\n", "");
}

Test(config_service, a_probe_that_would_only_find_endwells_own_socket_is_warned_of) {
        static const struct {
                const char *listen, *probe;
                bool warned;
        } rows[] = {
                { "tcp://0.0.0.0:8080", "tcp://127.0.0.1:8080", true },
                { "tcp://127.0.0.1:8080", "tcp://localhost:8080", true },
                { "tcp://[::1]:8080", "tcp://[::1]:8080", true },
                { "unix:/tmp/x.sock", "unix:/tmp/x.sock", true },
                { "tcp://0.0.0.0:8080", "tcp://127.0.0.1:8081", false },
                { "tcp://127.0.0.1:8080", "tcp://127.0.0.2:8080", false },
                { "tcp://0.0.0.0:8080", "http://127.0.0.1:8080/", false },
                { "unix:/tmp/x.sock", "unix:/tmp/y.sock", false },
                { "unix:/tmp/x.sock", "tcp://127.0.0.1:8080", false },
        };
        for (size_t i = 0; i < LENGTH_OF(rows); i++) {
                char text[300];
                snprintf(text, sizeof text, WEB "Listen=%s\nReadinessProbe=%s\n", rows[i].listen, rows[i].probe);
                must_load(text);
                cr_expect_eq(strstr(file.printed, "endwell holds this socket (Listen)") != NULL, rows[i].warned,
                             "%s %s: %s", rows[i].listen, rows[i].probe, file.printed);
        }
}

Test(config_service, the_program_of_a_probe_is_looked_for_as_that_of_the_service) {
        char text[300];
        must_warn(WEB "LivenessProbe=exec:no-such-program-anywhere -q\n",
                  "conf.ini:3: warning: LivenessProbe: the program no-such-program-anywhere cannot be found\n");
        config_file_write(&file, "tool", "#!/bin/sh\n");
        snprintf(text, sizeof text, WEB "Environment=PATH=%s\nLivenessProbe=exec:tool\n", file.directory);
        must_warn(text, "conf.ini:4: warning: LivenessProbe: the program tool may not be executed\n");
}

/* ---- Sockets ---- */

Test(config_service, sockets_of_several_lines_stand_in_their_order) {
        const ServiceConfig *web = must_load(WEB "Listen=tcp://127.0.0.1:8080 name=http\n"
                                                 "Listen=unix:/tmp/a.sock mode=0600 tcp://[::1]:8443\n")
                                           ->services;
        cr_assert_eq(web->n_listens, 3);
        cr_expect_str_eq(web->listens[0].name, "http");
        cr_expect(web->listens[1].by == LISTEN_UNIX && web->listens[1].mode == 0600);
        cr_expect_str_eq(web->listens[2].address, "[::1]:8443");
        cr_expect_str_eq(web->listens[2].name, "web");
}

Test(config_service, an_empty_line_takes_back_the_sockets_before_it) {
        const ServiceConfig *web = must_load(WEB "Listen=tcp://127.0.0.1:8080\nListen=\nListen=tcp://127.0.0.1:8081\n"
                                                 "[Service api]\nExecStart=/bin/true\nListen=tcp://127.0.0.1:8080\n")
                                           ->services;
        cr_assert_eq(web->n_listens, 1);
        cr_expect_str_eq(web->listens[0].address, "127.0.0.1:8081");
}

Test(config_service, an_address_twice_is_refused_with_both_lines) {
        must_refuse(WEB "Listen=tcp://127.0.0.1:8080\n[Service api]\nExecStart=/bin/true\n"
                        "Listen=unix:/tmp/a.sock\nListen=tcp://127.0.0.1:08080\n",
                    "conf.ini:7: Listen=tcp://127.0.0.1:08080: tcp://127.0.0.1:8080 is held for web already, "
                    "@conf.ini:3\n");
        must_refuse(WEB "Listen=unix:/tmp/a.sock unix:/tmp/a.sock\n",
                    "conf.ini:3: Listen=unix:/tmp/a.sock unix:/tmp/a.sock: unix:/tmp/a.sock is held for web already, "
                    "@conf.ini:3\n");
        must_refuse(WEB "Listen=tcp://[::1]:8080\nListen=tcp://[::]:8080\nListen=tcp://[::2]:8080\n",
                    "conf.ini:4: Listen=tcp://[::]:8080: tcp://[::1]:8080 is held for web already, @conf.ini:3\n"
                    "conf.ini:5: Listen=tcp://[::2]:8080: tcp://[::]:8080 is held for web already, @conf.ini:4\n");
        must_load(WEB "Listen=tcp://0.0.0.0:8080 tcp://[::]:8080\n");
}

Test(config_service, sixty_four_sockets_are_enough_for_one_service) {
        char text[5000] = WEB;
        for (int i = 0; i < 65; i++)
                sprintf(text + strlen(text), "Listen=tcp://127.0.0.1:%d\n", 8000 + i);
        must_refuse(text, "conf.ini:67: Listen=tcp://127.0.0.1:8064: more than 64 sockets of one service\n");
}

Test(config_service, what_stands_in_the_way_of_a_socket_is_said) {
        char text[400];
        snprintf(text, sizeof text, WEB "Listen=unix:%s\n", file.path);
        must_refuse(text, "conf.ini:3: Listen=unix:@conf.ini: @conf.ini is there already, and is no socket\n");
        must_warn(WEB "Listen=unix:/no/such/folder/x.sock\n",
                  "conf.ini:3: warning: Listen=unix:/no/such/folder/x.sock: the folder /no/such/folder/ is not there "
                  "yet\n");
        snprintf(text, sizeof text, WEB "Listen=unix:%s/x.sock\n", file.path);
        must_refuse(text, "conf.ini:3: Listen=unix:@conf.ini/x.sock: @conf.ini/x.sock cannot be a socket: Not a "
                          "directory\n");
}

Test(config_service, a_socket_that_is_there_already_is_no_obstacle) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        char text[300];
        snprintf(address.sun_path, sizeof address.sun_path, "%s/x.sock", file.directory);
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        cr_assert_eq(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
        snprintf(text, sizeof text, WEB "Listen=unix:%s\n", address.sun_path);
        must_warn(text, "");
        close(fd);
}

/* ---- Descriptors ---- */

Test(config_service, the_ready_descriptor_is_none_of_the_passed_ones) {
        const ServiceConfig *web = must_load(WEB "Type=notify-fd:3\n")->services;
        cr_expect(web->type == SERVICE_NOTIFY_FD && web->notify_fd == 3);
        cr_expect_eq(must_load(WEB "Type=notify\n")->services->notify_fd, -1);
        must_load(WEB "Type=notify-fd:5\nListen=unix:/tmp/x.sock\nFileDescriptorStoreMax=1\n");
        must_refuse(WEB "Type=notify-fd:3\nListen=unix:/tmp/x.sock\n",
                    "conf.ini:3: Type=notify-fd:3: descriptor 3 is that of its socket or stored descriptor (Listen, "
                    "FileDescriptorStoreMax): write notify-fd:4\n");
        must_refuse(WEB "Type=notify-fd:4\nListen=unix:/tmp/x.sock\nFileDescriptorStoreMax=1\n",
                    "conf.ini:3: Type=notify-fd:4: the 2 descriptors from 3 on are those of its sockets and stored "
                    "descriptors (Listen, FileDescriptorStoreMax): write notify-fd:5\n");
        must_refuse(WEB "Type=notify-fd:16\nLimitNOFILE=16\n",
                    "conf.ini:3: Type=notify-fd:16: LimitNOFILE allows no descriptor of that number\n");
}

/* ---- Signals and words ---- */

Test(config_service, a_reload_must_not_end_the_service) {
        cr_expect_eq(must_load(WEB "ReloadSignal=HUP\n")->services->reload_signal, SIGHUP);
        cr_expect_eq(must_load(WEB "ReloadSignal=none\n")->services->reload_signal, 0);
        must_refuse(WEB "ReloadSignal=SIGTERM\n",
                    "conf.ini:3: ReloadSignal=SIGTERM: is what asks web to stop (KillSignal): a reload would end it\n");
        must_refuse(WEB "DrainUntil=notify\nDrainedSignal=INT\nReloadSignal=INT\n",
                    "conf.ini:5: ReloadSignal=INT: is what ends web when it is drained (DrainedSignal)\n");
}

Test(config_service, a_watchdog_of_a_program_that_may_not_know_it_is_warned_of) {
        must_warn(WEB "WatchdogSec=10\n",
                  "conf.ini:3: warning: WatchdogSec=10: unless its program sends WATCHDOG=1 (sd_notify(3)), web is "
                  "killed every 10 s; one that does sends READY=1 too: write Type=notify\n");
        must_warn(WEB "Type=oneshot\nWatchdogSec=1min\n",
                  "conf.ini:4: warning: WatchdogSec=1min: web is a oneshot: unless its program sends WATCHDOG=1 "
                  "(sd_notify(3)), it is killed after 1 min\n");
        must_warn(WEB "Type=notify\nWatchdogSec=10\n", "");
        must_warn(WEB "WatchdogSec=0\n", "");
}

/* ---- The terminal ---- */

Test(config_service, one_service_has_the_terminal) {
        cr_expect(must_load(WEB "TTY=yes\n")->services->tty);
        must_load(WEB "TTY=no\nInstances=2\n");
        config_file_load(&file, WEB "TTY=yes\n[Service shell]\nExecStart=/bin/true\nTTY=yes\n");
        cr_expect_eq(file.answer, -EBADMSG);
        cr_expect_not_null(strstr(file.printed, "conf.ini:6: TTY=yes: web has the terminal already, "), "%s",
                           file.printed);
        static const char *const rows[][2] = {
                { "TTY=yes\nInstances=2\n", "conf.ini:3: TTY=yes: web has 2 instances, but there is one terminal\n" },
                { "TTY=yes\nStandardOutput=null\n", "conf.ini:4: StandardOutput=null: with TTY=yes the terminal is" },
                { "TTY=yes\nStandardError=null\n", "conf.ini:4: StandardError=null: with TTY=yes the terminal is" },
                { "TTY=yes\n[Hook h]\nService=web\nLogPattern=^x\n",
                  "conf.ini:6: LogPattern: with TTY=yes the output" },
        };
        for (size_t i = 0; i < LENGTH_OF(rows); i++) {
                char text[200];
                snprintf(text, sizeof text, WEB "%s", rows[i][0]);
                config_file_load(&file, text);
                cr_expect_eq(file.answer, -EBADMSG, "%s", rows[i][0]);
                cr_expect_not_null(strstr(file.printed, rows[i][1]), "%s: %s", rows[i][0], file.printed);
        }
}

/* ---- Http hooks ---- */

#define HOOK WEB "[Hook h]\nService=web\nOn=pre-stop\n"

static void expect_culprit(const char *text, const char *culprit) {
        char wanted[80];
        snprintf(wanted, sizeof wanted, ": the hook %s may take", culprit);
        config_file_load(&file, text);
        cr_expect_not_null(strstr(file.printed, wanted), "have: %s\nwant: %s", file.printed, wanted);
}

#define BOTH  "[Supervisor]\nPhases=http\n[Phase http]\nTimeoutSec=10\n"
#define BEGIN "[Hook opening]\nPhase=http\nOn=begin\nExec=/bin/true\nTimeoutSec="
#define FIRST "[Hook first]\nService=web\nOn=pre-stop\nExec=/bin/true\nTimeoutSec="
#define SECOND                                                                                                         \
        "[Service api]\nExecStart=/bin/true\nAfter=web\n[Hook "                                                        \
        "second]\nService=api\nOn=pre-stop\nExec=/bin/true\nTimeoutSec="

Test(config_service, the_hook_that_eats_most_of_a_phase_is_named) {
        expect_culprit(BOTH WEB BEGIN "8\n" FIRST "3\n", "opening");
        expect_culprit(BOTH WEB BEGIN "3\n" FIRST "8\n", "first");
        expect_culprit(BOTH WEB BEGIN "10\n", "opening");
        cr_expect_eq(complaints_count(file.complaints), 0, "alone it is only worth a warning");
        expect_culprit(BOTH WEB SECOND "8\n" FIRST "3\n", "second");
        expect_culprit(BOTH WEB SECOND "3\n" FIRST "8\n", "first");
}

Test(config_service, a_begin_hook_costs_nothing_within_the_delay_and_where_nobody_is_to_stop) {
        must_load("[Supervisor]\nPhases=http\n[Phase http]\nTimeoutSec=10\nDelaySec=8\n" WEB BEGIN "8\n" FIRST "3\n");
        must_load("[Supervisor]\nPhases=http empty\n" WEB
                  "Phase=http\n[Hook o]\nPhase=empty\nOn=begin\nExec=/bin/true\n");
        cr_expect_eq(complaints_warning_count(file.complaints), 0, "%s", file.printed);
}

/* ---- What is hardly meant ---- */

static void expect_warning(const char *text, const char *wanted) {
        must_load(text);
        config_file_print(&file);
        cr_expect_not_null(strstr(file.printed, wanted), "have: %s\nwant: %s", file.printed, wanted);
}

static void expect_none(const char *text) {
        must_load(text);
        cr_expect_eq(complaints_warning_count(file.complaints), 0, "%s", file.printed);
}

Test(config_service, to_ask_by_sigkill_is_warned_of) {
        expect_warning(WEB "KillSignal=SIGKILL\n", "conf.ini:3: warning: KillSignal=SIGKILL: no program can finish");
        expect_warning(WEB "KillSignal=9\n", "exit code 81");
        expect_none(WEB "KillSignal=INT\n");
        expect_none(WEB "Type=oneshot\nKillSignal=KILL\n");
}

Test(config_service, sockets_of_a_oneshot_are_warned_of) {
        expect_warning(WEB "Type=oneshot\nListen=unix:/tmp/x.sock\n",
                       "conf.ini:4: warning: Listen=unix:/tmp/x.sock: web is a oneshot");
        expect_none(WEB "Listen=unix:/tmp/x.sock\n");
        expect_none(WEB "Type=oneshot\nListen=unix:/tmp/x.sock\nListen=\n");
}

Test(config_service, an_http_hook_has_a_method_and_a_url_and_counts_in_the_budget) {
        const HookConfig *hook = must_load(HOOK "Http=POST http://balancer/drain?web\n")->hooks;
        cr_expect_str_eq(hook->http_method, "POST");
        cr_expect_str_eq(hook->url, "http://balancer:80/drain?web");
        cr_expect(!hook->argv && !hook->log_pattern && hook->on == HOOK_PRE_STOP);
        config_file_load(&file, HOOK "Http=GET http://x/\nTimeoutSec=60\n");
        cr_expect_not_null(strstr(file.printed, "it can eat the phase http"), "%s", file.printed);
}

Test(config_service, a_hook_does_one_thing) {
        must_refuse(HOOK "Exec=/bin/true\nHttp=GET http://x/s3cret\n",
                    "conf.ini:7: Http: the hook has Exec too, line 6: it does one thing only\n");
        must_refuse(WEB "[Hook h]\nService=web\nHttp=GET http://x/s3cret\n",
                    "conf.ini:3: the hook h has Http, but no On: when shall it run?\n");
        must_refuse(HOOK "Http=GET http://app:s3cret@x/\n",
                    "conf.ini:6: Http: a user or a password cannot stand before the host\n");
        must_warn(HOOK "Http=GET http://x/\nWorkingDirectory=/\nEnvironment=A=s3cret\n",
                  "conf.ini:7: warning: WorkingDirectory: is only used with Exec\n"
                  "conf.ini:8: warning: Environment: is only used with Exec\n");
}
