/* picture_lanes.c - each kind of lane; see picture.h. */
#include "report/picture_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/take.h"
#include "shutdown/sentence.h"

void picture_bar(const Picture *picture, double from, double to, double middle, double height, const char *style) {
        fprintf(picture->out, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"1.5\"/>\n",
                style, from, middle - height / 2, to - from > 1 ? to - from : 1.0, height);
}

void picture_label(const Picture *picture, double top, const char *name, const char *style) {
        bool indented = strcmp(style, "strong") != 0;
        fprintf(picture->out, "<text class=\"%s\" x=\"%d\" y=\"%.1f\">", style, indented ? 20 : 8,
                top + (picture_is_narrow(picture) ? 12 : picture->middle + 4));
        if (markup_characters(name) > picture->label_most) {
                fputs("<title>", picture->out);
                markup_text(picture->out, name);
                fputs("</title>", picture->out);
        }
        markup_fit(picture->out, name, picture->label_most);
        fputs("</text>\n", picture->out);
}

void picture_status(const Picture *picture, double top, const char *text, Tone tone) {
        if (picture_is_narrow(picture))
                fprintf(picture->out, "<text class=\"small %s\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">",
                        tone_to_string(tone), picture->right, top + 12);
        else
                fprintf(picture->out, "<text class=\"small %s\" x=\"%.1f\" y=\"%.1f\">", tone_to_string(tone),
                        picture->right + 14, top + picture->middle + 4);
        markup_fit(picture->out, text, picture->status_most);
        fputs("</text>\n", picture->out);
}

static double x_of(const Picture *picture, usec_t instant) {
        return scale_x(&picture->scale, instant);
}

/* ---- One instance ---- */

static Mark exit_mark(const StoryMember *member) {
        return member->exit && !member->exit->asked && !member->exit->clean ? MARK_FAILED : MARK_EXITED;
}

static void draw_life(const Picture *picture, const StoryMember *member, double middle) {
        usec_t end = usec_min(usec_min(member->exited, member->left), picture->story->end);
        usec_t begin = member->started == USEC_INFINITY ? picture->story->begin : member->started;
        usec_t asked = usec_max(usec_min(member->asked, end), begin);
        picture_bar(picture, x_of(picture, begin), x_of(picture, asked), middle, 4, "run");
        if (member->asked <= end)
                picture_bar(picture, x_of(picture, asked), x_of(picture, end), middle, 10, "drain");
        if (member->gone != USEC_INFINITY && member->gone > end)
                fprintf(picture->out, "<path class=\"thread\" d=\"M%.1f %.1fH%.1f\"/>\n", x_of(picture, end), middle,
                        x_of(picture, member->gone));
}

static void mark_life(const Picture *picture, const StoryMember *member, double middle, const char *title) {
        const struct {
                usec_t when;
                Mark mark;
        } marks[] = { { member->ready, MARK_READY },
                      { member->asked, MARK_ASKED },
                      { member->killed == USEC_INFINITY ? member->exited : USEC_INFINITY, exit_mark(member) },
                      { member->killed, MARK_KILLED },
                      { member->left, MARK_LEFT } };
        for (size_t i = 0; i < LENGTH_OF(marks); i++)
                if (marks[i].when != USEC_INFINITY)
                        picture_mark(picture, marks[i].mark, x_of(picture, marks[i].when), middle, title);
}

static void draw_member(const Picture *picture, const Lane *lane, double top) {
        const StoryMember *member = &picture->story->members[picture->lanes->order[lane->first]];
        char name[WORDS_MAX], text[WORDS_MAX], title[2 * WORDS_MAX + 40];
        Tone tone;
        words_member_name(member, name);
        words_member(member, text, &tone);
        snprintf(title, sizeof title, "%s: %s", name, text);
        if (member->starts > 1)
                snprintf(title, sizeof title, "%s: %s; its run number %u", name, text, member->starts);
        picture_label(picture, top, name, "name");
        picture_status(picture, top, text, tone);
        draw_life(picture, member, top + picture->middle);
        mark_life(picture, member, top + picture->middle, title);
}

/* ---- Many as one ---- */

static int compare_instants(const void *a, const void *b) {
        usec_t one = *(const usec_t *)a, other = *(const usec_t *)b;
        return (one > other) - (one < other);
}

typedef struct Count {
        usec_t *starts, *ends; /* each sorted; in the picture's scratch */
        size_t n;
        usec_t asked, last_exit; /* the first that was asked, the last that was gone */
        unsigned killed, left;
} Count;

static void count_make(const Picture *picture, const Lane *lane, Count *ret) {
        *ret = (Count){ picture->scratch, picture->scratch + lane->n, lane->n, USEC_INFINITY, 0, 0, 0 };
        for (size_t i = 0; i < lane->n; i++) {
                const StoryMember *member = &picture->story->members[picture->lanes->order[lane->first + i]];
                ret->starts[i] = member->started == USEC_INFINITY ? picture->story->begin : member->started;
                ret->ends[i] = usec_min(member->exited, member->left);
                ret->asked = usec_min(ret->asked, member->asked);
                if (ret->ends[i] != USEC_INFINITY)
                        ret->last_exit = usec_max(ret->last_exit, ret->ends[i]);
                ret->killed += member->killed != USEC_INFINITY;
                ret->left += member->left != USEC_INFINITY;
        }
        qsort(ret->starts, lane->n, sizeof *ret->starts, compare_instants);
        qsort(ret->ends, lane->n, sizeof *ret->ends, compare_instants);
}

/* How many lived, as steps, between two instants. */
static void draw_steps(const Picture *picture, const Count *count, usec_t from, usec_t to, double bottom,
                       const char *style) {
        const double height = picture->lane_height > 30 ? 14 : 16;
        size_t i = 0, j = 0;
        double x = x_of(picture, from);
        for (; i < count->n && count->starts[i] <= from; i++) {
        }
        for (; j < count->n && count->ends[j] < from; j++) {
        }
        fprintf(picture->out, "<path class=\"%s\" d=\"M%.1f %.1fV%.1f", style, x, bottom,
                bottom - height * (double)(i - j) / (double)count->n);
        while ((i < count->n && count->starts[i] <= to) || (j < count->n && count->ends[j] <= to)) {
                bool birth = i < count->n && (j >= count->n || count->starts[i] <= count->ends[j]);
                double next = x_of(picture, birth ? count->starts[i] : count->ends[j]);
                i += birth;
                j += !birth;
                bool more = (i < count->n && x_of(picture, count->starts[i]) - next < 0.2) ||
                            (j < count->n && count->ends[j] <= to && x_of(picture, count->ends[j]) - next < 0.2);
                if (!more) /* steps that nobody could tell apart are one */
                        fprintf(picture->out, "H%.1fV%.1f", next, bottom - height * (double)(i - j) / (double)count->n);
        }
        fprintf(picture->out, "H%.1fV%.1fz\"/>\n", x_of(picture, to), bottom);
}

static void draw_count(const Picture *picture, const Lane *lane, double top) {
        Count count;
        char name[WORDS_MAX], text[WORDS_MAX], hidden[60] = "";
        double middle = top + picture->middle;
        count_make(picture, lane, &count);
        if (lane->service)
                snprintf(name, sizeof name, "%.100s ×%zu", lane->service, lane->n);
        else
                snprintf(name, sizeof name, "%zu processes", lane->n);
        if (lane->n_hidden > 0)
                snprintf(hidden, sizeof hidden, "; %zu have no lane", lane->n_hidden);
        snprintf(text, sizeof text, "%u killed, %u left%s", count.killed, count.left, hidden);
        if (count.killed + count.left == 0)
                snprintf(text, sizeof text, "%s", count.asked == USEC_INFINITY ? "none was asked" : "nobody killed");
        picture_label(picture, top, name, "name");
        picture_status(picture, top, text, count.killed + count.left > 0 ? TONE_BAD : TONE_PLAIN);
        usec_t end = picture->story->end;
        draw_steps(picture, &count, count.starts[0], usec_min(count.asked, end), middle + 8, "run");
        if (count.asked <= end) {
                draw_steps(picture, &count, count.asked, end, middle + 8, "drain");
                picture_mark(picture, MARK_ASKED, x_of(picture, count.asked), middle, "the first was asked");
        }
        if (count.last_exit > 0)
                picture_mark(picture, MARK_EXITED, x_of(picture, count.last_exit), middle, "the last was gone");
}

/* ---- Phases, hooks, orphans, endwell ---- */

static void mark_progress(const Picture *picture, const StoryPhase *phase, double middle) {
        for (size_t i = 0; i < picture->story->n_events; i++) {
                const Event *event = &picture->story->events[i];
                if (event->kind == EVENT_DRAIN_PROGRESS && event->mono_usec >= phase->began &&
                    event->mono_usec <= phase->ended)
                        picture_mark_event(picture, MARK_TOLD, middle, event);
        }
}

static void draw_phase(const Picture *picture, const Lane *lane, double top) {
        const StoryPhase *phase = &picture->story->phases[lane->first];
        usec_t end = usec_min(phase->ended, picture->story->end), limit = usec_add(phase->began, phase->limit_usec);
        char text[WORDS_MAX], name[WORDS_MAX];
        double middle = top + picture->middle, x = x_of(picture, limit);
        Tone tone;
        words_phase(phase, text, &tone);
        snprintf(name, sizeof name, "phase %.100s", phase->name ? phase->name : "?");
        picture_label(picture, top, name, "strong");
        picture_status(picture, top, text, tone);
        picture_bar(picture, x_of(picture, phase->began), x_of(picture, end), middle, 10,
                    tone == TONE_BAD ? "badbar" : "goodbar");
        if (limit > end)
                fprintf(picture->out,
                        "<g><title>the phase might have lasted until here, or beyond what is "
                        "shown</title><path class=\"limit\" d=\"M%.1f %.1fH%.1f%s\"/></g>\n",
                        x_of(picture, end), middle, x, x < picture->right ? "m0 -6v12" : "");
        mark_progress(picture, phase, middle);
}

static void draw_hook(const Picture *picture, const Lane *lane, double top) {
        const StoryHook *hook = &picture->story->hooks[lane->first];
        char text[WORDS_MAX], name[WORDS_MAX];
        Tone tone;
        double from = x_of(picture, hook->began);
        double to = x_of(picture, usec_min(hook->ended, picture->story->end));
        words_hook(hook, text, &tone);
        snprintf(name, sizeof name, "hook %.100s", hook->name ? hook->name : "?");
        picture_label(picture, top, name, "soft");
        picture_status(picture, top, text, tone);
        picture_bar(picture, from, to - from > 3 ? to : from + 3, top + picture->middle, 8, "hook");
}

static void draw_orphans(const Picture *picture, double top) {
        const Story *story = picture->story;
        char text[WORDS_MAX];
        size_t left = 0;
        for (size_t i = 0; i < story->n_orphans; i++) {
                const StoryOrphan *orphan = &story->orphans[i];
                left += orphan->gone == USEC_INFINITY;
                fprintf(picture->out, "<g><title>pid %d ", (int)orphan->pid);
                markup_text(picture->out, orphan->comm);
                fputs("</title>", picture->out);
                picture_bar(picture, x_of(picture, orphan->adopted), x_of(picture, usec_min(orphan->gone, story->end)),
                            top + picture->middle, 6, "run");
                fputs("</g>", picture->out);
        }
        snprintf(text, sizeof text, "%zu adopted, %zu collected", story->n_orphans, story->n_orphans - left);
        picture_label(picture, top, "orphans", "strong");
        picture_status(picture, top, text, TONE_PLAIN);
}

static void draw_endwell(const Picture *picture, double top) {
        const Story *story = picture->story;
        double middle = top + picture->middle;
        char text[WORDS_MAX];
        Tone tone;
        picture_label(picture, top, "endwell", "strong");
        picture_status(picture, top, words_code(story, text, &tone), tone);
        picture_bar(picture, x_of(picture, story->begin), x_of(picture, story->end), middle, 4, "run");
        if (story->ending)
                picture_bar(picture, x_of(picture, story->end_began), x_of(picture, story->end), middle, 8, "drain");
        for (size_t i = 0; i < story->n_events; i++) {
                const Event *event = &story->events[i];
                switch ((int)event->kind) {
                case EVENT_SIGNAL_RECEIVED:
                case EVENT_REQUEST_RECEIVED: picture_mark_event(picture, MARK_SIGNAL, middle, event); break;
                case EVENT_READINESS_CHANGED:
                        picture_mark_event(picture, event->ready ? MARK_READY : MARK_TOLD, middle, event);
                        break;
                case EVENT_READINESS_ACKNOWLEDGED:
                case EVENT_REAPER_SETTLED:
                case EVENT_DATABASE_QUIET: picture_mark_event(picture, MARK_TOLD, middle, event); break;
                case EVENT_SUPERVISOR_FAILED: picture_mark_event(picture, MARK_FAILED, middle, event); break;
                case EVENT_ENDING_FINISHED: picture_mark_event(picture, MARK_EXITED, middle, event); break;
                default: break;
                }
        }
}

void picture_draw_lane(const Picture *picture, size_t i) {
        const Lane *lane = &picture->lanes->items[i];
        double top = picture_lane_top(picture, i);
        switch (lane->kind) {
        case LANE_ENDWELL: draw_endwell(picture, top); break;
        case LANE_PHASE: draw_phase(picture, lane, top); break;
        case LANE_HEADING: picture_label(picture, top, "not asked to stop", "strong"); break;
        case LANE_MEMBER: draw_member(picture, lane, top); break;
        case LANE_COUNT: draw_count(picture, lane, top); break;
        case LANE_HOOK: draw_hook(picture, lane, top); break;
        case LANE_ORPHANS:
        case _LANE_KIND_MAX: draw_orphans(picture, top); break;
        }
}
