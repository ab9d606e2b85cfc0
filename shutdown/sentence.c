/* sentence.c - see sentence.h. */
#include "shutdown/sentence.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/duration.h"
#include "base/names.h"
#include "base/utf8.h"
#include "shutdown/sentence_internal.h"

/* It had said that it is done, so this is how it ends and no violence. */
static bool is_drained(const Event *event) {
        return event->reason && strcmp(event->reason, "drained") == 0;
}

LogLevel sentence_level(const Event *event) {
        switch (event->kind) {
        case EVENT_SUPERVISOR_STARTED:
        case EVENT_STARTUP_FINISHED:
        case EVENT_READINESS_CHANGED:
        case EVENT_SIGNAL_RECEIVED:
        case EVENT_ENDING_STARTED: return LOG_LEVEL_NOTICE;
        case EVENT_PHASE_STARTED: return event->members > 0 ? LOG_LEVEL_NOTICE : LOG_LEVEL_DEBUG;
        case EVENT_PHASE_FINISHED:
                return event->gone + event->left + event->killed > 0 ? LOG_LEVEL_NOTICE : LOG_LEVEL_DEBUG;
        case EVENT_ENDING_FINISHED: return event->code == 0 ? LOG_LEVEL_NOTICE : LOG_LEVEL_WARNING;
        case EVENT_SERVICE_STARTED:
        case EVENT_SERVICE_READY:
        case EVENT_SERVICE_ASKED:
        case EVENT_STARTUP_PROGRESS:
        case EVENT_DRAIN_PROGRESS:
        case EVENT_HOOK_STARTED:
        case EVENT_HOOK_MARKED:
        case EVENT_READINESS_ACKNOWLEDGED:
        case EVENT_REQUEST_RECEIVED:
        case EVENT_RELOAD_FINISHED:
        case EVENT_REAPER_SETTLED:
        case EVENT_DATABASE_QUIET:
        case EVENT_SERVICE_SIGNALLED:
        case EVENT_SERVICE_STOPPED:
        case EVENT_SERVICE_STATUS: return LOG_LEVEL_INFO;
        case EVENT_SERVICE_KILLED: return is_drained(event) ? LOG_LEVEL_INFO : LOG_LEVEL_WARNING;
        case EVENT_PROBE_CHANGED: return event->ok ? LOG_LEVEL_INFO : LOG_LEVEL_WARNING;
        case EVENT_WATCHDOG_EXPIRED:
        case EVENT_SERVICE_EXITED: return event->clean || event->asked ? LOG_LEVEL_INFO : LOG_LEVEL_WARNING;
        case EVENT_HOOK_FINISHED:
                return event->timed_out || event->error || event->status != 0 ? LOG_LEVEL_WARNING : LOG_LEVEL_INFO;
        case EVENT_LOG_DROPPED:
        case EVENT_CLIENT_DROPPED:
        case EVENT_SERVICE_RESTART_SCHEDULED:
        case EVENT_DESCENDANTS_LEFT:
        case EVENT_HOOK_REFUSED:
        case EVENT_HOOK_REPEATED:
        case EVENT_NOTIFY_REFUSED: return LOG_LEVEL_WARNING;
        case EVENT_SERVICE_GAVE_UP:
        case EVENT_SERVICE_LEFT:
        case EVENT_SUPERVISOR_FAILED: return LOG_LEVEL_ERR;
        case EVENT_SERVICE_STARTING:
        case EVENT_SERVICE_GONE:
        case EVENT_SERVICE_EXTENDED:
        case EVENT_ORPHAN_ADOPTED:
        case EVENT_ORPHAN_GONE:
        case _EVENT_MAX: break;
        }
        return LOG_LEVEL_DEBUG;
}

typedef struct Sentence {
        char *text;
        size_t used;
} Sentence;

static void say(Sentence *sentence, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(Sentence *sentence, const char *format, ...) {
        va_list arguments;
        va_start(arguments, format);
        int n = vsnprintf(sentence->text + sentence->used, SENTENCE_MAX - sentence->used, format, arguments);
        va_end(arguments);
        if (n > 0)
                sentence->used +=
                        (size_t)n < SENTENCE_MAX - sentence->used ? (size_t)n : SENTENCE_MAX - sentence->used - 1;
}

static const char *or_unknown(const char *text) {
        return text ? text : "?";
}

static const char *plural(uint64_t n) {
        return n == 1 ? "" : "s";
}

static void say_time(Sentence *sentence, const char *before, usec_t span) {
        char text[DURATION_TEXT_MAX];
        say(sentence, "%s%s", before, duration_format(span, text));
}

/* "web", "worker@3"; an orphan where nothing proves whose it is. */
static void say_who(Sentence *sentence, const Event *event) {
        if (event->service && event->instance > 0 && event->instances != 1)
                say(sentence, "%s@%u", event->service, event->instance);
        else if (event->service)
                say(sentence, "%s", event->service);
        else
                say(sentence, "an orphan of nobody we know");
}

static const char *probe_word(const Event *event) {
        return event->probe && strcmp(event->probe, "startup") == 0 ? "start-up" : or_unknown(event->probe);
}

static void say_probe(Sentence *sentence, const Event *event) {
        say(sentence, ": the %s probe %s%s%s", probe_word(event), event->ok ? "succeeds" : "fails",
            event->detail ? ": " : "", event->detail ? event->detail : "");
}

static void say_watchdog(Sentence *sentence, const Event *event) {
        if (event->text)
                say(sentence, " asked for its watchdog's action: %s", event->text);
        else
                say_time(sentence, " gave no sign of life for ", event->usec);
}

static void say_process(Sentence *sentence, const Event *event) {
        if (event->comm)
                say(sentence, " (%s, pid %d)", event->comm, (int)event->pid);
        else if (event->pid > 0)
                say(sentence, " (pid %d)", (int)event->pid);
}

/* Nothing else makes a 0 that nobody asked for unclean. */
static bool is_of_unready_service(const Event *event) {
        return event->kind == EVENT_SERVICE_EXITED && event->status == 0 && !event->clean && !event->asked;
}

/* Whom our own signal ended as it was meant to was not "killed": that word is for those who did not end when asked. */
static void say_end(Sentence *sentence, const Event *event) {
        char word[SIGNAL_TEXT_MAX];
        const char *code = or_unknown(event->code_word);
        bool as_asked = event->asked && event->clean && !event->escalated;
        if (event->error) { /* a hook by HTTP has no process, and was answered as it should not be */
                bool by_http = event->kind == EVENT_HOOK_FINISHED && event->pid <= 0;
                say(sentence, " %s: %s", by_http ? "failed" : "could not be started", event->error);
                return;
        }
        if (strcmp(code, "exited") == 0)
                say(sentence, " exited with %d%s", event->status,
                    is_of_unready_service(event) ? " before it was ready," : "");
        else
                say(sentence, " was %s by %s%s", as_asked ? "ended" : "killed", signal_to_string(event->status, word),
                    strcmp(code, "dumped") == 0 ? " (core dumped)" : "");
        say_time(sentence,
                 as_asked           ? ", as asked; it had run for "
                 : event->escalated ? ", at its limit; it had run for "
                                    : " after ",
                 event->took_usec);
}

static void say_hook(Sentence *sentence, const Event *event) {
        say(sentence, "hook %s", or_unknown(event->hook));
        if (!event->on && !event->service && !event->phase)
                return; /* an application's own, and nobody knows whose */
        if (event->on)
                say(sentence, " (%s of ", event->on);
        else
                say(sentence, " (of ");
        if (event->service)
                say_who(sentence, event);
        else
                say(sentence, "phase %s", or_unknown(event->phase));
        say(sentence, ")");
}

static void say_about_service(Sentence *sentence, const Event *event) {
        say_who(sentence, event);
        switch ((int)event->kind) {
        case EVENT_SERVICE_STARTING: say(sentence, " is starting, attempt %u", event->attempt); break;
        case EVENT_SERVICE_STARTED: say(sentence, " started (pid %d)", (int)event->pid); break;
        case EVENT_SERVICE_READY: say_time(sentence, " is ready after ", event->took_usec); break;
        case EVENT_SERVICE_EXITED: say_end(sentence, event); break;
        case EVENT_SERVICE_GONE:
                say(sentence, " is gone with all its descendants (%s%s)", or_unknown(event->cause),
                    event->certain ? "" : ", not certain");
                break;
        case EVENT_SERVICE_RESTART_SCHEDULED:
                say_time(sentence, " restarts in ", event->delay_usec);
                say(sentence, ", %u failed in a row", event->failures);
                break;
        case EVENT_SERVICE_GAVE_UP:
                say(sentence, " failed for good: %s, %u failed in a row%s", or_unknown(event->reason), event->failures,
                    event->essential ? "; it is essential" : "");
                break;
        case EVENT_SERVICE_STOPPED: say(sentence, " is stopped, until somebody starts it"); break;
        case EVENT_SERVICE_STATUS: say(sentence, " says: %s", or_unknown(event->text)); break;
        case EVENT_SERVICE_EXTENDED: say_time(sentence, " asked for more time: ", event->usec); break;
        case EVENT_SERVICE_SIGNALLED:
                say_process(sentence, event);
                say(sentence, " was sent %s (%s)", or_unknown(event->signal), sentence_words(event->reason));
                break;
        case EVENT_PROBE_CHANGED: say_probe(sentence, event); break;
        case EVENT_WATCHDOG_EXPIRED: say_watchdog(sentence, event); break;
        case EVENT_SERVICE_ASKED:
                say_process(sentence, event);
                say(sentence, " was asked to end by %s (%s)", or_unknown(event->signal), sentence_words(event->reason));
                break;
        case EVENT_SERVICE_KILLED:
                say_process(sentence, event);
                say(sentence, " was %s: %s", is_drained(event) ? "ended" : "killed", sentence_words(event->reason));
                break;
        case EVENT_SERVICE_LEFT:
                if (event->probe)
                        say(sentence, ": a check of its %s probe", probe_word(event));
                else
                        say_process(sentence, event);
                say(sentence, " was given up: %s", sentence_words(event->reason));
                break;
        case EVENT_DESCENDANTS_LEFT:
                say(sentence, " left %u descendant%s (KillMode=process)", event->left, plural(event->left));
                break;
        case EVENT_ORPHAN_ADOPTED:
        case EVENT_ORPHAN_GONE:
                if (event->service)
                        say(sentence, ": its orphan");
                say_process(sentence, event);
                say(sentence, event->kind == EVENT_ORPHAN_GONE ? " is gone" : " was adopted");
                break;
        case EVENT_NOTIFY_REFUSED:
                say(sentence, ": a message of pid %d was refused: %s", (int)event->pid, or_unknown(event->reason));
                break;
        default: break;
        }
}

static void say_about_hook(Sentence *sentence, const Event *event) {
        say_hook(sentence, event);
        switch ((int)event->kind) {
        case EVENT_HOOK_STARTED:
                say(sentence, " began");
                say_process(sentence, event);
                break;
        case EVENT_HOOK_FINISHED:
                if (event->timed_out)
                        say_time(sentence, " was cut at its limit after ", event->took_usec);
                else
                        say_end(sentence, event);
                break;
        case EVENT_HOOK_REFUSED: say(sentence, " was refused: %s", sentence_words(event->reason)); break;
        case EVENT_HOOK_MARKED:
                say(sentence, ": the application says %s (pid %d)", or_unknown(event->edge), (int)event->pid);
                break;
        case EVENT_HOOK_REPEATED:
                say(sentence, " ran %u time%s in one epoch", event->times, plural(event->times));
                break;
        default: break;
        }
}

static void say_phase_finished(Sentence *sentence, const Event *event) {
        unsigned drained = event->gone > event->killed ? event->gone - event->killed : 0;
        say(sentence, "phase %s ended: %u/%u drained", or_unknown(event->phase), drained, event->gone + event->left);
        say_time(sentence, " in ", event->took_usec);
        if (event->killed > 0)
                say(sentence, ", %u had to be killed", event->killed);
        else
                say(sentence, ", nobody killed");
        if (event->left > 0)
                say(sentence, ", %u left", event->left);
}

static void say_cause(Sentence *sentence, const Event *event) {
        const char *cause = or_unknown(event->cause);
        if (event->service && strcmp(cause, "finished") == 0)
                say(sentence, "the ending began: the essential service %s has finished", event->service);
        else if (event->service && strcmp(cause, "essential") == 0)
                say(sentence, "the ending began: the essential service %s failed for good", event->service);
        else
                say(sentence, "the ending began: %s%s%s", sentence_words(cause), event->service ? ", " : "",
                    event->service ? event->service : "");
}

/* Of the last event: what became of the jobs of the dead, and who was still in the database. */
static void say_about_jobs(Sentence *sentence, const Event *event) {
        if (event->released + event->buried > 0)
                say(sentence, "; the reaper gave back %llu job%s and buried %llu", (unsigned long long)event->released,
                    plural(event->released), (unsigned long long)event->buried);
        if (event->sessions > 0)
                say(sentence, "; %llu session%s of ours still in the database", (unsigned long long)event->sessions,
                    plural(event->sessions));
}

static void say_about_ending(Sentence *sentence, const Event *event) {
        switch ((int)event->kind) {
        case EVENT_ENDING_STARTED:
                say_cause(sentence, event);
                say_time(sentence, event->fast ? " (fast); gone in at most " : "; gone in at most ",
                         event->deadline_usec);
                break;
        case EVENT_PHASE_STARTED:
                say(sentence, "phase %s is ending: %u to stop", or_unknown(event->phase), event->members);
                say_time(sentence, ", in at most ", event->limit_usec);
                break;
        case EVENT_PHASE_FINISHED: say_phase_finished(sentence, event); break;
        case EVENT_DRAIN_PROGRESS:
                say(sentence, "phase %s waits for %u: %s", or_unknown(event->phase), event->left,
                    or_unknown(event->waiting_for));
                if (event->active > 0)
                        say(sentence, " (%u active)", event->active);
                break;
        case EVENT_ENDING_FINISHED:
                say_time(sentence, "ended in ", event->took_usec);
                say(sentence, ": exit %d, %s", event->code, or_unknown(event->reason));
                say_about_jobs(sentence, event);
                break;
        default: break;
        }
}

static void say_about_supervisor(Sentence *sentence, const Event *event) {
        switch ((int)event->kind) {
        case EVENT_SUPERVISOR_STARTED:
                say(sentence, "endwell %s started as %s %d, %s, %s", or_unknown(event->version),
                    event->pid_namespace ? "PID" : "a subreaper, pid", (int)event->pid, or_unknown(event->mode),
                    event->config ? event->config : "a single command");
                break;
        case EVENT_STARTUP_PROGRESS: say(sentence, "still waiting for %s", or_unknown(event->detail)); break;
        case EVENT_STARTUP_FINISHED: say_time(sentence, "start-up finished in ", event->took_usec); break;
        case EVENT_LOG_DROPPED:
                say(sentence, "%llu line%s of %s's output lost", (unsigned long long)event->n, plural(event->n),
                    event->service ? event->service : "endwell");
                break;
        case EVENT_CLIENT_DROPPED:
                say(sentence, "control client %s was dropped: %s", or_unknown(event->peer), or_unknown(event->reason));
                break;
        case EVENT_READINESS_CHANGED:
                say(sentence, "%s: %s", event->ready ? "ready" : "not ready", or_unknown(event->reason));
                break;
        case EVENT_READINESS_ACKNOWLEDGED:
                say(sentence, "%s knows that we are not ready", or_unknown(event->by));
                say_time(sentence, ", after ", event->took_usec);
                break;
        case EVENT_SIGNAL_RECEIVED:
                say(sentence, "%s received from %s", or_unknown(event->signal), event->sender_pid ? "" : "outside");
                if (event->sender_pid)
                        say(sentence, "pid %d (%s, uid %u)", (int)event->sender_pid, or_unknown(event->sender_comm),
                            (unsigned)event->sender_uid);
                say(sentence, ": %s", sentence_words(event->effect));
                break;
        case EVENT_REQUEST_RECEIVED:
                say(sentence, "request %s%s%s from pid %d, uid %u", or_unknown(event->method), event->detail ? " " : "",
                    event->detail ? event->detail : "", (int)event->peer_pid, (unsigned)event->peer_uid);
                break;
        case EVENT_RELOAD_FINISHED:
                say(sentence, "reload finished: %llu told by their signal", (unsigned long long)event->n);
                break;
        case EVENT_REAPER_SETTLED:
                say(sentence, "the reaper settled: %llu job%s given back, %llu buried",
                    (unsigned long long)event->released, plural(event->released), (unsigned long long)event->buried);
                break;
        case EVENT_DATABASE_QUIET:
                say(sentence, "the database has %llu session%s of ours left", (unsigned long long)event->sessions,
                    plural(event->sessions));
                break;
        case EVENT_SUPERVISOR_FAILED:
                say(sentence, "a fault of endwell's own: %s: %s; the ending begins", or_unknown(event->text),
                    or_unknown(event->error));
                break;
        default: break;
        }
}

const char *sentence_write(const Event *event, char ret_text[static SENTENCE_MAX]) {
        Sentence sentence = { .text = ret_text };
        ret_text[0] = '\0';
        switch ((int)event->kind) {
        case EVENT_HOOK_STARTED ... EVENT_HOOK_REPEATED: say_about_hook(&sentence, event); break;
        case EVENT_ENDING_STARTED:
        case EVENT_PHASE_STARTED:
        case EVENT_PHASE_FINISHED:
        case EVENT_DRAIN_PROGRESS:
        case EVENT_ENDING_FINISHED: say_about_ending(&sentence, event); break;
        case EVENT_SUPERVISOR_STARTED:
        case EVENT_STARTUP_PROGRESS:
        case EVENT_STARTUP_FINISHED:
        case EVENT_LOG_DROPPED:
        case EVENT_CLIENT_DROPPED:
        case EVENT_READINESS_CHANGED:
        case EVENT_READINESS_ACKNOWLEDGED:
        case EVENT_SIGNAL_RECEIVED:
        case EVENT_REQUEST_RECEIVED:
        case EVENT_RELOAD_FINISHED:
        case EVENT_REAPER_SETTLED:
        case EVENT_DATABASE_QUIET:
        case EVENT_SUPERVISOR_FAILED: say_about_supervisor(&sentence, event); break;
        default: say_about_service(&sentence, event); break;
        }
        utf8_clean(ret_text, sentence.used); /* names and texts come from strangers: they must not move a cursor */
        return ret_text;
}
