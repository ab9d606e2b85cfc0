/* test_ready_pipes.c - a newline is heard once, and nothing else ever. */
#include "supervisor/ready_pipes.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define MEMBERS 3

static sd_event *event;
static ReadyPipes *pipes;
static unsigned heard[MEMBERS];

static void on_ready(void *userdata, uint32_t member) {
        cr_assert_eq(userdata, heard);
        cr_assert(member < MEMBERS);
        heard[member]++;
}

static void open_pipes(void) {
        signal(SIGPIPE, SIG_IGN);
        cr_assert(sd_event_new(&event) >= 0);
        cr_assert_eq(ready_pipes_new(&pipes, event, MEMBERS, on_ready, heard), 0);
}

static void close_pipes(void) {
        pipes = ready_pipes_free(pipes);
        event = sd_event_unref(event);
}

TestSuite(ready_pipes, .init = open_pipes, .fini = close_pipes);

static int open_one(uint32_t member) {
        int fd = ready_pipes_open(pipes, member);
        cr_assert(fd >= 0);
        cr_assert(fcntl(fd, F_GETFD) & FD_CLOEXEC);
        cr_assert_not(fcntl(fd, F_GETFL) & O_NONBLOCK, "a program expects that its writing waits");
        return fd;
}

static void turn(void) {
        while (sd_event_run(event, 0) > 0)
                ;
}

static void say(int fd, const char *text) {
        cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
        turn();
}

static bool is_given_up(int fd) {
        return write(fd, "x", 1) < 0 && errno == EPIPE;
}

Test(ready_pipes, a_newline_is_heard_and_closes_the_pipe) {
        int fd = open_one(1);
        say(fd, "\n");
        cr_assert_eq(heard[1], 1);
        cr_assert(is_given_up(fd));
        turn();
        cr_assert(heard[0] == 0 && heard[1] == 1 && heard[2] == 0);
}

Test(ready_pipes, what_stands_before_the_newline_is_passed_over) {
        int fd = open_one(0);
        say(fd, "loading");
        say(fd, " and loading");
        cr_assert_eq(heard[0], 0);
        say(fd, " and ready\nand more\n");
        cr_assert_eq(heard[0], 1);
}

Test(ready_pipes, the_end_without_a_newline_says_nothing) {
        int fd = open_one(0);
        say(fd, "almost");
        close(fd);
        turn();
        cr_assert_eq(heard[0], 0);
        say(open_one(0), "\n"); /* the next run is another matter */
        cr_assert_eq(heard[0], 1);
}

Test(ready_pipes, a_last_word_is_heard_by_a_look) {
        int fd = open_one(2);
        cr_assert_eq(write(fd, "\n", 1), 1);
        close(fd);
        ready_pipes_look(pipes, 2);
        cr_assert_eq(heard[2], 1);
        ready_pipes_look(pipes, 2);
        turn();
        cr_assert_eq(heard[2], 1);
}

Test(ready_pipes, a_look_finds_the_newline_behind_any_text) {
        char text[60000];
        int fd = open_one(2);
        memset(text, 'x', sizeof text);
        text[sizeof text - 1] = '\n';
        cr_assert_eq(write(fd, text, sizeof text), (ssize_t)sizeof text);
        ready_pipes_look(pipes, 2);
        cr_assert_eq(heard[2], 1);
}

Test(ready_pipes, who_writes_for_ever_is_not_heard_for_ever) {
        char text[4096];
        int fd = open_one(0);
        memset(text, 'x', sizeof text);
        size_t written = 0;
        for (; written < 1 << 20 && write(fd, text, sizeof text) > 0; written += sizeof text)
                turn();
        cr_assert_eq(written, 65536);
        cr_assert(is_given_up(fd));
        cr_assert_eq(heard[0], 0);
}

Test(ready_pipes, an_earlier_run_is_not_heard_any_more) {
        int before = open_one(1), now = open_one(1);
        cr_assert(is_given_up(before));
        turn();
        cr_assert_eq(heard[1], 0);
        say(now, "\n");
        cr_assert_eq(heard[1], 1);
}

static int reading_end_of(int writing) {
        struct stat mine, other;
        cr_assert(fstat(writing, &mine) == 0);
        for (int fd = 0; fd < 100; fd++)
                if (fd != writing && fstat(fd, &other) == 0 && other.st_ino == mine.st_ino &&
                    other.st_dev == mine.st_dev)
                        return fd;
        return -1;
}

/* As a child has one between fork and exec: it must not keep the epoll awake for a pipe that is closed. */
Test(ready_pipes, a_copy_of_the_reading_end_wakes_nobody) {
        int fd = open_one(1);
        int copy = fcntl(reading_end_of(fd), F_DUPFD_CLOEXEC, 100);
        cr_assert(fcntl(copy, F_GETFL) & O_NONBLOCK);
        ready_pipes_close(pipes, 1);
        cr_assert_eq(write(fd, "\n", 1), 1);
        cr_assert_eq(sd_event_run(event, 0), 0);
        close(copy);
        close(fd);
}

Test(ready_pipes, without_descriptors_there_is_no_pipe) {
        struct rlimit none = { 0, 100 };
        cr_assert(setrlimit(RLIMIT_NOFILE, &none) == 0);
        int r = ready_pipes_open(pipes, 0);
        none.rlim_cur = 100;
        cr_assert(setrlimit(RLIMIT_NOFILE, &none) == 0);
        cr_assert_eq(r, -EMFILE);
        ready_pipes_look(pipes, 0);
        ready_pipes_close(pipes, 0);
}
