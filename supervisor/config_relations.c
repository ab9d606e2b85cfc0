/* config_relations.c - reads After and Requires, refuses cycles, and finds who waits for whom. */
#include "base/take.h"
#include "supervisor/config_values.h"
#include "supervisor/order.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CYCLES_MAX      20 /* complained about: one broken line can close thousands */
#define CYCLE_NAMES_MAX 12 /* printed of one cycle */

/* The list that is being read, without duplicates: a service is in it when its stamp is the present one. */
typedef struct Gathering {
        Reading *reading;
        uint16_t *items;
        uint16_t n;
        uint32_t *stamps;
        uint32_t stamp;
} Gathering;

static int gathering_init(Gathering *gathering, Reading *reading) {
        size_t n = reading->config->n_services;
        *gathering = (Gathering){ .reading = reading };
        gathering->items = calloc(n + 1, sizeof *gathering->items);
        gathering->stamps = calloc(n + 1, sizeof *gathering->stamps);
        return gathering->items && gathering->stamps ? 0 : -ENOMEM;
}

static void gathering_done(Gathering *gathering) {
        free(gathering->items);
        free(gathering->stamps);
}

static void gathering_begin(Gathering *gathering) {
        gathering->n = 0;
        gathering->stamp++;
}

static void gather(Gathering *gathering, uint16_t service) {
        if (gathering->stamps[service] == gathering->stamp)
                return;
        gathering->stamps[service] = gathering->stamp;
        gathering->items[gathering->n++] = service;
}

static int gathering_keep(const Gathering *gathering, Relation *ret) {
        if (gathering->n == 0)
                return 0;
        uint16_t *items = malloc(gathering->n * sizeof *items);
        if (!items)
                return -ENOMEM;
        memcpy(items, gathering->items, gathering->n * sizeof *items);
        *ret = (Relation){ .items = items, .n = gathering->n };
        return 0;
}

static void gather_name(Gathering *gathering, const Setting *setting, size_t service, const char *name) {
        const Config *config = gathering->reading->config;
        int other = reading_find_service(gathering->reading, setting, name);
        if (other < 0)
                return;

        uint16_t mine = config->services[service].phase, its = config->services[other].phase;
        if (mine == its || mine == CONFIG_NOWHERE || its == CONFIG_NOWHERE)
                gather(gathering, (uint16_t)other);
        else
                value_refuse(gathering->reading, setting,
                             "%s is in the phase %s and %s in %s: between phases the order of Phases= decides, so %s",
                             name, config->phases[its].name, config->services[service].name, config->phases[mine].name,
                             its > mine ? "it is already up before" : "move one of them");
}

/* Adds what the lines of `key` name to the list. */
static void gather_lines(Gathering *gathering, size_t service, const char *key) {
        Reading *reading = gathering->reading;
        const SettingsSection *section = reading->services[service];

        for (size_t i = 0; i < section->n_items; i++) {
                _cleanup_(freep) char **words = NULL;
                size_t n = 0;
                if (strcmp(section->items[i].key, key) != 0 || !value_words(reading, &section->items[i], &words, &n))
                        continue;
                if (n == 0)
                        gathering_begin(gathering);
                for (size_t j = 0; j < n; j++)
                        gather_name(gathering, &section->items[i], service, words[j]);
        }
}

static int read_relations_of(Gathering *gathering, size_t i) {
        ServiceConfig *service = &gathering->reading->config->services[i];

        gathering_begin(gathering);
        gather_lines(gathering, i, "Requires");
        int r = gathering_keep(gathering, &service->requires);
        if (r < 0)
                return r;
        gathering_begin(gathering);
        gather_lines(gathering, i, "After");
        for (uint16_t j = 0; j < service->requires.n; j++) /* Requires implies After */
                gather(gathering, service->requires.items[j]);
        return gathering_keep(gathering, &service->after);
}

/* ---- The graph ---- */

typedef struct Edges {
        uint32_t *first;
        uint16_t *targets;
} Edges;

static void edges_done(Edges *edges) {
        free(edges->first);
        free(edges->targets);
}

static int edges_init(Edges *edges, size_t n_nodes, size_t n_edges) {
        edges->first = calloc(n_nodes + 1, sizeof *edges->first);
        edges->targets = calloc(n_edges + 1, sizeof *edges->targets);
        return edges->first && edges->targets ? 0 : -ENOMEM;
}

static size_t count_edges(const Config *config) {
        size_t n = 0;
        for (size_t i = 0; i < config->n_services; i++)
                n += config->services[i].after.n;
        return n;
}

static void fill_edges(const Config *config, Edges *edges) {
        uint32_t n = 0;

        for (size_t i = 0; i < config->n_services; i++) {
                const Relation *after = &config->services[i].after;
                edges->first[i] = n;
                for (uint16_t j = 0; j < after->n; j++)
                        edges->targets[n++] = after->items[j];
        }
        edges->first[config->n_services] = n;
}

/* ---- Cycles ---- */

/* Whether `name` stands in the list as a word of its own, quoted or not. */
static bool list_has(const char *list, const char *name) {
        static const char around[] = " \t\"'";
        size_t length = strlen(name);

        for (const char *at = list; (at = strstr(at, name)); at += length)
                if ((at == list || strchr(around, at[-1])) && (!at[length] || strchr(around, at[length])))
                        return true;
        return false;
}

/* The last line of the section that makes its service wait for `other`. */
static const Setting *find_edge_line(const SettingsSection *section, const char *other) {
        const Setting *found = NULL;

        for (size_t i = 0; i < section->n_items; i++) {
                const Setting *item = &section->items[i];
                bool relation = strcmp(item->key, "After") == 0 || strcmp(item->key, "Requires") == 0;
                if (relation && list_has(item->value, other))
                        found = item;
        }
        return found;
}

typedef struct CycleTeller {
        Reading *reading;
        unsigned n_told;
} CycleTeller;

static int tell_cycle(void *userdata, const uint16_t *nodes, size_t n) {
        CycleTeller *teller = userdata;
        const ServiceConfig *services = teller->reading->config->services;
        char text[(CYCLE_NAMES_MAX + 2) * 48];
        size_t shown = n < CYCLE_NAMES_MAX ? n : CYCLE_NAMES_MAX, length = 0;

        for (size_t i = 0; i < shown; i++)
                length += (size_t)snprintf(text + length, sizeof text - length, "%s -> ", services[nodes[i]].name);
        snprintf(text + length, sizeof text - length, "%s%s", shown < n ? "... -> " : "", services[nodes[0]].name);

        const SettingsSection *section = teller->reading->services[nodes[0]];
        const Setting *line = find_edge_line(section, services[nodes[n > 1 ? 1 : 0]].name);
        complaints_add(teller->reading->complaints, line ? line->file : section->file,
                       line ? line->line : section->line, "each waits for the next, so none could start: %s", text);
        return ++teller->n_told >= CYCLES_MAX;
}

/* ---- What follows from it ---- */

static int keep_before(Config *config, const OrderGraph *graph) {
        _cleanup_(edges_done) Edges reverse = { 0 };
        int r = edges_init(&reverse, graph->n, graph->first[graph->n]);
        if (r < 0)
                return r;
        order_reverse(graph, reverse.first, reverse.targets);
        for (size_t i = 0; i < graph->n && r == 0; i++) {
                Gathering list = { .items = reverse.targets + reverse.first[i],
                                   .n = (uint16_t)(reverse.first[i + 1] - reverse.first[i]) };
                r = gathering_keep(&list, &config->services[i].before);
        }
        return r;
}

static int keep_depths(Config *config, const OrderGraph *graph) {
        _cleanup_(freep) usec_t *depths = calloc(graph->n + 1, sizeof *depths);
        if (!depths)
                return -ENOMEM;
        int r = order_lengths(graph, NULL, depths);
        for (size_t i = 0; r == 0 && i < graph->n; i++)
                config->services[i].depth = (uint16_t)depths[i];
        return r;
}

static int relate(Reading *reading) {
        Config *config = reading->config;
        _cleanup_(edges_done) Edges edges = { 0 };
        CycleTeller teller = { .reading = reading };

        int r = edges_init(&edges, config->n_services, count_edges(config));
        if (r < 0)
                return r;
        fill_edges(config, &edges);
        OrderGraph graph = { .n = config->n_services, .first = edges.first, .targets = edges.targets };
        r = order_cycles(&graph, tell_cycle, &teller);
        if (r < 0)
                return r;
        if (teller.n_told > 0)
                return 0; /* it will not be used */
        r = keep_before(config, &graph);
        return r < 0 ? r : keep_depths(config, &graph);
}

void config_read_relations(Reading *reading) {
        _cleanup_(gathering_done) Gathering gathering = { 0 };
        int r = gathering_init(&gathering, reading);

        for (size_t i = 0; r == 0 && reading->error == 0 && i < reading->config->n_services; i++)
                r = read_relations_of(&gathering, i);
        if (r == 0 && reading->error == 0)
                r = relate(reading);
        if (r < 0)
                reading->error = r;
}
