/* picture_axis.c - time along the top, what is cut out of it, the budget's lines and the legend; see picture.h. */
#include "report/picture_internal.h"

#include <string.h>

#include "base/duration.h"

#define AXIS_HEIGHT 36

void picture_ticks(const Picture *picture, const ScalePart *part, double top, double bottom) {
        usec_t spans[SCALE_TICKS_MAX];
        char text[DURATION_TEXT_MAX];
        size_t n = scale_ticks(part, 66, spans);
        for (size_t i = 0; i < n; i++) {
                double x = part->left + (part->right - part->left) * (double)(part->zero + spans[i] - part->from) /
                                                (double)(part->to - part->from);
                fprintf(picture->out,
                        "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/><text class=\"small soft\" x=\"%.1f\" y=\"%.1f\" "
                        "text-anchor=\"%s\">%s</text>\n",
                        x, top + AXIS_HEIGHT - 8, bottom, x, top + AXIS_HEIGHT - 12,
                        x > part->right - 20  ? "end"
                        : x < part->left + 20 ? "start"
                                              : "middle",
                        spans[i] ? duration_format(spans[i], text) : "0");
        }
}

/* A zigzag at both sides of what is not to scale. */
static void draw_cut(const Picture *picture, const ScalePart *part, double top, double bottom) {
        char text[DURATION_TEXT_MAX];
        fprintf(picture->out,
                "<g><title>%s, not to scale</title><rect class=\"band\" x=\"%.1f\" y=\"%.1f\" "
                "width=\"%.1f\" height=\"%.1f\"/>",
                duration_format(part->to - part->from, text), part->left, top + AXIS_HEIGHT - 8,
                part->right - part->left, bottom - top - AXIS_HEIGHT + 8);
        for (unsigned side = 0; side < 2; side++) {
                fprintf(picture->out, "<path class=\"edge\" d=\"M%.1f %.1f", side ? part->right : part->left,
                        top + AXIS_HEIGHT - 8);
                unsigned turn = 0;
                for (double y = top + AXIS_HEIGHT - 8; y + 8 < bottom; y += 8)
                        fprintf(picture->out, "l%d 4l%d 4", turn % 2 ? -3 : 3, turn % 2 ? 3 : -3), turn++;
                fputs("\"/>", picture->out);
        }
        fputs("</g>\n", picture->out);
}

static void draw_heading(const Picture *picture, double x, double top, const char *text, const char *more) {
        fprintf(picture->out, "<text class=\"small strong\" x=\"%.1f\" y=\"%.1f\">", x, top + 10);
        markup_text(picture->out, text);
        markup_fit(picture->out, more, 40);
        fputs("</text>\n", picture->out);
}

void picture_draw_axis(const Picture *picture) {
        const Scale *scale = &picture->scale;
        double top = picture->lanes_top - AXIS_HEIGHT;
        char cause[WORDS_MAX];
        for (size_t i = 0; i < scale->n; i++) {
                if (scale->parts[i].cut)
                        draw_cut(picture, &scale->parts[i], top, picture->lanes_bottom);
                else
                        picture_ticks(picture, &scale->parts[i], top, picture->lanes_bottom);
        }
        words_cause(picture->story, cause);
        if (!picture->story->ending)
                draw_heading(picture, picture->left, top, "from the start", "");
        else {
                const ScalePart *last = &scale->parts[scale->n - 1];
                double x = scale_x(scale, last->zero);
                if (scale->n > 1)
                        draw_heading(picture, picture->left, top, "start", "");
                draw_heading(picture, x > picture->right - 150 ? picture->right - 150 : x, top, "from ", cause);
        }
}

static void draw_line(const Picture *picture, usec_t instant, const char *title, const char *word) {
        double x = scale_x(&picture->scale, instant);
        fprintf(picture->out,
                "<g><title>%s</title><path class=\"limit\" d=\"M%.1f %.1fV%.1f\"/><text class=\"small warning\" "
                "x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text></g>\n",
                title, x, picture->lanes_top, picture->lanes_bottom, x - 3, picture->lanes_bottom - 4, word);
}

void picture_draw_budget(const Picture *picture) {
        const Story *story = picture->story;
        const ScalePart *last = &picture->scale.parts[picture->scale.n - 1];
        if (story->deadline == USEC_INFINITY || story->deadline > last->to)
                return;
        usec_t reserve = story_reserve_usec(story);
        if (reserve > 0) {
                double from = scale_x(&picture->scale, usec_sub(story->deadline, reserve));
                fprintf(picture->out,
                        "<g><title>the reserve: for the last kill and the summary</title><rect class=\"reserve\" "
                        "x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/></g>\n",
                        from, picture->lanes_top, scale_x(&picture->scale, story->deadline) - from,
                        picture->lanes_bottom - picture->lanes_top);
        }
        draw_line(picture, story->deadline, "the deadline: endwell is gone by then", "deadline");
}

/* ---- The legend ---- */

static const ScalePart *cut_part(const Picture *picture) {
        for (size_t i = 0; i < picture->scale.n; i++)
                if (picture->scale.parts[i].cut)
                        return &picture->scale.parts[i];
        return NULL;
}

void picture_draw_legend(const Picture *picture, double top) {
        double x = 16, y = top + 12;
        char text[DURATION_TEXT_MAX];
        for (Mark mark = 0; mark < _MARK_MAX; mark++) {
                const char *word = mark_to_string(mark);
                double room = 26 + 6.2 * (double)strlen(word);
                if (x + room > picture->width - 8) {
                        x = 16;
                        y += 20;
                }
                picture_mark(picture, mark, x, y - 4, NULL);
                fprintf(picture->out, "<text class=\"small soft\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", x + 9, y, word);
                x += room;
        }
        const ScalePart *cut = cut_part(picture);
        if (cut)
                fprintf(picture->out,
                        "<text class=\"small soft\" x=\"11\" y=\"%.1f\">Between the jagged lines: %s, not to "
                        "scale.</text>\n",
                        y + 20, duration_format(cut->to - cut->from, text));
}
