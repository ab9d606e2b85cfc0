/* plan.c - the plans for people: aligned, compact, in the order in which things happen. */
#include "supervisor/plan.h"
#include "base/names.h"
#include "base/take.h"
#include "supervisor/logger_link.h"
#include "supervisor/plan_service.h"
#include "supervisor/span.h"
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define DESCRIPTORS_BESIDE 160 /* 64 control clients, error pipes of children being started, logs, epoll, timers */

unsigned long plan_stored_descriptors(const Config *config) {
        unsigned long n = 0;
        for (size_t s = 0; s < config->n_services; s++)
                n += (unsigned long)config->services[s].descriptor_store_max * config->services[s].instances;
        return n;
}

/* An instance has a notify socket, while it starts a pipe for its newline, and the pipes of its output to a logger. */
static unsigned long descriptors_of(const Config *config, uint16_t index) {
        const ServiceConfig *service = &config->services[index];
        unsigned long each = 1 + (service->type == SERVICE_NOTIFY_FD) + (logger_link_watches(config, index) ? 2 : 0);
        return each * service->instances + service->n_listens;
}

unsigned long plan_descriptors(const Config *config) {
        unsigned long n = DESCRIPTORS_BESIDE + plan_stored_descriptors(config);
        for (size_t s = 0; s < config->n_services; s++)
                n += descriptors_of(config, (uint16_t)s);
        return n;
}

static int compare_services(const void *a, const void *b, void *userdata) {
        const Config *config = userdata;
        uint16_t i = *(const uint16_t *)a, j = *(const uint16_t *)b;
        const ServiceConfig *first = &config->services[i], *second = &config->services[j];

        if (first->phase != second->phase)
                return (int)first->phase - (int)second->phase;
        if (first->depth != second->depth)
                return (int)first->depth - (int)second->depth;
        return (int)i - (int)j;
}

int plan_order(const Config *config, uint16_t **ret_services) {
        uint16_t *services = calloc(config->n_services + 1, sizeof *services);
        if (!services)
                return -ENOMEM;
        for (size_t i = 0; i < config->n_services; i++)
                services[i] = (uint16_t)i;
        qsort_r(services, config->n_services, sizeof *services, compare_services, (void *)config);
        *ret_services = services;
        return 0;
}

/* ---- Columns ---- */

#define MEMBER_TEXT_MAX (NAME_LENGTH_MAX + 16)

/* What stands in one column, as wide as its longest text. */
typedef struct Layout {
        const Config *config;
        const uint16_t *order;
        FILE *out;
        int phase_width, member_width, type_width;
} Layout;

/* "web x2" */
static const char *member_text(const ServiceConfig *service, char ret_text[static MEMBER_TEXT_MAX]) {
        if (service->instances == 1)
                return service->name;
        snprintf(ret_text, MEMBER_TEXT_MAX, "%s x%u", service->name, service->instances);
        return ret_text;
}

static int widest(int width, const char *text) {
        int length = (int)strlen(text);
        return length > width ? length : width;
}

static void measure(Layout *layout) {
        const Config *config = layout->config;
        char text[MEMBER_TEXT_MAX];

        layout->phase_width = (int)strlen("deadline"); /* of the budget, which has the same first column */
        for (unsigned i = 0; i < config->n_phases; i++)
                layout->phase_width = widest(layout->phase_width, config->phases[i].name);
        for (size_t i = 0; i < config->n_services; i++) {
                layout->member_width = widest(layout->member_width, member_text(&config->services[i], text));
                layout->type_width = widest(layout->type_width, service_type_to_string(config->services[i].type));
        }
}

/* What a line may end with. The column before is filled up only when something comes: no line ends in blanks. */
typedef struct Tail {
        FILE *out;
        int fill;
        bool begun;
} Tail;

static void tail_next(Tail *tail, const char *text) {
        fprintf(tail->out, "%*s%s", tail->begun ? 0 : tail->fill, "", tail->begun ? ", " : "  ");
        fputs(text, tail->out);
        tail->begun = true;
}

static bool relation_has(const Relation *relation, uint16_t service) {
        for (uint16_t i = 0; i < relation->n; i++)
                if (relation->items[i] == service)
                        return true;
        return false;
}

static void tail_names(Tail *tail, const Config *config, const char *word, const Relation *names, const Relation *but) {
        bool begun = false;

        for (uint16_t i = 0; i < names->n; i++) {
                if (but && relation_has(but, names->items[i]))
                        continue;
                if (!begun)
                        tail_next(tail, word);
                fprintf(tail->out, "%s%s", begun ? " and " : " ", config->services[names->items[i]].name);
                begun = true;
        }
}

/* ---- Hooks ---- */

static bool hook_has_own_rights(const Config *config, const HookConfig *hook) {
        return hook->service < 0 || hook->rights != config->services[hook->service].rights;
}

static bool hook_is_of_start(const HookConfig *hook) {
        return hook->on == HOOK_PRE_START || hook->on == HOOK_POST_START;
}

static void print_hook(const Layout *layout, const HookConfig *hook, const char *whose) {
        fprintf(layout->out, "  %-*s  hook %s: ", layout->phase_width, "", hook->name);
        if (hook->log_pattern) {
                fprintf(layout->out, "a line of the output of %s that matches %s\n", whose, hook->log_pattern);
                return;
        }
        fprintf(layout->out, "%s of %s, at most %s", hook_on_to_string(hook->on), whose, SPAN(hook->timeout_usec));
        if (hook->url) {
                fputs(", ", layout->out);
                plan_print_request(hook, layout->out);
        }
        if (hook->rights && hook->rights->user && hook_has_own_rights(layout->config, hook))
                fprintf(layout->out, ", as %s", hook->rights->user);
        if (hook->on_failure == ON_FAILURE_ABORT)
                fputs(hook_is_of_start(hook) ? ", a failure is a failed start" : ", a failure is exit 80", layout->out);
        fputc('\n', layout->out);
}

static void print_hooks(const Layout *layout, unsigned phase, bool of_start) {
        const Config *config = layout->config;

        for (size_t i = 0; i < config->n_hooks; i++) {
                const HookConfig *hook = &config->hooks[i];
                const ServiceConfig *service = hook->service >= 0 ? &config->services[hook->service] : NULL;
                bool here = service ? service->phase == phase : hook->phase == (int)phase;
                if (here && hook_is_of_start(hook) == of_start)
                        print_hook(layout, hook, service ? service->name : "the phase");
        }
}

/* ---- Start ---- */

static void print_start_of(const Layout *layout, const char *phase, const ServiceConfig *service) {
        const char *type = service_type_to_string(service->type);
        Tail tail = { .out = layout->out, .fill = layout->type_width - (int)strlen(type) };
        char text[MEMBER_TEXT_MAX];

        fprintf(layout->out, "  %-*s  %-*s  %s", layout->phase_width, phase, layout->member_width,
                member_text(service, text), type);
        tail_names(&tail, layout->config, "requires", service_requires(service), NULL);
        tail_names(&tail, layout->config, "after", service_after(service), service_requires(service));
        if (!service->essential)
                tail_next(&tail, "not essential");
        if (service->builtin)
                tail_next(&tail, "built in");
        fputc('\n', layout->out);
}

static void print_start(const Layout *layout) {
        const Config *config = layout->config;

        fputs("\nstart, phase after phase:\n", layout->out);
        for (unsigned phase = config->n_phases; phase-- > 0;) {
                const char *name = config->phases[phase].name;
                for (size_t i = 0; i < config->n_services; i++) {
                        const ServiceConfig *service = &config->services[layout->order[i]];
                        if (service->phase != phase)
                                continue;
                        print_start_of(layout, name, service);
                        plan_print_service(service, layout->phase_width + 6, layout->out);
                        name = "";
                }
                if (*name)
                        fprintf(layout->out, "  %-*s  (nothing)\n", layout->phase_width, name);
                print_hooks(layout, phase, true);
        }
}

/* ---- Stop ---- */

static void print_stop_of(const Layout *layout, const ServiceConfig *service) {
        char signal_text[SIGNAL_TEXT_MAX], text[MEMBER_TEXT_MAX];
        Tail tail = { .out = layout->out };

        fprintf(layout->out, "  %-*s  %-*s", layout->phase_width, "", layout->member_width, member_text(service, text));
        tail_next(&tail, signal_to_string(service->kill_signal, signal_text));
        if (service->type == SERVICE_ONESHOT)
                fputs(" if it is not done yet", layout->out);
        if (service->kill_mode == KILL_CONTROL_GROUP)
                fputs(" to all of its tree", layout->out);
        if (service->kill_mode == KILL_PROCESS)
                fputs(" to the main process only", layout->out);
        if (service->timeout_stop_usec < USEC_UNSET) {
                tail_next(&tail, "at most ");
                fputs(SPAN(service->timeout_stop_usec), layout->out);
        }
        tail_names(&tail, layout->config, "when gone:", service_before(service), NULL);
        fputc('\n', layout->out);
}

static void print_stop(const Layout *layout) {
        const Config *config = layout->config;

        fputs("\nstop, phase after phase; what one does not use, the next has more:\n", layout->out);
        if (config->mode == MODE_DEVELOPMENT)
                fputs("  Mode=development takes a short cut: all are asked at once and killed 1 s later\n",
                      layout->out);
        for (unsigned phase = 0; phase < config->n_phases; phase++) {
                fprintf(layout->out, "  %-*s  ", layout->phase_width, config->phases[phase].name);
                if (config->budget.delay_usec[phase] > 0)
                        fprintf(layout->out, "serves on for %s, then ", SPAN(config->budget.delay_usec[phase]));
                fprintf(layout->out, "has %s, is over by %s\n", SPAN(config->budget.timeout_usec[phase]),
                        SPAN(budget_limit(&config->budget, phase)));
                for (size_t i = config->n_services; i-- > 0;)
                        if (config->services[layout->order[i]].phase == phase)
                                print_stop_of(layout, &config->services[layout->order[i]]);
                print_hooks(layout, phase, false);
        }
}

/* ---- Budget ---- */

static void print_line(const Layout *layout, const char *name, const char *amount, const char *format, ...)
        __attribute__((format(printf, 4, 5)));

static void print_line(const Layout *layout, const char *name, const char *amount, const char *format, ...) {
        va_list ap;

        fprintf(layout->out, "  %-*s  %12s  ", layout->phase_width, name, amount);
        va_start(ap, format);
        vfprintf(layout->out, format, ap);
        va_end(ap);
        fputc('\n', layout->out);
}

static void print_budget(const Layout *layout) {
        const Config *config = layout->config;
        const Budget *budget = &config->budget;
        usec_t room = usec_sub(budget->deadline_usec, budget->reserve_usec), sum = 0;

        fputs("\nbudget:\n", layout->out);
        print_line(layout, "grace", SPAN(config->grace_usec), "the orchestrator gives");
        print_line(layout, "deadline", SPAN(budget->deadline_usec), "endwell is gone by then");
        print_line(layout, "reserve", SPAN(budget->reserve_usec), "of it kept for the last kill and the summary");
        for (unsigned i = 0; i < budget->n_phases; i++) {
                usec_t whole = usec_add(budget->delay_usec[i], budget->timeout_usec[i]);
                const char *why = config->phases[i].timeout_usec == USEC_INFINITY ? "its share" : "TimeoutSec";
                sum = usec_add(sum, whole);
                if (budget->delay_usec[i] > 0)
                        print_line(layout, config->phases[i].name, SPAN(whole), "delay %s + %s %s",
                                   SPAN(budget->delay_usec[i]), why, SPAN(budget->timeout_usec[i]));
                else
                        print_line(layout, config->phases[i].name, SPAN(whole), "%s", why);
        }
        usec_t left = usec_sub(room, sum);
        if (left < USEC_PER_MSEC) /* shares are whole microseconds, so a few can be over */
                print_line(layout, "sum", SPAN(room), "all of deadline - reserve");
        else
                print_line(layout, "sum", SPAN(sum), "of %s (deadline - reserve): %s left", SPAN(room), SPAN(left));
}

static void print_heading(const Config *config, FILE *out) {
        fprintf(out, "%s: good (%s; %u phase%s, %zu service%s, %zu instance%s, %zu hook%s; digest %s)\n",
                config->path ? config->path : "command line", mode_to_string(config->mode), config->n_phases,
                config->n_phases == 1 ? "" : "s", config->n_services, config->n_services == 1 ? "" : "s",
                config->n_members, config->n_members == 1 ? "" : "s", config->n_hooks, config->n_hooks == 1 ? "" : "s",
                config->digest);
        for (size_t i = 1; i < config->n_files; i++)
                fprintf(out, "  with %s\n", config->files[i]);
}

int plan_print(const Config *config, FILE *out) {
        _cleanup_(freep) uint16_t *order = NULL;
        int r = plan_order(config, &order);
        if (r < 0)
                return r;

        Layout layout = { .config = config, .order = order, .out = out };
        measure(&layout);
        print_heading(config, out);
        plan_print_database(config, out);
        plan_print_gateway(config, out);
        print_start(&layout);
        print_stop(&layout);
        print_budget(&layout);
        return 0;
}
