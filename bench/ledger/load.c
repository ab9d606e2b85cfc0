/* load.c - claims and finishes jobs, or enqueues them, on many connections at once, and says how fast it went.
 *
 *     load [-p] [-w] MODE JOBS CONNECTIONS SIZE CAP_SEC
 *
 * Where the database is comes from libpq's own PG* variables. SIZE is how many jobs one statement takes. The clock runs
 * from the moment when every connection is ready until the last answer; who is not done after CAP_SEC stops there. One
 * line of JSON goes to stdout. Statements go unprepared, as endwell's client sends them because of poolers; -p prepares
 * them. Each connection is a worker of its own; -w makes all of them one. A verb that refuses what it should take ends
 * the run. */
#include "bench/ledger/load_modes.h"

#include <libpq-fe.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SIZE_MOST     1000
#define NUMBER_LENGTH 21
#define UUID_LENGTH   37
#define PAYLOAD       "{\\\"n\\\": 1}"
/* A job with an earlier place in the order may have come since: look from the front again. */
#define CURSOR_NSEC 1000000000L

typedef struct Job {
        char id[NUMBER_LENGTH], gen[NUMBER_LENGTH], claim[UUID_LENGTH];
} Job;

typedef struct Cursor {
        char id[NUMBER_LENGTH];
        long since_nsec;
        bool set;
} Cursor;

typedef struct Load {
        const Mode *mode;
        bool prepared, one_worker;
        long jobs;
        int connections, size, cap_sec;
        char worker[UUID_LENGTH]; /* of all, with one_worker */
        char *payloads;
        pthread_barrier_t ready;
        atomic_long done, begin_nsec;
} Load;

typedef struct Hand {
        Load *load;
        PGconn *connection;
        pthread_t thread;
        char worker[UUID_LENGTH], size[NUMBER_LENGTH];
        Job jobs[SIZE_MOST];
        int held;
        Cursor cursor;
        char *arrays[3]; /* ids, gens, claims of the jobs in hand */
        float *claim_usec;
        long claims, claims_room, end_nsec;
} Hand;

_Noreturn __attribute__((format(printf, 1, 2))) static void give_up(const char *format, ...) {
        va_list arguments;
        va_start(arguments, format);
        fputs("load: ", stderr);
        vfprintf(stderr, format, arguments);
        va_end(arguments);
        fputc('\n', stderr);
        exit(EXIT_FAILURE);
}

static void *memory(void *old, size_t bytes) {
        void *new = realloc(old, bytes);
        if (!new)
                give_up("out of memory");
        return new;
}

static long now_nsec(void) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        return now.tv_sec * 1000000000L + now.tv_nsec;
}

static void copy(char *to, size_t room, PGresult *result, int row, int column) {
        snprintf(to, room, "%s", PQgetvalue(result, row, column));
}

/* '{a,b,c}' of one member of each job in hand, which is at `offset` in a Job. */
static void write_array(char *to, const Hand *hand, size_t offset) {
        *to++ = '{';
        for (int i = 0; i < hand->held; i++) {
                if (i)
                        *to++ = ',';
                to = stpcpy(to, (const char *)&hand->jobs[i] + offset);
        }
        strcpy(to, "}");
}

static void write_arrays(Hand *hand) {
        write_array(hand->arrays[0], hand, offsetof(Job, id));
        write_array(hand->arrays[1], hand, offsetof(Job, gen));
        write_array(hand->arrays[2], hand, offsetof(Job, claim));
}

static const char *parameter(const Hand *hand, char letter, const Job *job) {
        switch (letter) {
        case 'w': return hand->worker;
        case 'n': return hand->size;
        case 'l': return hand->cursor.set ? hand->cursor.id : NULL;
        case 'i': return job->id;
        case 'g': return job->gen;
        case 'c': return job->claim;
        case 'I': return hand->arrays[0];
        case 'G': return hand->arrays[1];
        case 'C': return hand->arrays[2];
        case 'J': return hand->load->payloads;
        }
        give_up("no parameter is called '%c'", letter);
}

static PGresult *run(Hand *hand, const char *name, const Statement *statement, const Job *job) {
        const char *values[8];
        int number = (int)strlen(statement->parameters);
        for (int i = 0; i < number; i++)
                values[i] = parameter(hand, statement->parameters[i], job);
        PGresult *result = hand->load->prepared ? PQexecPrepared(hand->connection, name, number, values, NULL, NULL, 0)
                                                : PQexecParams(hand->connection, statement->sql, number, NULL, values,
                                                               NULL, NULL, 0);
        ExecStatusType status = PQresultStatus(result);
        if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
                give_up("%s: %s", statement->sql, PQerrorMessage(hand->connection));
        return result;
}

static void remember_latency(Hand *hand, long nsec) {
        if (hand->claims == hand->claims_room) {
                hand->claims_room = hand->claims_room ? 2 * hand->claims_room : 4096;
                hand->claim_usec = memory(hand->claim_usec, sizeof(float) * (size_t)hand->claims_room);
        }
        hand->claim_usec[hand->claims++] = (float)nsec / 1000;
}

static void expect_ok(const Hand *hand, const PGresult *result, int row, int column) {
        if (strcmp(PQgetvalue(result, row, column), "ok") != 0)
                give_up("%s: a job was answered '%s'", hand->load->mode->name, PQgetvalue(result, row, column));
}

/* A claim of another hand that came too late for a job keeps its row locked until it commits: a beat waits for nobody.
 */
static bool is_done(const Hand *hand, const PGresult *result, int row) {
        if (hand->load->mode->work == WORK_BEAT && strcmp(PQgetvalue(result, row, 0), "busy") == 0)
                return false;
        expect_ok(hand, result, row, 0);
        return true;
}

/* A row of claim_next that is not a job answers for one that was completed. */
static void take_row(Hand *hand, PGresult *result, int row) {
        if (hand->load->mode->work == WORK_NEXT && strcmp(PQgetvalue(result, row, 3), "job") != 0) {
                expect_ok(hand, result, row, 3);
                atomic_fetch_add(&hand->load->done, 1);
                return;
        }
        Job *job = &hand->jobs[hand->held++];
        int columns = PQnfields(result);
        copy(job->id, sizeof(job->id), result, row, 0);
        if (columns > 1) {
                copy(job->gen, sizeof(job->gen), result, row, 1);
                copy(job->claim, sizeof(job->claim), result, row, 2);
        }
}

static void move_cursor(Hand *hand, PGresult *result) {
        Cursor *cursor = &hand->cursor;
        int last = PQntuples(result) - 1;
        if (last < 0) {
                cursor->set = false;
                return;
        }
        if (!cursor->set)
                cursor->since_nsec = now_nsec();
        cursor->set = now_nsec() - cursor->since_nsec < CURSOR_NSEC;
        copy(cursor->id, sizeof(cursor->id), result, last, 0);
}

/* False when there is nothing left, looked for from the front. */
static bool claim(Hand *hand) {
        bool from_the_front = !hand->cursor.set;
        long begin = now_nsec();
        PGresult *result = run(hand, "claim", &hand->load->mode->claim, NULL);
        remember_latency(hand, now_nsec() - begin);
        hand->held = 0;
        for (int row = 0; row < PQntuples(result); row++)
                take_row(hand, result, row);
        if (hand->load->mode->cursor)
                move_cursor(hand, result);
        PQclear(result);
        write_arrays(hand);
        return hand->held || !from_the_front;
}

static void finish(Hand *hand) {
        const Statement *statement = &hand->load->mode->finish;
        bool each = strchr(statement->parameters, 'i');
        int done = 0;
        for (int i = 0; i < (each ? hand->held : hand->held > 0); i++) {
                PGresult *result = run(hand, "finish", statement, &hand->jobs[i]);
                if (PQntuples(result) != (each ? 1 : hand->held))
                        give_up("%s: %d rows for %d jobs", statement->sql, PQntuples(result), hand->held);
                for (int row = 0; row < PQntuples(result); row++)
                        done += is_done(hand, result, row);
                PQclear(result);
        }
        atomic_fetch_add(&hand->load->done, done);
}

static bool is_over(const Load *load) {
        return now_nsec() - load->begin_nsec > load->cap_sec * 1000000000L;
}

static void drain(Hand *hand) {
        while (!is_over(hand->load) && claim(hand))
                if (hand->load->mode->work == WORK_DRAIN)
                        finish(hand);
}

static void beat(Hand *hand) {
        if (!claim(hand))
                give_up("there is no job to beat for");
        while (!is_over(hand->load) && hand->load->done < hand->load->jobs)
                finish(hand);
}

static void enqueue(Hand *hand) {
        while (!is_over(hand->load) && hand->load->done < hand->load->jobs) {
                PQclear(run(hand, "claim", &hand->load->mode->claim, NULL));
                atomic_fetch_add(&hand->load->done, hand->load->size);
        }
}

static void prepare(Hand *hand, const char *name, const Statement *statement) {
        if (statement->sql)
                PQclear(PQprepare(hand->connection, name, statement->sql, 0, NULL));
}

static void become_worker(Hand *hand) {
        snprintf(hand->worker, sizeof(hand->worker), "%s", hand->load->worker);
        if (hand->worker[0] || strncmp(hand->load->mode->name, "floor", strlen("floor")) == 0)
                return;
        PGresult *result = PQexec(hand->connection, "select endwell.worker_up('bench')");
        if (PQresultStatus(result) != PGRES_TUPLES_OK)
                give_up("worker_up: %s", PQerrorMessage(hand->connection));
        copy(hand->worker, sizeof(hand->worker), result, 0, 0);
        PQclear(result);
        if (hand->load->one_worker)
                memcpy(hand->load->worker, hand->worker, sizeof(hand->worker));
}

static void hand_init(Hand *hand, Load *load) {
        *hand = (Hand){ .load = load, .connection = PQconnectdb("") };
        if (PQstatus(hand->connection) != CONNECTION_OK)
                give_up("connecting: %s", PQerrorMessage(hand->connection));
        snprintf(hand->size, sizeof(hand->size), "%d", load->size);
        for (int i = 0; i < 3; i++)
                hand->arrays[i] = memory(NULL, 2 + SIZE_MOST * UUID_LENGTH);
        become_worker(hand);
        if (load->prepared) {
                prepare(hand, "claim", &load->mode->claim);
                prepare(hand, "finish", &load->mode->finish);
        }
        write_arrays(hand);
}

static void *work(void *argument) {
        static void (*const works[])(Hand *) = {
                [WORK_DRAIN] = drain,
                [WORK_NEXT] = drain,
                [WORK_BEAT] = beat,
                [WORK_ENQUEUE] = enqueue,
        };
        Hand *hand = argument;
        if (pthread_barrier_wait(&hand->load->ready) == PTHREAD_BARRIER_SERIAL_THREAD)
                hand->load->begin_nsec = now_nsec();
        pthread_barrier_wait(&hand->load->ready);
        works[hand->load->mode->work](hand);
        hand->end_nsec = now_nsec();
        return NULL;
}

static int compare_floats(const void *a, const void *b) {
        float left = *(const float *)a, right = *(const float *)b;
        return (left > right) - (left < right);
}

static void report(const Load *load, const Hand *hands) {
        long claims = 0, end_nsec = 0, at = 0;
        for (int i = 0; i < load->connections; i++) {
                claims += hands[i].claims;
                if (hands[i].end_nsec > end_nsec)
                        end_nsec = hands[i].end_nsec;
        }
        float *usec = memory(NULL, sizeof(float) * (size_t)(claims + 1));
        usec[0] = 0;
        for (int i = 0; i < load->connections; i++)
                for (long claim = 0; claim < hands[i].claims; claim++)
                        usec[at++] = hands[i].claim_usec[claim];
        qsort(usec, (size_t)claims, sizeof(float), compare_floats);
        printf("{\"jobs\": %ld, \"seconds\": %.6f, \"claims\": %ld, \"p50_usec\": %.0f, \"p99_usec\": %.0f}\n",
               load->done, (double)(end_nsec - load->begin_nsec) / 1e9, claims, (double)usec[claims / 2],
               (double)usec[claims * 99 / 100]);
        free(usec);
}

static char *make_payloads(int size) {
        char *payloads = memory(NULL, 3 + (size_t)size * (sizeof(PAYLOAD) + 2)), *end = stpcpy(payloads, "{");
        for (int i = 0; i < size; i++)
                end = stpcpy(stpcpy(stpcpy(end, i ? ",\"" : "\""), PAYLOAD), "\"");
        strcpy(end, "}");
        return payloads;
}

static void read_arguments(Load *load, int argc, char **argv) {
        for (int option; (option = getopt(argc, argv, "pw")) != -1;) {
                load->prepared |= option == 'p';
                load->one_worker |= option == 'w';
        }
        if (argc - optind != 5 || !(load->mode = mode_find(argv[optind])))
                give_up("usage: load [-p] [-w] MODE JOBS CONNECTIONS SIZE CAP_SEC");
        load->jobs = atol(argv[optind + 1]);
        load->connections = atoi(argv[optind + 2]);
        load->size = atoi(argv[optind + 3]);
        load->cap_sec = atoi(argv[optind + 4]);
        if (load->size < 1 || load->size > SIZE_MOST || load->connections < 1)
                give_up("a statement takes 1 to %d jobs, and there is a connection at least", SIZE_MOST);
}

int main(int argc, char **argv) {
        Load load = { 0 };
        read_arguments(&load, argc, argv);
        load.payloads = make_payloads(load.size);
        pthread_barrier_init(&load.ready, NULL, (unsigned)load.connections);
        Hand *hands = memory(NULL, sizeof(Hand) * (size_t)load.connections);
        for (int i = 0; i < load.connections; i++)
                hand_init(&hands[i], &load);
        for (int i = 0; i < load.connections; i++)
                if (pthread_create(&hands[i].thread, NULL, work, &hands[i]) != 0)
                        give_up("no more threads");
        for (int i = 0; i < load.connections; i++)
                pthread_join(hands[i].thread, NULL);
        report(&load, hands);
        return EXIT_SUCCESS;
}
