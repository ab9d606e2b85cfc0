/* metrics.c - see metrics.h. */
#include "gateway/metrics.h"
#include "base/take.h"
#include <inttypes.h>
#include <string.h>

void metrics_write_label(const char *value, FILE *out) {
        for (; *value; value++) {
                if (*value == '\n') {
                        fputs("\\n", out);
                        continue;
                }
                if (*value == '\\' || *value == '"')
                        fputc('\\', out);
                fputc(*value, out);
        }
}

static void head(const char *name, const char *type, const char *help, FILE *out) {
        fprintf(out, "# HELP endwell_%s %s\n# TYPE endwell_%s %s\n", name, help, name, type);
}

static void put_seconds(usec_t span, FILE *out) {
        fprintf(out, "%" PRIu64 ".%06" PRIu64 "\n", span / USEC_PER_SEC, span % USEC_PER_SEC);
}

static void label(const char *name, const char *value, FILE *out) {
        fprintf(out, "%s=\"", name);
        metrics_write_label(value, out);
        fputc('"', out);
}

/* ---- One number ---- */

static void put_one(const char *name, const char *type, const char *help, uint64_t value, FILE *out) {
        head(name, type, help, out);
        fprintf(out, "endwell_%s %" PRIu64 "\n", name, value);
}

static void put_totals(const Known *known, FILE *out) {
        const Tally *tally = known->tally;
        const struct Total {
                const char *name, *help;
                uint64_t value;
        } totals[] = {
                { "drained_total", "Processes that ended in the ending without being killed.", tally->drained },
                { "killed_total", "SIGKILLs sent to processes, in and outside an ending.", tally->killed },
                { "left_total", "Processes that an ending went on without.", tally->left },
                { "orphans_adopted_total", "Processes whose parent died.", tally->adopted },
                { "orphans_gone_total", "Adopted processes that are gone.", tally->orphans_gone },
                { "jobs_released_total", "Jobs of dead workers that the reaper gave back.", tally->released },
                { "jobs_buried_total", "Jobs of dead workers whose attempts were spent.", tally->buried },
                { "log_lines_dropped_total", "Lines that nobody read from stderr.", tally->lines_lost },
                { "clients_dropped_total", "Clients of the control socket that were dropped.", tally->clients_dropped },
                { "journal_events_total", "Events in the journal of this run.", known->picture->seq },
        };

        for (size_t i = 0; i < LENGTH_OF(totals); i++)
                put_one(totals[i].name, "counter", totals[i].help, totals[i].value, out);
}

static void put_state(const Known *known, FILE *out) {
        const Picture *picture = known->picture;
        const Snapshot *status = known->status;

        put_one("connected", "gauge", "Whether endwell itself answers the gateway.", known->connected, out);
        put_one("ready", "gauge", "Whether endwell calls the container ready.", picture->ready, out);
        put_one("started", "gauge", "Whether the start was finished.", picture->started, out);
        put_one("ending", "gauge", "Whether the ending began.", picture->ending, out);
        put_one("event_followers", "gauge", "Clients that follow /events.", known->followers, out);
        if (!status)
                return;
        head("info", "gauge", "Which endwell this is.", out);
        fputs("endwell_info{", out);
        label("version", status->version, out);
        fputc(',', out);
        label("mode", status->mode, out);
        fputs("} 1\n", out);
        put_one("orphans", "gauge", "Living processes that belong to no service.", status->orphans, out);
        head("uptime_seconds", "gauge", "Since endwell started.", out);
        fputs("endwell_uptime_seconds ", out);
        put_seconds(status->uptime_usec, out);
}

/* ---- Services ---- */

static void put_instances(const Snapshot *status, bool ready, const char *name, const char *help, FILE *out) {
        head(name, "gauge", help, out);
        for (size_t i = 0; i < status->n_services && i < TALLY_ROWS_MAX; i++) {
                const SnapshotService *service = &status->services[i];
                fprintf(out, "endwell_%s{", name);
                label("service", service->name, out);
                fputc(',', out);
                label("phase", service->phase, out);
                fprintf(out, "} %zu\n", ready ? service->n_ready : service->n_members);
        }
}

static void put_column(const TallyRows *rows, const char *key, const char *name, const char *help, size_t offset,
                       FILE *out) {
        head(name, "counter", help, out);
        for (size_t i = 0; i < rows->n; i++) {
                uint64_t value;
                memcpy(&value, (const char *)&rows->rows[i] + offset, sizeof value);
                fprintf(out, "endwell_%s{", name);
                label(key, rows->rows[i].name, out);
                fprintf(out, "} %" PRIu64 "\n", value);
        }
}

static void put_services(const TallyRows *rows, FILE *out) {
        static const struct Column {
                const char *name, *help;
                size_t offset;
        } columns[] = {
                { "service_starts_total", "Runs that were started.", offsetof(TallyRow, starts) },
                { "service_restarts_total", "Runs that were not an instance's first.", offsetof(TallyRow, restarts) },
                { "service_gave_up_total", "Instances that failed for good.", offsetof(TallyRow, gave_up) },
                { "service_kills_total", "SIGKILLs sent to its processes.", offsetof(TallyRow, killed) },
                { "service_probe_failures_total", "Changes of a probe to failing.", offsetof(TallyRow, unready) },
                { "service_watchdog_expiries_total", "Watchdogs that rang.", offsetof(TallyRow, watchdog) },
        };

        for (size_t i = 0; i < LENGTH_OF(columns); i++)
                put_column(rows, "service", columns[i].name, columns[i].help, columns[i].offset, out);
        head("service_exits_total", "counter", "Runs that are gone with all their processes, by cause.", out);
        for (size_t i = 0; i < rows->n; i++)
                for (int cause = 0; cause < _TALLY_CAUSE_MAX; cause++) {
                        fputs("endwell_service_exits_total{", out);
                        label("service", rows->rows[i].name, out);
                        fprintf(out, ",cause=\"%s\"} %" PRIu64 "\n", tally_cause_to_string((TallyCause)cause),
                                rows->rows[i].exits[cause]);
                }
}

/* ---- Hooks, signals, phases ---- */

static void put_hook(const TallyRow *row, const char *result, uint64_t value, FILE *out) {
        fputs("endwell_hooks_total{", out);
        label("hook", row->name, out);
        fprintf(out, ",result=\"%s\"} %" PRIu64 "\n", result, value);
}

static void put_hooks(const TallyRows *rows, FILE *out) {
        head("hooks_total", "counter", "Hooks that ended, by result.", out);
        for (size_t i = 0; i < rows->n; i++) {
                put_hook(&rows->rows[i], "ok", rows->rows[i].good, out);
                put_hook(&rows->rows[i], "failed", rows->rows[i].failed, out);
                put_hook(&rows->rows[i], "timed_out", rows->rows[i].timed_out, out);
        }
        head("hook_seconds_total", "counter", "Time that hooks took.", out);
        for (size_t i = 0; i < rows->n; i++) {
                fputs("endwell_hook_seconds_total{", out);
                label("hook", rows->rows[i].name, out);
                fputs("} ", out);
                put_seconds(rows->rows[i].took_usec, out);
        }
}

static void put_signals(const Tally *tally, FILE *out) {
        head("signals_total", "counter", "Signals that endwell received, by what they meant.", out);
        for (int effect = 0; effect < _TALLY_EFFECT_MAX; effect++)
                fprintf(out, "endwell_signals_total{effect=\"%s\"} %" PRIu64 "\n",
                        tally_effect_to_string((TallyEffect)effect), tally->effects[effect]);
}

static void put_phase_counts(const Picture *picture, const char *name, const char *help, size_t offset, FILE *out) {
        head(name, "gauge", help, out);
        for (unsigned i = 0; i < picture->n_phases; i++) {
                unsigned value;
                if (!picture->phases[i].finished)
                        continue;
                memcpy(&value, (const char *)&picture->phases[i] + offset, sizeof value);
                fprintf(out, "endwell_%s{", name);
                label("phase", picture->phases[i].name, out);
                fprintf(out, "} %u\n", value);
        }
}

static void put_phases(const Picture *picture, FILE *out) {
        head("phase_duration_seconds", "gauge", "How long a phase of the ending took.", out);
        for (unsigned i = 0; i < picture->n_phases; i++)
                if (picture->phases[i].finished) {
                        fputs("endwell_phase_duration_seconds{", out);
                        label("phase", picture->phases[i].name, out);
                        fputs("} ", out);
                        put_seconds(picture->phases[i].took_usec, out);
                }
        put_phase_counts(picture, "phase_gone", "Who ended in a phase of the ending.", offsetof(PicturePhase, gone),
                         out);
        put_phase_counts(picture, "phase_killed", "Who was killed in it.", offsetof(PicturePhase, killed), out);
        put_phase_counts(picture, "phase_left", "Without whom it went on.", offsetof(PicturePhase, left), out);
}

void metrics_write(const Known *known, FILE *out) {
        put_state(known, out);
        put_totals(known, out);
        if (known->status) {
                put_instances(known->status, false, "service_instances", "Instances that a service has.", out);
                put_instances(known->status, true, "service_instances_ready", "Instances that are ready.", out);
        }
        put_services(&known->tally->services, out);
        put_hooks(&known->tally->hooks, out);
        put_signals(known->tally, out);
        put_phases(known->picture, out);
}
