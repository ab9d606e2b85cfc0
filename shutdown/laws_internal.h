/* laws_internal.h - what laws.c (the judgement) and laws_fold.c (event by event) share; for nobody else. */
#pragma once
#include "shutdown/cast.h"
#include "shutdown/laws.h"
#include "shutdown/verdict.h"

#define NO_PHASE (-1)

typedef struct Role {
        bool up;      /* a process of it may be left */
        bool awaited; /* its main process was started and is not collected */
        bool excused; /* what is left of it was left on purpose */
        int phase;    /* in which it was asked first */
        uint64_t seq; /* of its last start */
} Role;

typedef struct Orphan {
        pid_t pid;
        uint64_t seq;
        bool nobodys;
        int phase; /* that was ending when it was adopted */
        size_t role;
} Orphan;

typedef struct Judge {
        Judgement *judgement;
        Cast cast;
        Role *roles;
        Orphan *orphans; /* those that live */
        size_t n_orphans;
        const Event **hooks; /* each beginning */
        size_t n_hooks;
        const Event *ending, *finish;
        const char *phases; /* their names that are still to come */
        Verdict verdict;
        bool has_phases, development, withdrawn, in_phase;
        int phase;          /* the number of the one that is ending or ended last */
        unsigned n_excused; /* descendants that were left on purpose */
} Judge;

void laws_fold(Judge *judge, const Event *event);
void laws_check_hooks(Judge *judge); /* after the last event */
