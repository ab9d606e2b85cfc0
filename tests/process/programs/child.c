/* child.c - what a child finds: its signals, descriptors, session, limits and directory. */
#include "errand.h"
#include "old_kernel.h"
#include "supervisor/signals.h"
#include <signal.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static void a_child_starts_with_empty_signal_sets(void) {
        struct {
                void (*handler)(int);
                unsigned long rest[7];
        } ignore = { .handler = SIG_IGN };
        /* 33 belongs to the libc, and whoever started us may still have ignored it. */
        for (int number = 1; number <= 64; number++)
                if (number != SIGCHLD)
                        syscall(SYS_rt_sigaction, number, &ignore, NULL, 8);
        signals_block(); /* as main() does at once */
        char *argv[] = { (char *)"cat", (char *)"/proc/self/status", NULL };
        Outcome outcome = run(plan_of(argv), true);
        CHECK(strstr(outcome.output, "SigPnd:\t0000000000000000\n"));
        CHECK(strstr(outcome.output, "SigBlk:\t0000000000000000\n"));
        CHECK(strstr(outcome.output, "SigIgn:\t0000000000000000\n"));
        CHECK(strstr(outcome.output, "SigCgt:\t0000000000000000\n"));
}

static void a_child_has_three_descriptors_and_no_more(void) {
        for (int fd = 3; fd < 40; fd++) /* not close-on-exec: as a careless parent leaves them */
                CHECK(dup2(0, fd) == fd);
        CHECK(dup2(0, 999) == 999);
        Outcome outcome = report(plan_of(NULL));
        CHECK(strncmp(outcome.output, "fds 0 1 2\n", 10) == 0);
        for (int fd = 3; fd < 40; fd++)
                close(fd);
        close(999);
}

static void a_child_has_a_session_or_a_group_of_its_own(void) {
        Outcome outcome = report(plan_of(NULL));
        CHECK_EQUAL(fact(&outcome, "\nsid "), fact(&outcome, "\npid "));
        CHECK_EQUAL(fact(&outcome, "\npgid "), fact(&outcome, "\npid "));

        ChildPlan plan = plan_of(NULL);
        plan.session = CHILD_OWN_GROUP;
        outcome = report(plan);
        CHECK_EQUAL(fact(&outcome, "\npgid "), fact(&outcome, "\npid "));
        CHECK_EQUAL(fact(&outcome, "\nsid "), getsid(0));
}

static void a_foreground_child_gets_the_terminal(void) {
        int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), saved = fcntl(0, F_DUPFD_CLOEXEC, 3);
        CHECK(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
        CHECK(setsid() == 1);
        int terminal = open(ptsname(master), O_RDWR | O_CLOEXEC | O_NOCTTY);
        CHECK(terminal >= 0 && dup2(terminal, 0) == 0 && ioctl(0, TIOCSCTTY, 0) == 0);
        ChildPlan plan = plan_of(NULL);
        plan.session = CHILD_FOREGROUND;
        plan.inherit_input = true;
        Outcome outcome = report(plan);
        CHECK_EQUAL(fact(&outcome, "\nforeground "), fact(&outcome, "\npid "));
        CHECK_EQUAL(fact(&outcome, "\nsid "), 1);
        CHECK(dup2(saved, 0) == 0);
        close(saved);
        close(terminal);
        close(master);
}

static void a_foreground_child_without_a_terminal_runs_all_the_same(void) {
        ChildPlan plan = plan_of(NULL);
        plan.session = CHILD_FOREGROUND;
        Outcome outcome = report(plan);
        CHECK_EQUAL(fact(&outcome, "\npgid "), fact(&outcome, "\npid "));
}

static void a_child_has_the_descriptor_limit_that_we_were_given(void) {
        struct rlimit limit;
        CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
        limit.rlim_cur = 256;
        CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
        child_setup_limits();
        CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
        CHECK_EQUAL(limit.rlim_cur, limit.rlim_max);
        Outcome outcome = report(plan_of(NULL));
        CHECK_EQUAL(fact(&outcome, "\nnofile "), 256);
}

static void a_child_starts_in_the_directory_of_the_plan(void) {
        ChildPlan plan = plan_of(NULL);
        plan.directory = "/usr";
        CHECK(strstr(report(plan).output, "\ncwd /usr\n"));
}

static void a_child_of_a_parent_without_descriptors_has_three(void) {
        int saved[3];
        for (int i = 0; i < 3; i++) {
                saved[i] = fcntl(i, F_DUPFD_CLOEXEC, 100);
                close(i);
        }
        ChildPlan plan = plan_of(NULL);
        plan.inherit_input = true;
        Outcome outcome = report(plan);
        for (int i = 0; i < 3; i++) {
                dup2(saved[i], i);
                close(saved[i]);
        }
        CHECK(strncmp(outcome.output, "fds 0 1 2\n", 10) == 0);
}

/* As in a sandbox of before 2019. From here on close_range(2) is gone for this process and its children. */
static void a_kernel_without_close_range_leaks_nothing(void) {
        lose_close_range();
        for (int fd = 3; fd < 250; fd++)
                CHECK(dup2(0, fd) == fd);
        Outcome outcome = report(plan_of(NULL));
        CHECK(strncmp(outcome.output, "fds 0 1 2\n", 10) == 0);
}

int main(int argc, char **argv) {
        static const Case cases[] = {
                CASE(a_child_starts_with_empty_signal_sets),
                CASE(a_child_has_three_descriptors_and_no_more),
                CASE(a_child_has_a_session_or_a_group_of_its_own),
                CASE(a_foreground_child_gets_the_terminal),
                CASE(a_foreground_child_without_a_terminal_runs_all_the_same),
                CASE(a_child_has_the_descriptor_limit_that_we_were_given),
                CASE(a_child_starts_in_the_directory_of_the_plan),
                CASE(a_child_of_a_parent_without_descriptors_has_three),
                CASE(a_kernel_without_close_range_leaks_nothing),
        };
        return run_errands(argc, argv, cases, LENGTH_OF(cases));
}
