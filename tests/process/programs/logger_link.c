/* logger_link.c - PID 1's side of the logger with the real logger: streams, marks, crashes, the journal, giving up. */
#include "supervisor/logger_link.h"
#include "base/complaints.h"
#include "base/take.h"
#include "check.h"
#include "supervisor/child.h"
#include "supervisor/roster.h"
#include "supervisor/signals.h"
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/stat.h>

#define PATIENCE_USEC (30 * USEC_PER_SEC)
#define MARKS_MAX     64
#define SERVICES_MAX  16

typedef struct Mark {
        uint32_t member;
        char hook[41];
        pid_t pid;
} Mark;

static struct {
        const char *logger;
        char directory[64];
        sd_event *event;
        Signals *signals;
        Roster *roster;
        Archive *archive;
        Config *config;
        LoggerLink *link;
        Mark marks[MARKS_MAX];
        unsigned n_marks, settled, spawned, logger_exits;
        Ended logger_end;
        pid_t services[SERVICES_MAX]; /* 0: collected */
        Ended service_end;
        char said[8192];
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
        if (entry && entry->kind == ROSTER_HELPER) {
                CHECK_EQUAL(pid, logger_link_pid(world.link));
                world.logger_exits++;
                world.logger_end = how;
                logger_link_on_exited(world.link, how);
                return;
        }
        for (unsigned i = 0; i < SERVICES_MAX; i++)
                if (world.services[i] == pid) {
                        world.services[i] = 0;
                        world.service_end = how;
                }
}

static void on_spawned(void *userdata, pid_t pid) {
        RosterEntry entry = { .pid = pid, .kind = ROSTER_HELPER };
        (void)userdata;
        CHECK_EQUAL(roster_add(world.roster, &entry), 0);
        world.spawned++;
}

static void on_marked(void *userdata, uint32_t member, const char *hook, pid_t pid) {
        (void)userdata;
        CHECK(world.n_marks < MARKS_MAX);
        Mark *mark = &world.marks[world.n_marks++];
        *mark = (Mark){ .member = member, .pid = pid };
        snprintf(mark->hook, sizeof mark->hook, "%s", hook);
}

static void on_settled(void *userdata) {
        (void)userdata;
        world.settled++;
}

static void on_say(void *userdata, LogLevel level, const char *sentence) {
        size_t length = strlen(world.said);
        (void)userdata, (void)level;
        snprintf(world.said + length, sizeof world.said - length, "%s\n", sentence);
}

static char *path_of(const char *name) {
        static char paths[4][PATH_MAX];
        static unsigned next;
        char *path = paths[next++ % 4];
        snprintf(path, PATH_MAX, "%s/%s", world.directory, name);
        return path;
}

static void load_config(const char *output, const char *error) {
        char *path = path_of("endwell.ini");
        Complaints *complaints = NULL;
        FILE *file = fopen(path, "we");

        CHECK(file);
        fprintf(file,
                "[Service web]\nExecStart=/bin/true\nInstances=2\nStandardOutput=%s\nStandardError=%s\n"
                "[Service quiet]\nExecStart=/bin/true\n"
                "[Hook flushed]\nService=web\nLogPattern=^flushed [0-9]+$$\n"
                "[Hook bye]\nService=web\nLogPattern=bye\n",
                output, error);
        CHECK(fclose(file) == 0);
        CHECK_EQUAL(complaints_new(&complaints), 0);
        int r = config_load(path, NULL, complaints, &world.config);
        complaints_print(complaints, stderr);
        CHECK_EQUAL(r, 0);
        complaints_free(complaints);
}

static void begin(const char *program, const char *output, const char *error, const char *journal_name) {
        static char journal_path[PATH_MAX];
        const char *journal = journal_name ? strcpy(journal_path, path_of(journal_name)) : NULL;
        ArchivePlan archive = { .path = journal, .max_size = 1 << 20, .through_logger = true };

        memset(world.marks, 0, sizeof world.marks);
        world.n_marks = world.settled = world.spawned = world.logger_exits = 0;
        world.said[0] = '\0';
        load_config(output, error);
        CHECK(sd_event_new(&world.event) >= 0);
        CHECK_EQUAL(signals_new(&world.signals, world.event, on_signal, NULL), 0);
        CHECK_EQUAL(roster_new(&world.roster, world.event, on_collected, NULL), 0);
        CHECK_EQUAL(archive_new(&world.archive, &archive), 0);
        LoggerPlan plan = { .program = program ? program : world.logger,
                            .environment = environment,
                            .config = world.config,
                            .archive = world.archive,
                            .journal_path = journal,
                            .journal_max_size = 1 << 20,
                            .spawned = on_spawned,
                            .marked = on_marked,
                            .settled = on_settled,
                            .say = on_say };
        CHECK_EQUAL(logger_link_new(&world.link, world.event, &plan), 0);
}

static void turn(void) {
        CHECK(sd_event_run(world.event, PATIENCE_USEC) > 0);
}

/* Ends the logger as an ending does. */
static void end(void) {
        if (logger_link_finish(world.link))
                while (logger_link_pid(world.link) != 0)
                        turn();
        world.link = logger_link_free(world.link);
        world.archive = archive_free(world.archive);
        world.roster = roster_free(world.roster);
        world.signals = signals_free(world.signals);
        world.event = sd_event_unref(world.event);
        world.config = config_free(world.config);
}

/* ---- What happens in it ---- */

static pid_t start_service(uint32_t member, const char *shell) {
        char *argv[] = { (char *)"/bin/sh", (char *)"-c", (char *)shell, NULL };
        int fds[2], failure_fd;
        pid_t pid;

        CHECK_EQUAL(logger_link_open(world.link, member, 0, member + 1, fds), 0);
        ChildPlan plan = { .argv = argv, .envp = environment, .output = { .fd = fds[0] }, .error = { .fd = fds[1] } };
        CHECK_EQUAL(child_spawn(&plan, &pid, &failure_fd), 0);
        close_fd(failure_fd);
        close_fd(fds[0]);
        close_fd(fds[1]);
        logger_link_started(world.link, member, pid);
        RosterEntry entry = { .pid = pid, .kind = ROSTER_MAIN, .owner = member };
        CHECK_EQUAL(roster_add(world.roster, &entry), 0);
        for (unsigned i = 0; i < SERVICES_MAX; i++)
                if (world.services[i] == 0) {
                        world.services[i] = pid;
                        return pid;
                }
        CHECK(!"room for a service");
        return 0;
}

static bool service_lives(pid_t pid) {
        for (unsigned i = 0; i < SERVICES_MAX; i++)
                if (world.services[i] == pid)
                        return true;
        return false;
}

static void wait_for_service(pid_t pid) {
        while (service_lives(pid))
                turn();
}

/* False: every stream has ended already, and said so after its last mark. */
static void settle(void) {
        unsigned before = world.settled;
        if (logger_link_settle(world.link))
                while (world.settled == before)
                        turn();
}

static void kill_logger(void) {
        unsigned before = world.logger_exits;
        CHECK_EQUAL(child_signal(logger_link_pid(world.link), SIGKILL), 0);
        while (world.logger_exits == before)
                turn();
}

static char *contents(const char *path) {
        static char text[1 << 20];
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        CHECK(fd >= 0);
        ssize_t n = read(fd, text, sizeof text - 1);
        CHECK(n >= 0);
        close_fd(fd);
        text[n] = '\0';
        return text;
}

static void append_lines(uint64_t first, uint64_t last) {
        char line[256];
        for (uint64_t seq = first; seq <= last; seq++) {
                int n = snprintf(line, sizeof line, "{\"seq\":%llu,\"event\":\"x\"}\n", (unsigned long long)seq);
                archive_append(world.archive, seq, line, (size_t)n);
        }
        logger_link_pump(world.link);
}

static void check_lines(const char *path, uint64_t last) {
        char *at = contents(path);
        for (uint64_t seq = 1; seq <= last; seq++) {
                char *end_of_number;
                CHECK(strncmp(at, "{\"seq\":", 7) == 0);
                CHECK_EQUAL(strtoull(at + 7, &end_of_number, 10), seq);
                at = strchr(end_of_number, '\n');
                CHECK(at);
                at++;
        }
        CHECK_EQUAL(*at, '\0');
}

static char *append_to(const char *name) {
        static char outputs[2][PATH_MAX];
        static unsigned next;
        char *output = outputs[next++ % 2];
        unlink(path_of(name));
        snprintf(output, PATH_MAX, "append:%s", path_of(name));
        return output;
}

/* ---- The cases ---- */

static void output_arrives_unchanged_and_a_mark_names_the_process(void) {
        begin(NULL, append_to("out"), append_to("err"), NULL);
        CHECK(logger_link_watches(world.config, 0));
        CHECK(!logger_link_watches(world.config, 1));
        pid_t pid = start_service(1, "echo flushed 12; echo oops >&2; printf 'a\\000b\\n'; printf bye");
        wait_for_service(pid);
        settle();
        CHECK(memcmp(contents(path_of("out")), "flushed 12\na\0b\nbye", 18) == 0);
        CHECK(strcmp(contents(path_of("err")), "oops\n") == 0);
        CHECK_EQUAL(world.n_marks, 2);
        CHECK(strcmp(world.marks[0].hook, "flushed") == 0 && strcmp(world.marks[1].hook, "bye") == 0);
        for (unsigned i = 0; i < 2; i++) {
                CHECK_EQUAL(world.marks[i].member, 1);
                CHECK_EQUAL(world.marks[i].pid, pid);
        }
        end();
        CHECK(strcmp(world.said, "") == 0);
        CHECK_EQUAL(world.logger_end.status, 0);
}

static void two_outputs_of_one_file_keep_their_order(void) {
        char *output = append_to("both");
        begin(NULL, output, output, NULL);
        wait_for_service(start_service(0, "i=0; while [ $i -lt 300 ]; do echo $i; echo $i >&2; i=$((i+1)); done"));
        settle();
        const char *at = contents(path_of("both"));
        for (int i = 0; i < 600; i++) {
                char *next;
                CHECK_EQUAL(strtol(at, &next, 10), i / 2);
                at = next + 1;
        }
        end();
}

static void inherited_output_goes_where_ours_goes(void) {
        int ends[2], saved = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
        char text[64];

        CHECK(pipe2(ends, O_CLOEXEC) == 0 && dup2(ends[1], STDOUT_FILENO) == STDOUT_FILENO);
        begin(NULL, "inherit", append_to("err"), NULL);
        wait_for_service(start_service(0, "echo through"));
        settle();
        CHECK(dup2(saved, STDOUT_FILENO) == STDOUT_FILENO);
        CHECK_EQUAL(read(ends[0], text, sizeof text), 8);
        CHECK(memcmp(text, "through\n", 8) == 0);
        CHECK_EQUAL(fcntl(ends[1], F_GETFL) & O_NONBLOCK, 0);
        end();
        close_fd(saved);
        close_fd(ends[0]);
        close_fd(ends[1]);
}

static void stopped_then_killed_it_is_replaced_and_every_line_arrives(void) {
        char expected[64 * 1024];
        size_t n = 0;

        begin(NULL, append_to("out"), "null", NULL);
        wait_for_service(start_service(0, "echo first"));
        settle();
        CHECK_EQUAL(child_signal(logger_link_pid(world.link), SIGSTOP), 0); /* it reads nothing from now on */
        pid_t pid = start_service(0, "i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); done; echo bye");
        wait_for_service(pid); /* all of it is in the pipe: nobody reads */
        CHECK_EQUAL(world.service_end.status, 0);
        kill_logger();
        while (world.n_marks == 0)
                turn();
        CHECK_EQUAL(world.marks[0].pid, pid);
        n += (size_t)snprintf(expected, sizeof expected, "first\n");
        for (int i = 0; i < 3000; i++)
                n += (size_t)snprintf(expected + n, sizeof expected - n, "line %d\n", i);
        snprintf(expected + n, sizeof expected - n, "bye\n");
        CHECK(strcmp(contents(path_of("out")), expected) == 0);
        CHECK_EQUAL(world.spawned, 2);
        CHECK(strstr(world.said, "the logger was killed by SIGKILL"));
        end();
}

static void a_logger_that_cannot_live_is_given_up_and_blocks_nobody(void) {
        int fds[2];

        begin("/bin/false", append_to("out"), "null", NULL);
        pid_t pid = start_service(0, "head -c 3000000 /dev/zero; exit 7");
        wait_for_service(pid); /* blocks on the full pipe until the logger is given up */
        CHECK_EQUAL(world.service_end.code, CLD_EXITED);
        CHECK_EQUAL(world.service_end.status, 7);
        CHECK_EQUAL(world.spawned, LOGGER_FAILURES_MAX);
        CHECK(strstr(world.said, "given up after 5 failures"));
        CHECK_EQUAL(logger_link_open(world.link, 0, 0, 1, fds), -ENOTCONN);
        CHECK(!logger_link_settle(world.link));
        logger_link_reopen(world.link); /* a person has repaired it */
        CHECK_EQUAL(world.spawned, LOGGER_FAILURES_MAX + 1);
        end();
}

static void a_missing_program_is_said_with_its_name(void) {
        begin("/nonexistent/endwell-logger", append_to("out"), "null", NULL);
        while (world.logger_exits == 0)
                turn();
        CHECK(strstr(world.said, "/nonexistent/endwell-logger could not be started (exec): No such file or directory"));
        end();
}

static void the_journal_is_whole_and_in_order_after_a_crash(void) {
        char journal[PATH_MAX];

        strcpy(journal, path_of("journal"));
        begin(NULL, append_to("out"), "null", "journal");
        append_lines(1, 400);
        while (access(journal, F_OK) < 0 || strlen(contents(journal)) == 0)
                turn();
        kill_logger();
        append_lines(401, 800);
        while (world.spawned < 2)
                turn();
        append_lines(801, 1200);
        end();
        CHECK_EQUAL(world.logger_end.code, CLD_EXITED);
        CHECK_EQUAL(world.logger_end.status, 0);
        check_lines(journal, 1200);
}

static void a_journal_that_cannot_be_written_is_said_once(void) {
        begin(NULL, append_to("out"), "null", "missing/journal");
        while (!strstr(world.said, "missing/journal could not be written: No such file or directory"))
                turn();
        append_lines(1, 10);
        CHECK(mkdir(path_of("missing"), 0700) == 0);
        while (!strstr(world.said, "missing/journal is written again"))
                turn();
        end();
        check_lines(path_of("missing/journal"), 10);
}

static void runs_that_pile_up_before_a_stuck_target_are_bounded(void) {
        int ends[2], saved = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);

        CHECK(pipe2(ends, O_CLOEXEC) == 0 && dup2(ends[1], STDOUT_FILENO) == STDOUT_FILENO);
        begin(NULL, "inherit", "null", NULL);
        wait_for_service(start_service(0, "head -c 100000 /dev/zero"));
        for (int i = 0; i < LOGGER_RUNS_MAX; i++) {
                CHECK(!strstr(world.said, "dropped"));
                wait_for_service(start_service(0, "echo run"));
        }
        CHECK(strstr(world.said, "an earlier run of web@1"));
        CHECK(dup2(saved, STDOUT_FILENO) == STDOUT_FILENO);
        close_fd(ends[0]);
        end();
        close_fd(ends[1]);
        close_fd(saved);
}

static int lowest_free(void) {
        int fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
        return close_fd(fd), fd;
}

static void run_to_its_end(void) {
        wait_for_service(start_service(0, "echo bye"));
        while (logger_link_settle(world.link)) /* false: both pipes have ended */
                settle();
}

static void runs_that_have_ended_leave_nothing_behind(void) {
        begin(NULL, append_to("out"), append_to("err"), NULL);
        run_to_its_end();
        int before = lowest_free();
        for (int i = 0; i < 3 * LOGGER_RUNS_MAX; i++)
                run_to_its_end();
        CHECK_EQUAL(world.n_marks, 3 * LOGGER_RUNS_MAX + 1);
        CHECK_EQUAL(lowest_free(), before);
        CHECK(strcmp(world.said, "") == 0);
        end();
}

static const Case cases[] = {
        CASE(output_arrives_unchanged_and_a_mark_names_the_process),
        CASE(two_outputs_of_one_file_keep_their_order),
        CASE(inherited_output_goes_where_ours_goes),
        CASE(stopped_then_killed_it_is_replaced_and_every_line_arrives),
        CASE(a_logger_that_cannot_live_is_given_up_and_blocks_nobody),
        CASE(a_missing_program_is_said_with_its_name),
        CASE(the_journal_is_whole_and_in_order_after_a_crash),
        CASE(a_journal_that_cannot_be_written_is_said_once),
        CASE(runs_that_have_ended_leave_nothing_behind),
        CASE(runs_that_pile_up_before_a_stuck_target_are_bounded),
};

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where) {
        (void)st, (void)kind, (void)where;
        return remove(path);
}

int main(int argc, char **argv) {
        CHECK_EQUAL(argc, 2);
        signals_block();
        world.logger = argv[1];
        strcpy(world.directory, "/tmp/endwell-link-XXXXXX");
        CHECK(mkdtemp(world.directory));
        int code = run_cases(cases, LENGTH_OF(cases));
        CHECK_EQUAL(nftw(world.directory, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
        return code;
}
