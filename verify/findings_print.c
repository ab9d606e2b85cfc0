/* findings_print.c - findings as text for people, and as TAP for a harness; see findings.h. */
#include "verify/findings.h"
#include <string.h>

#define COLUMN_WIDTH 13 /* of "INCONCLUSIVE" and a blank */

static const char *paint_of(Ruling ruling) {
        switch (ruling) {
        case RULING_PASS: return "\033[32m";
        case RULING_FAIL: return "\033[1;31m";
        case RULING_NOTE:
        case RULING_LITTER:
        case RULING_INCONCLUSIVE: return "\033[33m";
        case RULING_NONE:
        case RULING_SKIPPED:
        case _RULING_MAX: break;
        }
        return "";
}

static void print_ruling(FILE *out, Ruling ruling, bool color) {
        const char *paint = color ? paint_of(ruling) : "";

        fprintf(out, " %s%-*s%s", paint, COLUMN_WIDTH, ruling_to_string(ruling), *paint ? "\033[0m" : "");
}

/* A property that no hook was held to has no column. */
static bool is_used(const Findings *findings, Property property) {
        for (size_t i = 0; i < findings->n_hooks; i++)
                if (findings->hooks[i].of[property].ruling != RULING_NONE)
                        return true;
        return false;
}

static int widest_name(const Findings *findings) {
        size_t width = strlen("hook");

        for (size_t i = 0; i < findings->n_hooks; i++)
                if (strlen(findings->hooks[i].hook) > width)
                        width = strlen(findings->hooks[i].hook);
        return (int)width;
}

static void print_table(const Findings *findings, FILE *out, bool color) {
        int width = widest_name(findings);

        fprintf(out, "%-*s %-*s", width, "hook", COLUMN_WIDTH, "verdict");
        for (int property = 0; property < _PROPERTY_MAX; property++)
                if (is_used(findings, (Property)property))
                        fprintf(out, " %-*s", COLUMN_WIDTH, property_to_string((Property)property));
        fputc('\n', out);
        for (size_t i = 0; i < findings->n_hooks; i++) {
                const HookFindings *hook = &findings->hooks[i];
                fprintf(out, "%-*s", width, hook->hook);
                print_ruling(out, hook_findings_verdict(hook), color);
                for (int property = 0; property < _PROPERTY_MAX; property++)
                        if (is_used(findings, (Property)property))
                                print_ruling(out, hook->of[property].ruling, color);
                fputc('\n', out);
        }
}

static void print_sentences(FILE *out, const char *who, const char *what, const Differences *differences) {
        for (size_t i = 0; i < differences->n_sentences; i++)
                fprintf(out, "%s %s: %s\n", who, what, differences->sentences[i]);
        for (size_t i = 0; i < differences->n_extras; i++)
                fprintf(out, "%s %s: %s: it is left in addition\n", who, what, differences->extras[i]);
}

void findings_print(const Findings *findings, FILE *out, bool color) {
        fprintf(out, "level %s, engine %s, database %s\n\n", findings->level, findings->engine, findings->database);
        print_table(findings, out, color);
        fputc('\n', out);
        for (size_t i = 0; i < findings->n_hooks; i++) {
                const HookFindings *hook = &findings->hooks[i];
                for (int property = 0; property < _PROPERTY_MAX; property++)
                        print_sentences(out, hook->hook, property_to_string((Property)property),
                                        &hook->of[property].why);
                print_sentences(out, hook->hook, "masked", &hook->masks);
        }
        for (size_t i = 0; i < findings->n_pairs; i++) {
                const PairFindings *pair = &findings->pairs[i];
                fprintf(out, "%s and %s commute: %s\n", pair->one, pair->other, ruling_to_string(pair->finding.ruling));
                print_sentences(out, pair->one, pair->other, &pair->finding.why);
        }
        fprintf(out, "verdict: %s\n", ruling_to_string(findings_verdict(findings)));
}

/* ---- TAP ---- */

static const char *directive_of(Ruling ruling) {
        return ruling == RULING_SKIPPED ? " # SKIP" : ruling == RULING_INCONCLUSIVE ? " # INCONCLUSIVE" : "";
}

/* What was not proved is not ok: a harness that knows nothing of us must not take it for a pass. */
static void print_test(FILE *out, size_t number, const char *name, const char *what, const Finding *finding) {
        bool ok = finding->ruling != RULING_FAIL && finding->ruling != RULING_INCONCLUSIVE;

        fprintf(out, "%s %zu - %s %s%s\n", ok ? "ok" : "not ok", number, name, what, directive_of(finding->ruling));
        for (size_t i = 0; i < finding->why.n_sentences; i++)
                fprintf(out, "# %s\n", finding->why.sentences[i]);
}

void findings_print_tap(const Findings *findings, FILE *out) {
        size_t n = 0;

        fputs("TAP version 13\n", out);
        for (size_t i = 0; i < findings->n_hooks; i++)
                for (int property = 0; property < _PROPERTY_MAX; property++) {
                        const Finding *finding = &findings->hooks[i].of[property];
                        if (finding->ruling != RULING_NONE)
                                print_test(out, ++n, findings->hooks[i].hook, property_to_string((Property)property),
                                           finding);
                }
        for (size_t i = 0; i < findings->n_pairs; i++)
                print_test(out, ++n, findings->pairs[i].one, findings->pairs[i].other, &findings->pairs[i].finding);
        fprintf(out, "1..%zu\n", n);
}
