/* picture_internal.h - what the files of the picture share: one being drawn, and where things stand in it; for
 * picture*.c only. */
#pragma once
#include "report/markup.h"
#include "report/picture.h"
#include "report/scale.h"
#include "report/words.h"

typedef struct Picture {
        FILE *out;
        const Story *story;
        const Judgement *judgement;
        const Lanes *lanes;
        Scale scale;
        PictureKind kind;
        double width, height;
        double left, right;         /* of the lanes' bars */
        double lane_height, middle; /* of a lane: its height, and its bar's middle from its top */
        double lanes_top, lanes_bottom;
        size_t label_most, status_most; /* characters */
        usec_t *scratch;                /* for two instants of each member */
} Picture;

static inline bool picture_is_narrow(const Picture *picture) {
        return picture->kind == PICTURE_NARROW;
}

static inline double picture_lane_top(const Picture *picture, size_t lane) {
        return picture->lanes_top + (double)lane * picture->lane_height;
}

/* ---- picture_lanes.c ---- */
void picture_draw_lane(const Picture *picture, size_t lane);
/* A row's name and what became of it, as both layouts have them. */
void picture_label(const Picture *picture, double top, const char *name, const char *style);
void picture_status(const Picture *picture, double top, const char *text, Tone tone);
void picture_bar(const Picture *picture, double from, double to, double middle, double height, const char *style);

/* ---- picture_marks.c ---- */
typedef enum Mark {
        MARK_ASKED,
        MARK_EXITED,
        MARK_FAILED,
        MARK_KILLED,
        MARK_LEFT,
        MARK_READY,
        MARK_TOLD,
        MARK_SIGNAL,
        _MARK_MAX
} Mark;
const char *mark_to_string(Mark mark); /* what the legend calls it */
int mark_from_string(const char *text);
void picture_mark(const Picture *picture, Mark mark, double x, double y, const char *title);
void picture_mark_event(const Picture *picture, Mark mark, double y, const Event *event);
void picture_draw_breaches(const Picture *picture);

/* ---- picture_axis.c ---- */
void picture_draw_axis(const Picture *picture);
void picture_draw_budget(const Picture *picture); /* the deadline and the reserve, where they are in sight */
void picture_draw_legend(const Picture *picture, double top);
void picture_ticks(const Picture *picture, const ScalePart *part, double top, double bottom);

/* ---- picture_allowed.c ---- */
double picture_allowed_height(const Picture *picture);
void picture_draw_allowed(const Picture *picture, double top);
