/* signal_sources.c - every signal that can be heard is heard, with its sender, and the rest harms nobody. */
#include "base/take.h"
#include "check.h"
#include "supervisor/signals.h"
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static sd_event *event;
static Signals *signals;
static SignalReceived received[100];
static size_t n_received;

static void on_signal(void *userdata, const SignalReceived *signal) {
        (void)userdata;
        CHECK(n_received < LENGTH_OF(received));
        received[n_received++] = *signal;
}

static void listen_to_signals(void) {
        n_received = 0;
        CHECK(sd_event_new(&event) >= 0);
        CHECK_EQUAL(signals_new(&signals, event, on_signal, NULL), 0);
}

static void stop_listening(void) {
        signals = signals_free(signals);
        event = sd_event_unref(event);
}

/* Everything that is pending now. */
static void take_all(void) {
        while (sd_event_run(event, 0) > 0)
                ;
}

/* At least so many, and everything else that is pending then: who has heard many in a short time waits a little. */
static void take(size_t n) {
        while (n_received < n)
                CHECK(sd_event_run(event, UINT64_MAX) >= 0);
        take_all();
}

static bool is_never_heard(int number) {
        return number == SIGKILL || number == SIGSTOP;
}

static void one_that_came_before_the_loop_is_not_lost(void) {
        CHECK(kill(1, SIGTERM) == 0);
        listen_to_signals();
        take_all();
        CHECK_EQUAL(n_received, 1);
        CHECK_EQUAL(received[0].number, SIGTERM);
        CHECK_EQUAL(received[0].sender_pid, 1);
        CHECK_EQUAL(received[0].child, 0);
        stop_listening();
}

static void each_is_heard_with_its_sender(void) {
        listen_to_signals();
        for (int number = 1; number <= SIGRTMAX; number++) {
                if (is_never_heard(number) || number == SIGCHLD || (number > 31 && number < SIGRTMIN))
                        continue;
                n_received = 0;
                pid_t pid = fork();
                if (pid == 0) {
                        _exit(kill(1, number) == 0 ? 0 : 1);
                }
                int status;
                CHECK(waitpid(pid, &status, 0) == pid && status == 0);
                take(2);
                CHECK_EQUAL(n_received, 2); /* it, and the death of its sender */
                const SignalReceived *its = received[0].number == SIGCHLD ? &received[1] : &received[0],
                                     *death = received[0].number == SIGCHLD ? &received[0] : &received[1];
                CHECK_EQUAL(its->number, number);
                CHECK_EQUAL(its->sender_pid, pid);
                CHECK(!its->from_kernel);
                CHECK_EQUAL(its->sender_uid, 0);
                CHECK_EQUAL(death->number, SIGCHLD);
                CHECK_EQUAL(death->child, pid);
        }
        stop_listening();
}

static void those_that_end_come_first_and_a_death_before_the_rest(void) {
        static const int sent[] = { SIGUSR1, SIGCHLD, SIGWINCH, SIGHUP, SIGTERM, SIGINT };
        static const int ends[] = { SIGHUP, SIGINT, SIGTERM };
        listen_to_signals();
        for (size_t i = 0; i < LENGTH_OF(sent); i++)
                CHECK(kill(1, sent[i]) == 0);
        CHECK(kill(1, SIGRTMIN + 3) == 0);
        take(7);
        CHECK_EQUAL(n_received, 7);
        for (size_t i = 0; i < LENGTH_OF(ends); i++)
                CHECK_EQUAL(received[i].number, ends[i]);
        CHECK_EQUAL(received[3].number, SIGRTMIN + 3);
        CHECK_EQUAL(received[4].number, SIGCHLD);
        CHECK_EQUAL(received[5].number, SIGUSR1);
        CHECK_EQUAL(received[6].number, SIGWINCH);
        stop_listening();
}

static void what_we_did_to_ourselves_is_not_heard(void) {
        listen_to_signals();
        CHECK(kill(1, SIGPIPE) == 0 && kill(1, SIGXFSZ) == 0 && kill(1, SIGCONT) == 0);
        CHECK(kill(1, SIGTTIN) == 0 && kill(1, SIGTTOU) == 0 && kill(1, SIGTSTP) == 0);
        take_all();
        CHECK_EQUAL(n_received, 0);
        stop_listening();
}

/* Where we are not PID 1, the kernel does not shield us from a signal with its default disposition. */
static void no_signal_ends_one_that_blocked_them(void) {
        pid_t pid = fork();
        if (pid == 0) {
                uint64_t pending = 0;
                signals_block();
                for (int number = 1; number <= SIGRTMAX; number++)
                        if (number != SIGKILL && number != SIGSTOP)
                                CHECK(syscall(SYS_kill, getpid(), number) == 0);
                CHECK(syscall(SYS_rt_sigpending, &pending, sizeof pending) == 0);
                CHECK(pending & (UINT64_C(1) << (32 - 1)) && pending & (UINT64_C(1) << (33 - 1)));
                _exit(0);
        }
        int status;
        CHECK(waitpid(pid, &status, 0) == pid);
        CHECK_EQUAL(status, 0);
}

int main(void) {
        signals_block();
        static const Case cases[] = {
                CASE(one_that_came_before_the_loop_is_not_lost),
                CASE(each_is_heard_with_its_sender),
                CASE(those_that_end_come_first_and_a_death_before_the_rest),
                CASE(what_we_did_to_ourselves_is_not_heard),
                CASE(no_signal_ends_one_that_blocked_them),
        };
        return run_cases(cases, LENGTH_OF(cases));
}
