/* verb_logs.c - `endwell logs`: asks the logger, not PID 1, for what it has kept of a service's output. */
#include "base/packet.h"
#include "base/take.h"
#include "shutdown/verdict.h"
#include "supervisor/client.h"
#include "supervisor/verb_usage.h"
#include "supervisor/verbs.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#define PACKET_MAX   (256 * 1024)
#define NAME_MAX_LEN 40
#define READERS_MAX  16 /* logger/readers.h */

typedef struct LogsOptions {
        ClientPlace place;
        char service[NAME_MAX_LEN + 1];
        uint64_t instance, lines; /* 0: every one; UINT64_MAX: all */
        bool follow, json, colour;
} LogsOptions;

static const VerbUsage usage = {
        "logs",
        "usage: endwell logs SERVICE[@N] [-f] [-n LINES] [--json]\n"
        "Prints the last lines that a service wrote, where the logger had them in hand: with StandardOutput=prefix,\n"
        "json or log:PATH, or a LogPattern hook.\n"
        "  -f, --follow       go on as they come, until endwell ends\n"
        "  -n, --lines LINES  only the last so many\n"
        "      --json         one object a line, for programs\n" VERB_PLACE_USAGE,
};

/* ---- The words ---- */

static int take_lines(const char *word, void *into) {
        return verb_usage_number(&usage, word, "--lines wants a number, not ", 0, INT32_MAX, into);
}

static int read_service(char *word, LogsOptions *ret) {
        char *at = strchr(word, '@');
        int code = 0;
        size_t length = at ? (size_t)(at - word) : strlen(word);

        if (at)
                code = verb_usage_number(&usage, at + 1, "an instance is a number from 1 on, not ", 1, INT32_MAX,
                                         &ret->instance);
        if (code == 0 && (length == 0 || length > NAME_MAX_LEN || memchr(word, '\n', length)))
                return verb_usage_refuse(&usage, "this is no name of a service: ", word);
        if (code == 0)
                memcpy(ret->service, word, length);
        return code;
}

/* 0, -1 when there is nothing more to do, or the exit code. */
static int parse_options(int argc, char **argv, LogsOptions *ret) {
        const VerbOption options[] = {
                { "follow", 'f', .flag = &ret->follow },
                { "lines", 'n', .take = take_lines, .into = &ret->lines },
                { "json", .flag = &ret->json },
                { NULL },
        };
        int first, code = verb_usage_read(&usage, argc, argv, options, &ret->place, &first);

        if (code == 0 && first == argc)
                code = verb_usage_refuse(&usage, "whose lines? Name a service", "");
        if (code == 0)
                code = read_service(argv[first++], ret);
        if (code == 0 && first < argc)
                code = verb_usage_refuse(&usage, "a word too many: ", argv[first]);
        ret->colour = verb_usage_colour();
        return code;
}

/* ---- The logger ---- */

static int say_nothing_is_kept(const LogsOptions *options) {
        fprintf(stderr,
                "endwell logs: nothing that %s wrote is kept: its output does not go through the logger, or it has "
                "written nothing yet. StandardOutput=prefix, json or log:PATH leads it there; what is inherited is in "
                "the container's own log\n",
                options->service);
        return CLIENT_REFUSED;
}

static int connect_to_logger(const LogsOptions *options, int *ret) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        char control[sizeof address.sun_path];
        int code = client_find(&options->place, control);

        if (code != 0)
                return code;
        char *slash = strrchr(control, '/');
        int n = snprintf(address.sun_path, sizeof address.sun_path, "%.*slogs.sock",
                         slash ? (int)(slash + 1 - control) : 0, control);
        _cleanup_(closep) int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        if (fd >= 0 && n < (int)sizeof address.sun_path &&
            connect(fd, (struct sockaddr *)&address, sizeof address) == 0) {
                *ret = TAKE_FD(fd);
                return 0;
        }
        if (errno == ENOENT && access(control, F_OK) == 0)
                return say_nothing_is_kept(options);
        fprintf(stderr, "endwell logs: no logger answers at %s: %s\n", address.sun_path, strerrordesc_np(errno));
        return EXIT_NOT_RUNNING;
}

static int ask(const LogsOptions *options, int fd) {
        char words[256];
        Packet request;

        packet_init(&request, words, sizeof words);
        packet_add(&request, "LOGS", options->service);
        if (options->instance > 0)
                packet_add_unsigned(&request, "INSTANCE", options->instance);
        if (options->lines != UINT64_MAX)
                packet_add_unsigned(&request, "LINES", options->lines);
        if (options->follow)
                packet_add(&request, "FOLLOW", "1");
        int r = packet_send(fd, &request);
        if (r < 0)
                fprintf(stderr, "endwell logs: could not ask the logger: %s\n", strerrordesc_np(-r));
        return r < 0 ? EXIT_NOT_RUNNING : 0;
}

/* ---- What is shown ---- */

typedef struct LogsState {
        bool inside; /* the last entry goes on in the next */
} LogsState;

static const char *text_of(const json_t *entry, const char *key) {
        const char *text = json_string_value(json_object_get(entry, key));
        return text ? text : "";
}

static void print_head(const LogsOptions *options, const json_t *entry) {
        const char *time = text_of(entry, "time"), *hook = text_of(entry, "hook");
        bool is_error = strcmp(text_of(entry, "stream"), "stderr") == 0;

        printf("%s%.10s %.12s%s  ", options->colour ? "\033[2m" : "", time, strlen(time) > 23 ? time + 11 : "",
               options->colour ? "\033[0m" : "");
        printf("%s%s@%" JSON_INTEGER_FORMAT "%s%s%s | ", options->colour && is_error ? "\033[33m" : "",
               text_of(entry, "service"), json_integer_value(json_object_get(entry, "instance")), hook[0] ? " " : "",
               hook, options->colour && is_error ? "\033[0m" : "");
}

/* The parts of a long line are put together again. */
static void print_for_people(const LogsOptions *options, LogsState *state, const json_t *entry) {
        const json_t *line = json_object_get(entry, "line");

        if (!state->inside)
                print_head(options, entry);
        fwrite(json_string_value(line) ? json_string_value(line) : "", 1, json_string_length(line), stdout);
        state->inside = json_is_true(json_object_get(entry, "partial"));
        if (!state->inside)
                putchar('\n');
}

static void print_line(const LogsOptions *options, LogsState *state, const char *line, size_t length) {
        if (length == strlen("MISSED=1") && strncmp(line, "MISSED=1", length) == 0) {
                fflush(stdout);
                fprintf(stderr, "endwell logs: some lines before this one are no longer kept\n");
        } else if (options->json) {
                printf("%.*s\n", (int)length, line);
        } else {
                json_t *entry = json_loadb(line, length, JSON_ALLOW_NUL, NULL);
                print_for_people(options, state, entry);
                json_decref(entry);
        }
}

static void print_packet(const LogsOptions *options, LogsState *state, const char *text, size_t length) {
        for (const char *end, *at = text; (end = memchr(at, '\n', (size_t)(text + length - at))); at = end + 1)
                print_line(options, state, at, (size_t)(end - at));
}

/* The number of lines that are there, which comes first. */
static int read_answer(const LogsOptions *options, int fd, char *buffer) {
        ssize_t n = recv(fd, buffer, PACKET_MAX - 1, 0);

        if (n <= 0) {
                fprintf(stderr, "endwell logs: the logger did not answer: this user may not read, or %d others do\n",
                        READERS_MAX);
                return EXIT_NOT_RUNNING;
        }
        buffer[n] = '\0';
        if (strcmp(buffer, "KEPT=0\n") == 0 && !options->follow && options->lines > 0)
                return say_nothing_is_kept(options);
        return 0;
}

static int show(const LogsOptions *options, int fd) {
        _cleanup_(freep) char *buffer = malloc(PACKET_MAX);
        LogsState state = { 0 };
        ssize_t n;

        if (!buffer)
                return EXIT_NOT_RUNNING;
        int code = read_answer(options, fd, buffer);
        while (code == 0 && (n = recv(fd, buffer, PACKET_MAX, 0)) > 0) {
                print_packet(options, &state, buffer, (size_t)n);
                if (options->follow)
                        code = verb_usage_flush(usage.verb);
        }
        if (state.inside)
                putchar('\n');
        return code != 0 ? code : verb_usage_flush(usage.verb);
}

int verb_logs(int argc, char **argv) {
        LogsOptions options = { .lines = UINT64_MAX };
        _cleanup_(closep) int fd = -1;
        int code = parse_options(argc, argv, &options);

        if (code == 0)
                code = connect_to_logger(&options, &fd);
        if (code == 0)
                code = ask(&options, fd);
        if (code == 0)
                code = show(&options, fd);
        return code < 0 ? EXIT_CLEAN : code;
}
