/* outcome.c - see outcome.h. */
#include "worker/outcome.h"
#include "base/duration.h"
#include "base/names.h"
#include "base/utf8.h"
#include "ledger/fingerprint.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_TEMPFAIL   75
#define LINE_MAX_LENGTH 1000
#define PRINT_MAX       90 /* leaves room for what stands before it */
#define WHAT_MAX        256

/* ---- The class ---- */

static bool is_blank(char c) {
        return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_digit(char c) {
        return c >= '0' && c <= '9';
}

void outcome_fingerprint(const char *text, char ret_print[static OUTCOME_CLASS_MAX]) {
        char line[LINE_MAX_LENGTH + 1];
        size_t end = strlen(text);

        while (end > 0 && is_blank(text[end - 1]))
                end--;
        const char *before = memrchr(text, '\n', end);
        const char *from = before ? before + 1 : text;
        while (from < text + end && is_blank(*from))
                from++;
        size_t length = utf8_cut(from, (size_t)(text + end - from), LINE_MAX_LENGTH);
        memcpy(line, from, length);
        line[length] = '\0';
        fingerprint(line, ret_print);
}

/* ---- The sentence ---- */

static void describe_exit(const OutcomeEnd *end, char what[static WHAT_MAX], char class[static WHAT_MAX]) {
        char name[SIGNAL_TEXT_MAX];
        switch (end->how) {
        case OUTCOME_EXITED:
                snprintf(what, WHAT_MAX, "the command exited with %d%s", end->status,
                         end->stream ? " before it answered" : "");
                snprintf(class, WHAT_MAX, "exit %d", end->status);
                return;
        case OUTCOME_SIGNALLED:
                snprintf(what, WHAT_MAX, "the command was killed by signal %d (%s)", end->status,
                         signal_to_string(end->status, name));
                snprintf(class, WHAT_MAX, "signal %d", end->status);
                return;
        case OUTCOME_NOT_BEGUN:
                snprintf(what, WHAT_MAX, "the command could not be started: %s", strerrordesc_np(end->status));
                snprintf(class, WHAT_MAX, "not started");
                return;
        case OUTCOME_UNKNOWN: break;
        }
        snprintf(what, WHAT_MAX, "the process that watched the command died, and the command with it");
        snprintf(class, WHAT_MAX, "keeper died");
}

static void describe(const OutcomeEnd *end, char what[static WHAT_MAX], char class[static WHAT_MAX]) {
        char span[DURATION_TEXT_MAX];
        duration_format(end->span_usec, span);
        switch (end->cause) {
        case SLOT_CAUSE_STALLED:
                snprintf(what, WHAT_MAX, "the command made no progress for %s and was stopped", span);
                snprintf(class, WHAT_MAX, "stalled");
                return;
        case SLOT_CAUSE_TIMED_OUT:
                snprintf(what, WHAT_MAX, "the command ran longer than %s and was stopped", span);
                snprintf(class, WHAT_MAX, "timed out");
                return;
        case SLOT_CAUSE_CANCELLED:
                snprintf(what, WHAT_MAX, "the job was cancelled, and its command stopped");
                snprintf(class, WHAT_MAX, "cancelled");
                return;
        case SLOT_CAUSE_BROKEN:
                snprintf(what, WHAT_MAX, "the command broke the stream's protocol: %s", end->detail);
                snprintf(class, WHAT_MAX, "protocol");
                return;
        case SLOT_CAUSE_DRAINED:
        case SLOT_CAUSE_LOST:
        case SLOT_CAUSE_NONE:
        case _SLOT_CAUSE_MAX: break;
        }
        describe_exit(end, what, class);
}

static bool ended_well(const OutcomeEnd *end) {
        return end->cause == SLOT_CAUSE_NONE && end->how == OUTCOME_EXITED && end->status == 0 && !end->stream;
}

/* The tail's last bytes matter most, so it is cut at its front. */
static void write_error(Outcome *outcome, const char *what, const char *tail) {
        size_t used = (size_t)snprintf(outcome->error, sizeof outcome->error, "%s", what), length = strlen(tail);
        if (length == 0 || used + 3 > OUTCOME_ERROR_MAX)
                return;
        size_t room = OUTCOME_ERROR_MAX - used - 2;
        if (length > room)
                tail += length - room;
        while (((unsigned char)*tail & 0xc0) == 0x80)
                tail++; /* the middle of a character */
        snprintf(outcome->error + used, sizeof outcome->error - used, "\n%s", tail);
}

static void write_class(Outcome *outcome, const char *class, const char *tail, bool by_itself) {
        char print[OUTCOME_CLASS_MAX] = "";
        if (by_itself)
                outcome_fingerprint(tail, print);
        print[utf8_cut(print, strlen(print), PRINT_MAX)] = '\0';
        snprintf(outcome->class, sizeof outcome->class, "%.24s%s%.90s", class, print[0] ? ": " : "", print);
}

static OutcomeVerb verb_of(const OutcomeEnd *end) {
        if (end->cause == SLOT_CAUSE_LOST)
                return OUTCOME_NOTHING;
        if (end->cause == SLOT_CAUSE_DRAINED || end->how == OUTCOME_NOT_BEGUN)
                return OUTCOME_RELEASE;
        return ended_well(end) && !end->result_too_long ? OUTCOME_COMPLETE : OUTCOME_FAIL;
}

/* Our own kill at a limit is the command's death; one that we were asked for is not. */
static bool is_death(const OutcomeEnd *end) {
        if (end->cause == SLOT_CAUSE_CANCELLED)
                return false;
        if (end->cause == SLOT_CAUSE_NONE)
                return end->how == OUTCOME_SIGNALLED || end->how == OUTCOME_UNKNOWN;
        return end->cause == SLOT_CAUSE_STALLED || end->cause == SLOT_CAUSE_TIMED_OUT;
}

static bool is_buried(const OutcomeEnd *end, const OutcomeCodes *codes) {
        return end->cause == SLOT_CAUSE_NONE && end->how == OUTCOME_EXITED && !end->stream && end->status > 0 &&
               end->status < 256 && codes->buries[end->status];
}

void outcome_of(const OutcomeEnd *end, const OutcomeCodes *codes, Outcome *ret) {
        char what[WHAT_MAX], class[WHAT_MAX];

        *ret = (Outcome){ .verb = verb_of(end) };
        if (ret->verb == OUTCOME_COMPLETE || ret->verb == OUTCOME_NOTHING)
                return;
        ret->died = ret->verb == OUTCOME_FAIL && is_death(end);
        ret->fatal = ret->verb == OUTCOME_FAIL && is_buried(end, codes);
        if (ret->verb == OUTCOME_FAIL && ended_well(end)) {
                snprintf(what, sizeof what, "the command wrote more than the %zu bytes that a result may have",
                         end->result_limit);
                snprintf(class, sizeof class, "result too long");
        } else {
                describe(end, what, class);
        }
        write_error(ret, what, end->tail);
        write_class(ret, class, end->tail, end->cause == SLOT_CAUSE_NONE && !ended_well(end));
}

int outcome_codes_parse(const char *text, OutcomeCodes *ret) {
        OutcomeCodes codes = { 0 };
        do {
                char *end;
                if (!is_digit(*text))
                        return -EINVAL;
                unsigned long code = strtoul(text, &end, 10);
                if ((*end && *end != ',') || code < 1 || code > 255 || code == EXIT_TEMPFAIL)
                        return -EINVAL;
                codes.buries[code] = true;
                text = *end ? end + 1 : end;
                if (*end && !*text)
                        return -EINVAL;
        } while (*text);
        *ret = codes;
        return 0;
}
