/* config_relations.c - reads After and Requires, refuses cycles, and finds who waits for whom. */
#include "base/take.h"
#include "supervisor/config_builtin.h"
#include "supervisor/config_values.h"
#include "supervisor/order.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CYCLES_MAX      20 /* complained about: one broken line can close thousands */
#define CYCLE_NAMES_MAX 12 /* printed of one cycle */

/* The lists of all services, one behind the other. */
typedef struct Lists {
        uint32_t *first;   /* of each service, and the end */
        uint16_t *targets; /* indices of services */
        uint32_t n, capacity;
} Lists;

static void lists_done(Lists *lists) {
        free(lists->first);
        free(lists->targets);
}

static int lists_init(Lists *lists, size_t n_services, uint32_t capacity) {
        lists->first = calloc(n_services + 1, sizeof *lists->first);
        lists->targets = calloc(capacity + 1U, sizeof *lists->targets);
        lists->capacity = capacity;
        return lists->first && lists->targets ? 0 : -ENOMEM;
}

static int lists_add(Lists *lists, uint16_t target) {
        if (lists->n == lists->capacity) {
                uint32_t capacity = lists->capacity * 2 + 64;
                uint16_t *targets = reallocarray(lists->targets, capacity, sizeof *targets);
                if (!targets)
                        return -ENOMEM;
                lists->targets = targets;
                lists->capacity = capacity;
        }
        lists->targets[lists->n++] = target;
        return 0;
}

static Relation lists_get(const Lists *lists, size_t service) {
        return (Relation){ .items = lists->targets + lists->first[service],
                           .n = (uint16_t)(lists->first[service + 1] - lists->first[service]) };
}

/* Lists that are being read, service after service, without duplicates: one is in the present list when its stamp is
 * the present one. */
typedef struct Gathering {
        Reading *reading;
        Lists after, requires;
        Lists *list; /* the one of these that is being read */
        uint32_t *stamps;
        uint32_t stamp;
} Gathering;

static int gathering_init(Gathering *gathering, Reading *reading) {
        size_t n = reading->config->n_services;
        *gathering = (Gathering){ .reading = reading };
        gathering->stamps = calloc(n + 1, sizeof *gathering->stamps);
        int r = gathering->stamps ? lists_init(&gathering->after, n, 0) : -ENOMEM;
        return r < 0 ? r : lists_init(&gathering->requires, n, 0);
}

static void gathering_done(Gathering *gathering) {
        lists_done(&gathering->after);
        lists_done(&gathering->requires);
        free(gathering->stamps);
}

static void gathering_begin(Gathering *gathering, Lists *list, size_t service) {
        gathering->list = list;
        list->first[service] = list->n;
        gathering->stamp++;
}

static void gathering_end(const Gathering *gathering, size_t service) {
        gathering->list->first[service + 1] = gathering->list->n;
}

/* An empty value takes back what stood before. */
static void gathering_clear(Gathering *gathering, size_t service) {
        gathering->list->n = gathering->list->first[service];
        gathering->stamp++;
}

static void gather(Gathering *gathering, uint16_t service) {
        if (gathering->stamps[service] == gathering->stamp)
                return;
        gathering->stamps[service] = gathering->stamp;
        if (lists_add(gathering->list, service) < 0)
                gathering->reading->error = -ENOMEM;
}

static void gather_name(Gathering *gathering, const Setting *setting, size_t service, const char *name) {
        const Config *config = gathering->reading->config;
        int other = reading_find_service(gathering->reading, setting, name);
        if (other < 0)
                return;

        if (gathering->list == &gathering->requires && config->services[other].by_hand &&
            !config->services[service].by_hand) {
                value_refuse(gathering->reading, setting,
                             "%s has AutoStart=no, so %s would start without it: give that AutoStart=no, too, or say "
                             "After",
                             name, config->services[service].name);
                return;
        }
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
                        gathering_clear(gathering, service);
                for (size_t j = 0; j < n; j++)
                        gather_name(gathering, &section->items[i], service, words[j]);
        }
}

static void read_relations_of(Gathering *gathering, size_t i) {
        gathering_begin(gathering, &gathering->requires, i);
        gather_lines(gathering, i, "Requires");
        gathering_end(gathering, i);
        gathering_begin(gathering, &gathering->after, i);
        gather_lines(gathering, i, "After");
        const Relation requires = lists_get(&gathering->requires, i);
        for (uint16_t j = 0; j < requires.n; j++) /* Requires implies After */
                gather(gathering, requires.items[j]);
        gathering_end(gathering, i);
}

/* ---- The built-in services ---- */

/* Of each service the chain of After that begins with it and leads to a built-in one from `first` on: longer than
 * nothing, when those weigh 1 and all others nothing, if there is one at all. */
static int find_waiting(Gathering *gathering, size_t first, usec_t *weights, usec_t *ret_lengths) {
        size_t n = gathering->reading->config->n_services, n_written = gathering->reading->n_written;
        uint32_t *edges = gathering->after.first;

        for (size_t i = n_written; i < n; i++) {
                edges[i + 1] = edges[n_written]; /* what they wait for themselves is not asked yet */
                weights[i] = i >= first;
        }
        const OrderGraph graph = { .n = n, .first = edges, .targets = gathering->after.targets };
        int r = order_lengths(&graph, weights, ret_lengths);
        return r == -ELOOP ? 0 : r; /* will be complained about */
}

/* After those built in before it, and after all that is written for the same phase and does not wait for it or for
 * what comes behind it. The database waits for nobody. */
static void relate_builtin(Gathering *gathering, size_t index, const usec_t *waiting) {
        const Reading *reading = gathering->reading;
        const ServiceConfig *services = reading->config->services;

        gathering_begin(gathering, &gathering->requires, index);
        gathering_end(gathering, index);
        gathering_begin(gathering, &gathering->after, index);
        for (size_t i = 0; i < index && (int)index != reading->database_service; i++)
                if (services[i].phase == services[index].phase && waiting[i] == 0)
                        gather(gathering, (uint16_t)i);
        gathering_end(gathering, index);
}

static int read_builtins(Gathering *gathering) {
        size_t n = gathering->reading->config->n_services, n_written = gathering->reading->n_written;
        _cleanup_(freep) usec_t *weights = calloc((n + 1) * (1 + BUILTINS_MAX), sizeof *weights);
        int r = weights ? 0 : -ENOMEM;

        for (size_t i = n_written; r == 0 && i < n; i++)
                r = find_waiting(gathering, i, weights, weights + (n + 1) * (1 + i - n_written));
        for (size_t i = n_written; r == 0 && i < n; i++)
                relate_builtin(gathering, i, weights + (n + 1) * (1 + i - n_written));
        return r;
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

static Relation put_items(const Relation *from, uint16_t **place) {
        if (from->n == 0)
                return (Relation){ 0 };
        Relation to = { .items = memcpy(*place, from->items, from->n * sizeof **place), .n = from->n };
        *place += from->n;
        return to;
}

/* A service without any keeps none. */
static int keep_relations(ServiceConfig *service, const Relation *after, const Relation *requires,
                          const Relation *before) {
        size_t n = (size_t)after->n + requires->n + before->n;
        if (n == 0)
                return 0;
        Relations *relations = malloc(sizeof *relations + n * sizeof *after->items);
        if (!relations)
                return -ENOMEM;
        uint16_t *place = (uint16_t *)(relations + 1);
        relations->after = put_items(after, &place);
        relations->requires = put_items(requires, &place);
        relations->before = put_items(before, &place);
        service->relations = relations;
        return 0;
}

static int keep_lists(Config *config, const Gathering *gathering, const OrderGraph *graph) {
        _cleanup_(lists_done) Lists reverse = { 0 };
        int r = lists_init(&reverse, graph->n, gathering->after.n);
        if (r < 0)
                return r;
        order_reverse(graph, reverse.first, reverse.targets);
        for (size_t i = 0; i < graph->n && r == 0; i++) {
                Relation after = lists_get(&gathering->after, i), requires = lists_get(&gathering->requires, i);
                Relation before = lists_get(&reverse, i);
                r = keep_relations(&config->services[i], &after, &requires, &before);
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

static int relate(const Gathering *gathering) {
        Reading *reading = gathering->reading;
        CycleTeller teller = { .reading = reading };
        OrderGraph graph = { .n = reading->config->n_services,
                             .first = gathering->after.first,
                             .targets = gathering->after.targets };

        int r = order_cycles(&graph, tell_cycle, &teller);
        if (r < 0)
                return r;
        if (teller.n_told > 0)
                return 0; /* it will not be used */
        r = keep_lists(reading->config, gathering, &graph);
        return r < 0 ? r : keep_depths(reading->config, &graph);
}

void config_read_relations(Reading *reading) {
        _cleanup_(gathering_done) Gathering gathering = { 0 };
        int r = gathering_init(&gathering, reading);

        for (size_t i = 0; r == 0 && reading->error == 0 && i < reading->n_written; i++)
                read_relations_of(&gathering, i);
        if (r == 0 && reading->error == 0 && reading->n_written < reading->config->n_services)
                r = read_builtins(&gathering);
        if (r == 0 && reading->error == 0)
                r = relate(&gathering);
        if (r < 0)
                reading->error = r;
}
