/* prober_link.c - PID 1's side of the prober with the real prober: answers, deaths, hanging, giving up, its end. */
#include "supervisor/prober_link.h"
#include "base/clock.h"
#include "base/take.h"
#include "check.h"
#include "supervisor/child.h"
#include "supervisor/roster.h"
#include "supervisor/signals.h"
#include <arpa/inet.h>
#include <limits.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#define PATIENCE_USEC (30 * USEC_PER_SEC)
#define REQUESTS_MAX  2000
#define LONG_USEC     (60 * USEC_PER_SEC)

typedef struct Answer {
        unsigned n; /* how often */
        ProbeAnswer answer;
        char detail[96];
} Answer;

static struct {
        const char *prober;
        sd_event *event;
        Signals *signals;
        Roster *roster;
        ProberLink *link;
        Answer answers[REQUESTS_MAX];
        unsigned n_answers, spawned, exits;
        Ended end;
        bool asking, ask_again; /* we are inside prober_link_ask(), prober_link_call_off() */
        char said[8192];
        int silent; /* listens and never answers */
        char silent_url[64], silent_port[32];
} world;

static char *const environment[] = { (char *)"PATH=/usr/bin:/bin", NULL };

/* ---- The world ---- */

static void on_signal(void *userdata, const SignalReceived *received) {
        (void)userdata;
        if (received->number == SIGCHLD)
                roster_on_child(world.roster, received->child);
}

static void on_collected(void *userdata, pid_t pid, const RosterEntry *entry, const char *comm, Ended how) {
        (void)userdata, (void)comm;
        CHECK(entry && entry->kind == ROSTER_HELPER);
        CHECK_EQUAL(pid, prober_link_pid(world.link));
        world.exits++;
        world.end = how;
        prober_link_on_exited(world.link, how);
}

static void on_spawned(void *userdata, pid_t pid) {
        RosterEntry entry = { .pid = pid, .kind = ROSTER_HELPER };
        (void)userdata;
        CHECK_EQUAL(roster_add(world.roster, &entry), 0);
        world.spawned++;
}

static int ask_for(uint32_t number, const ProberRequest *what) {
        world.asking = true;
        int r = prober_link_ask(world.link, number, what);
        world.asking = false;
        return r;
}

static int ask(uint32_t number, ProbeBy by, const char *target, usec_t timeout) {
        return ask_for(number, &(ProberRequest){ .by = by, .target = target, .timeout_usec = timeout });
}

static void on_answered(void *userdata, uint32_t request, ProbeAnswer found, const char *detail) {
        Answer *answer = &world.answers[request];
        (void)userdata;
        CHECK(!world.asking);
        CHECK(request < REQUESTS_MAX);
        answer->n++;
        answer->answer = found;
        snprintf(answer->detail, sizeof answer->detail, "%s", detail);
        world.n_answers++;
        if (world.ask_again) {
                world.ask_again = false;
                CHECK_EQUAL(ask(request, PROBE_BY_UNIX, "/nonexistent", LONG_USEC), 0);
        }
}

static void on_say(void *userdata, LogLevel level, const char *sentence) {
        size_t length = strlen(world.said);
        (void)userdata, (void)level;
        snprintf(world.said + length, sizeof world.said - length, "%s\n", sentence);
}

static void begin(const char *program) {
        memset(world.answers, 0, sizeof world.answers);
        world.n_answers = world.spawned = world.exits = 0;
        world.said[0] = '\0';
        CHECK(sd_event_new(&world.event) >= 0);
        CHECK_EQUAL(signals_new(&world.signals, world.event, on_signal, NULL), 0);
        CHECK_EQUAL(roster_new(&world.roster, world.event, on_collected, NULL), 0);
        ProberPlan plan = { .program = program ? program : world.prober,
                            .environment = environment,
                            .log_level = LOG_LEVEL_INFO,
                            .n_requests = REQUESTS_MAX,
                            .answered = on_answered,
                            .spawned = on_spawned,
                            .say = on_say };
        CHECK_EQUAL(prober_link_new(&world.link, world.event, &plan), 0);
}

static void turn(void) {
        CHECK(sd_event_run(world.event, PATIENCE_USEC) > 0);
}

static void end(void) {
        if (prober_link_finish(world.link))
                while (prober_link_pid(world.link) != 0)
                        turn();
        CHECK_EQUAL(ask(0, PROBE_BY_UNIX, "/x", 1), -ESHUTDOWN);
        world.link = prober_link_free(world.link);
        world.roster = roster_free(world.roster);
        world.signals = signals_free(world.signals);
        world.event = sd_event_unref(world.event);
}

static void call_off(uint32_t number) {
        world.asking = true;
        prober_link_call_off(world.link, number);
        world.asking = false;
}

static const Answer *answer_of(uint32_t number) {
        while (world.answers[number].n == 0)
                turn();
        CHECK_EQUAL(world.answers[number].n, 1);
        return &world.answers[number];
}

static void check_answer(uint32_t number, ProbeAnswer found, const char *detail) {
        const Answer *answer = answer_of(number);
        if (answer->answer != found || strcmp(answer->detail, detail) != 0) {
                fprintf(stderr, "request %u: %d, %s; wanted %d, %s\n", number, answer->answer, answer->detail, found,
                        detail);
                _exit(1);
        }
}

static int listen_to(struct sockaddr *address, socklen_t length) {
        int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        CHECK(fd >= 0);
        CHECK(bind(fd, address, length) == 0 && listen(fd, 4096) == 0);
        CHECK(getsockname(fd, address, &length) == 0);
        return fd;
}

static void open_silent(void) {
        struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        world.silent = listen_to((struct sockaddr *)&address, sizeof address);
        snprintf(world.silent_port, sizeof world.silent_port, "127.0.0.1:%d", ntohs(address.sin_port));
        snprintf(world.silent_url, sizeof world.silent_url, "http://%s/", world.silent_port);
}

static int accept_silent(void) {
        int fd;
        while ((fd = accept4(world.silent, NULL, NULL, SOCK_CLOEXEC)) < 0)
                CHECK(sd_event_run(world.event, 10 * USEC_PER_MSEC) >= 0);
        return fd;
}

/* Waits until all that was asked is in its hands. */
static void wait_until_it_works(uint32_t number) {
        CHECK_EQUAL(ask(number, PROBE_BY_TCP, world.silent_port, LONG_USEC), 0);
        check_answer(number, PROBE_SUCCEEDED, "connected");
        close_fd(accept_silent());
}

static void kill_prober(void) {
        unsigned before = world.exits;
        CHECK_EQUAL(child_signal(prober_link_pid(world.link), SIGKILL), 0);
        while (world.exits == before)
                turn();
}

/* ---- The cases ---- */

static void it_is_started_with_the_first_request_and_answers_of_each_kind_come_back(void) {
        begin(NULL);
        CHECK_EQUAL(prober_link_pid(world.link), 0);
        CHECK_EQUAL(ask(0, PROBE_BY_TCP, world.silent_port, LONG_USEC), 0);
        CHECK_EQUAL(ask(1, PROBE_BY_TCP, "127.0.0.1:1", LONG_USEC), 0);
        CHECK_EQUAL(ask(2, PROBE_BY_UNIX, "/nonexistent", LONG_USEC), 0);
        CHECK_EQUAL(ask(3, PROBE_BY_HTTP, "http://127.0.0.1:1/", LONG_USEC), 0);
        CHECK_EQUAL(ask(4, PROBE_BY_HTTP, "http://web/", LONG_USEC), 0);
        CHECK_EQUAL(world.spawned, 0);
        check_answer(0, PROBE_SUCCEEDED, "connected");
        check_answer(1, PROBE_FAILED, "connection refused");
        check_answer(2, PROBE_FAILED, "no such file or directory");
        check_answer(3, PROBE_FAILED, "connection refused");
        check_answer(4, PROBE_FAILED, "this URL is not asked");
        close_fd(accept_silent());
        CHECK_EQUAL(world.spawned, 1);
        end();
        CHECK_EQUAL(world.exits, 1);
        CHECK(strcmp(world.said, "") == 0);
}

/* A server in this very process: one request, one answer. */
static void answer_http(const char *text, char *ret_request, size_t size) {
        int fd = accept_silent();
        size_t n = 0;
        ret_request[0] = '\0';
        while (!strstr(ret_request, "\r\n\r\n")) {
                ssize_t more = read(fd, ret_request + n, size - 1 - n);
                CHECK(more > 0);
                n += (size_t)more;
                ret_request[n] = '\0';
        }
        CHECK_EQUAL(write(fd, text, strlen(text)), (ssize_t)strlen(text));
        close_fd(fd);
}

static void a_hook_says_its_method_and_a_check_does_not(void) {
        static const char found[] = "HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n";
        char request[4096];
        begin(NULL);
        CHECK_EQUAL(ask(0, PROBE_BY_HTTP, world.silent_url, LONG_USEC), 0);
        answer_http(found, request, sizeof request);
        CHECK(strncmp(request, "GET / HTTP/1.1\r\n", 16) == 0);
        check_answer(0, PROBE_SUCCEEDED, "HTTP 302");
        ProberRequest hook = { .by = PROBE_BY_HTTP,
                               .method = "POST",
                               .target = world.silent_url,
                               .timeout_usec = LONG_USEC,
                               .purpose = PROBER_HOOK };
        CHECK_EQUAL(ask_for(1, &hook), 0);
        answer_http(found, request, sizeof request);
        CHECK(strncmp(request, "POST / HTTP/1.1\r\n", 17) == 0);
        check_answer(1, PROBE_FAILED, "HTTP 302");
        end();
}

static void what_cannot_be_asked_is_refused_and_not_answered(void) {
        begin(NULL);
        CHECK_EQUAL(ask(REQUESTS_MAX, PROBE_BY_TCP, "x", 1), -EINVAL);
        CHECK_EQUAL(ask(0, PROBE_BY_EXEC, "x", 1), -EINVAL);
        CHECK_EQUAL(ask(0, PROBE_BY_NONE, "x", 1), -EINVAL);
        CHECK_EQUAL(ask(0, PROBE_BY_TCP, NULL, 1), -EINVAL);
        CHECK_EQUAL(ask(0, PROBE_BY_HTTP, world.silent_url, LONG_USEC), 0);
        CHECK_EQUAL(ask(0, PROBE_BY_HTTP, world.silent_url, LONG_USEC), -EBUSY);
        int fd = accept_silent();
        CHECK_EQUAL(world.n_answers, 0);
        call_off(0);
        CHECK_EQUAL(ask(0, PROBE_BY_HTTP, world.silent_url, LONG_USEC), -EBUSY);
        check_answer(0, PROBE_UNKNOWN, "called off");
        close_fd(fd);
        call_off(0); /* not open any more */
        call_off(REQUESTS_MAX);
        end();
        CHECK_EQUAL(world.n_answers, 1);
}

static void a_time_out_is_told_by_the_prober(void) {
        begin(NULL);
        wait_until_it_works(9);
        usec_t begun = clock_now_usec();
        CHECK_EQUAL(ask(0, PROBE_BY_HTTP, world.silent_url, 200 * USEC_PER_MSEC), 0);
        int fd = accept_silent();
        check_answer(0, PROBE_FAILED, "timed out");
        CHECK(clock_now_usec() >= begun + 180 * USEC_PER_MSEC); /* the timer counts from when the loop woke up */
        close_fd(fd);
        end();
}

static void what_is_called_off_may_be_asked_again_from_within_its_answer(void) {
        begin(NULL);
        CHECK_EQUAL(ask(0, PROBE_BY_HTTP, world.silent_url, LONG_USEC), 0);
        int fd = accept_silent();
        world.ask_again = true;
        call_off(0);
        while (world.answers[0].n < 2)
                turn();
        CHECK_EQUAL(world.answers[0].answer, PROBE_FAILED);
        CHECK(strcmp(world.answers[0].detail, "no such file or directory") == 0);
        close_fd(fd);
        end();
}

static void a_thousand_at_once_are_all_answered(void) {
        begin(NULL);
        for (uint32_t i = 0; i < 1000; i++)
                CHECK_EQUAL(ask(i, i % 2 ? PROBE_BY_UNIX : PROBE_BY_TCP, i % 2 ? "/nonexistent" : world.silent_port,
                                LONG_USEC),
                            0);
        for (uint32_t i = 0; i < 1000; i++)
                CHECK_EQUAL(answer_of(i)->answer, i % 2 ? PROBE_FAILED : PROBE_SUCCEEDED);
        for (int i = 0; i < 500; i++)
                close_fd(accept_silent());
        CHECK_EQUAL(world.spawned, 1);
        end();
}

static void a_prober_that_dies_leaves_nothing_unanswered_and_is_replaced(void) {
        begin(NULL);
        wait_until_it_works(9);
        for (uint32_t i = 0; i < 3; i++)
                CHECK_EQUAL(ask(i, PROBE_BY_HTTP, world.silent_url, LONG_USEC), 0);
        for (int i = 0; i < 3; i++)
                close_fd(accept_silent());
        CHECK_EQUAL(ask(3, PROBE_BY_HTTP, world.silent_url, LONG_USEC), 0);
        int fd = accept_silent();
        usec_t began = clock_now_usec();
        kill_prober();
        check_answer(3, PROBE_UNKNOWN, "the prober died");
        CHECK(strstr(world.said, "the prober was killed by SIGKILL (failure 1 of at most 5 in a row)"));
        CHECK_EQUAL(world.spawned, 1); /* nobody needs it now */
        close_fd(fd);
        wait_until_it_works(4);
        CHECK_EQUAL(world.spawned, 2);
        CHECK(clock_now_usec() - began < 10 * USEC_PER_SEC);
        end();
        for (uint32_t i = 0; i < 3; i++)
                CHECK_EQUAL(world.answers[i].n, 1);
}

static void requests_that_find_none_wait_for_the_next(void) {
        begin(NULL);
        wait_until_it_works(9);
        usec_t first = clock_now_usec();
        kill_prober();
        CHECK_EQUAL(ask(0, PROBE_BY_UNIX, "/nonexistent", LONG_USEC), 0);
        CHECK_EQUAL(ask(1, PROBE_BY_UNIX, "/nonexistent", LONG_USEC), 0);
        call_off(1);
        check_answer(1, PROBE_UNKNOWN, "called off");
        CHECK_EQUAL(world.spawned, 1); /* at most once a second */
        check_answer(0, PROBE_FAILED, "no such file or directory");
        CHECK_EQUAL(world.spawned, 2);
        CHECK(clock_now_usec() > first);
        end();
}

static void one_that_is_stopped_costs_its_requests_only_and_is_replaced(void) {
        begin(NULL);
        wait_until_it_works(9);
        CHECK_EQUAL(child_signal(prober_link_pid(world.link), SIGSTOP), 0);
        for (uint32_t i = 0; i < 1500; i++) /* more than the socket takes: none of these calls blocks */
                CHECK_EQUAL(ask(i + 10, PROBE_BY_UNIX, "/nonexistent", LONG_USEC), 0);
        call_off(10);
        call_off(1509);
        check_answer(10, PROBE_UNKNOWN, "called off");
        check_answer(1509, PROBE_UNKNOWN, "called off");
        CHECK_EQUAL(world.exits, 0);
        while (world.exits == 0)
                turn();
        CHECK(strstr(world.said, "the prober said nothing for 5 s; it is killed"));
        check_answer(11, PROBE_UNKNOWN, "the prober died");
        check_answer(1508, PROBE_FAILED, "no such file or directory"); /* had waited, and went to the next one */
        CHECK_EQUAL(world.spawned, 2);
        end();
        CHECK_EQUAL(world.exits, 2);
}

static void one_that_is_stopped_ends_all_the_same(void) {
        begin(NULL);
        wait_until_it_works(9);
        CHECK_EQUAL(child_signal(prober_link_pid(world.link), SIGSTOP), 0);
        end();
        CHECK_EQUAL(world.exits, 1);
        CHECK(strcmp(world.said, "") == 0);
}

static void one_that_cannot_live_is_given_up_and_tried_again_when_told(void) {
        begin("/bin/false");
        CHECK_EQUAL(ask(0, PROBE_BY_UNIX, "/nonexistent", LONG_USEC), 0);
        while (world.spawned < PROBER_FAILURES_MAX || prober_link_pid(world.link) != 0) {
                turn();
                if (world.answers[0].n > 0 && !strstr(world.said, "given up")) { /* sent, and the socket died */
                        world.answers[0].n = 0;
                        CHECK_EQUAL(ask(0, PROBE_BY_UNIX, "/nonexistent", LONG_USEC), 0);
                }
        }
        CHECK(strstr(world.said, "the prober was given up after 5 failures in a row"));
        CHECK_EQUAL(answer_of(0)->answer, PROBE_UNKNOWN);
        CHECK_EQUAL(ask(1, PROBE_BY_UNIX, "/nonexistent", LONG_USEC), -ENOTCONN);
        prober_link_retry(world.link);
        CHECK_EQUAL(ask(1, PROBE_BY_UNIX, "/nonexistent", LONG_USEC), 0);
        while (world.spawned == PROBER_FAILURES_MAX)
                turn();
        end();
}

static void a_missing_program_is_said_with_its_name(void) {
        begin("/nonexistent/endwell-prober");
        CHECK_EQUAL(ask(0, PROBE_BY_UNIX, "/nonexistent", LONG_USEC), 0);
        while (world.exits == 0)
                turn();
        CHECK(strstr(world.said, "/nonexistent/endwell-prober could not be started (exec): No such file or directory"));
        end();
}

static const Case cases[] = {
        CASE(it_is_started_with_the_first_request_and_answers_of_each_kind_come_back),
        CASE(a_hook_says_its_method_and_a_check_does_not),
        CASE(what_cannot_be_asked_is_refused_and_not_answered),
        CASE(a_time_out_is_told_by_the_prober),
        CASE(what_is_called_off_may_be_asked_again_from_within_its_answer),
        CASE(a_thousand_at_once_are_all_answered),
        CASE(a_prober_that_dies_leaves_nothing_unanswered_and_is_replaced),
        CASE(requests_that_find_none_wait_for_the_next),
        CASE(one_that_is_stopped_costs_its_requests_only_and_is_replaced),
        CASE(one_that_is_stopped_ends_all_the_same),
        CASE(one_that_cannot_live_is_given_up_and_tried_again_when_told),
        CASE(a_missing_program_is_said_with_its_name),
};

int main(int argc, char **argv) {
        CHECK_EQUAL(argc, 2);
        signals_block();
        world.prober = argv[1];
        open_silent();
        return run_cases(cases, LENGTH_OF(cases));
}
