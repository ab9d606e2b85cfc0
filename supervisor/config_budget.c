/* config_budget.c - checks that the ending fits: deadline, phases, and the hooks in them, with the arithmetic shown. */
#include "base/take.h"
#include "supervisor/config_values.h"
#include "supervisor/span.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The deadline ---- */

static void check_deadline(Reading *reading) {
        const Config *config = reading->config;
        const Setting *line = reading->supervisor ? settings_get(reading->supervisor, "DeadlineSec") : NULL;

        if (line && config->deadline_usec > config->grace_usec)
                value_refuse(reading, line,
                             "endwell must be gone before the orchestrator kills it: at most GraceSec, which is %s",
                             SPAN(config->grace_usec));
}

/* ---- The sum ---- */

static void put_sum(const Config *config, char *text, size_t size) {
        size_t length = 0;

        *text = '\0';
        for (unsigned i = 0; i < config->n_phases && length < size; i++) {
                const PhaseConfig *phase = &config->phases[i];
                const char *plus = length ? " + " : "";
                if (phase->delay_usec > 0 && length < size) {
                        length += (size_t)snprintf(text + length, size - length, "%s%s delay %s", plus, phase->name,
                                                   SPAN(phase->delay_usec));
                        plus = " + ";
                }
                if (phase->timeout_usec != USEC_INFINITY && length < size)
                        length += (size_t)snprintf(text + length, size - length, "%s%s %s", plus, phase->name,
                                                   SPAN(phase->timeout_usec));
        }
}

/* Where a person would mend it: the deadline, else the grace, else the first phase that asks for something. */
static void find_place(const Reading *reading, const char **ret_file, unsigned *ret_line) {
        const Setting *setting = NULL;

        if (reading->supervisor) {
                setting = settings_get(reading->supervisor, "DeadlineSec");
                if (!setting)
                        setting = settings_get(reading->supervisor, "GraceSec");
        }
        for (unsigned i = 0; !setting && i < reading->config->n_phases; i++)
                if (reading->phases[i] && reading->phases[i]->n_items > 0)
                        setting = &reading->phases[i]->items[0];
        *ret_file = setting ? setting->file : reading->config->path;
        *ret_line = setting ? setting->line : 0;
}

static void complain_about_sum(Reading *reading, usec_t sum_usec) {
        const Config *config = reading->config;
        usec_t reserve = budget_reserve(config->deadline_usec, config->n_members);
        char sum[700];
        const char *file;
        unsigned line;

        put_sum(config, sum, sizeof sum);
        find_place(reading, &file, &line);
        complaints_add(reading->complaints, file, line,
                       "the ending does not fit: %s = %s, but the phases may have %s: the deadline %s - the reserve %s "
                       "(GraceSec is %s)",
                       sum, SPAN(sum_usec), SPAN(config->deadline_usec - reserve), SPAN(config->deadline_usec),
                       SPAN(reserve), SPAN(config->grace_usec));
}

static bool plan(Reading *reading) {
        Config *config = reading->config;
        BudgetPhase phases[PHASES_MAX] = { 0 };
        usec_t sum_usec = 0;

        for (unsigned i = 0; i < config->n_phases; i++)
                phases[i] = (BudgetPhase){ .name = config->phases[i].name,
                                           .delay_usec = config->phases[i].delay_usec,
                                           .timeout_usec = config->phases[i].timeout_usec };
        for (size_t i = 0; i < config->n_services; i++)
                if (config->services[i].phase != CONFIG_NOWHERE)
                        phases[config->services[i].phase].members += config->services[i].instances;
        int r = budget_plan(config->deadline_usec, phases, config->n_phases, &config->budget, &sum_usec);
        if (r == -ERANGE)
                complain_about_sum(reading, sum_usec);
        return r == 0;
}

/* ---- Hooks inside the phases ---- */

/* What hooks can take of the phases, at worst. */
typedef struct HookTimes {
        const HookConfig **longest; /* of each service, its longest pre-stop hook, or NULL */
        const HookConfig **worst;   /* the longest of those that chain_usec sums up, or NULL */
        usec_t *chain_usec;         /* of each service, its own and those of the longest chain that stops after it */
        uint16_t *by_depth;
} HookTimes;

static void hook_times_done(HookTimes *times) {
        free(times->longest);
        free(times->worst);
        free(times->chain_usec);
        free(times->by_depth);
}

static int compare_depths(const void *a, const void *b, void *userdata) {
        const Config *config = userdata;
        return (int)config->services[*(const uint16_t *)a].depth - (int)config->services[*(const uint16_t *)b].depth;
}

static int hook_times_init(HookTimes *times, Config *config) {
        size_t n = config->n_services;

        times->longest = calloc(n + 1, sizeof *times->longest);
        times->worst = calloc(n + 1, sizeof *times->worst);
        times->chain_usec = calloc(n + 1, sizeof *times->chain_usec);
        times->by_depth = calloc(n + 1, sizeof *times->by_depth);
        if (!times->longest || !times->worst || !times->chain_usec || !times->by_depth)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++)
                times->by_depth[i] = (uint16_t)i;
        qsort_r(times->by_depth, n, sizeof *times->by_depth, compare_depths, config);
        return 0;
}

static void find_longest(HookTimes *times, const Config *config) {
        for (size_t i = 0; i < config->n_hooks; i++) {
                const HookConfig *hook = &config->hooks[i];
                if (hook->log_pattern || hook->service < 0 || hook->on != HOOK_PRE_STOP)
                        continue;
                const HookConfig **longest = &times->longest[hook->service];
                if (!*longest || hook->timeout_usec > (*longest)->timeout_usec)
                        *longest = hook;
        }
}

static usec_t usec_of(const HookConfig *hook) {
        return hook ? hook->timeout_usec : 0;
}

/* Those without After first: what a chain needs is known before who stands on it. */
static void add_chains(HookTimes *times, const Config *config) {
        for (size_t i = 0; i < config->n_services; i++) {
                uint16_t service = times->by_depth[i];
                const Relation *after = service_after(&config->services[service]);
                const HookConfig *worst = NULL;
                usec_t most = 0;
                for (uint16_t j = 0; j < after->n; j++)
                        if (times->chain_usec[after->items[j]] > most) {
                                most = times->chain_usec[after->items[j]];
                                worst = times->worst[after->items[j]];
                        }
                usec_t own = usec_of(times->longest[service]);
                times->chain_usec[service] = usec_add(own, most);
                times->worst[service] = own >= usec_of(worst) ? times->longest[service] : worst;
        }
}

/* The longest begin hook of the phase; NULL: there is none. */
static const HookConfig *find_begin_hook(const Config *config, unsigned phase) {
        const HookConfig *longest = NULL;
        for (size_t i = 0; i < config->n_hooks; i++)
                if (!config->hooks[i].log_pattern && config->hooks[i].phase == (int)phase &&
                    config->hooks[i].on == HOOK_BEGIN && config->hooks[i].timeout_usec > usec_of(longest))
                        longest = &config->hooks[i];
        return longest;
}

/* What somebody wrote must fit; a default that meets a share which nobody wrote is only worth a warning, and so is a
 * begin hook alone: who is to be asked after it may still have what earlier phases leave. */
static void complain_about_hook(Reading *reading, const HookConfig *hook, unsigned phase, usec_t all_usec,
                                bool begins_only) {
        const Config *config = reading->config;
        const Setting *line = settings_get(reading->hooks[hook - config->hooks], "TimeoutSec");
        bool was_written = line || config->phases[phase].timeout_usec != USEC_INFINITY;
        void (*complain)(Complaints *, const char *, unsigned, const char *, ...) =
                was_written && !begins_only ? complaints_add : complaints_warn;

        complain(reading->complaints, line ? line->file : hook->file, line ? line->line : hook->line,
                 "the hook %s may take %s, with what runs before and after it %s: it can eat the phase %s, which has "
                 "%s; write a shorter TimeoutSec%s",
                 hook->name, SPAN(hook->timeout_usec), SPAN(all_usec), config->phases[phase].name,
                 SPAN(config->budget.timeout_usec[phase]), line ? "" : " (5 s is the default)");
}

static void check_hooks_of_phase(Reading *reading, const HookTimes *times, unsigned phase) {
        const Config *config = reading->config;
        const HookConfig *begin = find_begin_hook(config, phase), *worst = NULL;
        usec_t chain_usec = 0, begin_usec = usec_sub(usec_of(begin), config->budget.delay_usec[phase]);
        bool has_members = false;

        for (size_t i = 0; i < config->n_services; i++) {
                if (config->services[i].phase != phase)
                        continue;
                has_members = true;
                if (times->chain_usec[i] > chain_usec) {
                        chain_usec = times->chain_usec[i];
                        worst = times->worst[i];
                }
        }
        usec_t all_usec = usec_add(chain_usec, begin_usec);
        if (begin_usec > usec_of(worst)) /* a begin hook within its delay costs nothing */
                worst = begin;
        if (has_members && worst && all_usec >= config->budget.timeout_usec[phase])
                complain_about_hook(reading, worst, phase, all_usec, chain_usec == 0);
}

static void check_hooks(Reading *reading) {
        _cleanup_(hook_times_done) HookTimes times = { 0 };

        if (reading->config->n_hooks == 0)
                return;
        if (hook_times_init(&times, reading->config) < 0) {
                reading->error = -ENOMEM;
                return;
        }
        find_longest(&times, reading->config);
        add_chains(&times, reading->config);
        for (unsigned i = 0; i < reading->config->n_phases; i++)
                check_hooks_of_phase(reading, &times, i);
}

/* ---- Limits of services ---- */

static void warn_of_limits(Reading *reading) {
        const Config *config = reading->config;

        for (size_t i = 0; i < config->n_services; i++) {
                const ServiceConfig *service = &config->services[i];
                const Setting *line = settings_get(reading->services[i], "TimeoutStopSec");
                if (!line || service->phase == CONFIG_NOWHERE || service->timeout_stop_usec >= USEC_UNSET)
                        continue; /* not given, not understood, or infinity */
                usec_t limit = budget_limit(&config->budget, service->phase);
                if (service->timeout_stop_usec > limit)
                        value_warn(reading, line,
                                   "is longer than the phase %s can last (%s): %s would be killed earlier",
                                   config->phases[service->phase].name, SPAN(limit), service->name);
        }
}

void config_read_budget(Reading *reading) {
        check_deadline(reading);
        if (!plan(reading))
                return;
        check_hooks(reading);
        warn_of_limits(reading);
}
