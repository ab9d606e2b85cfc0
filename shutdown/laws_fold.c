/* laws_fold.c - what each event of a run says of the laws; see laws.h. */
#include "shutdown/laws_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/duration.h"

static void exercise(Judge *judge, Law law) {
        judge->judgement->of[law].times++;
}

static void breach(Judge *judge, Law law, uint64_t seq, const char *format, ...) __attribute__((format(printf, 4, 5)));

static void breach(Judge *judge, Law law, uint64_t seq, const char *format, ...) {
        LawFinding *finding = &judge->judgement->of[law];
        if (finding->n_breaches == 0) {
                va_list arguments;
                va_start(arguments, format);
                vsnprintf(finding->text, sizeof finding->text, format, arguments);
                va_end(arguments);
        }
        if (finding->n_breaches < LAW_BREACHES_MAX)
                finding->breaches[finding->n_breaches] = seq;
        finding->n_breaches++;
}

static bool is(const char *text, const char *word) {
        return text && strcmp(text, word) == 0;
}

static const char *or_unknown(const char *text) {
        return text ? text : "?";
}

static Role *role_of(Judge *judge, const Event *event) {
        size_t number = cast_find(&judge->cast, event->service, event->instance);
        return number == SIZE_MAX ? NULL : &judge->roles[number];
}

/* ---- L1: who may be asked ---- */

static void check_earlier(Judge *judge, const Event *event, int phase) {
        for (size_t i = 0; i < judge->cast.n; i++) {
                const Role *role = &judge->roles[i];
                if (role->phase == NO_PHASE || role->phase >= phase)
                        continue;
                exercise(judge, LAW_1);
                if (role->up)
                        breach(judge, LAW_1, event->seq,
                               "%.40s@%u was asked while %.40s@%u, of an earlier phase, lived", event->service,
                               event->instance, judge->cast.roles[i].service, judge->cast.roles[i].instance);
        }
        for (size_t i = 0; i < judge->n_orphans; i++)
                if (judge->orphans[i].nobodys && phase > 0 && judge->orphans[i].phase < phase)
                        breach(judge, LAW_1, event->seq, "%.40s@%u was asked while pid %d, nobody's, lived",
                               event->service, event->instance, (int)judge->orphans[i].pid);
}

static void on_stop_signal(Judge *judge, const Event *event) {
        Role *role = role_of(judge, event);
        if (!judge->ending || !role)
                return;
        if (judge->phase == NO_PHASE && is(event->reason, "ending") && !judge->development)
                breach(judge, LAW_1, event->seq, "%.40s@%u was asked before the first phase began", event->service,
                       event->instance);
        if (role->phase != NO_PHASE)
                return;
        role->phase = judge->phase;
        if (!judge->development && event->kind == EVENT_SERVICE_ASKED)
                check_earlier(judge, event, role->phase);
}

/* ---- L2: the order of phases ---- */

static bool takes_word(const char **words, const char *word) {
        size_t length = strcspn(*words, " ");
        bool same = word && strlen(word) == length && memcmp(*words, word, length) == 0;
        *words += length + ((*words)[length] == ' ');
        return same;
}

static void on_phase_started(Judge *judge, const Event *event) {
        judge->phase++;
        exercise(judge, LAW_2);
        if (judge->development)
                return;
        if (!judge->ending)
                breach(judge, LAW_2, event->seq, "phase %.40s ended before the ending began", or_unknown(event->phase));
        else if (judge->in_phase)
                breach(judge, LAW_2, event->seq, "phase %.40s began inside another", or_unknown(event->phase));
        else if (judge->has_phases && !takes_word(&judge->phases, event->phase))
                breach(judge, LAW_2, event->seq, "phase %.40s is not the next one", or_unknown(event->phase));
        judge->in_phase = true;
}

static void on_phase_finished(Judge *judge, const Event *event) {
        if (!judge->in_phase && !judge->development)
                breach(judge, LAW_2, event->seq, "phase %.40s is over and had not begun", or_unknown(event->phase));
        judge->in_phase = false;
}

/* At the deadline what is left is given up, and the phases with it. */
static void check_phases_over(Judge *judge, const Event *event) {
        if (judge->development || judge->verdict.deadline_hit || !judge->has_phases)
                return;
        if (judge->phases[0] || judge->in_phase)
                breach(judge, LAW_2, event->seq, "the ending was over before the phase%s %.80s",
                       judge->phases[0] ? "s" : "", judge->phases[0] ? judge->phases : "that was ending");
}

/* ---- L3: hooks ---- */

static int compare_texts(const char *a, const char *b) {
        return strcmp(a ? a : "", b ? b : "");
}

static int compare_numbers(uint64_t a, uint64_t b) {
        return (a > b) - (a < b);
}

static int compare_runs(const Event *a, const Event *b) {
        int order = compare_numbers(a->epoch, b->epoch);
        order = order ? order : compare_texts(a->hook, b->hook);
        order = order ? order : compare_texts(a->service, b->service);
        order = order ? order : compare_texts(a->phase, b->phase);
        order = order ? order : compare_numbers(a->instance, b->instance);
        return order ? order : compare_numbers(a->attempt, b->attempt);
}

static int compare_hooks(const void *a, const void *b, void *userdata) {
        (void)userdata;
        const Event *one = *(const Event *const *)a, *other = *(const Event *const *)b;
        int order = compare_runs(one, other);
        return order ? order : compare_numbers(one->seq, other->seq);
}

void laws_check_hooks(Judge *judge) {
        judge->judgement->of[LAW_3].times = (unsigned)judge->n_hooks;
        if (judge->n_hooks == 0)
                return;
        qsort_r(judge->hooks, judge->n_hooks, sizeof *judge->hooks, compare_hooks, NULL);
        for (size_t i = 1; i < judge->n_hooks; i++)
                if (compare_runs(judge->hooks[i - 1], judge->hooks[i]) == 0)
                        breach(judge, LAW_3, judge->hooks[i]->seq, "hook %.40s began again for the same run",
                               or_unknown(judge->hooks[i]->hook));
}

/* ---- L5, L6: what does not happen in an ending ---- */

static void check_quiet(Judge *judge, const Event *event) {
        bool probed_to_death =
                event->kind == EVENT_SERVICE_ASKED &&
                (is(event->reason, "startup") || is(event->reason, "liveness") || is(event->reason, "watchdog"));
        if (!judge->ending)
                return;
        if (event->kind == EVENT_SERVICE_STARTING)
                breach(judge, LAW_5, event->seq, "%.40s@%u was started", or_unknown(event->service), event->instance);
        else if (event->kind == EVENT_SERVICE_RESTART_SCHEDULED)
                breach(judge, LAW_5, event->seq, "%.40s@%u was to be restarted", or_unknown(event->service),
                       event->instance);
        else if (event->kind == EVENT_PROBE_CHANGED || event->kind == EVENT_WATCHDOG_EXPIRED || probed_to_death)
                breach(judge, LAW_5, event->seq, "%.40s@%u was still probed", or_unknown(event->service),
                       event->instance);
}

static void on_readiness(Judge *judge, const Event *event) {
        if (!judge->ending)
                return;
        if (event->ready)
                breach(judge, LAW_6, event->seq, "ready again in the ending: %.80s", or_unknown(event->reason));
        else
                exercise(judge, LAW_6);
}

/* ---- L7: the dead ---- */

static void on_adopted(Judge *judge, const Event *event) {
        exercise(judge, LAW_7);
        judge->orphans[judge->n_orphans++] = (Orphan){
                .pid = event->pid,
                .seq = event->seq,
                .nobodys = !event->service,
                .phase = judge->phase,
                .role = cast_find(&judge->cast, event->service, event->instance),
        };
}

static void forget_orphan(Judge *judge, pid_t pid) {
        for (size_t i = 0; i < judge->n_orphans; i++)
                if (judge->orphans[i].pid == pid) {
                        judge->orphans[i] = judge->orphans[--judge->n_orphans];
                        return;
                }
}

/* The command of a check that is given up says nothing of the service itself. */
static void on_left(Judge *judge, const Event *event) {
        Role *role = role_of(judge, event);
        if (event->probe)
                return;
        if (role)
                role->up = role->awaited = false;
        forget_orphan(judge, event->pid);
}

static void on_descendants_left(Judge *judge, const Event *event) {
        Role *role = role_of(judge, event);
        judge->n_excused += event->left;
        if (role) {
                role->up = false;
                role->excused = true;
        }
}

static void check_collected(Judge *judge) {
        for (size_t i = 0; i < judge->cast.n; i++)
                if (judge->roles[i].awaited)
                        breach(judge, LAW_7, judge->roles[i].seq, "nothing says how %.40s@%u ended",
                               judge->cast.roles[i].service, judge->cast.roles[i].instance);
        for (size_t i = 0; i < judge->n_orphans && !judge->verdict.deadline_hit; i++) {
                const Orphan *orphan = &judge->orphans[i];
                if (orphan->role != SIZE_MAX ? judge->roles[orphan->role].excused : judge->n_excused > 0)
                        continue; /* whose it is may have been found out since */
                breach(judge, LAW_7, orphan->seq, "the orphan %d was adopted and nothing says how it ended",
                       (int)orphan->pid);
        }
}

/* ---- The end ---- */

static void on_finished(Judge *judge, const Event *event) {
        char took[DURATION_TEXT_MAX], limit[DURATION_TEXT_MAX];
        judge->finish = event;
        exercise(judge, LAW_9);
        int code = verdict_code(&judge->verdict);
        if (code != event->code)
                breach(judge, LAW_9, event->seq, "exit %d, and the journal proves %d", event->code, code);
        exercise(judge, LAW_10);
        if (!judge->ending) {
                breach(judge, LAW_10, event->seq, "an ending was over that had not begun");
                return;
        }
        usec_t span = usec_sub(event->mono_usec, judge->ending->mono_usec);
        exercise(judge, LAW_4);
        if (span > judge->ending->deadline_usec)
                breach(judge, LAW_4, event->seq, "it took %s of at most %s", duration_format(span, took),
                       duration_format(judge->ending->deadline_usec, limit));
        check_phases_over(judge, event);
        check_collected(judge);
}

static void on_ending_started(Judge *judge, const Event *event) {
        if (judge->ending)
                breach(judge, LAW_2, event->seq, "the ending began a second time");
        judge->ending = event;
        exercise(judge, LAW_5);
}

static void on_started(Judge *judge, const Event *event) {
        judge->development = is(event->mode, "development");
        judge->phases = event->phases ? event->phases : "";
        judge->has_phases = judge->phases[0];
}

static void on_life(Judge *judge, const Event *event) {
        Role *role = role_of(judge, event);
        if (!role)
                return;
        if (event->kind == EVENT_SERVICE_STARTED) {
                exercise(judge, LAW_7);
                role->up = role->awaited = true;
                role->seq = event->seq;
        } else if (event->kind == EVENT_SERVICE_EXITED)
                role->awaited = false;
        else
                role->up = false;
}

void laws_fold(Judge *judge, const Event *event) {
        if (judge->finish)
                breach(judge, LAW_10, event->seq, "events follow the last one");
        check_quiet(judge, event);
        switch ((int)event->kind) {
        case EVENT_SUPERVISOR_STARTED: on_started(judge, event); break;
        case EVENT_ENDING_STARTED: on_ending_started(judge, event); break;
        case EVENT_PHASE_STARTED: on_phase_started(judge, event); break;
        case EVENT_PHASE_FINISHED: on_phase_finished(judge, event); break;
        case EVENT_SERVICE_EXITED: /* an orphan may have become a main process again (MAINPID) */
                forget_orphan(judge, event->pid);
                on_life(judge, event);
                break;
        case EVENT_SERVICE_STARTED:
        case EVENT_SERVICE_GONE: on_life(judge, event); break;
        case EVENT_SERVICE_ASKED:
        case EVENT_SERVICE_KILLED: on_stop_signal(judge, event); break;
        case EVENT_SERVICE_LEFT: on_left(judge, event); break;
        case EVENT_DESCENDANTS_LEFT: on_descendants_left(judge, event); break;
        case EVENT_READINESS_CHANGED: on_readiness(judge, event); break;
        case EVENT_ORPHAN_ADOPTED: on_adopted(judge, event); break;
        case EVENT_ORPHAN_GONE: forget_orphan(judge, event->pid); break;
        case EVENT_HOOK_STARTED: judge->hooks[judge->n_hooks++] = event; break;
        case EVENT_ENDING_FINISHED: on_finished(judge, event); break;
        default: break;
        }
        if (event->kind < _EVENT_MAX)
                judge->verdict = verdict_fold(judge->verdict, event);
}
