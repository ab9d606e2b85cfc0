/* errand.h - runs one child to its end and keeps all that can be known of it. */
#pragma once
#include "base/take.h"
#include "check.h"
#include "supervisor/child.h"
#include "supervisor/signals.h"
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>

static const char *witness; /* its path */
static char *usual_environment[] = { (char *)"PATH=/usr/bin:/bin", NULL };

typedef struct Outcome {
        int spawned;  /* what child_spawn() said */
        int executed; /* what child_read_failure() said */
        ChildFailure failure;
        siginfo_t exit;
        char output[4096];
} Outcome;

static inline ChildPlan plan_of(char *const *argv) {
        return (ChildPlan){ .argv = argv,
                            .envp = (char *const *)usual_environment,
                            .output = CHILD_OUTPUT_INHERIT,
                            .error = CHILD_OUTPUT_INHERIT };
}

static inline int wait_for_exec(int fd, ChildFailure *ret) {
        struct pollfd readable = { .fd = fd, .events = POLLIN };
        CHECK(poll(&readable, 1, 20000) == 1);
        int r = child_read_failure(fd, ret);
        close(fd);
        return r;
}

static inline void read_all(int fd, char *text, size_t size) {
        size_t n = 0;
        for (ssize_t r; (r = read(fd, text + n, size - 1 - n)) > 0;)
                n += (size_t)r;
        text[n] = '\0';
}

/* Runs the plan to its end; its output unless the plan has one. */
static inline Outcome run(ChildPlan plan, bool capture) {
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

static inline Outcome report(ChildPlan plan) {
        plan.argv = (char *const[]){ (char *)witness, (char *)"report", NULL };
        Outcome outcome = run(plan, true);
        CHECK_EQUAL(outcome.executed, 0);
        CHECK_EQUAL(outcome.exit.si_status, 0);
        return outcome;
}

static inline long fact(const Outcome *outcome, const char *name) {
        const char *at = strstr(outcome->output, name);
        CHECK(at);
        return strtol(at + strlen(name), NULL, 10);
}

static inline void wait_for_helper(pid_t pid) {
        int status;
        CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
        CHECK_EQUAL(WEXITSTATUS(status), 0);
}

static inline size_t count_descriptors(void) {
        size_t n = 0;
        for (int fd = 0; fd < 4096; fd++)
                n += fcntl(fd, F_GETFD) >= 0;
        return n;
}

/* Runs the cases as PID 1 would run them, in a directory that is made for them and removed after them. The witness is
 * the only argument. */
static inline int run_errands(int argc, char **argv, const Case *cases, size_t n) {
        char directory[] = "/tmp/endwell-child-XXXXXX";
        char *const clean[] = { (char *)"rm", (char *)"-r", directory, NULL };
        signals_block();
        CHECK_EQUAL(argc, 2);
        witness = argv[1];
        CHECK(mkdtemp(directory) && chdir(directory) == 0);
        int r = run_cases(cases, n);
        CHECK(chdir("/") == 0);
        CHECK_EQUAL(run(plan_of(clean), false).exit.si_status, 0);
        return r;
}
