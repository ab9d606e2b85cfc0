/* schedule_print.c - says for people what a schedule's configuration is; times in seconds. */
#include "tests/sim/schedule.h"
#include <stdio.h>

static double seconds(usec_t usec) {
        return usec >= USEC_UNSET ? -1.0 : (double)usec / 1e6;
}

static void print_relation(const Schedule *schedule, const char *word, const Relation *relation) {
        for (unsigned i = 0; i < relation->n; i++)
                printf(" %s %s", word, schedule->services[relation->items[i]].name);
}

static void print_probe(const ServiceConfig *service, ProbeKind kind) {
        const ProbeConfig *probe = &service->probes[kind];
        if (probe->by != PROBE_BY_NONE)
                printf("  %s probe by %s: period %.6f, timeout %.6f, delay %.6f, failures %u, successes %u\n",
                       probe_kind_to_string(kind), probe_by_to_string(probe->by), seconds(probe->period_usec),
                       seconds(probe->timeout_usec), seconds(probe->delay_usec), probe->failures, probe->successes);
}

static void print_care(const ServiceConfig *service) {
        if (service->watchdog_usec < USEC_UNSET)
                printf("  watchdog %.6f\n", seconds(service->watchdog_usec));
        if (service->n_listens > 0 || service->descriptor_store_max > 0 || service->reload_signal > 0)
                printf(" %s%s%s\n", service->n_listens > 0 ? " listens" : "",
                       service->descriptor_store_max > 0 ? " stores" : "",
                       service->reload_signal > 0 ? " reloads" : "");
        for (ProbeKind kind = 0; service->probes && kind < _PROBE_KIND_MAX; kind++)
                print_probe(service, kind);
}

static void print_service(const Schedule *schedule, size_t index) {
        static const char *const restarts[] = { "no", "on-failure", "always" };
        const ServiceConfig *service = &schedule->services[index];
        printf("service %s: members %u to %u, phase %u, %s, %s, restart %s, burst %u, %s%s%s%s%s%s, start %.6f, stop "
               "%.6f",
               service->name, schedule->first_member[index], schedule->first_member[index] + service->instances - 1U,
               service->phase, character_to_string(schedule->characters[index]), service_type_to_string(service->type),
               restarts[service->restart], service->start_limit_burst, kill_mode_to_string(service->kill_mode),
               service->essential ? ", essential" : "", service->drain_until == DRAIN_NOTIFY ? ", drains" : "",
               service->builtin ? ", built in" : "", service->aside ? ", aside" : "",
               service->by_hand ? ", by hand" : "", seconds(service->timeout_start_usec),
               seconds(service->timeout_stop_usec));
        print_relation(schedule, "after", service_after(service));
        print_relation(schedule, "requires", service_requires(service));
        putchar('\n');
        print_care(service);
}

static void print_hook(const Schedule *schedule, const HookConfig *hook) {
        printf("hook %s: %s of %s %s, %.6f%s\n", hook->name, hook_on_to_string(hook->on),
               hook->service >= 0 ? "service" : "phase",
               hook->service >= 0 ? schedule->services[hook->service].name : schedule->config.phases[hook->phase].name,
               seconds(hook->timeout_usec), hook->on_failure == ON_FAILURE_ABORT ? ", abort" : "");
}

void schedule_print(const Schedule *schedule) {
        const Config *config = &schedule->config;
        printf("mode %s, deadline %.6f, reserve %.6f%s%s%s\n", mode_to_string(config->mode),
               seconds(config->budget.deadline_usec), seconds(config->budget.reserve_usec),
               config->single ? ", single command" : "", schedule->late_timers ? ", late timers" : "",
               schedule->lazy_collection ? ", lazy collection" : "");
        for (unsigned i = 0; i < config->n_phases; i++)
                printf("phase %u %s: delay %.6f, limit %.6f\n", i, config->phases[i].name,
                       seconds(config->budget.delay_usec[i]), seconds(budget_limit(&config->budget, i)));
        for (size_t i = 0; i < config->n_services; i++)
                print_service(schedule, i);
        for (size_t i = 0; i < config->n_hooks; i++)
                print_hook(schedule, &config->hooks[i]);
}
