/* words.c - see words.h. */
#include "report/words.h"

#include <stdio.h>
#include <string.h>

#include "base/duration.h"
#include "base/names.h"

static const char *const tone_words[_TONE_MAX] = {
        [TONE_PLAIN] = "plain",
        [TONE_GOOD] = "good",
        [TONE_WARNING] = "warning",
        [TONE_BAD] = "bad",
};
ENUMERATION(tone, Tone, tone_words)

const char *words_member_name(const StoryMember *member, char ret[static WORDS_MAX]) {
        if (member->several)
                snprintf(ret, WORDS_MAX, "%.80s@%u", member->service, member->instance);
        else
                snprintf(ret, WORDS_MAX, "%.80s", member->service);
        return ret;
}

const char *words_span(usec_t from, usec_t to, char ret[static WORDS_MAX]) {
        char text[DURATION_TEXT_MAX];
        bool known = from != USEC_INFINITY && to != USEC_INFINITY;
        snprintf(ret, WORDS_MAX, "%s", known ? duration_format(usec_sub(to, from), text) : "");
        return ret;
}

static const char *or_ended(const char *word) {
        return word ? word : "ended";
}

static const char *how_it_ended(const Event *exit, char *ret, size_t size) {
        char word[SIGNAL_TEXT_MAX];
        if (exit->code_word && strcmp(exit->code_word, "exited") == 0)
                snprintf(ret, size, "exit %d", exit->status);
        else
                snprintf(ret, size, "%s by %s", exit->asked && !exit->escalated ? "ended" : or_ended(exit->code_word),
                         signal_to_string(exit->status, word));
        return ret;
}

static bool is_drained(const StoryMember *member) {
        return member->kill_reason && strcmp(member->kill_reason, "drained") == 0;
}

const char *words_member(const StoryMember *member, char ret[static WORDS_MAX], Tone *ret_tone) {
        char how[80] = "still running", after[WORDS_MAX] = "", took[WORDS_MAX];
        bool was_asked = member->asked != USEC_INFINITY;
        const char *asked = was_asked && member->signal ? member->signal : was_asked ? "asked" : "not asked";

        if (member->exit)
                how_it_ended(member->exit, how, sizeof how);
        if (was_asked && member->exit && member->exited >= member->asked)
                snprintf(after, sizeof after, " after %.60s", words_span(member->asked, member->exited, took));
        *ret_tone = TONE_PLAIN;
        if (member->left != USEC_INFINITY) {
                *ret_tone = TONE_BAD;
                snprintf(ret, WORDS_MAX, "%.20s, given up", asked);
        } else if (member->killed != USEC_INFINITY && !is_drained(member)) {
                *ret_tone = TONE_BAD;
                snprintf(ret, WORDS_MAX, "%.20s, killed%.70s", asked, after);
        } else {
                if (member->exit && !member->exit->asked && !member->exit->clean)
                        *ret_tone = TONE_WARNING;
                snprintf(ret, WORDS_MAX, "%.20s, %.60s%.70s", asked, how, after);
        }
        return ret;
}

const char *words_hook(const StoryHook *hook, char ret[static WORDS_MAX], Tone *ret_tone) {
        char how[80], took[WORDS_MAX];
        const Event *end = hook->end;
        *ret_tone = TONE_WARNING;
        words_span(hook->began, hook->ended, took);
        if (!end)
                snprintf(ret, WORDS_MAX, "did not end");
        else if (end->timed_out)
                snprintf(ret, WORDS_MAX, "cut at its limit after %.60s", took);
        else {
                how_it_ended(end, how, sizeof how);
                snprintf(ret, WORDS_MAX, "%.60s after %.60s", how, took);
                if (end->status == 0 && !end->error)
                        *ret_tone = TONE_PLAIN;
        }
        return ret;
}

const char *words_phase(const StoryPhase *phase, char ret[static WORDS_MAX], Tone *ret_tone) {
        char took[DURATION_TEXT_MAX], killed[40] = "", left[40] = "";
        const Event *end = phase->end;
        *ret_tone = TONE_BAD;
        if (!end) {
                snprintf(ret, WORDS_MAX, "did not end");
                return ret;
        }
        unsigned total = end->gone + end->left, drained = end->gone > end->killed ? end->gone - end->killed : 0;
        if (end->killed > 0)
                snprintf(killed, sizeof killed, ", %u killed", end->killed);
        if (end->left > 0)
                snprintf(left, sizeof left, ", %u left", end->left);
        duration_format(end->took_usec, took);
        if (total == 0)
                snprintf(ret, WORDS_MAX, "nobody to stop, %s", took);
        else
                snprintf(ret, WORDS_MAX, "%u/%u drained in %s%s%s", drained, total, took, killed, left);
        if (end->killed + end->left == 0)
                *ret_tone = TONE_GOOD;
        return ret;
}

const char *words_code(const Story *story, char ret[static WORDS_MAX], Tone *ret_tone) {
        if (story->finish) {
                *ret_tone = story->finish->code == 0 ? TONE_GOOD : TONE_BAD;
                snprintf(ret, WORDS_MAX, "exit %d", story->finish->code);
        } else {
                *ret_tone = TONE_WARNING;
                snprintf(ret, WORDS_MAX, "%s", story->ending ? "the ending is not over" : "no ending");
        }
        return ret;
}

static const char *grace_of(const Event *finish, char *ret, size_t size) {
        char text[DURATION_TEXT_MAX];
        int64_t left = finish->left_of_grace_usec;
        if (left >= 0)
                snprintf(ret, size, "%s of the grace left", duration_format((usec_t)left, text));
        else
                snprintf(ret, size, "%s more than the grace", duration_format(-(usec_t)left, text));
        return ret;
}

const char *words_sentence(const Story *story, char ret[static WORDS_MAX]) {
        char took[WORDS_MAX], grace[80];
        if (story->finish)
                snprintf(ret, WORDS_MAX, "%.120s; it took %.40s, %s",
                         story->finish->reason ? story->finish->reason : "?",
                         words_span(story->end_began, story->end, took), grace_of(story->finish, grace, sizeof grace));
        else if (story->ending)
                snprintf(ret, WORDS_MAX, "the journal stops %.40s after the ending began, before it was over",
                         words_span(story->end_began, story->end, took));
        else
                snprintf(ret, WORDS_MAX, "the journal stops %.40s after the start%s: killed, or still running",
                         words_span(story->begin, story->end, took),
                         story->was_ready ? "" : ", and it was never ready");
        return ret;
}

const char *words_cause(const Story *story, char ret[static WORDS_MAX]) {
        const Event *cause = story->cause, *ending = story->ending;
        if (!ending)
                snprintf(ret, WORDS_MAX, "nothing");
        else if (cause && cause->kind == EVENT_SIGNAL_RECEIVED)
                snprintf(ret, WORDS_MAX, "%.40s", cause->signal ? cause->signal : "a signal");
        else if (cause)
                snprintf(ret, WORDS_MAX, "endwell shutdown");
        else
                snprintf(ret, WORDS_MAX, "%.40s%s%.40s", ending->cause ? ending->cause : "?",
                         ending->service ? " " : "", ending->service ? ending->service : "");
        return ret;
}
