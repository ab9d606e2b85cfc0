/* plan_service.c - the parts of a service for people: one line each, only those that it has. */
#include "supervisor/plan_service.h"
#include "base/names.h"
#include "supervisor/config_capabilities.h"
#include "supervisor/config_limits.h"
#include "supervisor/span.h"
#include <string.h>

typedef struct Lines {
        FILE *out;
        int indentation;
} Lines;

static void begin(const Lines *lines, const char *word) {
        fprintf(lines->out, "%*s%s", lines->indentation, "", word);
}

static void end(const Lines *lines) {
        fputc('\n', lines->out);
}

/* A URL may carry a token behind its ?. */
static void print_url(const char *url, FILE *out) {
        size_t length = strcspn(url, "?");
        fprintf(out, "%.*s%s", (int)length, url, url[length] ? "?..." : "");
}

/* ---- User ---- */

static void print_user(const Lines *lines, const Rights *rights) {
        if (!rights->user && rights->gid == (gid_t)-1 && !rights->sets_groups)
                return;
        begin(lines, "runs as ");
        fputs(rights->user ? rights->user : "the user of endwell", lines->out);
        if (rights->uid != (uid_t)-1)
                fprintf(lines->out, ", uid %u", rights->uid);
        if (rights->gid != (gid_t)-1)
                fprintf(lines->out, ", gid %u", rights->gid);
        for (size_t i = 0; rights->sets_groups && i < rights->n_groups; i++)
                fprintf(lines->out, "%s %u", i ? "" : ", groups", rights->groups[i]);
        end(lines);
}

static void print_scheduling(const Lines *lines, const Rights *rights) {
        const char *between = "";

        if (rights->umask < 0 && !rights->sets_nice && !rights->sets_oom_score && !rights->no_new_privileges)
                return;
        begin(lines, "");
        if (rights->umask >= 0) {
                fprintf(lines->out, "umask %04o", (unsigned)rights->umask);
                between = ", ";
        }
        if (rights->sets_nice) {
                fprintf(lines->out, "%snice %d", between, rights->nice);
                between = ", ";
        }
        if (rights->sets_oom_score) {
                fprintf(lines->out, "%sOOM score %d", between, rights->oom_score);
                between = ", ";
        }
        if (rights->no_new_privileges)
                fprintf(lines->out, "%sno new privileges", between);
        end(lines);
}

static void print_capabilities(const Lines *lines, const Rights *rights) {
        char text[CAPABILITIES_TEXT_MAX];

        if (rights->sets_bounding) {
                begin(lines, "may have of capabilities: ");
                fputs(capabilities_format(rights->bounding, text), lines->out);
                end(lines);
        }
        if (rights->ambient) {
                begin(lines, "is given the capabilities: ");
                fputs(capabilities_format(rights->ambient, text), lines->out);
                end(lines);
        }
}

static void print_limits(const Lines *lines, const Rights *rights) {
        char soft[LIMIT_TEXT_MAX], hard[LIMIT_TEXT_MAX];

        if (rights->n_limits == 0)
                return;
        begin(lines, "limits");
        for (size_t i = 0; i < rights->n_limits; i++) {
                const RightsLimit *limit = &rights->limits[i];
                const char *key = limit_kind_of_resource(limit->resource)->key;
                fprintf(lines->out, "%s %s %s", i ? "," : "", key + strlen("Limit"),
                        limit_format(limit->limit.rlim_cur, soft));
                if (limit->limit.rlim_max != limit->limit.rlim_cur)
                        fprintf(lines->out, ":%s", limit_format(limit->limit.rlim_max, hard));
        }
        end(lines);
}

/* ---- Sockets and descriptors ---- */

static void print_listens(const Lines *lines, const ServiceConfig *service) {
        for (uint16_t i = 0; i < service->n_listens; i++) {
                const ListenConfig *listen = &service->listens[i];
                begin(lines, "has its socket held: ");
                fprintf(lines->out, "%s%s", listen_by_to_string(listen->by), listen->address);
                if (listen->by == LISTEN_UNIX)
                        fprintf(lines->out, ", mode %04o", (unsigned)listen->mode);
                fprintf(lines->out, ", named %s", listen->name);
                end(lines);
        }
        if (service->descriptor_store_max > 0) {
                begin(lines, "may store descriptors: ");
                fprintf(lines->out, "%u", service->descriptor_store_max);
                end(lines);
        }
        if (service->notify_fd >= 0) {
                begin(lines, "is ready at a newline on descriptor ");
                fprintf(lines->out, "%d", service->notify_fd);
                end(lines);
        }
        if (service->tty) {
                begin(lines, "has the terminal");
                end(lines);
        }
}

/* ---- Probes ---- */

static void print_target(const ProbeConfig *probe, FILE *out) {
        switch (probe->by) {
        case PROBE_BY_HTTP: print_url(probe->target, out); break;
        case PROBE_BY_TCP: fprintf(out, "tcp://%s", probe->target); break;
        case PROBE_BY_UNIX: fprintf(out, "unix:%s", probe->target); break;
        case PROBE_BY_EXEC: fprintf(out, "exec:%s%s", probe->argv[0], probe->argv[1] ? " ..." : ""); break;
        case PROBE_BY_NONE:
        case _PROBE_BY_MAX: break;
        }
}

static void print_probes(const Lines *lines, const ProbeConfig *probes) {
        static const char *const words[_PROBE_KIND_MAX] = {
                [PROBE_STARTUP] = "has started: ",
                [PROBE_LIVENESS] = "is alive: ",
                [PROBE_READINESS] = "is ready: ",
        };

        for (int kind = 0; probes && kind < _PROBE_KIND_MAX; kind++) {
                const ProbeConfig *probe = &probes[kind];
                if (probe->by == PROBE_BY_NONE)
                        continue;
                begin(lines, words[kind]);
                print_target(probe, lines->out);
                fprintf(lines->out, " every %s, %s each", SPAN(probe->period_usec), SPAN(probe->timeout_usec));
                if (probe->delay_usec > 0)
                        fprintf(lines->out, ", the first after %s", SPAN(probe->delay_usec));
                if (probe->successes > 1)
                        fprintf(lines->out, "; yes after %u in a row", probe->successes);
                fprintf(lines->out, "; no after %u in a row", probe->failures);
                end(lines);
        }
}

static void print_words(const Lines *lines, const ServiceConfig *service) {
        char text[SIGNAL_TEXT_MAX];

        if (service->watchdog_usec != USEC_INFINITY) {
                begin(lines, "says WATCHDOG=1 at least every ");
                fputs(SPAN(service->watchdog_usec), lines->out);
                end(lines);
        }
        if (service->reload_signal > 0) {
                begin(lines, "is reloaded by ");
                fputs(signal_to_string(service->reload_signal, text), lines->out);
                end(lines);
        }
}

void plan_print_service(const ServiceConfig *service, int indentation, FILE *out) {
        const Lines lines = { .out = out, .indentation = indentation };

        if (service->rights) {
                print_user(&lines, service->rights);
                print_scheduling(&lines, service->rights);
                print_capabilities(&lines, service->rights);
                print_limits(&lines, service->rights);
        }
        print_listens(&lines, service);
        print_probes(&lines, service->probes);
        print_words(&lines, service);
}

void plan_print_request(const HookConfig *hook, FILE *out) {
        fprintf(out, "%s ", hook->http_method);
        print_url(hook->url, out);
}
