/* world.c - opens worlds, runs commands in them and says what they look like, one order a line; for test_worlds.py.
 *
 * world LEVEL [folder=PATH] [database_url=URL] [database_name=NAME] [state=PATH]…; then on standard input: open, run
 * COMMAND, as UID COMMAND, observe, environment, close, best, recover, cycle N. One JSON value a line answers. */
#include "verify/world.h"
#include "base/clock.h"
#include "base/take.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define STATES_MAX 8

typedef struct Driver {
        WorldsPlan plan;
        char *states[STATES_MAX + 1], *allowed[2];
        Worlds *worlds;
        World *world;
} Driver;

static void say(json_t *value) {
        char *text = json_dumps(value, JSON_COMPACT);

        puts(text ? text : "{\"error\":\"not UTF-8\"}");
        fflush(stdout);
        free(text);
        json_decref(value);
}

static void say_result(int r, char *why) {
        say(json_pack("{s:i,s:s*}", "result", r, "why", why));
        free(why);
}

static void on_open(Driver *driver) {
        char *why = NULL;
        int r = driver->worlds ? 0 : worlds_new(&driver->worlds, &driver->plan, &why);

        if (r == 0)
                r = world_open(&driver->world, driver->worlds, &why);
        say_result(r, why);
}

static void on_close(Driver *driver) {
        char *why = NULL;
        int r = world_close(TAKE(driver->world), &why);

        say_result(r, why);
}

extern char **environ;

/* The world's own variables stand first: the first one of a name counts. */
static char **environment(const Driver *driver) {
        char *const *more = world_environment(driver->world);
        size_t n = 0, n_more = 0;

        while (environ[n])
                n++;
        while (more[n_more])
                n_more++;
        char **all = calloc(n + n_more + 1, sizeof *all);
        for (size_t i = 0; i < n_more; i++)
                all[i] = more[i];
        for (size_t i = 0; i < n; i++)
                all[n_more + i] = environ[i];
        return all;
}

static json_t *answer(const Trace *trace) {
        return json_pack("{s:i,s:s,s:s,s:I,s:I}", "code", trace->first.code, "output", trace->first.output, "complaint",
                         trace->first.complaint, "effects", (json_int_t)trace->n_effects, "left",
                         (json_int_t)trace->n_left);
}

static void on_run(Driver *driver, unsigned uid, char *command) {
        char *argv[] = { "/bin/sh", "-c", command, NULL };
        _cleanup_(freep) char **envp = environment(driver);
        TracerPlan plan = { .first = { .argv = argv,
                                       .envp = envp,
                                       .directory = "/",
                                       .uid = uid,
                                       .gid = uid,
                                       .keep_identity = uid == getuid(),
                                       .timeout_usec = 60 * USEC_PER_SEC } };
        Trace trace;
        int r = world_run(driver->world, &plan, &trace);

        if (r < 0) {
                say(json_pack("{s:i,s:s*}", "result", r, "why", world_why(driver->world)));
                return;
        }
        say(answer(&trace));
        trace_done(&trace);
}

static json_t *item_to_json(const Item *item) {
        json_t *lines = json_array();

        for (size_t i = 0; i < item->n_lines; i++)
                json_array_append_new(lines, json_string(item->lines[i]));
        return json_pack("{s:s,s:s,s:o}", "kind", item_kind_to_string(item->kind), "attributes", item->attributes,
                         "lines", lines);
}

static void on_observe(Driver *driver) {
        State state;
        int r = world_observe(driver->world, &state);
        json_t *items = json_object();

        if (r < 0) {
                json_decref(items);
                say_result(r, NULL);
                return;
        }
        for (size_t i = 0; i < state.n_items; i++)
                json_object_set_new(items, state.items[i].key, item_to_json(&state.items[i]));
        say(json_pack("{s:o,s:I,s:I}", "items", items, "xmax", (json_int_t)state.database_xmax, "requests",
                      (json_int_t)state.requests));
        state_done(&state);
}

static void on_environment(Driver *driver) {
        json_t *list = json_array();

        for (char *const *variable = world_environment(driver->world); *variable; variable++)
                json_array_append_new(list, json_string(*variable));
        say(list);
}

static void on_best(void) {
        char *reasons = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&reasons, &size);
        WorldLevel level = world_best_level(out);

        fclose(out);
        say(json_pack("{s:s,s:s}", "level", world_level_to_string(level), "reasons", reasons));
        free(reasons);
}

static int by_value(const void *a, const void *b) {
        usec_t left = *(const usec_t *)a, right = *(const usec_t *)b;
        return left < right ? -1 : left > right;
}

/* How long a world takes to be opened and closed. */
static void on_cycle(Driver *driver, size_t n) {
        _cleanup_(freep) usec_t *spans = calloc(n + 1, sizeof *spans);

        for (size_t i = 0; i < n; i++) {
                usec_t began = clock_now_usec();
                _cleanup_(freep) char *why = NULL;
                int r = world_open(&driver->world, driver->worlds, &why);
                if (r < 0) {
                        say_result(r, TAKE(why));
                        return;
                }
                (void)world_close(TAKE(driver->world), NULL);
                spans[i] = clock_now_usec() - began;
        }
        qsort(spans, n, sizeof *spans, by_value);
        say(json_pack("{s:I,s:I,s:I}", "median_usec", (json_int_t)spans[n / 2], "p95_usec",
                      (json_int_t)spans[n * 95 / 100], "most_usec", (json_int_t)spans[n - 1]));
}

static void obey(Driver *driver, char *line) {
        char *rest = strchr(line, ' '), *why = NULL;

        if (rest)
                *rest++ = 0;
        if (strcmp(line, "open") == 0)
                on_open(driver);
        else if (strcmp(line, "run") == 0)
                on_run(driver, getuid(), rest);
        else if (strcmp(line, "as") == 0)
                on_run(driver, (unsigned)strtoul(rest, NULL, 10), strchr(rest, ' ') + 1);
        else if (strcmp(line, "observe") == 0)
                on_observe(driver);
        else if (strcmp(line, "environment") == 0)
                on_environment(driver);
        else if (strcmp(line, "close") == 0)
                on_close(driver);
        else if (strcmp(line, "best") == 0)
                on_best();
        else if (strcmp(line, "cycle") == 0)
                on_cycle(driver, strtoul(rest, NULL, 10));
        else if (strcmp(line, "recover") == 0) {
                int r = worlds_recover(&driver->plan, &why);
                say_result(r, why);
        }
}

static void take_argument(Driver *driver, char *argument, size_t *n_states) {
        char *value = strchr(argument, '=');

        if (!value)
                return;
        *value++ = 0;
        if (strcmp(argument, "folder") == 0)
                driver->plan.folder = value;
        if (strcmp(argument, "database_url") == 0)
                driver->plan.database_url = value;
        if (strcmp(argument, "database_name") == 0)
                driver->plan.database_name = driver->allowed[0] = value;
        if (strcmp(argument, "not_allowed") == 0)
                driver->plan.database_name = value;
        if (strcmp(argument, "state") == 0 && *n_states < STATES_MAX)
                driver->states[(*n_states)++] = value;
}

int main(int argc, char **argv) {
        Driver driver = { .plan = { .engine = tracer_best_engine() } };
        int level = argc > 1 ? world_level_from_string(argv[1]) : -EINVAL;
        char *line = NULL;
        size_t size = 0, n_states = 0;
        ssize_t n;

        if (level < 0)
                return 64;
        driver.plan.level = (WorldLevel)level;
        driver.plan.allowed = driver.allowed;
        driver.plan.state_paths = driver.states;
        for (int i = 2; i < argc; i++)
                take_argument(&driver, argv[i], &n_states);
        while ((n = getline(&line, &size, stdin)) > 0) {
                line[n - 1] = 0;
                obey(&driver, line);
        }
        free(line);
        if (driver.world)
                (void)world_close(driver.world, NULL);
        worlds_free(driver.worlds);
        return 0;
}
