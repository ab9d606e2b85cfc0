/* story.h - what a run's events say of each phase, instance, hook and orphan, put together.
 *
 * Pure but for memory. Points into the events, which must outlive it. An instant that never came is USEC_INFINITY. Of
 * an instance that was started several times the last run counts. */
#pragma once
#include "shutdown/cast.h"
#include "shutdown/event.h"
#include "shutdown/verdict.h"
#include <stdbool.h>

#define STORY_NO_PHASE (-1)

typedef struct StoryPhase {
        const char *name;
        usec_t began, ended, limit_usec;
        const Event *end;
        unsigned members;
} StoryPhase;

typedef struct StoryMember {
        const char *service;
        unsigned instance;
        bool several; /* its service has more than one */
        int phase;    /* in which it was asked; STORY_NO_PHASE: not in the ending */
        unsigned starts;
        usec_t started, ready, asked, killed, exited, gone, left;
        const char *signal, *kill_reason;
        const Event *exit;
} StoryMember;

typedef struct StoryHook {
        const char *name, *on, *service;
        unsigned instance;
        int phase; /* that was ending when it began */
        usec_t began, ended;
        const Event *end;
} StoryHook;

typedef struct StoryOrphan {
        pid_t pid;
        const char *comm, *service;
        usec_t adopted, gone;
} StoryOrphan;

typedef struct Story {
        const Event *events;
        size_t n_events;
        StoryPhase *phases;
        StoryMember *members;
        StoryHook *hooks;
        StoryOrphan *orphans;
        size_t n_phases, n_members, n_hooks, n_orphans;
        Cast cast;                                    /* numbers the members */
        const Event *start, *cause, *ending, *finish; /* cause: the signal or request that began the ending */
        usec_t begin, settled, end_began, end;        /* end_began: of `cause` or `ending`, whichever came first */
        usec_t deadline;                              /* the instant; USEC_INFINITY: no ending */
        bool was_ready;
        Verdict verdict;
} Story;

int story_make(const Event *events, size_t n, Story *ret); /* n > 0; 0 or -ENOMEM */
void story_done(Story *story);

/* What the plan kept for the last kill and the summary, as the limit of the last phase shows; 0: not known. */
usec_t story_reserve_usec(const Story *story);
