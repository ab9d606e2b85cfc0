/* test_upward.c - what the parent of an endwell hears, also one that does not read. */
#include "supervisor/upward.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static const Event startup_finished = { .kind = EVENT_STARTUP_FINISHED, .took_usec = 1000 };
static const Event ending_started = { .kind = EVENT_ENDING_STARTED, .cause = "signal" };
static const Event readiness_changed = { .kind = EVENT_READINESS_CHANGED, .ready = true, .reason = "web" };
static const Event service_started = { .kind = EVENT_SERVICE_STARTED, .service = "web", .instance = 1, .instances = 1 };

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

Test(upward, ready_is_said_once_and_with_a_status) {
        upward_open(false);
        upward_tell(&startup_finished);
        cr_assert(strncmp(hear(), "READY=1\nSTATUS=", 15) == 0, "heard %s", heard);
        upward_tell(&readiness_changed);
        cr_assert(strncmp(hear(), "STATUS=", 7) == 0, "heard %s", heard);
}

Test(upward, an_ending_is_said) {
        upward_open(false);
        upward_tell(&ending_started);
        cr_assert(strncmp(hear(), "STOPPING=1\nSTATUS=", 18) == 0, "heard %s", heard);
}

Test(upward, the_births_and_deaths_of_services_are_not_the_parents_business) {
        upward_open(false);
        upward_tell(&service_started);
        cr_assert_str_eq(hear(), "");
}

Test(upward, a_parent_that_does_not_read_holds_nobody_up_and_hears_ready_later) {
        upward_open(false);
        for (int i = 0; i < 2000; i++) /* more than any queue of datagrams takes */
                upward_tell(&readiness_changed);
        upward_tell(&startup_finished);
        while (*hear())
                cr_assert(strncmp(heard, "READY=1", 7) != 0, "the queue was not full");
        upward_tell(&service_started);
        cr_assert_str_eq(hear(), "READY=1\n");
}

Test(upward, children_do_not_inherit_the_parents_socket_unless_it_is_passed_on) {
        upward_open(true);
        cr_assert_not_null(getenv("NOTIFY_SOCKET"));
        upward_open(false);
        cr_assert_null(getenv("NOTIFY_SOCKET"));
}

Test(upward, without_a_good_address_nothing_is_said) {
        static const char *const bad[] = { "", "/", "@", "relative", "vsock:2:1234" };
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
                setenv("NOTIFY_SOCKET", bad[i], 1);
                upward_open(false);
                upward_tell(&startup_finished);
                cr_assert_str_eq(hear(), "");
        }
}
