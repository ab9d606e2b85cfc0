/* picture.c - the picture as a whole: where everything stands, and in which order it is drawn; see picture.h. */
#include "report/picture_internal.h"

#include <errno.h>
#include <stdlib.h>

#include "base/take.h"

static const char *const kind_words[_PICTURE_KIND_MAX] = {
        [PICTURE_ALONE] = "alone",
        [PICTURE_WIDE] = "wide",
        [PICTURE_NARROW] = "narrow",
};
ENUMERATION(picture_kind, PictureKind, kind_words)

#define LEGEND_HEIGHT 56

/* The deadline is shown where that costs the ending less than half of its room. */
static usec_t sight(const Story *story) {
        usec_t took = usec_sub(story->end, story->end_began);
        bool near = story->deadline != USEC_INFINITY && usec_sub(story->deadline, story->end) < took;
        return near ? usec_max(story->end, story->deadline) : story->end;
}

static void arrange(Picture *picture) {
        const Story *story = picture->story;
        bool narrow = picture_is_narrow(picture);
        picture->width = narrow ? 360 : 1120;
        picture->left = narrow ? 8 : 176;
        picture->right = narrow ? 352 : 842;
        picture->lane_height = narrow ? 36 : 22;
        picture->middle = narrow ? 24 : 11;
        picture->label_most = narrow ? 20 : 22;
        picture->status_most = narrow ? 32 : 42;
        picture->lanes_top = 42 + (picture->kind == PICTURE_ALONE ? 62 : 0);
        picture->lanes_bottom = picture->lanes_top + (double)picture->lanes->n * picture->lane_height;
        picture->height = picture->lanes_bottom + LEGEND_HEIGHT + (narrow ? 40 : 0) + picture_allowed_height(picture);
        picture->scale = scale_make(&(ScalePlan){ story->begin, story->settled, story->end_began, sight(story),
                                                  picture->left, picture->right });
}

/* A program that reads it aloud says the headline, and not a thousand shapes. */
static void begin(const Picture *picture) {
        char code[WORDS_MAX], sentence[WORDS_MAX];
        const char *name = picture_kind_to_string(picture->kind);
        Tone tone;
        words_code(picture->story, code, &tone);
        words_sentence(picture->story, sentence);
        fprintf(picture->out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"pic %s\" viewBox=\"0 0 %.0f %.0f\"%s role=\"img\" "
                "aria-labelledby=\"%s-title %s-text\">\n<title id=\"%s-title\">",
                name, picture->width, picture->height, picture->kind == PICTURE_ALONE ? " width=\"1120\"" : "", name,
                name, name);
        markup_text(picture->out, code);
        fprintf(picture->out, "</title>\n<desc id=\"%s-text\">", name);
        markup_text(picture->out, sentence);
        fputs("</desc>\n", picture->out);
        if (picture->kind == PICTURE_ALONE)
                fprintf(picture->out, "<style>%s</style>\n<rect class=\"paper\" width=\"100%%\" height=\"100%%\"/>\n",
                        picture_style());
}

static void draw_headline(const Picture *picture) {
        char text[WORDS_MAX];
        Tone tone;
        words_code(picture->story, text, &tone);
        fprintf(picture->out, "<text class=\"big %s\" x=\"8\" y=\"28\">", tone_to_string(tone));
        markup_text(picture->out, text);
        fputs("</text>\n<text x=\"8\" y=\"50\">", picture->out);
        markup_fit(picture->out, words_sentence(picture->story, text), 150);
        fputs("</text>\n", picture->out);
}

/* When a phase was ending, behind its lanes. */
static void draw_bands(const Picture *picture) {
        const Story *story = picture->story;
        const Lanes *lanes = picture->lanes;
        for (size_t i = 0; i < lanes->n; i++) {
                if (lanes->items[i].kind != LANE_PHASE)
                        continue;
                const StoryPhase *phase = &story->phases[lanes->items[i].first];
                size_t end = i + 1;
                for (; end < lanes->n && lanes->items[end].phase == lanes->items[i].phase; end++) {
                }
                double from = scale_x(&picture->scale, phase->began);
                double to = scale_x(&picture->scale, usec_min(phase->ended, story->end));
                fprintf(picture->out,
                        "<rect class=\"band\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/><path "
                        "class=\"rule\" d=\"M8 %.1fH%.1f\"/>\n",
                        from, picture_lane_top(picture, i), to - from, (double)(end - i) * picture->lane_height,
                        picture_lane_top(picture, i), picture->width - 8);
        }
}

int picture_write(FILE *out, PictureKind kind, const Story *story, const Judgement *judgement, const Lanes *lanes) {
        _cleanup_(freep) usec_t *scratch = calloc(2 * story->n_members + 1, sizeof *scratch);
        Picture picture = {
                .out = out, .story = story, .judgement = judgement, .lanes = lanes, .kind = kind, .scratch = scratch
        };

        if (!scratch)
                return -ENOMEM;
        arrange(&picture);
        begin(&picture);
        if (kind == PICTURE_ALONE)
                draw_headline(&picture);
        draw_bands(&picture);
        picture_draw_axis(&picture);
        picture_draw_budget(&picture);
        for (size_t i = 0; i < lanes->n; i++)
                picture_draw_lane(&picture, i);
        picture_draw_breaches(&picture);
        picture_draw_legend(&picture, picture.lanes_bottom + 8);
        picture_draw_allowed(&picture, picture.lanes_bottom + LEGEND_HEIGHT + (kind == PICTURE_NARROW ? 40 : 0));
        fputs("</svg>\n", out);
        return ferror(out) ? -ENOMEM : 0;
}
