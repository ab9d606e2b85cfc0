/* child_steps.c - which step of a child failed, what is executed, and where the outputs go. */
#include "errand.h"
#include <signal.h>
#include <sys/stat.h>

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

static void a_refused_fork_or_pipe_leaves_nothing_behind(void) {
        pid_t helper = fork();
        if (helper == 0) {
                struct rlimit one = { 1, 1 }, few = { 3, 4096 };
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

int main(int argc, char **argv) {
        static const Case cases[] = {
                CASE(each_step_that_fails_is_named),
                CASE(a_script_without_its_first_line_is_run_by_the_shell),
                CASE(without_a_PATH_the_usual_one_is_searched),
                CASE(outputs_go_where_the_plan_says),
                CASE(an_output_may_be_our_own_descriptor_of_another_number),
                CASE(a_refused_fork_or_pipe_leaves_nothing_behind),
        };
        return run_errands(argc, argv, cases, LENGTH_OF(cases));
}
