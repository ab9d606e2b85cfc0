/* test_upward.c - what the parent of an endwell hears, also one that does not read. */
#include "base/take.h"
#include "supervisor/upward.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define SEC   USEC_PER_SEC
#define BEGIN (1000 * SEC)

static int parent = -1;
static char heard[1024];

static void setup(void) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        int n = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "endwell-upward-%d", (int)getpid());
        char name[sizeof address.sun_path + 1];
        snprintf(name, sizeof name, "@%s", address.sun_path + 1);
        parent = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        cr_assert_eq(bind(parent, (struct sockaddr *)&address, (socklen_t)(sizeof(sa_family_t) + 1 + (size_t)n)), 0);
        setenv("NOTIFY_SOCKET", name, 1);
        unsetenv("WATCHDOG_USEC");
        unsetenv("WATCHDOG_PID");
}

static void teardown(void) {
        upward_close();
        close(parent);
}

TestSuite(upward, .init = setup, .fini = teardown, .timeout = 30);

/* The next message; "" when there is none. */
static const char *hear(void) {
        ssize_t n = recv(parent, heard, sizeof heard - 1, 0);
        heard[n > 0 ? n : 0] = '\0';
        return heard;
}

static void hear_nothing_more(void) {
        cr_assert_str_eq(hear(), "");
}

static void tell(EventKind kind, usec_t when) {
        upward_tell(&(Event){ .kind = kind,
                              .mono_usec = when,
                              .took_usec = 1000,
                              .cause = "signal",
                              .reason = "web",
                              .phase = "http",
                              .members = 1,
                              .left = 1,
                              .waiting_for = "web",
                              .service = "web",
                              .instance = 1,
                              .instances = 1,
                              .deadline_usec = 27 * SEC,
                              .limit_usec = 9 * SEC });
}

static void watched(const char *interval, const char *pid) {
        setenv("WATCHDOG_USEC", interval, 1);
        if (pid)
                setenv("WATCHDOG_PID", pid, 1);
        upward_open(false, BEGIN);
}

/* ---- Ready, stopping ---- */

Test(upward, ready_is_said_once_and_with_a_status) {
        upward_open(false, BEGIN);
        tell(EVENT_STARTUP_FINISHED, BEGIN);
        cr_assert(strncmp(hear(), "READY=1\nSTATUS=", 15) == 0, "heard %s", heard);
        tell(EVENT_READINESS_CHANGED, BEGIN + 2 * SEC);
        cr_assert(strncmp(hear(), "STATUS=", 7) == 0, "heard %s", heard);
}

Test(upward, an_ending_is_said_and_asks_for_time_until_its_own_deadline) {
        upward_open(false, BEGIN);
        tell(EVENT_ENDING_STARTED, BEGIN);
        cr_assert(strncmp(hear(), "STOPPING=1\nEXTEND_TIMEOUT_USEC=28000000\nSTATUS=", 47) == 0, "heard %s", heard);
        cr_assert_eq(upward_next_usec(), USEC_INFINITY, "nothing is due while it lasts");
}

Test(upward, the_births_and_deaths_of_services_are_not_the_parents_business) {
        upward_open(false, BEGIN);
        tell(EVENT_SERVICE_STARTED, BEGIN);
        hear_nothing_more();
}

Test(upward, without_a_watchdog_and_with_nothing_to_do_nothing_is_due) {
        upward_open(false, BEGIN);
        tell(EVENT_SUPERVISOR_STARTED, BEGIN);
        tell(EVENT_STARTUP_FINISHED, BEGIN + SEC);
        cr_assert_eq(upward_next_usec(), USEC_INFINITY);
}

/* ---- Status ---- */

Test(upward, a_status_goes_out_at_most_once_a_second_and_it_is_the_newest) {
        upward_open(false, BEGIN);
        tell(EVENT_READINESS_CHANGED, BEGIN);
        cr_assert(strncmp(hear(), "STATUS=", 7) == 0, "heard %s", heard);
        for (usec_t at = BEGIN + 1; at < BEGIN + SEC; at += SEC / 10)
                tell(EVENT_READINESS_CHANGED, at);
        tell(EVENT_PHASE_STARTED, BEGIN + SEC - 1);
        hear_nothing_more();
        cr_assert_eq(upward_next_usec(), BEGIN + SEC);
        upward_on_time(BEGIN + SEC);
        cr_assert_not_null(strstr(hear(), "STATUS=phase http is ending"), "heard %s", heard);
        hear_nothing_more();
}

Test(upward, the_last_status_does_not_wait) {
        upward_open(false, BEGIN);
        tell(EVENT_ENDING_STARTED, BEGIN);
        hear();
        tell(EVENT_ENDING_FINISHED, BEGIN + 1);
        cr_assert_not_null(strstr(hear(), "STATUS=ended in "), "heard %s", heard);
}

Test(upward, an_ending_says_what_it_waits_for) {
        upward_open(false, BEGIN);
        tell(EVENT_DRAIN_PROGRESS, BEGIN);
        cr_assert_str_eq(hear(), "STATUS=phase http waits for 1: web");
}

/* Start-up to the instant at which somebody may say what it waits for. */
static void begin_start(void) {
        upward_open(false, BEGIN);
        tell(EVENT_SUPERVISOR_STARTED, BEGIN);
        hear();
}

Test(upward, a_start_says_once_a_second_what_it_waits_for_if_that_is_new) {
        begin_start();
        cr_assert(!upward_wants_to_wait(BEGIN + SEC - 1));
        upward_wait("waiting for web", BEGIN + SEC - 1);
        hear_nothing_more();
        cr_assert_eq(upward_next_usec(), BEGIN + SEC);
        cr_assert(upward_wants_to_wait(BEGIN + SEC));
        upward_wait("waiting for web", BEGIN + SEC);
        cr_assert_str_eq(hear(), "STATUS=waiting for web");
        cr_assert_eq(upward_next_usec(), BEGIN + 2 * SEC);
        upward_wait("waiting for web", BEGIN + 2 * SEC);
        hear_nothing_more();
        upward_wait("waiting for db", BEGIN + 3 * SEC);
        cr_assert_str_eq(hear(), "STATUS=waiting for db");
        tell(EVENT_STARTUP_FINISHED, BEGIN + 4 * SEC);
        hear();
        cr_assert(!upward_wants_to_wait(BEGIN + 9 * SEC));
}

/* ---- More time ---- */

Test(upward, a_long_start_asks_for_more_time_again_and_again_and_a_finished_one_does_not) {
        begin_start();
        cr_assert_not_null(strstr(heard, "EXTEND_TIMEOUT_USEC=30000000\n"), "heard %s", heard);
        unsigned n = 0;
        for (usec_t now = BEGIN; now <= BEGIN + 120 * SEC; now += SEC) {
                upward_wait("", now);
                upward_on_time(now);
                while (*hear())
                        n += strstr(heard, "EXTEND_TIMEOUT_USEC=30000000\n") != NULL;
        }
        cr_assert_eq(n, 12);
        tell(EVENT_STARTUP_FINISHED, BEGIN + 121 * SEC);
        cr_assert_null(strstr(hear(), "EXTEND"), "heard %s", heard);
        cr_assert_eq(upward_next_usec(), USEC_INFINITY);
}

/* ---- Watchdog ---- */

Test(upward, a_watchdog_is_answered_in_half_its_time) {
        watched("10000000", NULL);
        for (usec_t now = BEGIN; now < BEGIN + 60 * SEC; now += 5 * SEC) {
                cr_assert_eq(upward_next_usec(), now);
                upward_on_time(now);
                cr_assert_str_eq(hear(), "WATCHDOG=1\n");
                hear_nothing_more();
        }
}

Test(upward, a_watchdog_that_is_another_process_s_is_not_ours) {
        char mine[16];
        watched("10000000", "1");
        cr_assert_eq(upward_next_usec(), USEC_INFINITY);
        snprintf(mine, sizeof mine, "%d", (int)getpid());
        teardown();
        setup();
        watched("10000000", mine);
        cr_assert_eq(upward_next_usec(), BEGIN);
}

Test(upward, a_watchdog_s_time_that_is_none_is_no_watchdog) {
        static const char *const bad[] = {
                "", "0", "-1", "x", "10s", "18446744073709551615", "99999999999999999999999"
        };
        for (size_t i = 0; i < LENGTH_OF(bad); i++) {
                watched(bad[i], NULL);
                cr_assert_eq(upward_next_usec(), USEC_INFINITY, "%s", bad[i]);
                teardown();
                setup();
        }
}

Test(upward, a_watchdog_of_microseconds_does_not_become_a_busy_loop) {
        watched("1", NULL);
        upward_on_time(BEGIN);
        cr_assert_geq(upward_next_usec(), BEGIN + 10 * USEC_PER_MSEC);
}

/* ---- Who does not read, and who does not listen ---- */

static unsigned fill(usec_t now) {
        unsigned n = 0;
        for (; n < 2000; n++) /* more than any queue of datagrams takes */
                tell(EVENT_READINESS_CHANGED, now + n * SEC);
        return n;
}

Test(upward, a_parent_that_does_not_read_holds_nobody_up_and_hears_ready_later) {
        upward_open(false, BEGIN);
        usec_t now = BEGIN + fill(BEGIN) * SEC;
        tell(EVENT_STARTUP_FINISHED, now);
        while (*hear())
                cr_assert(strncmp(heard, "READY=1", 7) != 0, "the queue was not full");
        cr_assert_eq(upward_next_usec(), now + SEC, "it is tried again");
        upward_on_time(now + SEC);
        cr_assert_str_eq(hear(), "READY=1\n");
        cr_assert_eq(upward_next_usec(), USEC_INFINITY);
}

Test(upward, what_a_parent_does_not_take_is_tried_ever_more_seldom) {
        upward_open(false, BEGIN);
        usec_t now = BEGIN + fill(BEGIN) * SEC, end = now + 3600 * SEC;
        unsigned n = 0;
        tell(EVENT_STARTUP_FINISHED, now);
        for (; (now = upward_next_usec()) < end; n++)
                upward_on_time(now);
        cr_assert(n > 60 && n < 3600 / 7, "tried %u times in an hour", n);
}

Test(upward, a_watchdog_that_could_not_be_answered_is_tried_before_its_time_is_over) {
        watched("8000000", NULL);
        usec_t now = BEGIN + fill(BEGIN) * SEC;
        upward_on_time(now);
        cr_assert_leq(upward_next_usec(), now + SEC);
        while (*hear())
                ;
        upward_on_time(now + SEC);
        cr_assert_str_eq(hear(), "WATCHDOG=1\n");
        cr_assert_eq(upward_next_usec(), now + SEC + 4 * SEC);
}

Test(upward, children_do_not_inherit_the_parents_socket_unless_it_is_passed_on) {
        upward_open(true, BEGIN);
        cr_assert_not_null(getenv("NOTIFY_SOCKET"));
        upward_open(false, BEGIN);
        cr_assert_null(getenv("NOTIFY_SOCKET"));
}

Test(upward, children_do_not_inherit_the_parents_watchdog) {
        setenv("WATCHDOG_USEC", "1000000", 1);
        setenv("WATCHDOG_PID", "1", 1);
        upward_open(true, BEGIN);
        cr_assert(!getenv("WATCHDOG_USEC") && !getenv("WATCHDOG_PID"));
        setenv("WATCHDOG_USEC", "1000000", 1);
        unsetenv("NOTIFY_SOCKET");
        upward_open(false, BEGIN);
        cr_assert_null(getenv("WATCHDOG_USEC"), "nor without a socket");
}

Test(upward, without_a_good_address_nothing_is_said) {
        static const char *const bad[] = { "", "/", "@", "relative", "vsock:2:1234" };
        for (size_t i = 0; i < LENGTH_OF(bad); i++) {
                setenv("NOTIFY_SOCKET", bad[i], 1);
                setenv("WATCHDOG_USEC", "1000000", 1);
                upward_open(false, BEGIN);
                cr_assert(!upward_is_open() && upward_next_usec() == USEC_INFINITY);
                tell(EVENT_STARTUP_FINISHED, BEGIN);
                hear_nothing_more();
        }
}
