/* test_log.c - lines on every kind of stderr: none blocks, none kills, what is lost is counted. */
#include "base/log.h"
#include "base/take.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <termios.h>

/* Each Criterion test is a process of its own, so its stderr can be replaced for good. */
static void replace_stderr(int fd) {
        cr_assert_geq(dup2(fd, STDERR_FILENO), 0);
        close(fd);
}

static int stderr_is_a_pipe(void) {
        int ends[2];
        cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
        replace_stderr(ends[1]);
        fcntl(ends[0], F_SETFL, O_NONBLOCK);
        return ends[0];
}

/* The same pipe or file behind another number. */
static bool is_stderr(int fd) {
        struct stat a, b;
        return fstat(fd, &a) == 0 && fstat(STDERR_FILENO, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* What has arrived so far. */
static const char *arrived(int fd) {
        static char text[1 << 20];
        size_t length = 0;
        ssize_t n;
        while ((n = read(fd, text + length, sizeof text - 1 - length)) > 0)
                length += (size_t)n;
        text[length] = '\0';
        return text;
}

static void fill(int fd) {
        static const char block[4096];
        int flags = fcntl(fd, F_GETFL);
        fcntl(fd, F_SETFL, flags | O_NONBLOCK);
        while (write(fd, block, sizeof block) > 0)
                continue;
        fcntl(fd, F_SETFL, flags);
}

Test(log, a_line_of_text_names_the_program) {
        int out = stderr_is_a_pipe();
        log_open("endwell", LOG_FORMAT_TEXT, LOG_LEVEL_INFO);
        log_notice("phase %s ended", "http");
        cr_assert_str_eq(arrived(out), "endwell: phase http ended\n");
}

static int stderr_is_a_terminal(void) {
        int mine = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
        cr_assert(mine >= 0 && grantpt(mine) == 0 && unlockpt(mine) == 0);
        int its = open(ptsname(mine), O_RDWR | O_NOCTTY | O_CLOEXEC);
        cr_assert_geq(its, 0);
        replace_stderr(its);
        return mine;
}

Test(log, a_line_on_a_terminal_ends_in_the_first_column_whatever_its_modes) {
        struct termios modes;
        int out = stderr_is_a_terminal();
        log_open("endwell", LOG_FORMAT_TEXT, LOG_LEVEL_INFO);
        log_info("ordinary");
        cr_assert_str_eq(arrived(out), "endwell: ordinary\r\n");
        cr_assert_eq(tcgetattr(STDERR_FILENO, &modes), 0);
        cfmakeraw(&modes);
        cr_assert_eq(tcsetattr(STDERR_FILENO, TCSANOW, &modes), 0);
        log_info("raw");
        cr_assert_str_eq(arrived(out), "endwell: raw\r\n");
}

Test(log, lines_beyond_the_level_are_not_written_and_not_lost) {
        int out = stderr_is_a_pipe();
        log_open("endwell", LOG_FORMAT_TEXT, LOG_LEVEL_WARNING);
        log_notice("no");
        log_warning("yes");
        log_set(LOG_FORMAT_TEXT, LOG_LEVEL_DEBUG);
        log_debug("now");
        cr_assert_str_eq(arrived(out), "endwell: yes\nendwell: now\n");
        cr_assert_eq(log_dropped(), 0);
}

Test(log, the_journal_format_says_the_priority) {
        int out = stderr_is_a_pipe();
        log_open("endwell", LOG_FORMAT_JOURNAL, LOG_LEVEL_DEBUG);
        log_err("a");
        log_warning("b");
        log_notice("c");
        log_info("d");
        log_debug("e");
        cr_assert_str_eq(arrived(out), "<3>a\n<4>b\n<5>c\n<6>d\n<7>e\n");
}

Test(log, the_json_format_is_an_object_a_line) {
        int out = stderr_is_a_pipe();
        log_open("endwell", LOG_FORMAT_JSON, LOG_LEVEL_DEBUG);
        log_err("say \"%s\"", "x");
        const char *text = arrived(out);
        cr_assert_eq(strncmp(text, "{\"time\":\"20", 11), 0, "%s", text);
        cr_assert_not_null(
                strstr(text, "Z\",\"level\":\"err\",\"program\":\"endwell\",\"message\":\"say \\\"x\\\"\"}\n"));
}

Test(log, auto_is_the_journal_only_when_stderr_is_that_very_socket) {
        struct stat st;
        char stream[64];
        int out = stderr_is_a_pipe();

        fstat(STDERR_FILENO, &st);
        snprintf(stream, sizeof stream, "%ju:%ju", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
        setenv("JOURNAL_STREAM", stream, 1);
        log_open("endwell", LOG_FORMAT_AUTO, LOG_LEVEL_INFO);
        log_info("a");
        setenv("JOURNAL_STREAM", "1:2", 1);
        log_open("endwell", LOG_FORMAT_AUTO, LOG_LEVEL_INFO);
        log_info("b");
        cr_assert_str_eq(arrived(out), "<6>a\nendwell: b\n");
}

Test(log, a_message_cannot_forge_a_second_line) {
        int out = stderr_is_a_pipe();
        log_open("endwell", LOG_FORMAT_TEXT, LOG_LEVEL_INFO);
        log_info("%s", "a\nendwell: forged\x1B[1m\xFF");
        cr_assert_str_eq(arrived(out), "endwell: a?endwell: forged?[1m?\n");
}

Test(log, a_long_line_is_cut_marked_and_at_most_two_kibibytes) {
        static const LogFormat formats[] = { LOG_FORMAT_TEXT, LOG_FORMAT_JSON, LOG_FORMAT_JOURNAL };
        static char huge[10000];
        int out = stderr_is_a_pipe();

        memset(huge, '"', sizeof huge - 1);
        log_open("a-program-with-a-name-longer-than-there-is-room", LOG_FORMAT_TEXT, LOG_LEVEL_INFO);
        for (size_t i = 0; i < LENGTH_OF(formats); i++) {
                log_set(formats[i], LOG_LEVEL_INFO);
                log_info("%s", huge);
                const char *text = arrived(out);
                size_t length = strlen(text);
                cr_expect(length > 1400 && length <= 2048, "%zu", length);
                cr_expect_eq(text[length - 1], '\n');
                cr_expect_not_null(strstr(text + length - 8, "..."));
        }
}

Test(log, a_full_pipe_costs_lines_and_the_next_one_says_how_many) {
        int out = stderr_is_a_pipe();
        log_open("endwell", LOG_FORMAT_TEXT, LOG_LEVEL_INFO);
        fill(STDERR_FILENO);
        for (int i = 0; i < 7; i++)
                log_info("lost");
        cr_assert_eq(log_dropped(), 7);
        arrived(out);
        log_info("back");
        log_info("and on");
        cr_assert_str_eq(arrived(out), "endwell: 7 lines were lost\nendwell: back\nendwell: and on\n");
        cr_assert_eq(log_dropped(), 7);
}

Test(log, the_flags_of_the_shared_stderr_are_never_changed) {
        int out = stderr_is_a_pipe();
        int before = fcntl(STDERR_FILENO, F_GETFL);
        log_open("endwell", LOG_FORMAT_TEXT, LOG_LEVEL_INFO);
        log_info("x");
        cr_assert_eq(fcntl(STDERR_FILENO, F_GETFL), before);
        cr_assert_eq(before & O_NONBLOCK, 0);
        cr_assert_str_eq(arrived(out), "endwell: x\n");
}

Test(log, a_pipe_that_nobody_reads_costs_the_line_only) {
        signal(SIGPIPE, SIG_IGN);
        int out = stderr_is_a_pipe();
        log_open("endwell", LOG_FORMAT_TEXT, LOG_LEVEL_INFO);
        close(out);
        errno = ENOTTY;
        log_info("lost");
        cr_assert_eq(log_dropped(), 1);
        cr_assert_eq(errno, ENOTTY);
}

/* A pipe that cannot be opened by /proc, as after a change of user: opening it to write answers ENXIO while it has no
 * reader, and the reader comes later. */
static int stderr_is_a_pipe_that_cannot_be_opened(void) {
        int ends[2];

        cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
        close(ends[0]);
        replace_stderr(ends[1]);
        log_open("endwell", LOG_FORMAT_TEXT, LOG_LEVEL_INFO);
        return open("/proc/self/fd/2", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

Test(log, without_a_description_of_its_own_it_splices) {
        int out = stderr_is_a_pipe_that_cannot_be_opened();
        cr_assert_geq(out, 0);
        int flags = fcntl(STDERR_FILENO, F_GETFL);
        log_info("one");
        cr_assert_str_eq(arrived(out), "endwell: one\n");
        fill(STDERR_FILENO);
        log_info("two");
        log_info("three");
        cr_assert_eq(log_dropped(), 2);
        arrived(out);
        log_info("four");
        cr_assert_str_eq(arrived(out), "endwell: 2 lines were lost\nendwell: four\n");
        cr_assert_eq(fcntl(STDERR_FILENO, F_GETFL), flags);
}

Test(log, a_full_socket_costs_lines_and_blocks_nobody) {
        int ends[2];
        cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
        replace_stderr(ends[1]);
        fcntl(ends[0], F_SETFL, O_NONBLOCK);
        log_open("endwell", LOG_FORMAT_TEXT, LOG_LEVEL_INFO);
        for (int i = 0; i < 10000 && log_dropped() == 0; i++)
                log_info("a line that nobody reads");
        cr_assert_eq(log_dropped(), 1);
        arrived(ends[0]);
        log_info("back");
        const char *text = arrived(ends[0]);
        cr_assert_not_null(strstr(text, "endwell: 1 line was lost\nendwell: back\n"));
}

Test(log, in_a_file_it_shares_the_offset_with_the_children) {
        char path[] = "/tmp/endwell-test-log-XXXXXX";
        int fd = mkstemp(path);
        int reader = open(path, O_RDONLY | O_CLOEXEC);

        unlink(path);
        replace_stderr(fd);
        log_open("endwell", LOG_FORMAT_TEXT, LOG_LEVEL_INFO);
        log_info("one");
        cr_assert_eq(write(STDERR_FILENO, "child\n", 6), 6);
        log_info("two");
        cr_assert_str_eq(arrived(reader), "endwell: one\nchild\nendwell: two\n");
}

Test(log, a_line_torn_by_a_full_disk_is_ended_before_the_next_one) {
        char path[] = "/tmp/endwell-test-log-XXXXXX";
        int fd = mkstemp(path);
        int reader = open(path, O_RDONLY | O_CLOEXEC);

        unlink(path);
        replace_stderr(fd);
        signal(SIGXFSZ, SIG_IGN);
        struct rlimit limit = { 20, RLIM_INFINITY };
        cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
        log_open("endwell", LOG_FORMAT_TEXT, LOG_LEVEL_INFO);
        log_info("0123456789 too long");
        cr_assert_eq(log_dropped(), 1);
        limit.rlim_cur = RLIM_INFINITY;
        setrlimit(RLIMIT_FSIZE, &limit);
        log_info("whole");
        cr_assert_str_eq(arrived(reader), "endwell: 0123456789 \nendwell: 1 line was lost\nendwell: whole\n");
}

Test(log, without_stderr_everything_is_counted) {
        close(STDERR_FILENO);
        log_open("endwell", LOG_FORMAT_TEXT, LOG_LEVEL_INFO);
        log_info("lost");
        log_info("lost");
        cr_assert_eq(log_dropped(), 2);
}

Test(log, its_descriptors_are_not_inherited_and_are_closed) {
        int out = stderr_is_a_pipe();
        int before = open("/dev/null", O_RDONLY | O_CLOEXEC);

        log_open("endwell", LOG_FORMAT_TEXT, LOG_LEVEL_INFO);
        cr_assert(fcntl(before + 1, F_GETFD) & FD_CLOEXEC);
        log_close();
        cr_assert_eq(fcntl(before + 1, F_GETFD), -1);
        log_info("lost");
        cr_assert_eq(log_dropped(), 1);
        cr_assert_str_empty(arrived(out));
}

Test(log, it_never_takes_the_place_of_a_closed_standard_descriptor) {
        int out = stderr_is_a_pipe();

        close(STDIN_FILENO);
        log_open("endwell", LOG_FORMAT_TEXT, LOG_LEVEL_INFO);
        cr_assert_eq(fcntl(STDIN_FILENO, F_GETFD), -1);
        int own = open("/dev/null", O_RDONLY | O_CLOEXEC); /* takes 0 */
        cr_assert_eq(own, STDIN_FILENO);
        for (int fd = 3; fd < 64; fd++)
                cr_assert(fcntl(fd, F_GETFD) != 0 || !is_stderr(fd), "%d would be inherited", fd);
        log_info("x");
        cr_assert_str_eq(arrived(out), "endwell: x\n");
}

Test(log, words_of_levels_and_formats_are_read) {
        cr_assert_eq(log_level_from_string("notice"), LOG_LEVEL_NOTICE);
        cr_assert_eq(log_level_from_string("loud"), -EINVAL);
        cr_assert_lt(log_format_from_string("xml"), 0);
        for (LogLevel level = 0; level < _LOG_LEVEL_MAX; level++)
                cr_assert_eq(log_level_from_string(log_level_to_string(level)), (int)level);
        for (LogFormat format = 0; format < _LOG_FORMAT_MAX; format++)
                cr_assert_eq(log_format_from_string(log_format_to_string(format)), (int)format);
}
