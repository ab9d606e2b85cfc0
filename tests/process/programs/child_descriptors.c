/* child_descriptors.c - the descriptors that a child was promised, at the numbers that it was promised, and no others;
 * and the words in its environment that hold its pid. */
#include "errand.h"
#include "old_kernel.h"
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define FILES_MAX 1500

/* A file that says `text`, on the descriptor `fd`. */
static void open_file(int fd, const char *text) {
        int file = memfd_create("promised", MFD_CLOEXEC);
        CHECK(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text));
        if (file != fd)
                CHECK(dup3(file, fd, O_CLOEXEC) == fd && close(file) == 0);
}

static void open_numbered(int from, int to) {
        char text[16];
        for (int fd = from; fd < to; fd++) {
                snprintf(text, sizeof text, "%d.", fd);
                open_file(fd, text);
        }
}

static void close_numbered(int from, int to) {
        CHECK(syscall(SYS_close_range, from, to - 1, 0) == 0);
}

/* What the child reads at `targets`, one after another. */
static Outcome read_at(ChildPlan plan, const int *targets, size_t n) {
        static char paths[64][32];
        char *argv[66] = { (char *)"cat" };
        CHECK(n <= 64);
        for (size_t i = 0; i < n; i++) {
                snprintf(paths[i], sizeof paths[i], "/proc/self/fd/%d", targets[i]);
                argv[i + 1] = paths[i];
        }
        argv[n + 1] = NULL;
        plan.argv = argv;
        Outcome outcome = run(plan, true);
        CHECK_EQUAL(outcome.executed, 0);
        CHECK_EQUAL(outcome.exit.si_status, 0);
        return outcome;
}

/* Its descriptors are 0 to 2 and these, which are in order. */
static void must_have(ChildPlan plan, const int *targets, size_t n) {
        char wanted[4096] = "fds 0 1 2";
        for (size_t i = 0; i < n; i++)
                snprintf(wanted + strlen(wanted), sizeof wanted - strlen(wanted), " %d", targets[i]);
        strcat(wanted, "\n");
        Outcome outcome = report(plan);
        CHECK(strncmp(outcome.output, wanted, strlen(wanted)) == 0);
}

static ChildPlan plan_with(const ChildDescriptor *descriptors, size_t n) {
        ChildPlan plan = plan_of(NULL);
        plan.descriptors = descriptors;
        plan.n_descriptors = n;
        return plan;
}

static void two_may_change_places(void) {
        const ChildDescriptor crossed[] = { { 3, 4 }, { 4, 3 } };
        const int at[] = { 3, 4 };
        open_numbered(3, 5);
        CHECK(strcmp(read_at(plan_with(crossed, 2), at, 2).output, "4.3.") == 0);
        must_have(plan_with(crossed, 2), at, 2);
        close_numbered(3, 5);
}

static void one_may_stay_where_it_is_and_stand_elsewhere_too(void) {
        const ChildDescriptor twice[] = { { 5, 9 }, { 5, 5 }, { 5, 3 } };
        const int at[] = { 3, 5, 9 };
        open_numbered(3, 12);
        CHECK(strcmp(read_at(plan_with(twice, 3), at, 3).output, "5.5.5.") == 0);
        must_have(plan_with(twice, 3), at, 3);
        close_numbered(3, 12);
}

/* Whatever number the pipe has between fork and exec, one of the targets wants it. */
static void the_pipe_that_tells_of_failures_survives(void) {
        char *const argv[] = { (char *)"/nowhere/x", NULL };
        ChildDescriptor all[60];
        open_numbered(100, 160);
        for (int i = 0; i < 60; i++)
                all[i] = (ChildDescriptor){ 159 - i, 3 + i };
        ChildPlan plan = plan_with(all, 60);
        plan.argv = argv;
        Outcome outcome = run(plan, false);
        CHECK_EQUAL(outcome.executed, 1);
        CHECK_EQUAL(outcome.failure.step, CHILD_STEP_EXEC);
        CHECK_EQUAL(outcome.failure.error, ENOENT);
        close_numbered(100, 160);
}

static void the_outputs_stay_what_they_are(void) {
        char *const argv[] = { (char *)"sh", (char *)"-c", (char *)"echo out; echo err >&2; cat /proc/self/fd/3",
                               NULL };
        const ChildDescriptor one[] = { { 40, 3 } };
        char text[64];
        open_numbered(40, 41);
        ChildPlan plan = plan_with(one, 1);
        plan.argv = argv;
        plan.output = plan.error = (ChildOutput){ .fd = -1, .path = "both" };
        CHECK_EQUAL(run(plan, false).exit.si_status, 0);
        int fd = open("both", O_RDONLY | O_CLOEXEC);
        read_all(fd, text, sizeof text);
        close(fd);
        CHECK(strcmp(text, "out\nerr\n40.") == 0);
        close_numbered(40, 41);
}

static uint32_t seed = 20240607;

static int random_below(int n) {
        seed = seed * 1664525 + 1013904223;
        return (int)((seed >> 8) % (unsigned)n);
}

static int compare(const void *a, const void *b) {
        return *(const int *)a - *(const int *)b;
}

/* `files`: how many there are; with few, what is between fork and exec has its numbers among the targets. */
static void one_round(int files) {
        ChildDescriptor descriptors[20];
        int targets[20], sorted[20], n = 1 + random_below(20), most = 3 + n + random_below(30);
        char wanted[256] = "";
        for (int i = 0; i < n; i++) {
                for (bool taken = true; taken;) {
                        taken = false;
                        targets[i] = sorted[i] = 3 + random_below(most);
                        for (int j = 0; j < i; j++)
                                taken |= targets[j] == targets[i];
                }
                descriptors[i] = (ChildDescriptor){ 3 + random_below(files), targets[i] };
                snprintf(wanted + strlen(wanted), sizeof wanted - strlen(wanted), "%d.", descriptors[i].fd);
        }
        qsort(sorted, (size_t)n, sizeof *sorted, compare);
        ChildPlan plan = plan_with(descriptors, (size_t)n);
        CHECK(strcmp(read_at(plan, targets, (size_t)n).output, wanted) == 0);
        must_have(plan, sorted, (size_t)n);
}

static void any_may_go_anywhere(void) {
        for (int files = 5; files <= 50; files += 15) {
                open_numbered(3, 3 + files);
                for (int i = 0; i < 50; i++)
                        one_round(files);
                close_numbered(3, 3 + files);
        }
}

static void many_in_the_wrong_order_are_all_there(void) {
        static ChildDescriptor many[FILES_MAX];
        const int at[] = { 3, 4, FILES_MAX + 1, FILES_MAX + 2 };
        open_numbered(3, 3 + FILES_MAX);
        for (int i = 0; i < FILES_MAX; i++)
                many[i] = (ChildDescriptor){ 3 + i, FILES_MAX + 2 - i };
        CHECK(strcmp(read_at(plan_with(many, FILES_MAX), at, 4).output, "1502.1501.4.3.") == 0);
        close_numbered(3, 3 + FILES_MAX);
}

static void must_refuse(ChildDescriptor descriptor, int error) {
        char *const argv[] = { (char *)"true", NULL };
        ChildPlan plan = plan_with(&descriptor, 1);
        plan.argv = argv;
        Outcome outcome = run(plan, false);
        CHECK_EQUAL(outcome.executed, 1);
        CHECK_EQUAL(outcome.failure.step, CHILD_STEP_DESCRIPTORS);
        CHECK_EQUAL(outcome.failure.error, error);
        CHECK_EQUAL(outcome.exit.si_status, 125);
}

static void what_is_not_open_or_does_not_fit_is_refused_by_its_step(void) {
        struct rlimit limit;
        CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
        must_refuse((ChildDescriptor){ 77, 3 }, EBADF);
        must_refuse((ChildDescriptor){ 0, (int)limit.rlim_cur }, EINVAL);
}

static void a_child_knows_its_own_pid(void) {
        char first[] = "LISTEN_PID=" CHILD_PID_ROOM, second[] = "WATCHDOG_PID=" CHILD_PID_ROOM;
        char *const envp[] = { first, (char *)"BETWEEN=1", second, usual_environment[0], NULL };
        char *const argv[] = { (char *)"sh", (char *)"-c", (char *)"echo $$ $LISTEN_PID $WATCHDOG_PID $BETWEEN", NULL };
        ChildPlan plan = plan_of(argv);
        plan.envp = envp;
        plan.pid_words[0] = strchr(first, '=') + 1;
        plan.pid_words[1] = strchr(second, '=') + 1;
        long pid, listen, watchdog, between;
        Outcome outcome = run(plan, true);
        CHECK_EQUAL(sscanf(outcome.output, "%ld %ld %ld %ld", &pid, &listen, &watchdog, &between), 4);
        CHECK(pid > 1 && listen == pid && watchdog == pid && between == 1);
        CHECK(strcmp(first, "LISTEN_PID=" CHILD_PID_ROOM) == 0); /* ours is as it was: the next child finds its room */
}

/* From here on close_range(2) is gone for this process and its children. */
static void without_close_range_it_is_the_same(void) {
        open_numbered(3, 53);
        lose_close_range();
        for (int i = 0; i < 50; i++)
                one_round(50);
}

int main(int argc, char **argv) {
        static const Case cases[] = {
                CASE(two_may_change_places),
                CASE(one_may_stay_where_it_is_and_stand_elsewhere_too),
                CASE(the_pipe_that_tells_of_failures_survives),
                CASE(the_outputs_stay_what_they_are),
                CASE(any_may_go_anywhere),
                CASE(many_in_the_wrong_order_are_all_there),
                CASE(what_is_not_open_or_does_not_fit_is_refused_by_its_step),
                CASE(a_child_knows_its_own_pid),
                CASE(without_close_range_it_is_the_same),
        };
        return run_errands(argc, argv, cases, LENGTH_OF(cases));
}
