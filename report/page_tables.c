/* page_tables.c - the tables of the page; see page.h. */
#include "report/page_internal.h"

#include <inttypes.h>

#include "base/clock.h"
#include "base/duration.h"
#include "report/markup.h"
#include "report/words.h"
#include "shutdown/sentence.h"

/* ---- Pieces ---- */

static void open_table(FILE *out, const char *id, const char *title, const char *const *heads) {
        fprintf(out, "<section aria-labelledby=\"%s\"><h2 id=\"%s\">%s</h2><div class=\"scroll\"><table>\n<thead><tr>",
                id, id, title);
        for (; *heads; heads++)
                fprintf(out, "<th scope=\"col\">%s</th>", *heads);
        fputs("</tr></thead>\n<tbody>\n", out);
}

static void close_table(FILE *out) {
        fputs("</tbody></table></div></section>\n", out);
}

static void put_cell(FILE *out, const char *style, const char *text) {
        fprintf(out, "<td class=\"%s\">", style);
        markup_text(out, text);
        fputs("</td>", out);
}

static void open_row(FILE *out, const char *name) {
        fputs("<tr><th scope=\"row\">", out);
        markup_text(out, name);
        fputs("</th>", out);
}

/* Since the ending began, or before it. */
static const char *moment(const Story *story, usec_t instant, char ret[static WORDS_MAX]) {
        char text[DURATION_TEXT_MAX];
        usec_t zero = story->ending ? story->end_began : story->begin;
        if (instant == USEC_INFINITY)
                snprintf(ret, WORDS_MAX, "–");
        else if (instant >= zero)
                snprintf(ret, WORDS_MAX, "%s", instant == zero ? "0" : duration_format(instant - zero, text));
        else
                snprintf(ret, WORDS_MAX, "−%s", duration_format(zero - instant, text));
        return ret;
}

static void put_moment(FILE *out, const Story *story, usec_t instant) {
        char text[WORDS_MAX];
        put_cell(out, "number", moment(story, instant, text));
}

/* ---- What is known of the run ---- */

static void put_fact(FILE *out, const char *name, const char *text) {
        fprintf(out, "<div><dt>%s</dt><dd>", name);
        markup_text(out, text);
        fputs("</dd></div>\n", out);
}

static void put_journal(FILE *out, const PageFacts *facts, const Judgement *judgement) {
        char text[WORDS_MAX * 2], missing[120] = "", bad[80] = "";
        if (judgement->missing > 0)
                snprintf(missing, sizeof missing,
                         "; %" PRIu64 " events are missing, from %" PRIu64 " to %" PRIu64 " first", judgement->missing,
                         judgement->missing_from, judgement->missing_to);
        if (facts->n_bad > 0)
                snprintf(bad, sizeof bad, "; %u line%s none of a journal%s", facts->n_bad,
                         facts->n_bad == 1 ? " is" : "s are", facts->torn ? ", the last one is torn" : "");
        snprintf(text, sizeof text, "%.200s, run %u of %u%s%s", facts->journal, facts->run, facts->n_runs, missing,
                 bad);
        put_fact(out, "Journal", text);
}

void page_put_facts(FILE *out, const PageFacts *facts, const Story *story, const Judgement *judgement) {
        char text[WORDS_MAX], time[CLOCK_TEXT_MAX];
        const Event *start = story->start;
        fputs("<dl>\n", out);
        if (start) {
                clock_format_wall(start->wall_usec, time);
                put_fact(out, "Started", time);
                snprintf(text, sizeof text, "endwell %.40s, %s, mode %.40s", start->version ? start->version : "?",
                         start->pid_namespace ? "PID 1" : "a subreaper", start->mode ? start->mode : "?");
                put_fact(out, "Ran as", text);
                put_fact(out, "Configuration", start->config ? start->config : "a single command");
        }
        put_fact(out, "Ready", story->was_ready ? "yes" : "never");
        put_fact(out, "The ending was caused by", words_cause(story, text));
        if (story->ending) {
                char deadline[DURATION_TEXT_MAX], reserve[DURATION_TEXT_MAX];
                usec_t kept = story_reserve_usec(story);
                snprintf(text, sizeof text, "%s, of which %s kept in reserve",
                         duration_format(story->ending->deadline_usec, deadline),
                         kept > 0 ? duration_format(kept, reserve) : "an unknown part is");
                put_fact(out, "Deadline", text);
        }
        put_journal(out, facts, judgement);
        fputs("</dl>\n", out);
}

/* ---- Laws ---- */

static const char *style_of(LawState state) {
        switch (state) {
        case LAW_HELD: return "good";
        case LAW_BROKEN: return "bad";
        case LAW_UNKNOWN: return "warning";
        case LAW_NOT_EXERCISED:
        case _LAW_STATE_MAX: break;
        }
        return "plain";
}

static void put_breaches(FILE *out, const LawFinding *finding) {
        fputs("<td>", out);
        markup_text(out, finding->text);
        for (size_t i = 0; i < finding->n_breaches && i < LAW_BREACHES_MAX; i++)
                fprintf(out, "%s%" PRIu64, i == 0 ? " (event " : ", ", finding->breaches[i]);
        if (finding->n_breaches > LAW_BREACHES_MAX)
                fprintf(out, " and %u more", finding->n_breaches - LAW_BREACHES_MAX);
        fputs(finding->n_breaches > 0 ? ")</td>" : "</td>", out);
}

void page_put_laws(FILE *out, const Judgement *judgement) {
        open_table(out, "laws", "Laws", (const char *const[]){ "Law", "Demands", "In this run", "Why", NULL });
        for (Law law = 0; law < _LAW_MAX; law++) {
                const LawFinding *finding = &judgement->of[law];
                open_row(out, law_to_string(law));
                put_cell(out, "wide-text", law_sentence(law));
                put_cell(out, style_of(finding->state), law_state_to_string(finding->state));
                put_breaches(out, finding);
                fputs("</tr>\n", out);
        }
        close_table(out);
}

/* ---- Phases, hooks, processes ---- */

void page_put_phases(FILE *out, const Story *story) {
        char text[WORDS_MAX];
        if (story->n_phases == 0)
                return;
        open_table(out, "phases", "Phases",
                   (const char *const[]){ "Phase", "Began", "Over", "At most", "What became of it", NULL });
        for (size_t i = 0; i < story->n_phases; i++) {
                const StoryPhase *phase = &story->phases[i];
                char limit[DURATION_TEXT_MAX];
                Tone tone;
                open_row(out, phase->name);
                put_moment(out, story, phase->began);
                put_moment(out, story, phase->ended);
                put_cell(out, "number", duration_format(phase->limit_usec, limit));
                words_phase(phase, text, &tone);
                put_cell(out, tone_to_string(tone), text);
                fputs("</tr>\n", out);
        }
        close_table(out);
}

static const char *phase_name(const Story *story, int phase) {
        return phase == STORY_NO_PHASE ? "–" : story->phases[phase].name;
}

void page_put_hooks(FILE *out, const Story *story) {
        char text[WORDS_MAX];
        if (story->n_hooks == 0)
                return;
        open_table(out, "hooks", "Hooks",
                   (const char *const[]){ "Hook", "Of", "In phase", "Began", "Over", "What became of it", NULL });
        for (size_t i = 0; i < story->n_hooks; i++) {
                const StoryHook *hook = &story->hooks[i];
                Tone tone;
                open_row(out, hook->name);
                snprintf(text, sizeof text, "%.40s%s%.80s", hook->on ? hook->on : "", hook->service ? " of " : "",
                         hook->service ? hook->service : "");
                put_cell(out, "plain", text);
                put_cell(out, "plain", phase_name(story, hook->phase));
                put_moment(out, story, hook->began);
                put_moment(out, story, hook->ended);
                words_hook(hook, text, &tone);
                put_cell(out, tone_to_string(tone), text);
                fputs("</tr>\n", out);
        }
        close_table(out);
}

void page_put_members(FILE *out, const Story *story, const Lanes *lanes) {
        char text[WORDS_MAX];
        if (story->n_members == 0)
                return;
        open_table(out, "processes", "Processes",
                   (const char *const[]){ "Instance", "Stopped in", "Starts", "Started", "Ready", "Asked", "Exited",
                                          "Gone", "What became of it", NULL });
        for (size_t i = 0; i < story->n_members; i++) {
                const StoryMember *member = &story->members[lanes->order[i]];
                const usec_t moments[] = { member->started, member->ready, member->asked, member->exited,
                                           member->gone };
                Tone tone;
                open_row(out, words_member_name(member, text));
                put_cell(out, "plain", phase_name(story, member->phase));
                fprintf(out, "<td class=\"number\">%u</td>", member->starts);
                for (size_t j = 0; j < sizeof moments / sizeof *moments; j++)
                        put_moment(out, story, moments[j]);
                words_member(member, text, &tone);
                put_cell(out, tone_to_string(tone), text);
                fputs("</tr>\n", out);
        }
        close_table(out);
}

void page_put_orphans(FILE *out, const Story *story) {
        char text[WORDS_MAX];
        if (story->n_orphans == 0)
                return;
        open_table(out, "orphans", "Orphans", (const char *const[]){ "Process", "Of", "Adopted", "Collected", NULL });
        for (size_t i = 0; i < story->n_orphans; i++) {
                const StoryOrphan *orphan = &story->orphans[i];
                snprintf(text, sizeof text, "%.40s, pid %d", orphan->comm ? orphan->comm : "?", (int)orphan->pid);
                open_row(out, text);
                put_cell(out, "plain", orphan->service ? orphan->service : "nobody known");
                put_moment(out, story, orphan->adopted);
                put_moment(out, story, orphan->gone);
                fputs("</tr>\n", out);
        }
        close_table(out);
}

/* ---- What happened ---- */

/* What has a row above is left out unless it is loud; what the ending waited for has no other place. */
static bool is_worth_telling(const Event *event) {
        if (event->kind >= _EVENT_MAX)
                return false;
        LogLevel level = sentence_level(event);
        return level <= LOG_LEVEL_NOTICE || event->kind == EVENT_DRAIN_PROGRESS ||
               event->kind == EVENT_READINESS_ACKNOWLEDGED || event->kind == EVENT_REAPER_SETTLED ||
               event->kind == EVENT_DATABASE_QUIET || event->kind == EVENT_REQUEST_RECEIVED;
}

void page_put_events(FILE *out, const Story *story) {
        char text[SENTENCE_MAX];
        size_t total = 0, passed = 0;
        for (size_t i = 0; i < story->n_events; i++)
                total += is_worth_telling(&story->events[i]);
        size_t skip = total > PAGE_EVENTS_MOST ? total - PAGE_EVENTS_MOST : 0;
        open_table(out, "events", skip ? "What happened, the end of it" : "What happened",
                   (const char *const[]){ "Event", "When", "What", NULL });
        for (size_t i = 0; i < story->n_events; i++) {
                const Event *event = &story->events[i];
                if (!is_worth_telling(event) || passed++ < skip)
                        continue;
                snprintf(text, sizeof text, "%" PRIu64, event->seq);
                open_row(out, text);
                put_moment(out, story, event->mono_usec);
                LogLevel level = sentence_level(event);
                put_cell(out,
                         level <= LOG_LEVEL_ERR       ? "bad"
                         : level == LOG_LEVEL_WARNING ? "warning"
                                                      : "plain",
                         sentence_write(event, text));
                fputs("</tr>\n", out);
        }
        close_table(out);
        if (skip > 0)
                fprintf(out, "<p>%zu earlier ones are in the journal.</p>\n", skip);
}
