/* status_text.c - the answer to `status` as a table for people. */
#include "supervisor/status_text.h"
#include "base/duration.h"
#include "base/utf8.h"
#include <string.h>

#define FOLDED_FROM 9 /* instances */
#define NAMED_MAX   8 /* of those who are waited for */
#define CELL_MAX    160
#define COLUMNS     6

static json_int_t integer(const json_t *object, const char *key) {
        return json_integer_value(json_object_get(object, key));
}

static const char *string(const json_t *object, const char *key) {
        const char *text = json_string_value(json_object_get(object, key));

        return text ? text : "";
}

static bool truth(const json_t *object, const char *key) {
        return json_is_true(json_object_get(object, key));
}

static const char *span(json_int_t usec, char ret_text[static DURATION_TEXT_MAX]) {
        /* Nobody reads the microseconds of a minute. */
        json_int_t step = usec > 60 * (json_int_t)USEC_PER_SEC ? (json_int_t)USEC_PER_SEC
                          : usec > (json_int_t)USEC_PER_SEC    ? 100 * (json_int_t)USEC_PER_MSEC
                                                               : (json_int_t)USEC_PER_MSEC;
        usec -= usec % step;
        return duration_format(usec > 0 ? (usec_t)usec : 0, ret_text);
}

/* "worker@3", or "db" of a service with one instance. */
static void name_member(const json_t *service, const json_t *instance, char *ret_name, size_t size) {
        if (json_array_size(json_object_get(service, "instances")) == 1)
                snprintf(ret_name, size, "%s", string(service, "service"));
        else
                snprintf(ret_name, size, "%s@%d", string(service, "service"), (int)integer(instance, "instance"));
}

/* Of the present phase. */
static size_t count_members(const json_t *status) {
        size_t n = 0, i;
        json_t *service;

        json_array_foreach(json_object_get(status, "services"), i,
                           service) if (strcmp(string(service, "phase"), string(status, "phase")) == 0) n +=
                json_array_size(json_object_get(service, "instances"));
        return n;
}

static void write_awaited(const json_t *status, FILE *out) {
        json_int_t awaited = integer(status, "awaited"), named = 0;
        size_t s, i;
        json_t *service, *instance;
        char name[64];

        json_array_foreach(json_object_get(status, "services"), s, service)
                json_array_foreach(json_object_get(service, "instances"), i, instance) {
                if (!truth(instance, "awaited") || named == NAMED_MAX)
                        continue;
                name_member(service, instance, name, sizeof name);
                fprintf(out, "%s%s", named++ > 0 ? ", " : "", name);
        }
        if (awaited > named)
                fprintf(out, "%s%d more", named > 0 ? " and " : "", (int)(awaited - named));
        if (awaited > 0 && string(status, "phase")[0])
                fprintf(out, " (%d of %zu)", (int)awaited, count_members(status));
        if (integer(status, "orphans") > 0)
                fprintf(out, "%s%d adopted process%s", awaited > 0 ? ", " : "", (int)integer(status, "orphans"),
                        integer(status, "orphans") == 1 ? "" : "es");
}

typedef struct Limit {
        json_int_t usec; /* -1: there is none */
        bool asks;       /* who is not ready by then is asked to end, and not killed */
} Limit;

/* When the last of those who are waited for is killed, or, in a start, asked: a service's own limit may come before its
 * phase's. In an ending the limit of a start means nothing any more. None: nobody is, or one of them never. */
static Limit last_limit(const json_t *status) {
        const json_t *limit = json_object_get(status, "limit_us");
        json_int_t of_phase = limit ? json_integer_value(limit) : -1;
        Limit last = { .usec = -1 };
        size_t s, i;
        json_t *service, *instance;

        json_array_foreach(json_object_get(status, "services"), s, service)
                json_array_foreach(json_object_get(service, "instances"), i, instance) {
                if (!truth(instance, "awaited"))
                        continue;
                bool starts = strcmp(string(instance, "state"), "starting") == 0;
                const json_t *own = starts && of_phase >= 0 ? NULL : json_object_get(instance, "limit_us");
                json_int_t usec = own ? json_integer_value(own) : of_phase;
                if (usec < 0)
                        return (Limit){ .usec = -1 }; /* the limits of the others say nothing of it */
                if (usec > last.usec)
                        last = (Limit){ .usec = usec, .asks = starts && own };
        }
        bool own_counts = last.usec >= 0 && (of_phase < 0 || last.usec < of_phase);
        return own_counts ? last : (Limit){ .usec = of_phase };
}

static void write_waiting(const json_t *status, FILE *out) {
        Limit limit = last_limit(status);
        char text[DURATION_TEXT_MAX];

        if (string(status, "phase")[0])
                fprintf(out, "phase %s: ", string(status, "phase"));
        if (integer(status, "awaited") > 0 || integer(status, "orphans") > 0) {
                fputs("waiting for ", out);
                write_awaited(status, out);
        } else {
                fputs(string(status, "step"), out);
        }
        if (limit.usec >= 0)
                fprintf(out, ", %s in %s", limit.asks ? "asked to end" : "killed", span(limit.usec, text));
        fputc('\n', out);
}

static void write_state(const json_t *status, FILE *out) {
        char text[DURATION_TEXT_MAX], left[DURATION_TEXT_MAX];

        if (truth(status, "ending")) {
                fprintf(out, "ending for %s (%s%s)", span(integer(status, "since_us"), text), string(status, "cause"),
                        truth(status, "fast") ? ", fast" : "");
                if (json_object_get(status, "deadline_us"))
                        fprintf(out, ", over in %s at the latest", span(integer(status, "deadline_us"), left));
        } else {
                fprintf(out, "%s for %s",
                        strcmp(string(status, "step"), "starting") == 0 ? "starting"
                        : truth(status, "ready")                        ? "ready"
                                                                        : "up, but not ready",
                        span(integer(status, "since_us"), text));
        }
        fprintf(out, " - endwell %s, pid %d, mode %s\n", string(status, "version"), (int)integer(status, "pid"),
                string(status, "mode"));
}

static void write_hooks(const json_t *status, FILE *out) {
        char text[DURATION_TEXT_MAX];
        size_t i;
        json_t *hook;

        json_array_foreach(json_object_get(status, "hooks"), i, hook)
                fprintf(out, "hook %s (%s%s%s) runs for %s, pid %d\n", string(hook, "hook"), string(hook, "on"),
                        string(hook, "service")[0] ? " of " : "", string(hook, "service"),
                        span(integer(hook, "since_us"), text), (int)integer(hook, "pid"));
}

typedef struct Row {
        char cells[COLUMNS][CELL_MAX];
} Row;

/* Whose readiness probe took its readiness away is not ready, wherever its life stands. */
static const char *state_of(const json_t *instance) {
        const char *state = string(instance, "state");

        return strcmp(state, "ready") == 0 && json_object_get(instance, "not_ready") ? "not ready" : state;
}

static void fill_row(Row *row, const json_t *service, const json_t *instance) {
        char text[DURATION_TEXT_MAX];

        name_member(service, instance, row->cells[0], CELL_MAX);
        snprintf(row->cells[1], CELL_MAX, "%s%s", state_of(instance), truth(instance, "awaited") ? "*" : "");
        snprintf(row->cells[2], CELL_MAX, integer(instance, "pid") > 0 ? "%d" : "-", (int)integer(instance, "pid"));
        snprintf(row->cells[3], CELL_MAX, "%s", span(integer(instance, "since_us"), text));
        snprintf(row->cells[4], CELL_MAX, "%d", (int)integer(instance, "restarts"));
        snprintf(row->cells[5], CELL_MAX, "%s", string(instance, "status"));
}

static void append_note(Row *row, const json_t *instance) {
        char *note = row->cells[5], text[DURATION_TEXT_MAX];

        utf8_clean(note, strlen(note));
        if (json_object_get(instance, "not_ready")) {
                size_t n = utf8_cut(note, strlen(note), CELL_MAX - 112);
                snprintf(note + n, CELL_MAX - n, "%s%s", n > 0 ? "; " : "", string(instance, "not_ready"));
                utf8_clean(note, strlen(note));
        }
        if (json_object_get(instance, "limit_us")) {
                size_t n = utf8_cut(note, strlen(note), CELL_MAX - 64);
                snprintf(note + n, CELL_MAX - n, "%slimit in %s", n > 0 ? "; " : "",
                         span(integer(instance, "limit_us"), text));
        }
        if (integer(instance, "orphans") > 0) {
                size_t n = utf8_cut(note, strlen(note), CELL_MAX - 32);
                snprintf(note + n, CELL_MAX - n, "%s%d descendant%s left", n > 0 ? "; " : "",
                         (int)integer(instance, "orphans"), integer(instance, "orphans") == 1 ? "" : "s");
        }
}

static bool are_alike(const json_t *instances) {
        const json_t *first = json_array_get(instances, 0);
        size_t i;
        json_t *instance;

        json_array_foreach(instances, i, instance) if (strcmp(string(instance, "state"), string(first, "state")) != 0 ||
                                                       integer(instance, "restarts") != integer(first, "restarts") ||
                                                       integer(instance, "orphans") > 0 ||
                                                       json_object_get(instance, "not_ready") ||
                                                       string(instance, "status")[0]) return false;
        return true;
}

static void fold_row(Row *row, const json_t *service, const json_t *instances) {
        const json_t *first = json_array_get(instances, 0);
        size_t n = json_array_size(instances);

        fill_row(row, service, first);
        snprintf(row->cells[0], CELL_MAX, "%s@1..%zu", string(service, "service"), n);
        snprintf(row->cells[2], CELL_MAX, "-");
        snprintf(row->cells[5], CELL_MAX, "%zu alike", n);
}

typedef struct Table {
        StatusTextStyle style;
        FILE *out;
        int width[COLUMNS]; /* of the widest cell so far; measured first, then used */
        bool measuring;
} Table;

static const char *colour_of(const char *state) {
        if (strncmp(state, "ready", 5) == 0 || strncmp(state, "done", 4) == 0)
                return "\033[32m";
        if (strncmp(state, "failed", 6) == 0 || strncmp(state, "left", 4) == 0 || strncmp(state, "killing", 7) == 0)
                return "\033[31m";
        return "\033[33m";
}

/* Characters, not bytes: names and states are ASCII, and the last cell is not padded. */
static void put_row(Table *table, const Row *row, bool header) {
        for (size_t i = 0; i < COLUMNS; i++) {
                int length = (int)strlen(row->cells[i]);

                if (table->measuring) {
                        table->width[i] = length > table->width[i] ? length : table->width[i];
                        continue;
                }
                bool coloured = table->style.colour && i == 1 && !header;
                int pad = i + 1 < COLUMNS && row->cells[i + 1][0] ? table->width[i] - length + 2 : 0;
                fprintf(table->out, "%s%s%s%*s", coloured ? colour_of(row->cells[1]) : "", row->cells[i],
                        coloured ? "\033[0m" : "", pad, "");
        }
        if (!table->measuring)
                fputc('\n', table->out);
}

static void put_service(Table *table, const json_t *service) {
        const json_t *instances = json_object_get(service, "instances");
        size_t i;
        json_t *instance;
        Row row;

        if (!table->style.all && json_array_size(instances) >= FOLDED_FROM && are_alike(instances)) {
                fold_row(&row, service, instances);
                put_row(table, &row, false);
                return;
        }
        json_array_foreach(instances, i, instance) {
                fill_row(&row, service, instance);
                append_note(&row, instance);
                put_row(table, &row, false);
        }
}

static void put_table(Table *table, const json_t *status) {
        static const Row header = { { "SERVICE", "STATE", "PID", "SINCE", "RESTARTS", "STATUS" } };
        size_t i;
        json_t *service;

        put_row(table, &header, true);
        json_array_foreach(json_object_get(status, "services"), i, service) put_service(table, service);
}

void status_text_write(const json_t *status, StatusTextStyle style, FILE *out) {
        Table table = { .style = style, .out = out, .measuring = true };
        bool waits = truth(status, "ending") || strcmp(string(status, "step"), "starting") == 0 ||
                     integer(status, "awaited") > 0; /* by a person */

        write_state(status, out);
        if (waits)
                write_waiting(status, out);
        write_hooks(status, out);
        put_table(&table, status);
        table.measuring = false;
        put_table(&table, status);
}
