/* log.c - says to people what happened, on stderr, without blocking.
 *
 * The way out is chosen once, in log_open(), by what descriptor 2 is; composing a line and getting it out know nothing
 * of each other. One thread only. */
#include "base/log.h"
#include "base/clock.h"
#include "base/enumeration.h"
#include "base/json.h"
#include "base/take.h"
#include "base/utf8.h"
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <termios.h>

#define LINE_MAX_BYTES    2048 /* newline included; below PIPE_BUF, so a pipe takes all of it or nothing */
#define MESSAGE_MAX_BYTES 1984 /* leaves room for the prefix of a text line */
#define PROGRAM_MAX_BYTES 32

typedef enum Way {
        WAY_NOWHERE,
        WAY_OWN,    /* a description of our own, non-blocking */
        WAY_FILE,   /* descriptor 2 itself */
        WAY_SPLICE, /* a private pipe, spliced into descriptor 2 */
        WAY_SOCKET, /* descriptor 2 itself, each send non-blocking */
} Way;

static struct {
        Way way;
        int fd;                    /* WAY_OWN */
        int pipe_read, pipe_write; /* WAY_SPLICE */
        LogFormat format;          /* never AUTO */
        LogLevel level;
        char program[PROGRAM_MAX_BYTES];
        bool is_terminal;
        bool torn; /* the last line got out in part: its rest must not run into the next one */
        uint64_t dropped, unsaid;
} sink = { .fd = -1, .pipe_read = -1, .pipe_write = -1, .format = LOG_FORMAT_TEXT, .level = LOG_LEVEL_INFO };

/* The byte before the text is for the newline that ends a torn line. */
typedef struct Line {
        char before;
        char text[LINE_MAX_BYTES + 1]; /* room for the carriage return of end_for_raw_terminal() */
} Line;

static const char *const level_words[_LOG_LEVEL_MAX] = {
        [LOG_LEVEL_ERR] = "err",   [LOG_LEVEL_WARNING] = "warning", [LOG_LEVEL_NOTICE] = "notice",
        [LOG_LEVEL_INFO] = "info", [LOG_LEVEL_DEBUG] = "debug",
};
ENUMERATION(log_level, LogLevel, level_words)

static const char *const format_words[_LOG_FORMAT_MAX] = {
        [LOG_FORMAT_AUTO] = "auto",
        [LOG_FORMAT_TEXT] = "text",
        [LOG_FORMAT_JSON] = "json",
        [LOG_FORMAT_JOURNAL] = "journal",
};
ENUMERATION(log_format, LogFormat, format_words)

/* ---- The way out ---- */

/* Numbers 0 to 2 may be closed in us; a log that sits on one of them would get what others write there. */
static int above_stdio(int fd) {
        if (fd < 0 || fd > 2)
                return fd;
        int higher = fcntl(fd, F_DUPFD_CLOEXEC, 3);
        close_fd(fd);
        return higher;
}

static int open_own(const char *path) {
        return above_stdio(open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
}

/* After su or sudo the terminal on descriptor 2 belongs to somebody else and cannot be opened by /proc; when it is our
 * controlling terminal, /dev/tty is the same one and open to all. */
static int open_same_terminal(const struct stat *wanted) {
        _cleanup_(closep) int fd = open_own("/dev/tty");
        unsigned device;

        if (fd < 0 || ioctl(fd, TIOCGDEV, &device) < 0)
                return -1;
        /* As the kernel packs it: 8 bits of the minor, 12 of the major, the rest of the minor. */
        unsigned minor_number = (device & 0xFF) | ((device >> 12) & 0xFFF00), major_number = (device >> 8) & 0xFFF;
        if (wanted->st_rdev != makedev(major_number, minor_number))
                return -1;
        return TAKE_FD(fd);
}

static Way open_private_pipe(void) {
        int ends[2];

        if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
                return WAY_NOWHERE;
        sink.pipe_read = above_stdio(ends[0]);
        sink.pipe_write = above_stdio(ends[1]);
        return sink.pipe_read >= 0 && sink.pipe_write >= 0 ? WAY_SPLICE : WAY_NOWHERE;
}

static Way choose_way(void) {
        struct stat st;

        if (fstat(STDERR_FILENO, &st) < 0)
                return WAY_NOWHERE;
        /* A file never blocks as a pipe does, and a description of our own would have an offset of its own: without
         * O_APPEND we and the children would write over each other. */
        if (S_ISREG(st.st_mode))
                return WAY_FILE;
        if (S_ISSOCK(st.st_mode))
                return WAY_SOCKET;
        sink.fd = open_own("/proc/self/fd/2");
        if (sink.fd < 0 && S_ISCHR(st.st_mode))
                sink.fd = open_same_terminal(&st);
        if (sink.fd >= 0)
                return WAY_OWN;
        return S_ISFIFO(st.st_mode) ? open_private_pipe() : WAY_NOWHERE;
}

/* What did not go through must not come out later, in front of another line. */
static void empty_private_pipe(void) {
        char scrap[LINE_MAX_BYTES];
        while (read(sink.pipe_read, scrap, sizeof scrap) > 0)
                continue;
}

static ssize_t splice_out(const char *text, size_t length) {
        if (write(sink.pipe_write, text, length) != (ssize_t)length) {
                empty_private_pipe();
                return -1;
        }
        ssize_t n = splice(sink.pipe_read, NULL, STDERR_FILENO, NULL, length, SPLICE_F_NONBLOCK);
        if (n != (ssize_t)length)
                empty_private_pipe();
        return n;
}

static ssize_t write_some(const char *text, size_t length) {
        switch (sink.way) {
        case WAY_OWN: return write(sink.fd, text, length);
        case WAY_FILE: return write(STDERR_FILENO, text, length);
        case WAY_SPLICE: return splice_out(text, length);
        case WAY_SOCKET: return send(STDERR_FILENO, text, length, MSG_DONTWAIT | MSG_NOSIGNAL);
        case WAY_NOWHERE: break;
        }
        return -1;
}

/* A program that draws its own screen has told the terminal not to go back to the first column at a newline; the
 * shell's prompt and our next line would stand in mid-air. The new length. */
static size_t end_for_raw_terminal(Line *line, size_t length) {
        struct termios modes;

        if (!sink.is_terminal || tcgetattr(STDERR_FILENO, &modes) < 0 ||
            ((modes.c_oflag & OPOST) && (modes.c_oflag & ONLCR)))
                return length;
        memcpy(line->text + length - 1, "\r\n", 2);
        return length + 1;
}

/* True when the whole line got out. */
static bool deliver(Line *line, size_t length) {
        const char *start = line->text;

        if (sink.torn) {
                line->before = '\n';
                start = &line->before;
                length++;
        }
        ssize_t n = write_some(start, length);
        if (n <= 0)
                return false;
        /* Torn is what ends without a newline, be it this line or, when its first byte was all, none. */
        sink.torn = start[n - 1] != '\n';
        return (size_t)n == length;
}

/* ---- The line ---- */

/* Shortens `message` to at most `max` bytes, the mark included. */
static void cut_message(char *message, size_t max) {
        static const char mark[] = "...";
        strcpy(message + utf8_cut(message, strlen(message), max - (sizeof mark - 1)), mark);
}

static size_t compose_json(LogLevel level, char *message, char *text) {
        char time[CLOCK_TEXT_MAX];
        Json json;

        clock_format_wall(clock_wall_usec(), time);
        for (;;) {
                json_init(&json, text, LINE_MAX_BYTES - 1);
                json_open_object(&json, NULL);
                json_put_string(&json, "time", time);
                json_put_string(&json, "level", log_level_to_string(level));
                json_put_string(&json, "program", sink.program);
                json_put_string(&json, "message", message);
                size_t length = json_finish(&json);
                if (!json_overflowed(&json)) {
                        text[length] = '\n';
                        return length + 1;
                }
                cut_message(message, strlen(message) * 3 / 4); /* quotes and backslashes took two bytes each */
        }
}

static size_t compose_text(LogLevel level, const char *message, char *text) {
        static const int priorities[_LOG_LEVEL_MAX] = { 3, 4, 5, 6, 7 }; /* sd-daemon(3) */

        if (sink.format == LOG_FORMAT_JOURNAL)
                return (size_t)snprintf(text, LINE_MAX_BYTES, "<%d>%s\n", priorities[level], message);
        return (size_t)snprintf(text, LINE_MAX_BYTES, "%s: %s\n", sink.program, message);
}

/* `message` is changed. */
static bool say(LogLevel level, char *message) {
        Line line;
        size_t length = sink.format == LOG_FORMAT_JSON ? compose_json(level, message, line.text)
                                                       : compose_text(level, message, line.text);
        return deliver(&line, end_for_raw_terminal(&line, length));
}

static bool say_what_was_lost(void) {
        char message[64];

        if (sink.unsaid == 0)
                return true;
        snprintf(message, sizeof message,
                 sink.unsaid == 1 ? "%" PRIu64 " line was lost" : "%" PRIu64 " lines were lost", sink.unsaid);
        if (!say(LOG_LEVEL_WARNING, message))
                return false;
        sink.unsaid = 0;
        return true;
}

/* ---- The interface ---- */

/* $JOURNAL_STREAM names the socket that systemd connected; it is inherited, so only the numbers tell (systemd.exec(5)).
 */
static bool stderr_is_journal(void) {
        const char *text = getenv("JOURNAL_STREAM");
        struct stat st;
        char expected[48];

        if (!text || fstat(STDERR_FILENO, &st) < 0)
                return false;
        snprintf(expected, sizeof expected, "%ju:%ju", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
        return strcmp(text, expected) == 0;
}

void log_set(LogFormat format, LogLevel level) {
        if (format == LOG_FORMAT_AUTO)
                format = stderr_is_journal() ? LOG_FORMAT_JOURNAL : LOG_FORMAT_TEXT;
        sink.format = format;
        sink.level = level;
}

void log_open(const char *program, LogFormat format, LogLevel level) {
        log_close();
        snprintf(sink.program, sizeof sink.program, "%s", program);
        log_set(format, level);
        sink.way = choose_way();
        sink.is_terminal = isatty(STDERR_FILENO);
}

void log_close(void) {
        sink.fd = close_fd(sink.fd);
        sink.pipe_read = close_fd(sink.pipe_read);
        sink.pipe_write = close_fd(sink.pipe_write);
        sink.way = WAY_NOWHERE;
}

bool log_wants(LogLevel level) {
        return level <= sink.level;
}

void log_line(LogLevel level, const char *format, ...) {
        char message[MESSAGE_MAX_BYTES + 4] = ""; /* longer than allowed, so that too long is seen */
        va_list ap;

        if (level > sink.level)
                return;
        int saved = errno;
        va_start(ap, format);
        if (vsnprintf(message, sizeof message, format, ap) > MESSAGE_MAX_BYTES)
                cut_message(message, MESSAGE_MAX_BYTES);
        va_end(ap);
        utf8_clean(message, strlen(message));
        if (!say_what_was_lost() || !say(level, message)) {
                sink.dropped++;
                sink.unsaid++;
        }
        errno = saved;
}

uint64_t log_dropped(void) {
        return sink.dropped;
}
