/* findings.h - all that was found about the hooks of a configuration, and what follows from it as a whole.
 *
 * Borrows names. What a pair of hooks does is in the verdict of the whole, never in that of either hook. */
#pragma once
#include "verify/judgement.h"
#include <stdio.h>

typedef struct HookFindings {
        const char *hook;
        Finding of[_PROPERTY_MAX]; /* RULING_NONE: not asked for, or not declared */
        Differences masks;         /* a sentence each, those of the author among them */
} HookFindings;

typedef struct PairFindings {
        const char *one, *other;
        Finding finding;
} PairFindings;

typedef struct Findings {
        const char *level, *engine, *database;
        HookFindings *hooks;
        size_t n_hooks;
        PairFindings *pairs;
        size_t n_pairs;
} Findings;

Ruling hook_findings_verdict(const HookFindings *hook);
Ruling findings_verdict(const Findings *findings);
void hook_findings_done(HookFindings *hook);

/* The level, a table of hooks and properties, then why. `color` paints the verdicts for a terminal. */
void findings_print(const Findings *findings, FILE *out, bool color);
/* TAP 13: a line for each hook and property that was judged. */
void findings_print_tap(const Findings *findings, FILE *out);
