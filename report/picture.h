/* picture.h - a run as a picture: lanes over time, as SVG that stands alone or within a page.
 *
 * Pure but for memory and the stream, which is in memory. The same journal gives the same bytes. No script, no font and
 * no file of others; light and dark by prefers-color-scheme, light when printed; marks differ by shape, not by colour
 * alone. */
#pragma once
#include "report/lanes.h"
#include "report/story.h"
#include "shutdown/laws.h"
#include <stdio.h>

typedef enum PictureKind {
        PICTURE_ALONE,  /* with its own style and its own headline */
        PICTURE_WIDE,   /* for a page: names at the left, what became of them at the right */
        PICTURE_NARROW, /* for a page on a telephone: both above the lane */
        _PICTURE_KIND_MAX,
} PictureKind;

const char *picture_kind_to_string(PictureKind kind);
int picture_kind_from_string(const char *text);

/* 0 or -ENOMEM. */
int picture_write(FILE *out, PictureKind kind, const Story *story, const Judgement *judgement, const Lanes *lanes);
/* The style that a page with pictures in it must have. */
const char *picture_style(void);
