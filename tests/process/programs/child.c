/* child.c - what a child finds, which step of it failed, and what a signal just after the fork does. */
#include "supervisor/child.h"
#include "base/take.h"
#include "check.h"
#include "supervisor/kin.h"
#include "supervisor/signals.h"
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

static const char *witness;
static char *const environment[] = { (char *)"PATH=/usr/bin:/bin", NULL };
static char directory[] = "/tmp/endwell-child-XXXXXX";

typedef struct Outcome {
        int spawned;  /* what child_spawn() said */
        int executed; /* what child_read_failure() said */
        ChildFailure failure;
        siginfo_t exit;
        char output[4096];
} Outcome;

static ChildPlan plan_of(char *const *argv) {
        return (ChildPlan){
                .argv = argv, .envp = environment, .output = CHILD_OUTPUT_INHERIT, .error = CHILD_OUTPUT_INHERIT
        };
}

static int wait_for_exec(int fd, ChildFailure *ret) {
        struct pollfd readable = { .fd = fd, .events = POLLIN };
        CHECK(poll(&readable, 1, 20000) == 1);
        int r = child_read_failure(fd, ret);
        close(fd);
        return r;
}

static void read_all(int fd, char *text, size_t size) {
        size_t n = 0;
        for (ssize_t r; (r = read(fd, text + n, size - 1 - n)) > 0;)
                n += (size_t)r;
        text[n] = '\0';
}

/* Runs the plan to its end; its output unless the plan has one. */
static Outcome run(ChildPlan plan, bool capture) {
        Outcome outcome = { 0 };
        int pipe_ends[2] = { -1, -1 }, failure_fd;
        pid_t pid;

        if (capture) {
                CHECK(pipe2(pipe_ends, O_CLOEXEC) == 0);
                plan.output.fd = pipe_ends[1];
        }
        outcome.spawned = child_spawn(&plan, &pid, &failure_fd);
        close_fd(pipe_ends[1]);
        if (outcome.spawned >= 0) {
                outcome.executed = wait_for_exec(failure_fd, &outcome.failure);
                if (capture)
                        read_all(pipe_ends[0], outcome.output, sizeof outcome.output);
                CHECK(waitid(P_PID, (id_t)pid, &outcome.exit, WEXITED) == 0);
        }
        close_fd(pipe_ends[0]);
        return outcome;
}

static Outcome report(ChildPlan plan) {
        plan.argv = (char *const[]){ (char *)witness, (char *)"report", NULL };
        Outcome outcome = run(plan, true);
        CHECK_EQUAL(outcome.executed, 0);
        CHECK_EQUAL(outcome.exit.si_status, 0);
        return outcome;
}

static long fact(const Outcome *outcome, const char *name) {
        const char *at = strstr(outcome->output, name);
        CHECK(at);
        return strtol(at + strlen(name), NULL, 10);
}

static void a_child_starts_with_empty_signal_sets(void) {
        struct {
                void (*handler)(int);
                unsigned long rest[7];
        } ignore = { .handler = SIG_IGN };
        /* 33 belongs to the libc, and whoever started us may still have ignored it. */
        for (int number = 1; number <= 64; number++)
                if (number != SIGCHLD)
                        syscall(SYS_rt_sigaction, number, &ignore, NULL, 8);
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

static void put_file(const char *path, const char *text, mode_t mode) {
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
        CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
        CHECK(fchmod(fd, mode) == 0);
        close(fd);
}

static void each_step_that_fails_is_named(void) {
        char *const good[] = { (char *)"true", NULL };
        const ChildOutput nowhere = { .fd = -1, .path = "/nowhere/log" }, folder = { .fd = -1, .path = "/" };
        put_file("norun", "#!/bin/sh\n", 0644);
        put_file("bad-interpreter", "#!/nowhere/sh\n", 0755);
        CHECK(mkdir("folder", 0755) == 0);
        char *const here[] = { (char *)"PATH=/nowhere:.:/usr/bin", NULL };
        const struct {
                const char *what, *program, *folder;
                ChildOutput output, error;
                ChildStep step;
                int number, status;
        } table[] = {
                { .what = "missing path",
                  .program = "/nowhere/x",
                  .step = CHILD_STEP_EXEC,
                  .number = ENOENT,
                  .status = 127 },
                { .what = "missing in PATH",
                  .program = "nowhere-x",
                  .step = CHILD_STEP_EXEC,
                  .number = ENOENT,
                  .status = 127 },
                { .what = "no name", .program = "", .step = CHILD_STEP_EXEC, .number = ENOENT, .status = 127 },
                { .what = "below a file",
                  .program = "./norun/x",
                  .step = CHILD_STEP_EXEC,
                  .number = ENOTDIR,
                  .status = 127 },
                { .what = "directory",
                  .program = "./folder",
                  .step = CHILD_STEP_EXEC,
                  .number = EACCES,
                  .status = 126 },
                { .what = "directory in PATH",
                  .program = "folder",
                  .step = CHILD_STEP_EXEC,
                  .number = EACCES,
                  .status = 126 },
                { .what = "no run bit",
                  .program = "./norun",
                  .step = CHILD_STEP_EXEC,
                  .number = EACCES,
                  .status = 126 },
                { .what = "no run bit in PATH",
                  .program = "norun",
                  .step = CHILD_STEP_EXEC,
                  .number = EACCES,
                  .status = 126 },
                { .what = "directory to start in",
                  .folder = "/nowhere",
                  .step = CHILD_STEP_DIRECTORY,
                  .number = ENOENT,
                  .status = 125 },
                { .what = "output", .output = nowhere, .step = CHILD_STEP_OUTPUT, .number = ENOENT, .status = 125 },
                { .what = "output is a directory",
                  .output = folder,
                  .step = CHILD_STEP_OUTPUT,
                  .number = EISDIR,
                  .status = 125 },
                { .what = "error output", .error = nowhere, .step = CHILD_STEP_ERROR, .number = ENOENT, .status = 125 },
        };
        for (size_t i = 0; i < LENGTH_OF(table); i++) {
                char *const argv[] = { (char *)table[i].program, NULL };
                ChildPlan plan = plan_of(table[i].program ? argv : good);
                plan.envp = here;
                plan.directory = table[i].folder;
                if (table[i].output.path)
                        plan.output = table[i].output;
                if (table[i].error.path)
                        plan.error = table[i].error;
                Outcome outcome = run(plan, false);
                printf("   %s\n", table[i].what);
                CHECK_EQUAL(outcome.executed, 1);
                CHECK_EQUAL(outcome.failure.step, table[i].step);
                CHECK_EQUAL(outcome.failure.error, table[i].number);
                CHECK_EQUAL(outcome.exit.si_code, CLD_EXITED);
                CHECK_EQUAL(outcome.exit.si_status, table[i].status);
        }
}

static void a_script_without_its_first_line_is_run_by_the_shell(void) {
        put_file("script", "echo \"$0 $1 $# $UID_OF\"\nexit 7\n", 0755);
        char *const argv[] = { (char *)"./script", (char *)"one", (char *)"two words", NULL };
        char *const envp[] = { (char *)"UID_OF=us", NULL };
        ChildPlan plan = plan_of(argv);
        plan.envp = envp;
        Outcome outcome = run(plan, true);
        CHECK_EQUAL(outcome.executed, 0);
        CHECK_EQUAL(outcome.exit.si_status, 7);
        CHECK(strcmp(outcome.output, "./script one 2 us\n") == 0);
}

static void without_a_PATH_the_usual_one_is_searched(void) {
        char *const argv[] = { (char *)"true", NULL }, *const envp[] = { NULL };
        ChildPlan plan = plan_of(argv);
        plan.envp = envp;
        Outcome outcome = run(plan, false);
        CHECK_EQUAL(outcome.executed, 0);
        CHECK_EQUAL(outcome.exit.si_status, 0);
}

static void outputs_go_where_the_plan_says(void) {
        char *const argv[] = { (char *)"sh", (char *)"-c", (char *)"echo out; echo err >&2", NULL };
        char text[256];
        ChildPlan plan = plan_of(argv);
        plan.output = (ChildOutput){ .fd = -1, .path = "both", .append = true };
        plan.error = plan.output;
        CHECK_EQUAL(run(plan, false).exit.si_status, 0);
        plan.output.append = plan.error.append = false; /* truncates, and the two streams share their offset */
        CHECK_EQUAL(run(plan, false).exit.si_status, 0);
        plan.output.append = true;
        plan.error = (ChildOutput){ .fd = -1, .null = true };
        CHECK_EQUAL(run(plan, false).exit.si_status, 0);
        int fd = open("both", O_RDONLY | O_CLOEXEC);
        read_all(fd, text, sizeof text);
        close(fd);
        CHECK(strcmp(text, "out\nerr\nout\n") == 0);
}

static void an_output_may_be_our_own_descriptor_of_another_number(void) {
        char *const argv[] = { (char *)"sh", (char *)"-c", (char *)"echo out; echo err >&2", NULL };
        int ends[2], saved[2] = { fcntl(1, F_DUPFD_CLOEXEC, 3), fcntl(2, F_DUPFD_CLOEXEC, 3) };
        char text[256];
        CHECK(pipe2(ends, O_CLOEXEC) == 0);
        CHECK(dup2(ends[1], 1) == 1 && dup2(saved[1], 2) == 2);
        ChildPlan plan = plan_of(argv);
        plan.output = (ChildOutput){ .fd = 2 }; /* crossed: 2 becomes 1, and 1 becomes 2 */
        plan.error = (ChildOutput){ .fd = 1 };
        CHECK_EQUAL(run(plan, false).exit.si_status, 0);
        CHECK(dup2(saved[0], 1) == 1);
        close(ends[1]);
        read_all(ends[0], text, sizeof text);
        CHECK(strcmp(text, "err\n") == 0);
        close(ends[0]);
        close(saved[0]);
        close(saved[1]);
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

static void wait_for_helper(pid_t pid) {
        int status;
        CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
        CHECK_EQUAL(WEXITSTATUS(status), 0);
}

static size_t count_descriptors(void) {
        size_t n = 0;
        for (int fd = 0; fd < 4096; fd++)
                n += fcntl(fd, F_GETFD) >= 0;
        return n;
}

static void a_refused_fork_or_pipe_leaves_nothing_behind(void) {
        pid_t helper = fork();
        if (helper == 0) {
                struct rlimit one = { 1, 1 }, few = { count_descriptors(), 4096 };
                char *const argv[] = { (char *)"true", NULL };
                size_t before = count_descriptors();
                /* As a real user with as many processes as allowed: root is not held by this limit. */
                CHECK(setresuid(65533, 65533, 65533) == 0 && setrlimit(RLIMIT_NPROC, &one) == 0);
                CHECK_EQUAL(run(plan_of(argv), false).spawned, -EAGAIN);
                CHECK_EQUAL(count_descriptors(), before);
                CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
                CHECK_EQUAL(run(plan_of(argv), false).spawned, -EMFILE);
                CHECK_EQUAL(count_descriptors(), before);
                _exit(0);
        }
        wait_for_helper(helper);
}

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

/* As in a sandbox of before 2019. From here on close_range(2) is gone for this process and its children. */
static void a_kernel_without_close_range_leaks_nothing(void) {
        struct sock_filter code[] = {
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 0, 1),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        struct sock_fprog program = { .len = LENGTH_OF(code), .filter = code };
        CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
        CHECK(syscall(SYS_close_range, 3000, 3001, 0) < 0);
        for (int fd = 3; fd < 250; fd++)
                CHECK(dup2(0, fd) == fd);
        Outcome outcome = report(plan_of(NULL));
        CHECK(strncmp(outcome.output, "fds 0 1 2\n", 10) == 0);
}

int main(int argc, char **argv) {
        signals_block();
        CHECK_EQUAL(argc, 2);
        witness = argv[1];
        CHECK(mkdtemp(directory) && chdir(directory) == 0);
        static const Case cases[] = {
                CASE(a_child_starts_with_empty_signal_sets),
                CASE(a_child_has_three_descriptors_and_no_more),
                CASE(a_child_has_a_session_or_a_group_of_its_own),
                CASE(a_foreground_child_gets_the_terminal),
                CASE(a_foreground_child_without_a_terminal_runs_all_the_same),
                CASE(a_child_has_the_descriptor_limit_that_we_were_given),
                CASE(a_child_starts_in_the_directory_of_the_plan),
                CASE(each_step_that_fails_is_named),
                CASE(a_script_without_its_first_line_is_run_by_the_shell),
                CASE(without_a_PATH_the_usual_one_is_searched),
                CASE(outputs_go_where_the_plan_says),
                CASE(an_output_may_be_our_own_descriptor_of_another_number),
                CASE(a_child_of_a_parent_without_descriptors_has_three),
                CASE(a_refused_fork_or_pipe_leaves_nothing_behind),
                CASE(a_signal_just_after_the_fork_is_never_lost_and_never_handled_by_us),
                CASE(nobody_signals_everybody_by_a_wrong_number),
                CASE(a_stranger_is_signalled_only_if_it_is_still_the_same),
                CASE(a_child_hears_of_its_parents_death),
                CASE(a_kernel_without_close_range_leaks_nothing),
        };
        int r = run_cases(cases, LENGTH_OF(cases));
        CHECK(chdir("/") == 0);
        char *const clean[] = { (char *)"rm", (char *)"-r", directory, NULL };
        CHECK_EQUAL(run(plan_of(clean), false).exit.si_status, 0);
        return r;
}
