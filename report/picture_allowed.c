/* picture_allowed.c - what each phase was allowed of the deadline, and what it used; see picture.h. */
#include "report/picture_internal.h"

#include "base/duration.h"

#define HEAD 62

double picture_allowed_height(const Picture *picture) {
        return picture->story->n_phases > 0 ? HEAD + (double)picture->story->n_phases * picture->lane_height + 8 : 0;
}

static void draw_row(const Picture *picture, const Scale *scale, const StoryPhase *phase, double top) {
        char used[DURATION_TEXT_MAX], limit[DURATION_TEXT_MAX], text[WORDS_MAX];
        usec_t end = phase->ended == USEC_INFINITY ? picture->story->end : phase->ended;
        usec_t until = usec_add(phase->began, phase->limit_usec);
        double middle = top + picture->middle;
        picture_bar(picture, scale_x(scale, phase->began), scale_x(scale, until), middle, 10, "allowed");
        picture_bar(picture, scale_x(scale, phase->began), scale_x(scale, end), middle, 10,
                    end > until || phase->ended == USEC_INFINITY ? "badbar" : "goodbar");
        fprintf(picture->out, "<path class=\"limit\" d=\"M%.1f %.1fv14\"/>\n", scale_x(scale, until), middle - 7);
        snprintf(text, sizeof text, "%s of at most %s", duration_format(usec_sub(end, phase->began), used),
                 duration_format(phase->limit_usec, limit));
        picture_label(picture, top, phase->name, "strong");
        picture_status(picture, top, text, end > until ? TONE_BAD : TONE_PLAIN);
}

void picture_draw_allowed(const Picture *picture, double top) {
        const Story *story = picture->story;
        if (story->n_phases == 0)
                return;
        usec_t end = usec_max(story->end, story->deadline == USEC_INFINITY ? 0 : story->deadline);
        const Scale scale = { { { story->end_began, usec_max(end, story->end_began + 1), picture->left, picture->right,
                                  story->end_began, false } },
                              1 };
        double bottom = top + picture_allowed_height(picture) - 8;
        char deadline[DURATION_TEXT_MAX];
        fprintf(picture->out, "<text class=\"strong\" x=\"8\" y=\"%.1f\">%s</text>\n", top + 14,
                picture_is_narrow(picture)
                        ? "Allowed: unused time rolls on"
                        : "What each phase was allowed; time that one does not use goes to the next");
        picture_ticks(picture, &scale.parts[0], top + HEAD - 36, bottom);
        usec_t reserve = story_reserve_usec(story);
        double x = scale_x(&scale, story->deadline), from = scale_x(&scale, usec_sub(story->deadline, reserve));
        fprintf(picture->out,
                "<g><title>the deadline, %s after the ending began, and the reserve before it</title><rect "
                "class=\"reserve\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/><path class=\"limit\" "
                "d=\"M%.1f %.1fV%.1f\"/></g>\n",
                duration_format(usec_sub(story->deadline, story->end_began), deadline), from, top + HEAD - 8, x - from,
                bottom - top - HEAD + 8, x, top + HEAD - 8, bottom);
        for (size_t i = 0; i < story->n_phases; i++)
                draw_row(picture, &scale, &story->phases[i], top + HEAD + (double)i * picture->lane_height);
}
