/* picture_marks.c - what happened at an instant, as shapes, and the flags of broken laws; see picture.h. */
#include "report/picture_internal.h"

#include "shutdown/sentence.h"

static const char *const mark_words[_MARK_MAX] = {
        [MARK_ASKED] = "asked to stop",     [MARK_EXITED] = "exited",
        [MARK_FAILED] = "failed",           [MARK_KILLED] = "killed",
        [MARK_LEFT] = "given up",           [MARK_READY] = "ready",
        [MARK_TOLD] = "told or waited for", [MARK_SIGNAL] = "signal or request",
};
ENUMERATION(mark, Mark, mark_words)

static void shape(FILE *out, Mark mark, double x, double y) {
        switch (mark) {
        case MARK_ASKED: fprintf(out, "<path class=\"m warning\" d=\"M%.1f %.1fh10l-5 8z\"/>", x - 5, y - 8); break;
        case MARK_EXITED: fprintf(out, "<circle class=\"m good\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/>", x, y); break;
        case MARK_FAILED: fprintf(out, "<path class=\"m bad\" d=\"M%.1f %.1fl5 5l-5 5l-5 -5z\"/>", x, y - 5); break;
        case MARK_KILLED: fprintf(out, "<path class=\"cross\" d=\"M%.1f %.1fl8 8m0 -8l-8 8\"/>", x - 4, y - 4); break;
        case MARK_LEFT:
                fprintf(out, "<rect class=\"m bad\" x=\"%.1f\" y=\"%.1f\" width=\"8\" height=\"8\"/>", x - 4, y - 4);
                break;
        case MARK_READY:
                fprintf(out, "<rect class=\"m good\" x=\"%.1f\" y=\"%.1f\" width=\"4\" height=\"12\"/>", x - 2, y - 6);
                break;
        case MARK_TOLD: fprintf(out, "<circle class=\"m ink\" cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\"/>", x, y); break;
        case MARK_SIGNAL:
        case _MARK_MAX:
                fprintf(out, "<path class=\"m ink\" d=\"M%.1f %.1fh4v-6h4l-6 -7l-6 7h4z\"/>", x - 2, y + 7);
                break;
        }
}

void picture_mark(const Picture *picture, Mark mark, double x, double y, const char *title) {
        fputs("<g>", picture->out);
        if (title) {
                fputs("<title>", picture->out);
                markup_text(picture->out, title);
                fputs("</title>", picture->out);
        }
        shape(picture->out, mark, x, y);
        fputs("</g>\n", picture->out);
}

void picture_mark_event(const Picture *picture, Mark mark, double y, const Event *event) {
        char text[SENTENCE_MAX];
        picture_mark(picture, mark, scale_x(&picture->scale, event->mono_usec), y, sentence_write(event, text));
}

/* ---- Broken laws ---- */

static const Event *event_of(const Story *story, uint64_t seq) {
        size_t low = 0, high = story->n_events;
        while (low < high) {
                size_t middle = low + (high - low) / 2;
                if (story->events[middle].seq < seq)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low < story->n_events && story->events[low].seq == seq ? &story->events[low] : NULL;
}

static bool lane_has(const Picture *picture, const Lane *lane, size_t member) {
        if (lane->kind != LANE_MEMBER && lane->kind != LANE_COUNT)
                return false;
        for (size_t i = 0; i < lane->n; i++)
                if (picture->lanes->order[lane->first + i] == member)
                        return true;
        return false;
}

static size_t lane_of(const Picture *picture, const Event *event) {
        const Lanes *lanes = picture->lanes;
        size_t member = cast_find(&picture->story->cast, event->service, event->instance);
        for (size_t i = 0; member != SIZE_MAX && i < lanes->n; i++)
                if (lane_has(picture, &lanes->items[i], member))
                        return i;
        return 0;
}

void picture_draw_breaches(const Picture *picture) {
        char title[LAW_TEXT_MAX + 80];
        for (Law law = 0; law < _LAW_MAX; law++) {
                const LawFinding *finding = &picture->judgement->of[law];
                for (size_t i = 0; i < finding->n_breaches && i < LAW_BREACHES_MAX; i++) {
                        const Event *event = event_of(picture->story, finding->breaches[i]);
                        if (!event)
                                continue;
                        double x = scale_x(&picture->scale, event->mono_usec);
                        double y = picture_lane_top(picture, lane_of(picture, event)) + picture->middle;
                        snprintf(title, sizeof title, "%s broken: %s", law_to_string(law),
                                 i == 0 ? finding->text : law_sentence(law));
                        fputs("<g><title>", picture->out);
                        markup_text(picture->out, title);
                        fprintf(picture->out,
                                "</title><path class=\"cross\" d=\"M%.1f %.1fv22\"/><rect class=\"flag\" x=\"%.1f\" "
                                "y=\"%.1f\" width=\"24\" height=\"12\"/><text class=\"onflag\" x=\"%.1f\" "
                                "y=\"%.1f\">%s</text></g>\n",
                                x, y - 11, x, y - 11, x + 4, y - 2, law_to_string(law));
                }
        }
}
