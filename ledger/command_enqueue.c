/* command_enqueue.c - `endwell jobs enqueue`: puts jobs into a queue, which is made when it is not there. */
#include "base/file.h"
#include "base/take.h"
#include "ledger/command.h"
#include "ledger/moment.h"
#include "ledger/plain.h"
#include "ledger/sql_files.h"
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PAYLOAD_MAX (64U << 20)
#define COUNT_MAX   1000000
#define AT_ONCE     1000 /* jobs a statement */
#define QUEUE_MAX   200  /* characters of a queue's name; the table's own limit */

typedef struct EnqueueOptions {
        CommandPlace place;
        const char *queue, *kind, *dedup, *priority, *max_attempts;
        char *payload;     /* ours; NULL: none */
        char *queue_plain; /* ours; the queue as we may print it */
        Moment moment;
        bool has_moment;
        int64_t count;
} EnqueueOptions;

enum { ID, CREATED, STATUS };

static int refuse(const char *what, const char *word) {
        return command_refuse(&command_enqueue, what, word);
}

/* ---- Words ---- */

static int read_all(FILE *in, char **ret) {
        _cleanup_(freep) char *text = NULL;
        size_t size = 0;

        ssize_t n = getdelim(&text, &size, '\0', in);
        if (n < 0 && ferror(in))
                return -errno;
        if ((n > 0 && text[n - 1] == '\0') || n > (ssize_t)PAYLOAD_MAX)
                return n > (ssize_t)PAYLOAD_MAX ? -EFBIG : -EILSEQ;
        *ret = n < 0 ? strdup("") : TAKE(text);
        return *ret ? 0 : -ENOMEM;
}

static int read_payload(const char *word, char **ret) {
        char *text = NULL;
        size_t length = 0;
        int r = 0;

        if (strcmp(word, "-") == 0)
                r = read_all(stdin, &text);
        else if (word[0] == '@')
                r = file_read(word + 1, PAYLOAD_MAX, &text, &length);
        else
                text = strdup(word);
        if (r == 0 && !text)
                r = -ENOMEM;
        if (r == 0 && length > 0 && strlen(text) != length)
                r = -EILSEQ;
        if (r < 0) {
                free(text);
                fprintf(stderr, "endwell jobs enqueue: the payload could not be read from %s: %s; nothing was done\n",
                        word[0] == '@' ? word + 1 : "standard input",
                        r == -EILSEQ ? "there is a NUL in it" : file_problem(r));
                return COMMAND_USAGE;
        }
        free(*ret);
        *ret = text;
        return 0;
}

static int read_number(const char *option, const char *word, long long least, long long most, int64_t *ret) {
        char *end, text[160];

        errno = 0;
        long long n = strtoll(word, &end, 10);
        if (errno == 0 && end != word && !*end && n >= least && n <= most) {
                *ret = n;
                return 0;
        }
        snprintf(text, sizeof text, "%s is a number from %lld to %lld, not ", option, least, most);
        return refuse(text, word);
}

static int read_moment(EnqueueOptions *options, const char *word) {
        const char *problem = NULL;
        char text[200];

        options->has_moment = true;
        if (moment_parse(word, &options->moment, &problem) == 0)
                return 0;
        snprintf(text, sizeof text, "--run-at %.60s %s", word, problem);
        return refuse(text, "");
}

static int take_option(EnqueueOptions *options, int option, char **argv) {
        int64_t number;

        switch (option) {
        case 'k': options->kind = optarg; return 0;
        case 'p': return read_payload(optarg, &options->payload);
        case 'd': options->dedup = optarg; return 0;
        case 'r': return read_moment(options, optarg);
        case 'n': return read_number("--count", optarg, 1, COUNT_MAX, &options->count);
        case 'P': options->priority = optarg; return read_number("--priority", optarg, INT32_MIN, INT32_MAX, &number);
        case 'm': options->max_attempts = optarg; return read_number("--max-attempts", optarg, 1, 10000, &number);
        default: return command_option(&command_enqueue, option, argv, &options->place);
        }
}

/* ---- Doing it ---- */

typedef struct Enqueued {
        int64_t first, last, n_created, n; /* n: answered */
        char status[40];                   /* of the last */
} Enqueued;

static int ask(const EnqueueOptions *options, Session *session, int64_t n, PqRows **ret) {
        char span[48], count[24];
        const Moment *moment = &options->moment;
        const char *const values[] = {
                options->queue,
                options->kind,
                options->payload,
                options->dedup,
                options->has_moment && !moment->is_span ? moment->instant : NULL,
                options->priority,
                options->max_attempts,
                options->has_moment && moment->is_span ? span : NULL,
                count,
        };

        snprintf(span, sizeof span, "%" PRIu64 " microseconds", moment->span_usec);
        snprintf(count, sizeof count, "%" PRId64, n);
        return command_ask(&command_enqueue, session, "putting jobs into the queue", sql_command("enqueue"), values,
                           LENGTH_OF(values), false, ret);
}

static int make_queue(const EnqueueOptions *options, Session *session) {
        const char *const values[] = { options->queue };
        PqRows *rows = NULL;

        int code = command_ask(&command_enqueue, session, "making the queue",
                               "insert into @schema@.queue (name) values ($1) on conflict do nothing", values, 1, false,
                               &rows);
        pq_rows_free(rows);
        if (code == 0 && !options->place.json)
                printf("made the queue %s, with the default policy\n", options->queue_plain);
        return code;
}

static void count(const PqRows *rows, Enqueued *done) {
        for (size_t i = 0; i < pq_rows_count(rows); i++) {
                done->last = pq_rows_int64(rows, i, ID);
                if (done->n++ == 0)
                        done->first = done->last;
                done->n_created += pq_rows_bool(rows, i, CREATED);
                snprintf(done->status, sizeof done->status, "%s", pq_rows_text(rows, i, STATUS));
        }
}

static int enqueue_all(const EnqueueOptions *options, Session *session, Enqueued *done) {
        bool made = false;
        int code = 0;

        while (code == 0 && done->n < options->count) {
                _cleanup_(pq_rows_freep) PqRows *rows = NULL;
                int64_t left = options->count - done->n;
                code = ask(options, session, left < AT_ONCE ? left : AT_ONCE, &rows);
                if (code == 0 && !pq_rows_text(rows, 0, ID) && !made) {
                        made = true;
                        code = make_queue(options, session);
                } else if (code == 0) {
                        count(rows, done);
                }
        }
        return code;
}

static int tell(const EnqueueOptions *options, const Enqueued *done) {
        if (options->place.json)
                printf("{\"first_id\":%" PRId64 ",\"last_id\":%" PRId64 ",\"created\":%" PRId64 ",\"status\":\"%s\"}\n",
                       done->first, done->last, done->n_created, done->status);
        else if (done->n_created > 1)
                printf("%" PRId64 " jobs in the queue %s: %" PRId64 " to %" PRId64 "\n", done->n_created,
                       options->queue_plain, done->first, done->last);
        else if (done->n_created == 1)
                printf("job %" PRId64 " in the queue %s: %s\n", done->last, options->queue_plain, done->status);
        else
                printf("job %" PRId64 " has this dedup key already, and is %s: no new one was made\n", done->last,
                       done->status);
        return done->n_created == 0 && strcmp(done->status, "dead") == 0 ? COMMAND_NOT_SO : COMMAND_DONE;
}

static size_t characters_in(const char *text) {
        size_t n = 0;

        for (; *text; text++)
                n += ((unsigned char)*text & 0xC0) != 0x80;
        return n;
}

static int enqueue(EnqueueOptions *options) {
        _cleanup_(session_freep) Session *session = NULL;
        Enqueued done = { 0 };

        options->queue_plain = plain_text(options->queue, NULL);
        if (!options->queue_plain)
                return command_out_of_memory(&command_enqueue);
        int code = command_open(&command_enqueue, &options->place, false, &session);
        if (code == 0)
                code = enqueue_all(options, session, &done);
        if (code == 0)
                code = tell(options, &done);
        else if (done.n > 0)
                fprintf(stderr,
                        "endwell jobs enqueue: %" PRId64 " jobs were put into the queue before that, %" PRId64
                        " to %" PRId64 "\n",
                        done.n, done.first, done.last);
        return command_flush(&command_enqueue, code);
}

static int run(int argc, char **argv) {
        static const struct option words[] = {
                COMMAND_LONG,
                { "kind", required_argument, NULL, 'k' },
                { "payload", required_argument, NULL, 'p' },
                { "dedup", required_argument, NULL, 'd' },
                { "priority", required_argument, NULL, 'P' },
                { "run-at", required_argument, NULL, 'r' },
                { "max-attempts", required_argument, NULL, 'm' },
                { "count", required_argument, NULL, 'n' },
                { 0 },
        };
        EnqueueOptions options = { .kind = "", .priority = "0", .count = 1 };
        int option, code = 0;

        command_begin();
        while (code == 0 && !options.place.helped &&
               (option = getopt_long(argc, argv, COMMAND_SHORT, words, NULL)) != -1)
                code = take_option(&options, option, argv);
        if (code == 0 && !options.place.helped) {
                options.queue = argv[optind];
                if (!options.queue || !*options.queue)
                        code = refuse("the name of a queue is missing", "");
                else if (argc - optind > 1)
                        code = refuse("a word too many: ", argv[optind + 1]);
                else if (characters_in(options.queue) > QUEUE_MAX)
                        code = refuse("the name of a queue has at most 200 characters", "");
                else if (options.count > 1 && options.dedup)
                        code = refuse("--count and --dedup do not go together: one key, one job", "");
                else
                        code = enqueue(&options);
        }
        free(options.payload);
        free(options.queue_plain);
        return code;
}

const Command command_enqueue = {
        "jobs enqueue",
        "usage: endwell jobs enqueue QUEUE [OPTIONS] [-c FILE] [--wait TIME] [--json]\n"
        "Puts a job into a queue, and makes the queue when it is not there.\n"
        "      --kind K          what the worker shall do with it\n"
        "      --payload JSON    what it is about; @FILE reads it from a file, - from standard input\n"
        "      --dedup KEY       none when an unfinished or dead job of the queue has this key\n"
        "      --priority N      smaller ones first (0)\n"
        "      --run-at TIME     not before: +30s, +2h, or 2026-12-01T10:00:00Z\n"
        "      --max-attempts N  instead of the queue's\n"
        "      --count N         so many, all alike\n" COMMAND_PLACE_USAGE
        "Exit codes: 0 it is in the queue, or an unfinished one of this key is; 1 the one of this key is dead, so that "
        "nothing\n"
        "will run; 64 bad usage; 69 the database could not be reached or has no ledger; 78 bad configuration.\n",
        run,
        "puts jobs into a queue",
};
