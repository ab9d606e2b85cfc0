/* cutter.c - finds the ends of lines and of parts, gathering those that come in pieces. */
#include "logger/cutter.h"
#include "base/take.h"
#include "base/utf8.h"
#include <string.h>

void cutter_done(Cutter *cutter) {
        free(TAKE(cutter->held));
        *cutter = (Cutter){ .max = cutter->max };
}

static CutterPart part(Cutter *cutter, const char *text, size_t length, bool goes_on) {
        CutterPart made = { .text = text, .length = length, .continues = cutter->inside, .goes_on = goes_on };
        cutter->inside = goes_on;
        return made;
}

/* What was shown by the last call need not be kept any longer. */
static void forget_shown(Cutter *cutter) {
        if (cutter->shown == 0)
                return;
        cutter->length -= cutter->shown;
        memmove(cutter->held, cutter->held + cutter->shown, cutter->length);
        cutter->shown = 0;
        if (cutter->length == 0)
                free(TAKE(cutter->held));
}

static bool hold(Cutter *cutter, const char *bytes, size_t length) {
        if (!cutter->held)
                cutter->held = malloc(cutter->max);
        if (!cutter->held)
                return false;
        memcpy(cutter->held + cutter->length, bytes, length);
        cutter->length += length;
        return true;
}

static CutterPart show_held(Cutter *cutter, size_t length, bool goes_on) {
        cutter->shown = length;
        return part(cutter, cutter->held, length, goes_on);
}

/* Adds `take` bytes, of which the last may be the newline, to what is held. */
static size_t join(Cutter *cutter, const char *bytes, size_t take, bool ends, CutterPart *ret) {
        if (!hold(cutter, bytes, take - ends)) {
                *ret = part(cutter, bytes, take - ends, !ends);
                return take;
        }
        if (ends)
                *ret = show_held(cutter, cutter->length, false);
        return take;
}

/* There is more than one part can take: what is held and as many of the new bytes as end with a whole character. */
static size_t fill(Cutter *cutter, const char *bytes, CutterPart *ret) {
        size_t fits = cutter->max - cutter->length;

        if (cutter->length == 0 || !hold(cutter, bytes, fits)) {
                size_t cut = utf8_cut(bytes, fits, fits - 1);
                *ret = part(cutter, bytes, cut > 0 ? cut : fits, true);
                return ret->length;
        }
        *ret = show_held(cutter, utf8_cut(cutter->held, cutter->max, cutter->max - 1), true);
        return fits;
}

size_t cutter_take(Cutter *cutter, const char *bytes, size_t length, CutterPart *ret) {
        *ret = (CutterPart){ 0 };
        forget_shown(cutter);
        size_t fits = cutter->max - cutter->length;
        const char *newline = memchr(bytes, '\n', length <= fits ? length : fits + 1);
        size_t take = newline ? (size_t)(newline - bytes) + 1 : length;

        if (take - (newline != NULL) > fits || (!newline && take == fits))
                return fill(cutter, bytes, ret);
        if (newline && cutter->length == 0) {
                *ret = part(cutter, bytes, take - 1, false);
                return take;
        }
        return join(cutter, bytes, take, newline != NULL, ret);
}

CutterPart cutter_rest(Cutter *cutter) {
        forget_shown(cutter);
        if (cutter->length > 0)
                return show_held(cutter, cutter->length, false);
        /* The line was cut just where the stream ends: its end is still to be said. */
        return cutter->inside ? part(cutter, "", 0, false) : (CutterPart){ 0 };
}
