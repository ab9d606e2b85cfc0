/* kin.c - descendants are found wherever they hide, and a missing or closed /proc is answered, not crashed upon. */
#include "base/kin.h"
#include "base/take.h"
#include "check.h"
#include "supervisor/child.h"
#include "supervisor/signals.h"
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define OWNER "0123abcd-0000-4000-8000-00000000beef"

static const char *witness;

/* A running witness, and what it wrote so far. */
static pid_t start(char *const *argv, char *const *envp, FILE **ret_output) {
        ChildPlan plan = { .argv = argv, .envp = envp, .error = CHILD_OUTPUT_INHERIT };
        int ends[2], failure_fd;
        pid_t pid;
        CHECK(pipe(ends) == 0);
        plan.output.fd = ends[1];
        CHECK_EQUAL(child_spawn(&plan, &pid, &failure_fd), 0);
        close(failure_fd);
        close(ends[1]);
        *ret_output = fdopen(ends[0], "r");
        CHECK(*ret_output);
        return pid;
}

static void wait_ready(FILE *output) {
        char line[64];
        CHECK(fgets(line, sizeof line, output) && strcmp(line, "ready\n") == 0);
        fclose(output);
}

static void end_all(void) {
        CHECK(kill(-1, SIGKILL) == 0);
        while (waitpid(-1, NULL, 0) > 0)
                ;
}

typedef struct Tree {
        pid_t root, plain, own_session, double_forked, of_thread;
} Tree;

static Tree start_tree(char *const *envp) {
        FILE *output;
        Tree tree = { 0 };
        tree.root = start((char *const[]){ (char *)witness, (char *)"tree", NULL }, envp, &output);
        for (int i = 0; i < 4; i++) {
                char letter;
                int pid;
                CHECK_EQUAL(fscanf(output, " %c %d", &letter, &pid), 2);
                if (letter == 'p')
                        tree.plain = pid;
                else if (letter == 's')
                        tree.own_session = pid;
                else if (letter == 'd')
                        tree.double_forked = pid;
                else if (letter == 't')
                        tree.of_thread = pid;
        }
        fclose(output);
        CHECK(tree.plain && tree.own_session && tree.double_forked && tree.of_thread);
        return tree;
}

typedef struct Found {
        size_t n;
        KinProcess list[1000];
} Found;

static Found found;

static int take(void *userdata, const KinProcess *process) {
        (void)userdata;
        CHECK(found.n < LENGTH_OF(found.list));
        found.list[found.n++] = *process;
        return 0;
}

static const KinProcess *find(pid_t pid) {
        for (size_t i = 0; i < found.n; i++)
                if (found.list[i].pid == pid)
                        return &found.list[i];
        return NULL;
}

typedef int Descendants(pid_t root, size_t most, int (*each)(void *userdata, const KinProcess *process),
                        void *userdata);
static Descendants *const ways[] = { kin_descendants, kin_descendants_by_scan };

static void the_tree_of_a_service_is_found_by_lists_and_by_scan(void) {
        Tree tree = start_tree((char *const[]){ NULL });
        for (size_t i = 0; i < LENGTH_OF(ways); i++) {
                found.n = 0;
                CHECK_EQUAL(ways[i](tree.root, 1000, take, NULL), 0);
                CHECK_EQUAL(found.n, 3); /* the double-forked one is ours now */
                CHECK(find(tree.plain) && find(tree.own_session) && find(tree.of_thread));
                CHECK_EQUAL(find(tree.plain)->session, tree.root);
                CHECK_EQUAL(find(tree.own_session)->session, tree.own_session);
                CHECK_EQUAL(find(tree.of_thread)->parent, tree.root);
                found.n = 0;
                CHECK_EQUAL(ways[i](getpid(), 1000, take, NULL), 0);
                CHECK_EQUAL(found.n, 5);
                CHECK_EQUAL(found.list[0].pid, tree.root); /* parents first */
                CHECK_EQUAL(find(tree.double_forked)->session, tree.root);
        }
        CHECK(kin_is_below(tree.of_thread, tree.root) && kin_is_below(tree.root, tree.root));
        CHECK(kin_is_below(tree.double_forked, getpid()) && !kin_is_below(tree.double_forked, tree.root));
        CHECK(!kin_is_below(tree.root, tree.plain) && !kin_is_below(30000, tree.root) && !kin_is_below(0, tree.root));
        end_all();
}

static int stop_at_second(void *userdata, const KinProcess *process) {
        (void)process;
        return ++*(int *)userdata == 2 ? 77 : 0;
}

static void a_walk_is_bounded_and_can_be_stopped(void) {
        FILE *output;
        pid_t root = start((char *const[]){ (char *)witness, (char *)"children", (char *)"100", NULL }, NULL, &output);
        wait_ready(output);
        for (size_t i = 0; i < LENGTH_OF(ways); i++) {
                int n = 0;
                found.n = 0;
                CHECK_EQUAL(ways[i](root, 7, take, NULL), 0);
                CHECK_EQUAL(found.n, 7);
                CHECK_EQUAL(ways[i](root, 0, take, NULL), 0);
                CHECK_EQUAL(found.n, 7);
                CHECK_EQUAL(ways[i](root, 1000, stop_at_second, &n), 77);
                CHECK_EQUAL(n, 2);
                CHECK_EQUAL(ways[i](30000, 7, take, NULL), -ESRCH);
        }
        end_all();
}

static void the_dead_are_not_told_as_living(void) {
        siginfo_t info;
        FILE *output;
        KinProcess process;
        Tree tree = start_tree((char *const[]){ NULL });
        pid_t dead = start((char *const[]){ (char *)"/bin/true", NULL }, NULL, &output);
        fclose(output);
        CHECK(waitid(P_PID, (id_t)dead, &info, WEXITED | WNOWAIT) == 0);
        CHECK_EQUAL(kin_read(dead, &process), 0);
        CHECK(process.state == 'Z' && !kin_is_living(&process));
        for (size_t i = 0; i < LENGTH_OF(ways); i++) {
                found.n = 0;
                CHECK_EQUAL(ways[i](getpid(), 1000, take, NULL), 0);
                CHECK(!find(dead) && find(tree.root));
        }
        end_all();
}

static pid_t children[1000];
static size_t n_children;

static int take_child(void *userdata, pid_t pid) {
        (void)userdata;
        CHECK(n_children < LENGTH_OF(children));
        children[n_children++] = pid;
        return 0;
}

/* Their numbers fill several pieces of the list, and some stand across a border. */
static void five_hundred_children_are_listed_each_once(void) {
        enum { N = 500 };
        pid_t expected[N];
        int (*const lists[])(int (*)(void *, pid_t), void *) = { kin_children, kin_children_by_scan };
        for (int i = 0; i < N; i++) {
                expected[i] = fork();
                if (expected[i] == 0) {
                        sigset_t all;
                        sigfillset(&all);
                        sigwaitinfo(&all, NULL);
                        _exit(0);
                }
        }
        for (size_t i = 0; i < LENGTH_OF(lists); i++) {
                n_children = 0;
                CHECK_EQUAL(lists[i](take_child, NULL), 0);
                CHECK_EQUAL(n_children, N);
                CHECK(memcmp(children, expected, sizeof expected) == 0); /* pids grow here, so both orders are one */
        }
        end_all();
        n_children = 0;
        CHECK_EQUAL(kin_children(take_child, NULL), 0);
        CHECK_EQUAL(kin_children_by_scan(take_child, NULL), 0);
        CHECK_EQUAL(n_children, 0);
}

static void a_name_full_of_traps_is_read(void) {
        const char *const names[][2] = {
                { "a) R 1 1 1 (b", "a) R 1 1 1 (b" },
                { "((((", "((((" },
                { "))))", "))))" },
                { " ", " " },
                { ") Z 0 0 0 0 0 0", ") Z 0 0 0 0 0 0" },
                { "\033[31mred", "?[31mred" },
                { "grün", "grün" },
        };
        for (size_t i = 0; i < LENGTH_OF(names); i++) {
                FILE *output;
                KinProcess process;
                pid_t pid = start((char *const[]){ (char *)witness, (char *)"named", (char *)names[i][0], NULL }, NULL,
                                  &output);
                wait_ready(output);
                CHECK_EQUAL(kin_read(pid, &process), 0);
                CHECK_EQUAL(process.pid, pid);
                CHECK_EQUAL(process.parent, 1);
                CHECK_EQUAL(process.session, pid);
                CHECK_EQUAL(process.threads, 1);
                CHECK(kin_is_living(&process) && process.start_ticks > 0);
                CHECK(strcmp(process.comm, names[i][1]) == 0);
                end_all();
        }
        /* Some kernels write a line break as it is, some as backslash and n. */
        FILE *output;
        KinProcess process;
        pid_t pid =
                start((char *const[]){ (char *)witness, (char *)"named", (char *)"line\nbreak", NULL }, NULL, &output);
        wait_ready(output);
        CHECK_EQUAL(kin_read(pid, &process), 0);
        CHECK(process.parent == 1 && (!strcmp(process.comm, "line?break") || !strcmp(process.comm, "line\\nbreak")));
        end_all();
}

static void an_owner_is_found_in_the_environment(void) {
        static char long_owner[] = "ENDWELL_OWNER=0123abcd-0000-4000-8000-00000000beefff";
        static char big[200000];
        memset(big, 'x', sizeof big - 1);
        memcpy(big, "BIG=ENDWELL_OWNER=", 18);
        static const struct {
                char *environment[4];
                int answer;
        } table[] = {
                { { (char *)"ENDWELL_OWNER=" OWNER }, 0 },
                { { (char *)"A=ENDWELL_OWNER=no", (char *)"XENDWELL_OWNER=no", (char *)"ENDWELL_OWNER=" OWNER }, 0 },
                { { (char *)"ENDWELL_OWNERS=no", (char *)"ENDWELL_OWNER" }, -ENOENT },
                { { NULL }, -ENOENT },
                { { long_owner }, -EBADMSG },
        };
        char owner[37];
        FILE *output;
        char *const argv[] = { (char *)witness, (char *)"children", (char *)"0", NULL };
        for (size_t i = 0; i < LENGTH_OF(table); i++) {
                pid_t pid = start(argv, table[i].environment, &output);
                wait_ready(output);
                strcpy(owner, "untouched");
                CHECK_EQUAL(kin_owner(pid, owner), table[i].answer);
                CHECK(strcmp(owner, table[i].answer == 0 ? OWNER : "untouched") == 0);
                end_all();
        }
        char *split[12]; /* one string may have 128 KiB; the wanted one lies far behind, across pieces of any size */
        for (int shift = 0; shift < 40; shift += 13) {
                big[100000 + shift] = '\0';
                for (int i = 0; i < 10; i++)
                        split[i] = big;
                split[10] = (char *)"ENDWELL_OWNER=" OWNER;
                split[11] = NULL;
                pid_t pid = start(argv, split, &output);
                wait_ready(output);
                CHECK_EQUAL(kin_owner(pid, owner), 0);
                CHECK(strcmp(owner, OWNER) == 0);
                end_all();
                big[100000 + shift] = 'x';
        }
        CHECK_EQUAL(kin_owner(30000, owner), -ESRCH);
}

static void wait_for_helper(pid_t pid) {
        int status;
        CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
        CHECK_EQUAL(WEXITSTATUS(status), 0);
}

static void what_is_closed_to_us_is_an_answer(void) {
        FILE *output;
        pid_t hidden = start((char *const[]){ (char *)witness, (char *)"children", (char *)"0", NULL }, NULL, &output);
        wait_ready(output);
        CHECK(mount("proc", "/proc", "proc", MS_REMOUNT, "hidepid=2") == 0);
        pid_t helper = fork();
        if (helper == 0) {
                KinProcess process;
                char owner[37];
                CHECK(setresgid(65533, 65533, 65533) == 0 && setresuid(65533, 65533, 65533) == 0);
                CHECK_EQUAL(kin_read(1, &process), -ESRCH);
                CHECK_EQUAL(kin_read(getpid(), &process), 0);
                CHECK_EQUAL(kin_owner(1, owner), -ESRCH);
                CHECK(kin_is_below(getpid(), 1) && !kin_is_below(hidden, 1)); /* what cannot be seen is not said */
                _exit(0);
        }
        wait_for_helper(helper);
        CHECK(mount("proc", "/proc", "proc", MS_REMOUNT, "hidepid=0") == 0);
        helper = fork();
        if (helper == 0) {
                char owner[37];
                CHECK(setresgid(65533, 65533, 65533) == 0 && setresuid(65533, 65533, 65533) == 0);
                CHECK_EQUAL(kin_owner(1, owner), -EACCES);
                _exit(0);
        }
        wait_for_helper(helper);
        end_all();
}

static void without_proc_there_are_errors_and_not_no_children(void) {
        FILE *output;
        pid_t pid = start((char *const[]){ (char *)witness, (char *)"children", (char *)"1", NULL }, NULL, &output);
        KinProcess process;
        char owner[37];
        wait_ready(output);
        CHECK(mount("tmpfs", "/proc", "tmpfs", 0, NULL) == 0);
        n_children = found.n = 0;
        CHECK_EQUAL(kin_read(pid, &process), -ENOENT);
        CHECK_EQUAL(kin_children(take_child, NULL), -ENOENT);
        CHECK_EQUAL(kin_descendants(1, 1000, take, NULL), -ENOENT);
        CHECK(kin_owner(pid, owner) < 0);
        CHECK(!kin_is_below(pid, 1));
        CHECK_EQUAL(n_children + found.n, 0);
        /* A process that is no child can then not be told from another of its number, so it is left alone. */
        CHECK_EQUAL(child_signal_stranger(pid, 1, SIGKILL), -ENOENT);
        CHECK(umount("/proc") == 0);
        end_all();
}

int main(int argc, char **argv) {
        signals_block();
        CHECK_EQUAL(argc, 2);
        witness = argv[1];
        static const Case cases[] = {
                CASE(the_tree_of_a_service_is_found_by_lists_and_by_scan),
                CASE(a_walk_is_bounded_and_can_be_stopped),
                CASE(the_dead_are_not_told_as_living),
                CASE(five_hundred_children_are_listed_each_once),
                CASE(a_name_full_of_traps_is_read),
                CASE(an_owner_is_found_in_the_environment),
                CASE(what_is_closed_to_us_is_an_answer),
                CASE(without_proc_there_are_errors_and_not_no_children),
        };
        return run_cases(cases, LENGTH_OF(cases));
}
