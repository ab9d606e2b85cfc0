/* story.c - see story.h. */
#include "report/story.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/take.h"

static const StoryMember unborn = {
        .phase = STORY_NO_PHASE,
        .started = USEC_INFINITY,
        .ready = USEC_INFINITY,
        .asked = USEC_INFINITY,
        .killed = USEC_INFINITY,
        .exited = USEC_INFINITY,
        .gone = USEC_INFINITY,
        .left = USEC_INFINITY,
};

static int phase_now(const Story *story) {
        return story->n_phases > 0 ? (int)story->n_phases - 1 : STORY_NO_PHASE;
}

static StoryMember *member_of(Story *story, const Event *event) {
        size_t number = cast_find(&story->cast, event->service, event->instance);
        return number == SIZE_MAX ? NULL : &story->members[number];
}

static void on_starting(StoryMember *member, const Event *event) {
        unsigned starts = member->starts + 1;
        StoryMember fresh = unborn;
        fresh.service = member->service;
        fresh.instance = member->instance;
        fresh.several = member->several;
        fresh.starts = starts;
        fresh.started = event->mono_usec;
        *member = fresh;
}

static void on_asked(const Story *story, StoryMember *member, const Event *event) {
        if (story->ending && member->phase == STORY_NO_PHASE)
                member->phase = phase_now(story);
        if (event->kind == EVENT_SERVICE_KILLED) {
                member->killed = usec_min(member->killed, event->mono_usec);
                member->kill_reason = event->reason;
        } else if (member->asked == USEC_INFINITY) {
                member->asked = event->mono_usec;
                member->signal = event->signal;
        }
}

static void take_of_member(Story *story, const Event *event) {
        StoryMember *member = member_of(story, event);
        if (!member)
                return;
        switch ((int)event->kind) {
        case EVENT_SERVICE_STARTING:
                if (!story->ending) /* one that breaks a law must not hide the run that ended */
                        on_starting(member, event);
                break;
        case EVENT_SERVICE_STARTED: member->started = usec_min(member->started, event->mono_usec); break;
        case EVENT_SERVICE_READY: member->ready = event->mono_usec; break;
        case EVENT_SERVICE_ASKED:
        case EVENT_SERVICE_KILLED: on_asked(story, member, event); break;
        case EVENT_SERVICE_EXITED:
                member->exited = event->mono_usec;
                member->exit = event;
                break;
        case EVENT_DESCENDANTS_LEFT:
        case EVENT_SERVICE_GONE: member->gone = event->mono_usec; break;
        case EVENT_SERVICE_LEFT:
                if (!event->probe)
                        member->left = event->mono_usec;
                break;
        default: break;
        }
}

static void on_hook_started(Story *story, const Event *event) {
        story->hooks[story->n_hooks++] = (StoryHook){
                .name = event->hook,
                .on = event->on,
                .service = event->service,
                .instance = event->instance,
                .phase = story->ending ? phase_now(story) : STORY_NO_PHASE,
                .began = event->mono_usec,
                .ended = USEC_INFINITY,
        };
}

static bool is_same(const char *a, const char *b) {
        return a == b || (a && b && strcmp(a, b) == 0);
}

static void on_hook_finished(Story *story, const Event *event) {
        for (size_t i = story->n_hooks; i-- > 0;) {
                StoryHook *hook = &story->hooks[i];
                if (hook->end || !is_same(hook->name, event->hook) || !is_same(hook->service, event->service) ||
                    hook->instance != event->instance)
                        continue;
                hook->ended = event->mono_usec;
                hook->end = event;
                return;
        }
}

static void on_orphan_gone(Story *story, const Event *event) {
        for (size_t i = story->n_orphans; i-- > 0;)
                if (story->orphans[i].pid == event->pid) {
                        story->orphans[i].gone = event->mono_usec;
                        return;
                }
}

static void on_phase_finished(Story *story, const Event *event) {
        StoryPhase *phase = story->n_phases > 0 ? &story->phases[story->n_phases - 1] : NULL;
        if (!phase || phase->end)
                return;
        phase->ended = event->mono_usec;
        phase->end = event;
}

static void on_ending(Story *story, size_t i) {
        const Event *event = &story->events[i], *before = i > 0 ? event - 1 : NULL;
        story->ending = event;
        story->end_began = event->mono_usec;
        story->deadline = usec_add(event->mono_usec, event->deadline_usec);
        if (before && (before->kind == EVENT_SIGNAL_RECEIVED || before->kind == EVENT_REQUEST_RECEIVED)) {
                story->cause = before;
                story->end_began = before->mono_usec;
        }
}

static void take(Story *story, size_t i) {
        const Event *event = &story->events[i];
        switch ((int)event->kind) {
        case EVENT_SUPERVISOR_STARTED: story->start = event; break;
        case EVENT_STARTUP_FINISHED: story->settled = event->mono_usec; break;
        case EVENT_READINESS_CHANGED: story->was_ready |= event->ready; break;
        case EVENT_ENDING_STARTED: on_ending(story, i); break;
        case EVENT_PHASE_STARTED:
                story->phases[story->n_phases++] =
                        (StoryPhase){ event->phase, event->mono_usec, USEC_INFINITY, event->limit_usec,
                                      NULL,         event->members };
                break;
        case EVENT_PHASE_FINISHED: on_phase_finished(story, event); break;
        case EVENT_HOOK_STARTED: on_hook_started(story, event); break;
        case EVENT_HOOK_FINISHED: on_hook_finished(story, event); break;
        case EVENT_ORPHAN_ADOPTED:
                story->orphans[story->n_orphans++] =
                        (StoryOrphan){ event->pid, event->comm, event->service, event->mono_usec, USEC_INFINITY };
                break;
        case EVENT_ORPHAN_GONE: on_orphan_gone(story, event); break;
        case EVENT_ENDING_FINISHED: story->finish = event; break;
        default: take_of_member(story, event); break;
        }
        if (event->kind < _EVENT_MAX)
                story->verdict = verdict_fold(story->verdict, event);
}

/* Names that stand only in an ending_started or an orphan's line make no member: nothing is known of its life. */
static bool is_of_member(const Event *event) {
        return event->service && event->instance > 0 && event->kind >= EVENT_SERVICE_STARTING &&
               event->kind <= EVENT_DESCENDANTS_LEFT;
}

static int count(Story *story) {
        size_t n[3] = { 0 }, number;
        for (size_t i = 0; i < story->n_events; i++) {
                const Event *event = &story->events[i];
                n[0] += event->kind == EVENT_PHASE_STARTED;
                n[1] += event->kind == EVENT_HOOK_STARTED;
                n[2] += event->kind == EVENT_ORPHAN_ADOPTED;
                if (is_of_member(event) && cast_join(&story->cast, event->service, event->instance, &number) < 0)
                        return -ENOMEM;
        }
        story->n_members = story->cast.n;
        story->phases = calloc(n[0] + 1, sizeof *story->phases);
        story->hooks = calloc(n[1] + 1, sizeof *story->hooks);
        story->orphans = calloc(n[2] + 1, sizeof *story->orphans);
        story->members = calloc(story->n_members + 1, sizeof *story->members);
        return story->phases && story->hooks && story->orphans && story->members ? 0 : -ENOMEM;
}

static void name_members(Story *story) {
        for (size_t i = 0; i < story->n_members; i++) {
                const CastRole *role = &story->cast.roles[i];
                story->members[i] = unborn;
                story->members[i].service = role->service;
                story->members[i].instance = role->instance;
                story->members[i].several = cast_find(&story->cast, role->service, 2) != SIZE_MAX;
        }
}

int story_make(const Event *events, size_t n, Story *ret) {
        _cleanup_(story_done) Story story = {
                .events = events,
                .n_events = n,
                .begin = events[0].mono_usec,
                .settled = USEC_INFINITY,
                .end_began = USEC_INFINITY,
                .end = events[n - 1].mono_usec,
                .deadline = USEC_INFINITY,
        };
        int r = count(&story);
        if (r < 0)
                return r;
        name_members(&story);
        for (size_t i = 0; i < n; i++)
                take(&story, i);
        if (story.settled == USEC_INFINITY || story.settled > story.end_began)
                story.settled = usec_min(story.end_began, story.end);
        *ret = story;
        story = (Story){ 0 };
        return 0;
}

void story_done(Story *story) {
        free(story->phases);
        free(story->members);
        free(story->hooks);
        free(story->orphans);
        cast_done(&story->cast);
        *story = (Story){ 0 };
}

usec_t story_reserve_usec(const Story *story) {
        const char *phases = story->start && story->start->phases ? story->start->phases : "";
        const StoryPhase *last = story->n_phases > 0 ? &story->phases[story->n_phases - 1] : NULL;
        const char *word = strrchr(phases, ' ');
        if (!last || !last->name || strcmp(word ? word + 1 : phases, last->name) != 0)
                return 0;
        return usec_sub(story->deadline, usec_add(last->began, last->limit_usec));
}
