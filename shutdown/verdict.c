/* verdict.c - the fold of a journal into an exit code; see verdict.h. */
#include "shutdown/verdict.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is(const char *text, const char *word) {
        return text && strcmp(text, word) == 0;
}

/* The highest cause so far. Codes will not do: a program named by ExitCodeFrom may say 81, too. */
static unsigned rank(const Verdict *verdict) {
        return verdict->own_fault          ? 6
               : verdict->essential_failed ? 5
               : verdict->deadline_hit     ? 4
               : verdict->forced           ? 3
               : verdict->hook_aborted     ? 2
               : verdict->descendants_left ? 1
                                           : 0;
}

/* Remembers who was to blame for the highest cause so far. */
static void blame(Verdict *verdict, const char *name, unsigned instance, pid_t pid, const char *comm) {
        if (name && instance > 0) /* 0 also when there is only this one */
                snprintf(verdict->culprit, sizeof verdict->culprit, "%.40s@%u", name, instance);
        else if (name)
                snprintf(verdict->culprit, sizeof verdict->culprit, "%.40s", name);
        else
                snprintf(verdict->culprit, sizeof verdict->culprit, "process %d (%.15s)", (int)pid, comm ? comm : "?");
}

static void read_remap(Verdict *verdict, const char *words) {
        while (words && *words) {
                char *end;
                long code = strtol(words, &end, 10);
                if (end == words)
                        return;
                if (code >= 0 && code < 256)
                        verdict->remap[code / 8] |= (uint8_t)(1U << (code % 8));
                words = *end == ' ' ? end + 1 : end;
        }
}

static Verdict on_supervisor_started(const Event *event) {
        Verdict verdict = { .single = event->single };
        if (event->exit_code_from)
                snprintf(verdict.exit_code_from, sizeof verdict.exit_code_from, "%s", event->exit_code_from);
        read_remap(&verdict, event->remap);
        return verdict;
}

static void on_service_exited(Verdict *verdict, const Event *event) {
        if (!verdict->single && !is(event->service, verdict->exit_code_from))
                return;
        verdict->has_passed_code = true;
        verdict->passed_code = is(event->code_word, "exited") ? event->status : 128 + event->status;
}

/* What `drained` killed had said that it was done, and what `died` killed was orphaned by a crash: neither was somebody
 * who did not end when asked. */
static void on_service_killed(Verdict *verdict, const Event *event) {
        if (!verdict->ending || is(event->reason, "drained") || is(event->reason, "died"))
                return;
        verdict->forced = true;
        verdict->killed++;
        if (is(event->reason, "deadline"))
                verdict->deadline_hit = true;
}

static bool hook_failed(const Event *event) {
        return event->timed_out || event->error || !is(event->code_word, "exited") || event->status != 0;
}

static bool is_stop_edge(const char *on) {
        return is(on, "pre-stop") || is(on, "post-stop") || is(on, "begin") || is(on, "end");
}

Verdict verdict_fold(Verdict verdict, const Event *event) {
        unsigned before = rank(&verdict);
        const char *name = event->service;

        switch ((int)event->kind) {
        case EVENT_SUPERVISOR_STARTED: return on_supervisor_started(event);
        case EVENT_ENDING_STARTED: verdict.ending = true; return verdict;
        case EVENT_SERVICE_EXITED: on_service_exited(&verdict, event); return verdict;
        case EVENT_SERVICE_KILLED: on_service_killed(&verdict, event); break;
        case EVENT_SUPERVISOR_FAILED:
                verdict.own_fault = true;
                name = event->text;
                break;
        case EVENT_SERVICE_GAVE_UP: verdict.essential_failed |= event->essential; break;
        case EVENT_SERVICE_LEFT:
                if (!verdict.ending)
                        return verdict; /* in the way of a restart, not of an ending */
                verdict.deadline_hit = true;
                verdict.left++;
                break;
        case EVENT_DESCENDANTS_LEFT: verdict.descendants_left = true; break;
        case EVENT_HOOK_FINISHED:
                if (!hook_failed(event))
                        return verdict;
                verdict.hooks_failed++;
                verdict.hook_aborted |= event->abort && is_stop_edge(event->on);
                name = event->hook;
                break;
        case EVENT_ENDING_FINISHED:
                verdict.finished = true;
                verdict.finished_code = event->code;
                return verdict;
        default: return verdict;
        }
        if (rank(&verdict) != before)
                blame(&verdict, name, event->kind == EVENT_HOOK_FINISHED || event->instances == 1 ? 0 : event->instance,
                      event->pid, event->comm);
        return verdict;
}

static bool is_remapped(const Verdict *verdict) {
        int code = verdict->passed_code & 255;
        return verdict->remap[code / 8] >> (code % 8) & 1;
}

int verdict_code(const Verdict *verdict) {
        if (verdict->own_fault)
                return EXIT_OWN_FAULT;
        if (verdict->single && verdict->has_passed_code)
                return is_remapped(verdict) ? EXIT_CLEAN : verdict->passed_code;
        if (verdict->essential_failed)
                return EXIT_ESSENTIAL;
        if (verdict->deadline_hit)
                return EXIT_DEADLINE;
        if (verdict->forced)
                return EXIT_KILLED;
        if (verdict->hook_aborted)
                return EXIT_HOOK_FAILED;
        if (verdict->descendants_left)
                return EXIT_DESCENDANTS;
        return verdict->has_passed_code ? verdict->passed_code : EXIT_CLEAN;
}

const char *verdict_explain(const Verdict *verdict, char ret_text[static VERDICT_TEXT_MAX]) {
        int code = verdict_code(verdict);
        const char *who = verdict->culprit[0] ? verdict->culprit : "somebody";
        unsigned n = verdict->deadline_hit ? verdict->left : verdict->killed;
        char all[48] = ""; /* one service may have had many */
        if (n > 1)
                snprintf(all, sizeof all, ", %u processes in all", n);

        if (verdict->own_fault)
                snprintf(ret_text, VERDICT_TEXT_MAX, "a fault of endwell's own: %s", who);
        else if (verdict->single && verdict->has_passed_code)
                snprintf(ret_text, VERDICT_TEXT_MAX, "the command's own code%s%s",
                         is_remapped(verdict) ? ", remapped" : "", verdict->killed ? "; it had to be killed" : "");
        else if (verdict->essential_failed)
                snprintf(ret_text, VERDICT_TEXT_MAX, "the essential service %s failed for good", who);
        else if (verdict->deadline_hit)
                snprintf(ret_text, VERDICT_TEXT_MAX, "the deadline was hit: %s did not end in time%s", who, all);
        else if (verdict->forced)
                snprintf(ret_text, VERDICT_TEXT_MAX, "%s had to be killed%s", who, all);
        else if (verdict->hook_aborted)
                snprintf(ret_text, VERDICT_TEXT_MAX, "the hook %s failed", who);
        else if (verdict->descendants_left)
                snprintf(ret_text, VERDICT_TEXT_MAX, "descendants of %s were left (KillMode=process)", who);
        else if (code != EXIT_CLEAN)
                snprintf(ret_text, VERDICT_TEXT_MAX, "a clean ending; the code is that of %s", verdict->exit_code_from);
        else
                snprintf(ret_text, VERDICT_TEXT_MAX, "a clean ending: nobody had to be killed");
        return ret_text;
}
