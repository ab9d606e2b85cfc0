/* talker.c - drives one connection by the lines of its standard input, and prints what it hears, one line each.
 *
 * `send MS SQL`, `script MS SQL`, `burst N MS SQL` (N at once), `close`, `quit`. It prints `up pooled=0 version=N`,
 * `down ANSWER RETRY_MS FAILURES WHY`, `connecting`, `answer MS_TAKEN ANSWER STATE ROWS FIRST WHY`, `refused ERRNO`,
 * `note CHANNEL PAYLOAD`. The place is $TALKER_URL (else PG*), limits $TALKER_CONNECT_MS, $TALKER_STATEMENT_MS. */
#include "base/clock.h"
#include "base/take.h"
#include "ledger/connection.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>

typedef struct Talker {
        sd_event *event;
        Connection *connection;
        char text[65536];
        size_t length;
} Talker;

typedef struct Question {
        usec_t sent;
} Question;

static void on_answer(PqReply *reply, void *userdata) {
        Question *question = userdata;
        const char *first = pq_rows_text(reply->rows, 0, 0);

        printf("answer %llu %s %s %zu %s %s\n", (unsigned long long)((clock_now_usec() - question->sent) / 1000),
               sql_answer_to_string(reply->answer), reply->state[0] ? reply->state : "-", pq_rows_count(reply->rows),
               first ? first : "-", reply->why);
        free(question);
}

static void on_state(const ConnectionChange *change, void *userdata) {
        static const char *const words[] = { [CONNECTION_STATE_CONNECTING] = "connecting",
                                             [CONNECTION_STATE_UP] = "up",
                                             [CONNECTION_STATE_DOWN] = "down" };
        Talker *talker = userdata;

        fputs(words[change->state], stdout);
        if (change->state == CONNECTION_STATE_UP)
                printf(" pooled=%d version=%d", connection_is_pooled(talker->connection),
                       connection_server_version(talker->connection));
        if (change->state == CONNECTION_STATE_DOWN)
                printf(" %s %lld %u %s", sql_answer_to_string(change->answer),
                       change->retry_usec == USEC_INFINITY ? -1LL : (long long)(change->retry_usec / 1000),
                       change->failures, change->why);
        puts("");
}

static void on_notification(const char *channel, const char *payload, void *userdata) {
        (void)userdata;
        printf("note %s %s\n", channel, payload);
}

static void post(Talker *talker, const char *words, bool script) {
        char *sql = NULL;
        Question *question = malloc(sizeof *question);
        Statement statement = { .timeout_usec = strtoull(words, &sql, 10) * 1000,
                                .done = on_answer,
                                .userdata = question };

        statement.sql = sql;
        question->sent = clock_now_usec();
        int r = script ? connection_send_script(talker->connection, &statement)
                       : connection_send(talker->connection, &statement);
        if (r < 0) {
                printf("refused %s\n", strerrorname_np(-r));
                free(question);
        }
}

static void obey(Talker *talker, const char *line) {
        char *rest = NULL;

        if (strncmp(line, "send ", 5) == 0)
                post(talker, line + 5, false);
        else if (strncmp(line, "script ", 7) == 0)
                post(talker, line + 7, true);
        else if (strncmp(line, "burst ", 6) == 0)
                for (long n = strtol(line + 6, &rest, 10); n > 0; n--)
                        post(talker, rest, false);
        else if (strcmp(line, "close") == 0)
                connection_close(talker->connection);
        else
                (void)sd_event_exit(talker->event, 0);
}

static int on_input(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        Talker *talker = userdata;
        (void)source, (void)revents;

        ssize_t n = read(fd, talker->text + talker->length, sizeof talker->text - talker->length);
        if (n <= 0)
                return sd_event_exit(talker->event, 0);
        talker->length += (size_t)n;
        for (char *end; (end = memchr(talker->text, '\n', talker->length));) {
                *end++ = '\0';
                obey(talker, talker->text);
                talker->length -= (size_t)(end - talker->text);
                memmove(talker->text, end, talker->length);
        }
        return 0;
}

static usec_t msec_of(const char *name) {
        const char *text = getenv(name);
        return text ? strtoull(text, NULL, 10) * 1000 : 0;
}

int main(void) {
        Talker talker = { 0 };
        ConnectionOptions options = {
                .opening = { .url = getenv("TALKER_URL"),
                             .application = "talker",
                             .read_only_will_do = getenv("TALKER_READ_ONLY") != NULL },
                .connect_timeout_usec = msec_of("TALKER_CONNECT_MS"),
                .statement_timeout_usec = msec_of("TALKER_STATEMENT_MS"),
                .retry_most_usec = msec_of("TALKER_RETRY_MOST_MS"),
                .on_state = on_state,
                .on_notification = on_notification,
                .userdata = &talker,
        };
        char place[PLACE_MAX];

        signal(SIGPIPE, SIG_IGN);
        setvbuf(stdout, NULL, _IOLBF, 0);
        int r = pq_place(options.opening.url, place);
        printf("%s %s\n", r < 0 ? "bad" : "place", place);
        if (r < 0)
                return 1;
        if (sd_event_new(&talker.event) < 0 || connection_new(&talker.connection, talker.event, &options) < 0 ||
            sd_event_add_io(talker.event, NULL, 0, EPOLLIN, on_input, &talker) < 0)
                return 2;
        r = sd_event_loop(talker.event);
        connection_free(talker.connection);
        sd_event_unref(talker.event);
        return r < 0 ? 3 : 0;
}
