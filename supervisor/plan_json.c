/* plan_json.c - the plans as JSON, for programs. */
#include "base/json.h"
#include "base/names.h"
#include "base/take.h"
#include "supervisor/plan.h"
#include "supervisor/plan_service.h"
#include <errno.h>
#include <stdlib.h>

#define SIZE_FIRST (64UL << 10)
#define SIZE_MOST  (256UL << 20)

void plan_put_span(Json *json, const char *key, usec_t span) {
        if (span >= USEC_UNSET)
                json_put_null(json, key);
        else
                json_put_unsigned(json, key, span);
}

static void put_names(Json *json, const char *key, const Config *config, const Relation *names) {
        json_open_array(json, key);
        for (uint16_t i = 0; i < names->n; i++)
                json_put_string(json, NULL, config->services[names->items[i]].name);
        json_close(json);
}

static void put_complaints(Json *json, const char *key, const Complaints *complaints, bool warnings) {
        const char *file, *message;
        unsigned line;
        bool is_warning;

        json_open_array(json, key);
        for (size_t i = 0; complaints_get(complaints, i, &file, &line, &message, &is_warning); i++) {
                if (is_warning != warnings)
                        continue;
                json_open_object(json, NULL);
                json_put_string(json, "file", file);
                json_put_unsigned(json, "line", line);
                json_put_string(json, "message", message);
                json_close(json);
        }
        json_close(json);
}

static void put_start_of(Json *json, const Config *config, const ServiceConfig *service) {
        json_open_object(json, NULL);
        json_put_string(json, "service", service->name);
        json_put_string(json, "type", service_type_to_string(service->type));
        json_put_unsigned(json, "instances", service->instances);
        json_put_bool(json, "essential", service->essential);
        json_put_bool(json, "builtin", service->builtin);
        put_names(json, "after", config, service_after(service));
        put_names(json, "requires", config, service_requires(service));
        plan_put_service(json, service);
        json_close(json);
}

static void put_start(Json *json, const Config *config, const uint16_t *order) {
        json_open_array(json, "start");
        for (unsigned phase = config->n_phases; phase-- > 0;) {
                json_open_object(json, NULL);
                json_put_string(json, "phase", config->phases[phase].name);
                json_open_array(json, "services");
                for (size_t i = 0; i < config->n_services; i++)
                        if (config->services[order[i]].phase == phase)
                                put_start_of(json, config, &config->services[order[i]]);
                json_close(json);
                json_close(json);
        }
        json_close(json);
}

static void put_stop_of(Json *json, const Config *config, const ServiceConfig *service) {
        char text[SIGNAL_TEXT_MAX];

        json_open_object(json, NULL);
        json_put_string(json, "service", service->name);
        json_put_unsigned(json, "instances", service->instances);
        json_put_string(json, "kill_signal", signal_to_string(service->kill_signal, text));
        json_put_string(json, "kill_mode", kill_mode_to_string(service->kill_mode));
        plan_put_span(json, "timeout_stop_us", service->timeout_stop_usec);
        put_names(json, "before", config, service_before(service));
        json_close(json);
}

static void put_hooks(Json *json, const Config *config, unsigned phase) {
        json_open_array(json, "hooks");
        for (size_t i = 0; i < config->n_hooks; i++) {
                const HookConfig *hook = &config->hooks[i];
                const ServiceConfig *service = hook->service >= 0 ? &config->services[hook->service] : NULL;
                if (service ? service->phase != phase : hook->phase != (int)phase)
                        continue;
                json_open_object(json, NULL);
                json_put_string(json, "hook", hook->name);
                json_put_string(json, "on", hook->log_pattern ? NULL : hook_on_to_string(hook->on));
                json_put_string(json, "log_pattern", hook->log_pattern);
                json_put_string(json, "service", service ? service->name : NULL);
                plan_put_hook(json, hook);
                plan_put_span(json, "timeout_us", hook->timeout_usec);
                json_put_bool(json, "abort", hook->on_failure == ON_FAILURE_ABORT);
                json_close(json);
        }
        json_close(json);
}

static void put_stop(Json *json, const Config *config, const uint16_t *order) {
        json_open_array(json, "stop");
        for (unsigned phase = 0; phase < config->n_phases; phase++) {
                json_open_object(json, NULL);
                json_put_string(json, "phase", config->phases[phase].name);
                plan_put_span(json, "delay_us", config->budget.delay_usec[phase]);
                plan_put_span(json, "timeout_us", config->budget.timeout_usec[phase]);
                plan_put_span(json, "limit_us", budget_limit(&config->budget, phase));
                json_open_array(json, "services");
                for (size_t i = config->n_services; i-- > 0;)
                        if (config->services[order[i]].phase == phase)
                                put_stop_of(json, config, &config->services[order[i]]);
                json_close(json);
                put_hooks(json, config, phase);
                json_close(json);
        }
        json_close(json);
}

static void put_plan(Json *json, const Config *config, const uint16_t *order) {
        const Budget *budget = &config->budget;
        usec_t sum = 0;

        for (unsigned i = 0; i < budget->n_phases; i++)
                sum = usec_add(sum, usec_add(budget->delay_usec[i], budget->timeout_usec[i]));
        json_open_object(json, "plan");
        json_put_string(json, "config", config->path);
        json_put_string(json, "config_digest", config->digest);
        json_put_string(json, "mode", mode_to_string(config->mode));
        json_put_unsigned(json, "members", config->n_members);
        plan_put_span(json, "grace_us", config->grace_usec);
        plan_put_span(json, "deadline_us", budget->deadline_usec);
        plan_put_span(json, "reserve_us", budget->reserve_usec);
        plan_put_span(json, "sum_us", sum);
        plan_put_span(json, "left_us", usec_sub(usec_sub(budget->deadline_usec, budget->reserve_usec), sum));
        plan_put_database(json, config);
        plan_put_gateway(json, config);
        put_start(json, config, order);
        put_stop(json, config, order);
        json_close(json);
}

/* False: the buffer was too small. */
static bool write_all(char *buffer, size_t size, const Config *config, const uint16_t *order,
                      const PlatformFacts *platform, const Complaints *complaints) {
        Json json;

        json_init(&json, buffer, size);
        json_open_object(&json, NULL);
        put_complaints(&json, "errors", complaints, false);
        put_complaints(&json, "warnings", complaints, true);
        if (config)
                put_plan(&json, config, order);
        else
                json_put_null(&json, "plan");
        plan_put_platform(&json, config, platform);
        json_close(&json);
        bool fitted = !json_overflowed(&json);
        json_finish(&json);
        return fitted;
}

int plan_print_json(const Config *config, const PlatformFacts *platform, const Complaints *complaints, FILE *out) {
        _cleanup_(freep) uint16_t *order = NULL;

        if (config) {
                int r = plan_order(config, &order);
                if (r < 0)
                        return r;
        }
        for (size_t size = SIZE_FIRST; size <= SIZE_MOST; size *= 4) {
                _cleanup_(freep) char *buffer = malloc(size);
                if (!buffer)
                        return -ENOMEM;
                if (write_all(buffer, size, config, order, platform, complaints)) {
                        fprintf(out, "%s\n", buffer);
                        return 0;
                }
        }
        return -ENOMEM;
}
