/* clause.h - what the author of a hook says about noise: one line of Significant=, Mask= or Ignore=.
 *
 * Pure but for malloc. "PLACE [ERE] [# REASON]": PLACE is a path (a glob), TABLE.COLUMN or stdout; the ERE says which
 * part, else it is all of it. Mask makes the part equal everywhere, Ignore drops the lines that have it, Significant
 * forbids that a run after the first changes it, whatever noise it is from world to world. */
#pragma once
#include "verify/difference.h"
#include "verify/state.h"
#include <regex.h>

typedef enum ClauseKind { CLAUSE_SIGNIFICANT, CLAUSE_MASK, CLAUSE_IGNORE, _CLAUSE_KIND_MAX } ClauseKind;

const char *clause_kind_to_string(ClauseKind kind); /* the key's name */

typedef struct Clause {
        ClauseKind kind;
        char *place;  /* "/run/x*", "table public.jobs", "stdout" */
        char *column; /* of a table, or NULL */
        char *reason; /* or NULL; --strict wants one of an Ignore */
        regex_t pattern;
        bool has_pattern;
} Clause;

#define CLAUSE_PROBLEM_MAX 160

/* 0; -EINVAL with a sentence; -ENOMEM. clause_done() after success only. */
int clause_parse(Clause *ret, ClauseKind kind, const char *text, char ret_problem[static CLAUSE_PROBLEM_MAX]);
void clause_done(Clause *clause);

/* Mask and Ignore: what is left to compare. 0 or -ENOMEM. */
int clause_apply(const Clause *clause, State *state);
int clause_apply_output(const Clause *clause, char **output); /* lines of standard output */

/* Significant: what `after` has otherwise than `before`, both of one world. */
void clause_compare(const Clause *clause, const State *before, const State *after, Differences *ret);
