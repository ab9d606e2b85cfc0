/* plan_platform.c - a plan on a platform: its figures, the lines that they stand in, and what will happen. */
#include "base/names.h"
#include "supervisor/plan.h"
#include "supervisor/programs.h"
#include "supervisor/signals.h"
#include "supervisor/span.h"
#include <signal.h>
#include <string.h>

/* ---- The judgement ---- */

/* The figures, and the services and the phase that they come from. */
typedef struct Figures {
        PlatformPlan plan;
        const ServiceConfig *http, *later, *odd;
} Figures;

static const ServiceConfig *find_http(const Config *config) {
        for (size_t i = 0; i < config->n_services; i++)
                if (strcmp(config->phases[config->services[i].phase].name, "http") == 0)
                        return &config->services[i];
        return NULL;
}

/* Who should end after others; a task of the start-up is over by then. */
static const ServiceConfig *find_later(const Config *config) {
        uint16_t first = UINT16_MAX;

        for (size_t i = 0; i < config->n_services; i++)
                if (config->services[i].phase < first)
                        first = config->services[i].phase;
        for (size_t i = 0; i < config->n_services; i++) {
                const ServiceConfig *service = &config->services[i];
                if (service->phase > first && service->kill_signal == SIGTERM && service->type != SERVICE_ONESHOT)
                        return service;
        }
        return NULL;
}

/* A service whose program has images with a STOPSIGNAL of its own, which does not end us. */
static const ServiceConfig *find_odd(const Config *config, PlatformPlan *plan) {
        for (size_t i = 0; i < config->n_services; i++) {
                const KnownProgram *known = program_known(program_behind(config->services[i].argv)[0]);
                if (!known || known->stop_signal == 0)
                        continue;
                SignalMeaning meaning = signal_meaning(known->stop_signal, true, false);
                if (meaning == SIGNAL_ENDS || meaning == SIGNAL_ENDS_INT || meaning == SIGNAL_ENDS_QUIT)
                        continue;
                plan->odd_program = known->name;
                plan->odd_signal = known->stop_signal;
                return &config->services[i];
        }
        return NULL;
}

static Figures figures_of(const Config *config) {
        Figures figures = { .plan = { .grace_usec = config->grace_usec,
                                      .deadline_usec = config->deadline_usec,
                                      .deadline_is_given = config->deadline_place.line > 0 } };

        figures.http = find_http(config);
        figures.plan.serves_http = figures.http != NULL;
        figures.plan.http_delay_usec = figures.http ? config->phases[figures.http->phase].delay_usec : 0;
        figures.later = find_later(config);
        figures.plan.later = figures.later ? figures.later->name : NULL;
        figures.odd = find_odd(config, &figures.plan);
        return figures;
}

/* The section of the phase, or, where it has none, its first service. */
static ConfigPlace place_of_http(const Config *config, const ServiceConfig *service) {
        const PhaseConfig *phase = &config->phases[service->phase];
        return phase->has_section ? (ConfigPlace){ phase->file, phase->line }
                                  : (ConfigPlace){ service->file, service->line };
}

static ConfigPlace place_of(const Config *config, const Figures *figures, PlatformTopic topic) {
        switch (topic) {
        case PLATFORM_TOPIC_DEADLINE: return config->deadline_place;
        case PLATFORM_TOPIC_DELAY: return place_of_http(config, figures->http);
        case PLATFORM_TOPIC_ORDER: return (ConfigPlace){ figures->later->file, figures->later->line };
        case PLATFORM_TOPIC_SIGNAL: return (ConfigPlace){ figures->odd->file, figures->odd->line };
        case PLATFORM_TOPIC_GRACE:
        case _PLATFORM_TOPIC_MAX: break;
        }
        return config->grace_place;
}

static const char *key_of(PlatformTopic topic) {
        return topic == PLATFORM_TOPIC_GRACE ? "GraceSec: " : topic == PLATFORM_TOPIC_DEADLINE ? "DeadlineSec: " : "";
}

void plan_judge(const Config *config, const PlatformFacts *platform, Complaints *complaints) {
        PlatformFinding findings[_PLATFORM_TOPIC_MAX];
        Figures figures = figures_of(config);
        size_t n = platform_judge(platform, &figures.plan, findings);

        for (size_t i = 0; i < n; i++) {
                ConfigPlace place = place_of(config, &figures, findings[i].topic);
                (findings[i].is_error ? complaints_add : complaints_warn)(complaints, place.file, place.line, "%s%s",
                                                                          key_of(findings[i].topic), findings[i].text);
        }
}

/* ---- For people ---- */

static void print_step(FILE *out, const char *step, const char *text) {
        if (text)
                fprintf(out, "  %-9s  %s\n", step, text);
}

static void print_signal(const PlatformFacts *platform, FILE *out) {
        char text[SIGNAL_TEXT_MAX];
        SignalMeaning meaning = signal_meaning(platform->first_signal, true, false);

        fprintf(out, "  %-9s  %s", "signal", signal_to_string(platform->first_signal, text));
        fputs(platform->every_process ? " to every process, perhaps several times" : " to the first process", out);
        if (platform->signal_setting)
                fprintf(out, "; %s can make it another one", platform->signal_setting);
        fputc('\n', out);
        print_step(out, "then",
                   meaning == SIGNAL_ENDS ? "the ending begins"
                                          : "the ending begins; a second signal of that kind would make it a fast one");
}

static void print_kill(const Config *config, const PlatformFacts *platform, FILE *out) {
        char setting[PLATFORM_TEXT_MAX];

        fprintf(out, "  %-9s  to all that lives, %s after the signal", "SIGKILL", SPAN(platform->grace_usec));
        if (!platform->setting)
                fputs("; nothing changes that\n", out);
        else if (config->grace_usec > platform->grace_usec)
                fprintf(out, ", or after %s with %s\n", SPAN(config->grace_usec),
                        platform_write_setting(platform, config->grace_usec, setting));
        else
                fprintf(out, " unless it is told otherwise; this plan needs %s at least\n",
                        platform_write_setting(platform, config->grace_usec, setting));
}

void plan_print_platform(const Config *config, const PlatformFacts *platform, FILE *out) {
        fprintf(out, "\non %s:\n", platform->name);
        print_step(out, "before", platform->before);
        print_step(out, "meanwhile", platform->meanwhile);
        print_signal(platform, out);
        fprintf(out, "  %-9s  endwell, after %s at the latest", "gone", SPAN(config->deadline_usec));
        if (platform->late_endpoints)
                fprintf(out, "; a preStop hook may take the other %s",
                        SPAN(usec_sub(usec_max(config->grace_usec, platform->grace_usec), config->deadline_usec)));
        fputc('\n', out);
        print_kill(config, platform, out);
        print_step(out, "needs", platform->advice);
}

/* ---- For programs ---- */

void plan_put_platform(Json *json, const Config *config, const PlatformFacts *platform) {
        char text[SIGNAL_TEXT_MAX], setting[PLATFORM_TEXT_MAX];

        if (!platform) {
                json_put_null(json, "platform");
                return;
        }
        json_open_object(json, "platform");
        json_put_string(json, "name", platform->name);
        json_put_string(json, "before", platform->before);
        json_put_string(json, "meanwhile", platform->meanwhile);
        json_put_string(json, "signal", signal_to_string(platform->first_signal, text));
        json_put_bool(json, "every_process", platform->every_process);
        json_put_bool(json, "image_stopsignal", platform->takes_stopsignal);
        plan_put_span(json, "grace_us", platform->grace_usec);
        plan_put_span(json, "most_us", platform->most_usec);
        /* What the plan needs, if it can be had by a setting. */
        json_put_string(json, "setting",
                        config && platform->setting ? platform_write_setting(platform, config->grace_usec, setting)
                                                    : NULL);
        json_put_bool(json, "setting_is_needed", config && config->grace_usec > platform->grace_usec);
        json_put_string(json, "needs", platform->advice);
        json_close(json);
}
