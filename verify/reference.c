/* reference.c - see reference.h. */
#include "verify/reference.h"
#include "base/take.h"
#include "verify/wording.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Beyond it rows are put side by side as they stand: trying all pairs would take hours. */
#define ROWS_WITH_NOISE_MAX 4096

static bool is_unordered(ItemKind kind) {
        return kind == ITEM_TABLE || kind == ITEM_REQUESTS || kind == ITEM_CATALOGUE;
}

/* ---- Two runs side by side ---- */

/* Lines that are equal first, then lines that can be put side by side, then whatever is left. */
static int find_partner(const Item *one, const Item *other, size_t line, const bool *taken, int pass, StampSpan span) {
        for (size_t i = 0; i < other->n_lines; i++) {
                if (taken[i])
                        continue;
                MaskFit fit = mask_of(one->lines[line], other->lines[i], span);
                if (fit == MASK_SAME || (pass == 1 && fit == MASK_FITS))
                        return (int)i;
        }
        return -1;
}

static int pair_lines(const Item *one, const Item *other, size_t **ret_partners, StampSpan span) {
        _cleanup_(freep) size_t *partners = calloc(one->n_lines + 1, sizeof *partners);
        _cleanup_(freep) bool *taken = calloc(one->n_lines + 1, sizeof *taken);
        _cleanup_(freep) bool *done = calloc(one->n_lines + 1, sizeof *done);

        if (!partners || !taken || !done)
                return -ENOMEM;
        for (size_t i = 0; i < one->n_lines; i++)
                partners[i] = i;
        for (int pass = 0; pass < 2 && one->n_lines <= ROWS_WITH_NOISE_MAX; pass++)
                for (size_t i = 0; i < one->n_lines; i++) {
                        int partner = done[i] ? -1 : find_partner(one, other, i, taken, pass, span);
                        if (partner < 0)
                                continue;
                        partners[i] = (size_t)partner;
                        taken[partner] = done[i] = true;
                }
        *ret_partners = TAKE(partners);
        return 0;
}

static size_t partner_of(const ReferencePair *pair, size_t line) {
        return pair->partners ? pair->partners[line] : line;
}

static void calibrate_pair(Reference *reference, const ReferencePair *pair, StampSpan span) {
        const Item *one = pair->one, *other = pair->other;

        if (one->kind != other->kind || one->n_lines != other->n_lines ||
            mask_of(one->attributes, other->attributes, span) != MASK_SAME) {
                wording_of_items(one, other, &reference->unstable);
                return;
        }
        for (size_t i = 0; i < one->n_lines; i++) {
                const char *line = other->lines[partner_of(pair, i)];
                MaskFit fit = one->kind == ITEM_BINARY && strcmp(one->lines[i], line) != 0
                                      ? MASK_DIFFERS
                                      : mask_of(one->lines[i], line, span);
                if (fit == MASK_DIFFERS)
                        wording_of_line(one, i, line, &reference->unstable);
                else if (strcmp(one->lines[i], line) != 0)
                        differences_say(&reference->masks, "%s %s %zu: what differs between two single runs", one->key,
                                        wording_unit(one->kind), i + 1);
        }
}

static const Item *find_random_partner(const Item *one, const State *first, const State *second, const bool *taken) {
        for (size_t i = 0; i < second->n_items; i++) {
                const Item *other = &second->items[i];
                if (!taken[i] && other->kind == one->kind && !state_find(first, other->key) &&
                    mask_is_same_name(one->key, other->key))
                        return other;
        }
        return NULL;
}

static int add_pair(Reference *reference, const Item *one, const Item *other, StampSpan span) {
        ReferencePair *pair = &reference->pairs[reference->n_pairs++];

        *pair = (ReferencePair){ .one = one, .other = other };
        if (!other) {
                differences_say(&reference->unstable, "%s: only one of two single runs left it", one->key);
                return 0;
        }
        if (strcmp(one->key, other->key) != 0)
                differences_say(&reference->masks, "%s: a random name, in the other single run it was %s", one->key,
                                other->key);
        if (is_unordered(one->kind) && one->n_lines == other->n_lines) {
                int r = pair_lines(one, other, &pair->partners, span);
                if (r < 0)
                        return r;
        }
        calibrate_pair(reference, pair, span);
        return 0;
}

int reference_init(Reference *reference, const State *one, const State *other, StampSpan span) {
        _cleanup_(freep) bool *taken = calloc(other->n_items + 1, sizeof *taken);

        *reference = (Reference){ .pairs = calloc(one->n_items + 1, sizeof *reference->pairs) };
        if (!taken || !reference->pairs)
                return -ENOMEM;
        for (size_t i = 0; i < one->n_items; i++) {
                const Item *item = &one->items[i], *partner = state_find(other, item->key);
                if (!partner)
                        partner = find_random_partner(item, one, other, taken);
                if (partner)
                        taken[partner - other->items] = true;
                int r = add_pair(reference, item, partner, span);
                if (r < 0)
                        return r;
        }
        for (size_t i = 0; i < other->n_items; i++)
                if (!taken[i])
                        differences_say(&reference->unstable, "%s: only one of two single runs left it",
                                        other->items[i].key);
        return reference->masks.failed || reference->unstable.failed ? -ENOMEM : 0;
}

void reference_done(Reference *reference) {
        for (size_t i = 0; i < reference->n_pairs; i++)
                free(reference->pairs[i].partners);
        free(reference->pairs);
        differences_done(&reference->masks);
        differences_done(&reference->unstable);
        *reference = (Reference){ 0 };
}

/* ---- A third one beside them ---- */

static MaskFit fit_line(const ReferencePair *pair, size_t i, const char *line, StampSpan span) {
        return mask_fit(pair->one->lines[i], pair->other->lines[partner_of(pair, i)], line, span);
}

static void compare_ordered(const ReferencePair *pair, const Item *item, StampSpan span, Differences *ret) {
        for (size_t i = 0; i < item->n_lines; i++)
                if (fit_line(pair, i, item->lines[i], span) == MASK_DIFFERS)
                        wording_of_line(pair->one, i, item->lines[i], ret);
}

static bool take_fitting_row(const ReferencePair *pair, const char *row, bool *taken, MaskFit worst, StampSpan span) {
        for (size_t i = 0; i < pair->one->n_lines; i++) {
                MaskFit fit = taken[i] ? MASK_DIFFERS : fit_line(pair, i, row, span);
                if (fit == MASK_SAME || (fit == MASK_FITS && worst == MASK_FITS)) {
                        taken[i] = true;
                        return true;
                }
        }
        return false;
}

/* Rows that fit with no mask take their places first, so that a mask never takes the place of a row that needs it. */
static void compare_unordered(const ReferencePair *pair, const Item *item, StampSpan span, Differences *ret) {
        _cleanup_(freep) bool *taken = calloc(item->n_lines + 1, sizeof *taken);
        _cleanup_(freep) bool *placed = calloc(item->n_lines + 1, sizeof *placed);

        if (!taken || !placed) {
                ret->failed = true;
                return;
        }
        for (int pass = 0; pass < 2; pass++)
                for (size_t i = 0; i < item->n_lines; i++)
                        if (!placed[i])
                                placed[i] = take_fitting_row(pair, item->lines[i], taken,
                                                             pass == 0 ? MASK_SAME : MASK_FITS, span);
        for (size_t i = 0, free_row = 0; i < item->n_lines; i++) {
                if (placed[i])
                        continue;
                while (taken[free_row])
                        free_row++;
                wording_of_line(pair->one, free_row++, item->lines[i], ret);
        }
}

static void compare_items(const ReferencePair *pair, const Item *item, StampSpan span, Differences *ret) {
        const Item *one = pair->one;

        if (one->kind != item->kind || one->n_lines != item->n_lines ||
            mask_fit(one->attributes, pair->other->attributes, item->attributes, span) == MASK_DIFFERS)
                wording_of_items(one, item, ret);
        else if (is_unordered(one->kind))
                compare_unordered(pair, item, span, ret);
        else
                compare_ordered(pair, item, span, ret);
}

/* Of the files that may be the random one: the one whose content fits, else the first. */
static size_t find_random(const ReferencePair *pair, const State *state, const bool *taken, StampSpan span) {
        size_t found = state->n_items;

        for (size_t i = 0; i < state->n_items; i++) {
                const Item *item = &state->items[i];
                if (taken[i] || !mask_admits_name(pair->one->key, pair->other->key, item->key))
                        continue;
                Differences differences = { 0 };
                compare_items(pair, item, span, &differences);
                bool fits = differences_are_none(&differences);
                differences_done(&differences);
                if (fits)
                        return i;
                if (found == state->n_items)
                        found = i;
        }
        return found;
}

static size_t index_of(const State *state, const Item *item) {
        return item ? (size_t)(item - state->items) : state->n_items;
}

void reference_compare(const Reference *reference, const State *state, StampSpan span, Differences *ret) {
        _cleanup_(freep) bool *taken = calloc(state->n_items + 1, sizeof *taken);

        if (!taken) {
                ret->failed = true;
                return;
        }
        for (size_t i = 0; i < reference->n_pairs; i++) {
                const ReferencePair *pair = &reference->pairs[i];
                if (!pair->other)
                        continue;
                size_t at = strcmp(pair->one->key, pair->other->key) == 0
                                    ? index_of(state, state_find(state, pair->one->key))
                                    : find_random(pair, state, taken, span);
                if (at == state->n_items) {
                        wording_of_missing(pair->one, ret);
                        continue;
                }
                taken[at] = true;
                compare_items(pair, &state->items[at], span, ret);
        }
        for (size_t i = 0; i < state->n_items; i++)
                if (!taken[i])
                        wording_of_extra(&state->items[i], ret);
}

void reference_compare_text(const char *what, const char *one, const char *other, const char *text, StampSpan span,
                            Differences *ret) {
        if (mask_fit(one, other, text, span) == MASK_DIFFERS)
                wording_of_text(what, one, text, ret);
}
