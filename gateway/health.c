/* health.c - see health.h. */
#include "gateway/health.h"
#include "base/take.h"
#include <string.h>

#define NAMED_MAX 64 /* services in one answer */

static const char *const question_words[_HEALTH_MAX] = {
        [HEALTH_LIVE] = "livez",
        [HEALTH_READY] = "readyz",
        [HEALTH_STARTED] = "startupz",
};

const char *health_question_to_string(HealthQuestion question) {
        return (unsigned)question < _HEALTH_MAX ? question_words[question] : NULL;
}

/* An answer that is being put together: the first thing that is wrong is the reason. */
typedef struct Answer {
        FILE *out;
        bool verbose, good;
        unsigned named;
        char reason[TIDINGS_REASON_MAX + 64];
} Answer;

static void note(Answer *answer, bool good, const char *what, const char *why) {
        if (answer->verbose)
                fprintf(answer->out, "[%c]%s %s%s\n", good ? '+' : '-', what,
                        good ? "ok" : "failed: ", good ? "" : why);
        if (!good && answer->good)
                snprintf(answer->reason, sizeof answer->reason, "%s: %s", what, why);
        answer->good = answer->good && good;
}

static bool note_endwell(Answer *answer, const HealthView *view) {
        if (!view->connected)
                note(answer, false, "endwell", "the gateway is not connected to it");
        else if (view->silence_usec >= HEALTH_SILENCE_USEC)
                note(answer, false, "endwell", "it does not answer");
        else
                note(answer, true, "endwell", "");
        return answer->good;
}

/* A gateway that has just come up, or lost its connection for a moment, is no reason to kill the container. */
static void answer_live(Answer *answer, const HealthView *view) {
        note(answer, view->silence_usec < HEALTH_SILENCE_USEC, "endwell", "it has not answered for 10 s");
}

static void answer_started(Answer *answer, const HealthView *view) {
        if (!note_endwell(answer, view))
                return;
        note(answer, view->picture->started, "start",
             view->picture->ending ? "the ending began before the start was finished" : "still starting");
}

static void note_service(Answer *answer, const SnapshotService *service) {
        char why[SNAPSHOT_WORD_MAX + SNAPSHOT_NOTE_MAX + 64];
        char what[NAME_LENGTH_MAX + 16];
        bool good = service->n_ready == service->n_members;
        const SnapshotMember *first = NULL;

        for (size_t i = 0; !good && !first && i < service->n_members; i++)
                if (!service->members[i].ready)
                        first = &service->members[i];
        snprintf(what, sizeof what, "service/%s", service->name);
        snprintf(why, sizeof why, "%zu of %zu instances ready%s%s%s%s", service->n_ready, service->n_members,
                 first ? "; " : "", first ? first->state : "", first && first->note[0] ? ", " : "",
                 first ? first->note : "");
        if (answer->named++ < NAMED_MAX || !good)
                note(answer, good, what, why);
}

static void note_listed(Answer *answer, const HealthView *view) {
        for (const char *name = view->ready_when; *name;) {
                size_t length = strcspn(name, ",");
                const SnapshotService *service = view->status ? snapshot_find(view->status, name, length) : NULL;
                char what[NAME_LENGTH_MAX + 16];
                snprintf(what, sizeof what, "service/%.*s", (int)(length > 40 ? 40 : length), name);
                if (service)
                        note_service(answer, service);
                else
                        note(answer, false, what, view->status ? "there is no such service" : "not known yet");
                name += length + (name[length] == ',');
        }
}

/* Endwell's own word counts; which service it waits for is told beside it, where that is known. */
static void note_all(Answer *answer, const HealthView *view) {
        if (view->picture->ready) {
                note(answer, true, "services", "");
                return;
        }
        note(answer, false, "services", view->picture->reason[0] ? view->picture->reason : "still starting");
        for (size_t i = 0; answer->verbose && view->status && i < view->status->n_services; i++)
                if (answer->named < NAMED_MAX &&
                    view->status->services[i].n_ready < view->status->services[i].n_members)
                        note_service(answer, &view->status->services[i]);
}

static void answer_ready(Answer *answer, const HealthView *view) {
        if (!note_endwell(answer, view))
                return;
        note(answer, !view->picture->ending, "ending", "endwell is ending");
        if (!answer->good)
                return;
        if (view->ready_when)
                note_listed(answer, view);
        else
                note_all(answer, view);
}

bool health_answer(const HealthView *view, HealthQuestion question, bool verbose, FILE *out) {
        static void (*const answers[_HEALTH_MAX])(Answer *, const HealthView *) = {
                [HEALTH_LIVE] = answer_live,
                [HEALTH_READY] = answer_ready,
                [HEALTH_STARTED] = answer_started,
        };
        Answer answer = { .out = out, .verbose = verbose, .good = true };

        answers[question](&answer, view);
        if (verbose)
                fprintf(out, "%s check %s\n", question_words[question], answer.good ? "passed" : "failed");
        else if (answer.good)
                fputs("ok\n", out);
        else
                fprintf(out, "%s\n", answer.reason);
        return answer.good;
}
