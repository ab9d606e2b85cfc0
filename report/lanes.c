/* lanes.c - see lanes.h. */
#include "report/lanes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/take.h"
#include "report/words.h"

static const char *const kind_words[_LANE_KIND_MAX] = {
        [LANE_ENDWELL] = "endwell", [LANE_PHASE] = "phase", [LANE_HEADING] = "heading", [LANE_MEMBER] = "member",
        [LANE_COUNT] = "count",     [LANE_HOOK] = "hook",   [LANE_ORPHANS] = "orphans",
};
ENUMERATION(lane_kind, LaneKind, kind_words)

typedef enum Fold {
        FOLD_NONE,
        FOLD_SERVICES, /* a service is one lane */
        FOLD_PHASES,   /* a phase is one lane */
} Fold;

bool lanes_stands_out(const StoryMember *member) {
        char words[WORDS_MAX];
        Tone tone;
        words_member(member, words, &tone);
        return tone == TONE_BAD || tone == TONE_WARNING;
}

/* Phases as they ended, and last whoever was in none; services as they first appeared. */
static int compare(const void *a, const void *b, void *userdata) {
        const Story *story = userdata;
        const StoryMember *one = &story->members[*(const size_t *)a], *other = &story->members[*(const size_t *)b];
        unsigned phase = (unsigned)one->phase, other_phase = (unsigned)other->phase;
        if (phase != other_phase)
                return phase < other_phase ? -1 : 1;
        size_t first = cast_find(&story->cast, one->service, 1),
               other_first = cast_find(&story->cast, other->service, 1);
        if (first != other_first)
                return first < other_first ? -1 : 1;
        int order = strcmp(one->service, other->service);
        return order ? order : (one->instance > other->instance) - (one->instance < other->instance);
}

typedef struct Making {
        const Story *story;
        Lanes *lanes;
} Making;

static const StoryMember *member_at(const Making *making, size_t place) {
        return &making->story->members[making->lanes->order[place]];
}

/* The end of those who are of one phase, or of one service in it, from `first` on. */
static size_t end_of(const Making *making, size_t first, bool by_service) {
        size_t end = first + 1;
        const StoryMember *one = member_at(making, first);
        for (; end < making->story->n_members; end++) {
                const StoryMember *other = member_at(making, end);
                if (other->phase != one->phase || (by_service && strcmp(other->service, one->service) != 0))
                        break;
        }
        return end;
}

static bool is_together(Fold fold, size_t n) {
        return n > 1 && (fold != FOLD_NONE || n > LANES_TOGETHER);
}

/* How many lanes the members would get. */
static size_t count_lanes(const Making *making, Fold fold) {
        size_t n = 0;
        for (size_t i = 0, end; i < making->story->n_members; i = end) {
                end = end_of(making, i, fold != FOLD_PHASES);
                n += is_together(fold, end - i) ? 1 : end - i;
        }
        return n;
}

static void put(Making *making, Lane lane) {
        making->lanes->items[making->lanes->n++] = lane;
}

static void put_count(Making *making, size_t first, size_t end, Fold fold) {
        const StoryMember *one = member_at(making, first);
        size_t apart = 0;
        Lane *lane = &making->lanes->items[making->lanes->n];
        put(making, (Lane){ LANE_COUNT, one->phase, first, end - first, fold == FOLD_PHASES ? NULL : one->service, 0 });
        for (size_t i = first; i < end; i++)
                if (lanes_stands_out(member_at(making, i))) {
                        if (apart++ < LANES_APART_MOST)
                                put(making, (Lane){ LANE_MEMBER, one->phase, i, 1, NULL, 0 });
                        else
                                lane->n_hidden++;
                }
}

static void put_members(Making *making, int phase, Fold fold, size_t *place) {
        while (*place < making->story->n_members && member_at(making, *place)->phase == phase) {
                size_t end = end_of(making, *place, fold != FOLD_PHASES);
                if (is_together(fold, end - *place))
                        put_count(making, *place, end, fold);
                else
                        for (size_t i = *place; i < end; i++)
                                put(making, (Lane){ LANE_MEMBER, phase, i, 1, NULL, 0 });
                *place = end;
        }
}

static void put_hooks(Making *making, int phase, size_t *left) {
        for (size_t i = 0; i<making->story->n_hooks && * left> 0; i++)
                if (making->story->hooks[i].phase == phase) {
                        put(making, (Lane){ LANE_HOOK, phase, i, 1, NULL, 0 });
                        (*left)--;
                }
}

static void put_all(Making *making, Fold fold) {
        const Story *story = making->story;
        size_t place = 0, hooks = LANES_HOOKS_MOST;
        put(making, (Lane){ LANE_ENDWELL, STORY_NO_PHASE, 0, 0, NULL, 0 });
        for (size_t i = 0; i < story->n_phases; i++) {
                put(making, (Lane){ LANE_PHASE, (int)i, i, 1, NULL, 0 });
                put_hooks(making, (int)i, &hooks);
                put_members(making, (int)i, fold, &place);
        }
        if (place < story->n_members)
                put(making, (Lane){ LANE_HEADING, STORY_NO_PHASE, 0, 0, NULL, 0 });
        put_members(making, STORY_NO_PHASE, fold, &place);
        put_hooks(making, STORY_NO_PHASE, &hooks);
        if (story->n_orphans > 0)
                put(making, (Lane){ LANE_ORPHANS, STORY_NO_PHASE, 0, story->n_orphans, NULL, 0 });
}

int lanes_make(const Story *story, Lanes *ret) {
        _cleanup_(lanes_done) Lanes lanes = { 0 };
        Making making = { story, &lanes };
        size_t most = 2 * story->n_members + story->n_phases + story->n_hooks + 4;

        lanes.order = calloc(story->n_members + 1, sizeof *lanes.order);
        lanes.items = calloc(most, sizeof *lanes.items);
        if (!lanes.order || !lanes.items)
                return -ENOMEM;
        for (size_t i = 0; i < story->n_members; i++)
                lanes.order[i] = i;
        if (story->n_members > 0)
                qsort_r(lanes.order, story->n_members, sizeof *lanes.order, compare, (void *)story);
        Fold fold = FOLD_NONE;
        while (fold < FOLD_PHASES && count_lanes(&making, fold) > LANES_MEMBERS_MOST)
                fold++;
        put_all(&making, fold);
        *ret = lanes;
        lanes = (Lanes){ 0 };
        return 0;
}

void lanes_done(Lanes *lanes) {
        free(lanes->items);
        free(lanes->order);
        *lanes = (Lanes){ 0 };
}
