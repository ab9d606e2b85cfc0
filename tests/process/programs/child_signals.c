/* child_signals.c - signals to children and to strangers: none is lost, none goes astray. */
#include "base/kin.h"
#include "errand.h"
#include "supervisor/signals.h"
#include <signal.h>
#include <sys/mman.h>
#include <time.h>

static volatile sig_atomic_t *handled;

static void count_signal(int number) {
        (void)number;
        (*handled)++;
}

static void wait_a_little(long microseconds) {
        struct timespec until, now;
        clock_gettime(CLOCK_MONOTONIC, &until);
        do
                clock_gettime(CLOCK_MONOTONIC, &now);
        while ((now.tv_sec - until.tv_sec) * 1000000 + (now.tv_nsec - until.tv_nsec) / 1000 < microseconds);
}

/* The waiting is the matter of the test here: the signal must meet every stage of the child's birth. */
static void a_signal_just_after_the_fork_is_never_lost_and_never_handled_by_us(void) {
        char *const argv[] = { (char *)"sleep", (char *)"1000", NULL };
        struct sigaction ours = { .sa_handler = count_signal }, old;
        handled = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        CHECK(handled != MAP_FAILED && sigaction(SIGTERM, &ours, &old) == 0);
        for (int i = 0; i < 500; i++) {
                ChildPlan plan = plan_of(argv);
                ChildFailure failure;
                int failure_fd;
                pid_t pid;
                siginfo_t info;
                plan.session = i % 3 == 0 ? CHILD_OWN_GROUP : CHILD_OWN_SESSION;
                CHECK_EQUAL(child_spawn(&plan, &pid, &failure_fd), 0);
                /* Most of a birth lasts less than a millisecond, so half of the signals go there. */
                wait_a_little(i % 2 ? i * 10 : i);
                CHECK_EQUAL(i % 4 < 2 ? child_signal(pid, SIGTERM) : child_signal_group(pid, SIGTERM), 0);
                CHECK(waitid(P_PID, (id_t)pid, &info, WEXITED) == 0);
                CHECK_EQUAL(info.si_code, CLD_KILLED);
                CHECK_EQUAL(info.si_status, SIGTERM);
                CHECK_EQUAL(child_read_failure(failure_fd, &failure), 0);
                close(failure_fd);
        }
        sigset_t pending;
        CHECK(sigpending(&pending) == 0 && !sigismember(&pending, SIGTERM));
        CHECK_EQUAL(*handled, 0);
        CHECK(sigaction(SIGTERM, &old, NULL) == 0);
}

static void nobody_signals_everybody_by_a_wrong_number(void) {
        const pid_t wrong[] = { -1, 0, 1, -77 };
        for (size_t i = 0; i < LENGTH_OF(wrong); i++) {
                CHECK_EQUAL(child_signal(wrong[i], SIGTERM), -EINVAL);
                CHECK_EQUAL(child_signal_group(wrong[i], SIGTERM), -EINVAL);
                CHECK_EQUAL(child_signal_stranger(wrong[i], 1, SIGTERM), -EINVAL);
        }
}

static void a_stranger_is_signalled_only_if_it_is_still_the_same(void) {
        char *const argv[] = { (char *)"sleep", (char *)"1000", NULL };
        ChildPlan plan = plan_of(argv);
        KinProcess process;
        ChildFailure failure;
        siginfo_t info;
        int failure_fd;
        pid_t pid;
        CHECK_EQUAL(child_spawn(&plan, &pid, &failure_fd), 0);
        CHECK_EQUAL(wait_for_exec(failure_fd, &failure), 0);
        CHECK_EQUAL(kin_read(pid, &process), 0);
        CHECK_EQUAL(child_signal_stranger(pid, process.start_ticks + 1, SIGKILL), -ESRCH);
        CHECK(kill(pid, 0) == 0);
        CHECK_EQUAL(child_signal_stranger(pid, process.start_ticks, SIGUSR1), 0);
        CHECK(waitid(P_PID, (id_t)pid, &info, WEXITED) == 0);
        CHECK_EQUAL(info.si_status, SIGUSR1);
        CHECK_EQUAL(child_signal_stranger(pid, process.start_ticks, SIGKILL), -ESRCH);
        CHECK_EQUAL(child_signal(pid, SIGKILL), -ESRCH);
        CHECK_EQUAL(child_signal_group(pid, SIGKILL), -ESRCH);
}

static void a_child_hears_of_its_parents_death(void) {
        char *const argv[] = { (char *)"sleep", (char *)"1000", NULL };
        siginfo_t info;
        for (int i = 0; i < 20; i++) {
                pid_t helper = fork();
                if (helper == 0) {
                        ChildPlan plan = plan_of(argv);
                        ChildFailure failure;
                        int failure_fd;
                        pid_t pid;
                        plan.parent_death_signal = SIGUSR2;
                        CHECK_EQUAL(child_spawn(&plan, &pid, &failure_fd), 0);
                        if (i % 2) /* else the parent dies before the child could ask to be told */
                                wait_for_exec(failure_fd, &failure);
                        _exit(0);
                }
                wait_for_helper(helper);
                CHECK(waitid(P_ALL, 0, &info, WEXITED) == 0);
                CHECK_EQUAL(info.si_code, CLD_KILLED);
                CHECK_EQUAL(info.si_status, SIGUSR2);
        }
}

int main(int argc, char **argv) {
        static const Case cases[] = {
                CASE(a_signal_just_after_the_fork_is_never_lost_and_never_handled_by_us),
                CASE(nobody_signals_everybody_by_a_wrong_number),
                CASE(a_stranger_is_signalled_only_if_it_is_still_the_same),
                CASE(a_child_hears_of_its_parents_death),
        };
        return run_errands(argc, argv, cases, LENGTH_OF(cases));
}
