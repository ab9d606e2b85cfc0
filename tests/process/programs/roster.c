/* roster.c - PID 1 collects everybody, tells the right statuses, and hears SIGTERM in between. */
#include "supervisor/roster.h"
#include "base/clock.h"
#include "base/kin.h"
#include "base/take.h"
#include "check.h"
#include "supervisor/child.h"
#include "supervisor/signals.h"
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>

#define LIVE    200
#define ORPHANS 20000
#define BRIEF   500
#define BEHIND  3000

static const char *witness;
static sd_event *event;
static Roster *roster;
static Signals *signals;

typedef struct Tally {
        unsigned collected, orphans, by_status[7], wrong;
        unsigned live_killed, live_asked, brief, helpers;
        unsigned terms, collected_before_term;
} Tally;

static Tally tally;

/* Owners: below LIVE a live child, then brief ones that exit with their number, and one helper that makes orphans. */
static void take_known(const RosterEntry *entry, Ended how) {
        if (entry->kind == ROSTER_HELPER) {
                tally.helpers++;
                tally.wrong += how.code != CLD_EXITED || how.status != 0;
        } else if (entry->owner >= LIVE) {
                tally.brief++;
                tally.wrong += how.code != CLD_EXITED || how.status != (int)(entry->owner - LIVE) % 256;
        } else {
                tally.live_killed += how.code == CLD_KILLED && how.status == SIGKILL && entry->owner % 2 == 0;
                tally.live_asked += how.code == CLD_KILLED && how.status == SIGTERM && entry->owner % 2 == 1;
        }
}

static void on_collected(void *userdata, pid_t pid, const RosterEntry *entry, const char *comm, Ended how) {
        (void)userdata, (void)comm;
        CHECK(pid > 1 && !roster_find(roster, pid));
        tally.collected++;
        if (entry) {
                CHECK_EQUAL(entry->pid, pid);
                take_known(entry, how);
        } else {
                tally.orphans++;
                CHECK_EQUAL(how.code, CLD_EXITED);
                CHECK(how.status >= 0 && how.status < 7);
                tally.by_status[how.status]++;
        }
}

static void on_signal(void *userdata, const SignalReceived *received) {
        (void)userdata;
        if (received->number == SIGCHLD)
                roster_on_child(roster, received->child);
        if (received->number == SIGTERM && tally.terms++ == 0)
                tally.collected_before_term = tally.collected;
}

static pid_t start(RosterKind kind, uint32_t owner, char *const *argv) {
        ChildPlan plan = { .argv = argv,
                           .envp = (char *const[]){ NULL },
                           .output = CHILD_OUTPUT_INHERIT,
                           .error = CHILD_OUTPUT_INHERIT };
        pid_t pid;
        int failure_fd;
        CHECK_EQUAL(child_spawn(&plan, &pid, &failure_fd), 0);
        close(failure_fd);
        CHECK_EQUAL(roster_add(roster, &(RosterEntry){ .pid = pid, .owner = owner, .kind = kind }), 0);
        return pid;
}

static pid_t start_orphans(int n) {
        char text[16];
        snprintf(text, sizeof text, "%d", n);
        return start(ROSTER_HELPER, 0, (char *const[]){ (char *)witness, (char *)"orphans", text, NULL });
}

static int count_child(void *userdata, pid_t pid) {
        (void)pid;
        (*(unsigned *)userdata)++;
        return 0;
}

static unsigned count_children(void) {
        unsigned n = 0;
        CHECK_EQUAL(kin_children(count_child, &n), 0);
        return n;
}

static void open_loop(void) {
        tally = (Tally){ 0 };
        CHECK(sd_event_new(&event) >= 0);
        CHECK_EQUAL(roster_new(&roster, event, on_collected, NULL), 0);
        CHECK_EQUAL(signals_new(&signals, event, on_signal, NULL), 0);
}

static void run_until_collected(unsigned n) {
        while (tally.collected < n)
                CHECK(sd_event_run(event, 20 * USEC_PER_SEC) > 0);
        CHECK_EQUAL(tally.collected, n);
}

static void close_loop(void) {
        signals = signals_free(signals);
        roster = roster_free(roster);
        event = sd_event_unref(event);
        CHECK_EQUAL(count_children(), 0);
}

static int take_stop(pid_t pid) {
        int number;
        while ((number = roster_take_stop(pid)) == 0)
                CHECK(sd_event_run(event, 20 * USEC_PER_SEC) > 0); /* its SIGCHLD */
        return number;
}

static void a_stop_is_told_once_and_neither_takes_nor_hides_the_end(void) {
        static const int stops[] = { SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU };
        open_loop();
        /* In our session, as the polite stops need it: a group without a parent in its session cannot be stopped. */
        ChildPlan plan = { .argv = (char *const[]){ (char *)"/bin/sleep", (char *)"1000", NULL },
                           .envp = (char *const[]){ NULL },
                           .output = CHILD_OUTPUT_INHERIT,
                           .error = CHILD_OUTPUT_INHERIT,
                           .session = CHILD_OWN_GROUP };
        ChildFailure failure;
        pid_t pid;
        int failure_fd;
        CHECK_EQUAL(child_spawn(&plan, &pid, &failure_fd), 0);
        while (child_read_failure(failure_fd, &failure) == -EAGAIN)
                ;
        close(failure_fd);
        CHECK_EQUAL(roster_add(roster, &(RosterEntry){ .pid = pid, .owner = 1, .kind = ROSTER_MAIN }), 0);
        CHECK_EQUAL(roster_take_stop(pid), 0);
        for (size_t i = 0; i < LENGTH_OF(stops); i++) {
                CHECK_EQUAL(child_signal(pid, stops[i]), 0);
                CHECK_EQUAL(take_stop(pid), stops[i]);
                CHECK_EQUAL(roster_take_stop(pid), 0);
                CHECK_EQUAL(child_signal(pid, SIGCONT), 0);
        }
        CHECK_EQUAL(tally.collected, 0);
        CHECK_EQUAL(child_signal(pid, SIGTERM), 0);
        run_until_collected(1);
        CHECK_EQUAL(tally.live_asked, 1);
        CHECK_EQUAL(roster_take_stop(pid), 0); /* nobody's child any more */
        close_loop();
}

static int start_brief(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        unsigned *next = userdata;
        (void)fd, (void)events;
        char code[32];
        snprintf(code, sizeof code, "exit %u", *next % 256);
        start(ROSTER_MAIN, LIVE + *next, (char *const[]){ (char *)"/bin/sh", (char *)"-c", code, NULL });
        if (++*next == BRIEF)
                sd_event_source_set_enabled(source, SD_EVENT_OFF);
        return 0;
}

static void twenty_thousand_orphans_leave_every_status_right(void) {
        pid_t live[LIVE];
        unsigned next = 0;
        sd_event_source *source;
        usec_t since = clock_now_usec();

        open_loop();
        for (uint32_t i = 0; i < LIVE; i++)
                live[i] = start(ROSTER_MAIN, i, (char *const[]){ (char *)"/bin/sleep", (char *)"1000", NULL });
        start_orphans(ORPHANS / 2);
        start_orphans(ORPHANS / 2);
        int always_ready = eventfd(1, EFD_CLOEXEC);
        CHECK(sd_event_add_io(event, &source, always_ready, EPOLLIN, start_brief, &next) >= 0);
        run_until_collected(ORPHANS + 2 + BRIEF);
        sd_event_source_disable_unref(source);
        close(always_ready);
        printf("   %u orphans in %llu ms\n", tally.orphans, (unsigned long long)(clock_now_usec() - since) / 1000);

        CHECK_EQUAL(tally.orphans, ORPHANS);
        for (int i = 0; i < 7; i++) /* each helper gives its i-th the status i % 7 */
                CHECK_EQUAL(tally.by_status[i], 2 * (ORPHANS / 2 / 7 + (i < ORPHANS / 2 % 7)));
        CHECK_EQUAL(tally.brief, BRIEF);
        CHECK_EQUAL(tally.helpers, 2);
        CHECK_EQUAL(tally.wrong, 0);
        CHECK_EQUAL(count_children(), LIVE);
        for (int i = 0; i < LIVE; i++)
                CHECK(kill(live[i], i % 2 ? SIGTERM : SIGKILL) == 0 && roster_find(roster, live[i]));
        run_until_collected(ORPHANS + 2 + BRIEF + LIVE);
        CHECK_EQUAL(tally.live_killed, LIVE / 2);
        CHECK_EQUAL(tally.live_asked, LIVE / 2);
        close_loop();
}

/* Nothing is collected while they die, so the kernel has merged three thousand signals into one, and one process of
 * them all is named. A request to end that waits beside it comes first. */
static void thousands_of_deaths_behind_one_signal_are_collected_after_a_sigterm(void) {
        open_loop();
        pid_t helper = start_orphans(BEHIND);
        siginfo_t info;
        CHECK(waitid(P_PID, (id_t)helper, &info, WEXITED | WNOWAIT) == 0);
        while (count_children() < BEHIND + 1) /* the last orphans may still be on their way to us */
                CHECK(sched_yield() == 0);
        CHECK(kill(getpid(), SIGTERM) == 0);
        run_until_collected(BEHIND + 1);
        CHECK_EQUAL(tally.terms, 1);
        CHECK_EQUAL(tally.collected_before_term, 0);
        CHECK_EQUAL(tally.orphans, BEHIND);
        CHECK_EQUAL(tally.helpers, 1);
        close_loop();
}

static int on_turn(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        unsigned *turns = userdata;
        (void)source, (void)fd, (void)events;
        if (tally.collected > 1 && tally.collected < BEHIND) /* one was named, the rest is the sweep's */
                (*turns)++;
        return 0;
}

/* Sources of ordinary rank (control, timers of the ending) have their turn between two lots of the dead. */
static void a_long_sweep_lets_others_have_their_turn(void) {
        unsigned turns = 0;
        sd_event_source *source;
        open_loop();
        pid_t helper = start_orphans(BEHIND);
        siginfo_t info;
        CHECK(waitid(P_PID, (id_t)helper, &info, WEXITED | WNOWAIT) == 0);
        while (count_children() < BEHIND + 1)
                CHECK(sched_yield() == 0);
        int always_ready = eventfd(1, EFD_CLOEXEC);
        CHECK(sd_event_add_io(event, &source, always_ready, EPOLLIN, on_turn, &turns) >= 0);
        run_until_collected(BEHIND + 1);
        CHECK(turns >= BEHIND / 64 - 1);
        sd_event_source_disable_unref(source);
        close(always_ready);
        close_loop();
}

/* SIGCHLD can be sent by anybody, with any pid in it. */
static void a_false_hint_harms_nothing(void) {
        open_loop();
        const pid_t hints[] = { -1, 0, 1, 30000 };
        for (size_t i = 0; i < LENGTH_OF(hints); i++)
                roster_on_child(roster, hints[i]);
        pid_t pid = start(ROSTER_MAIN, LIVE, (char *const[]){ (char *)"/bin/true", NULL });
        roster_on_child(roster, pid); /* most likely still alive */
        run_until_collected(1);
        CHECK_EQUAL(tally.brief, 1);
        CHECK_EQUAL(tally.wrong, 0);
        close_loop();
}

static void one_process_is_collected_when_it_is_asked_for(void) {
        siginfo_t info;
        open_loop();
        pid_t pid = start(ROSTER_MAIN, LIVE, (char *const[]){ (char *)"/bin/true", NULL });
        CHECK(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) == 0);
        roster_collect(roster, pid);
        CHECK_EQUAL(tally.collected, 1);
        roster_collect(roster, pid);
        CHECK_EQUAL(tally.collected, 1);
        close_loop();
}

static uint64_t cpu_usec, rss_kib;

static void keep_usage(void *userdata, pid_t pid, const RosterEntry *entry, const char *comm, Ended how) {
        (void)userdata, (void)pid, (void)entry, (void)comm;
        tally.collected++;
        cpu_usec = how.cpu_usec;
        rss_kib = how.max_rss_kib;
}

static void what_a_process_used_is_told(void) {
        open_loop();
        roster = roster_free(roster);
        CHECK_EQUAL(roster_new(&roster, event, keep_usage, NULL), 0);
        start(ROSTER_MAIN, 0,
              (char *const[]){ (char *)"/bin/sh", (char *)"-c",
                               (char *)"i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done", NULL });
        run_until_collected(1);
        CHECK(cpu_usec > 1000 && cpu_usec < 20 * USEC_PER_SEC);
        CHECK(rss_kib > 100 && rss_kib < 100000);
        close_loop();
}

int main(int argc, char **argv) {
        signals_block();
        CHECK_EQUAL(argc, 2);
        witness = argv[1];
        static const Case cases[] = {
                CASE(one_process_is_collected_when_it_is_asked_for),
                CASE(a_false_hint_harms_nothing),
                CASE(a_stop_is_told_once_and_neither_takes_nor_hides_the_end),
                CASE(what_a_process_used_is_told),
                CASE(thousands_of_deaths_behind_one_signal_are_collected_after_a_sigterm),
                CASE(a_long_sweep_lets_others_have_their_turn),
                CASE(twenty_thousand_orphans_leave_every_status_right),
        };
        return run_cases(cases, LENGTH_OF(cases));
}
