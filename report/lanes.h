/* lanes.h - which lanes the picture has: one an instance while that can be read, else counts by service.
 *
 * Pure but for memory. However many processes there are, the lanes are few enough to be looked at; whoever was killed,
 * given up or crashed keeps a lane of its own. */
#pragma once
#include "report/story.h"

typedef enum LaneKind {
        LANE_ENDWELL,
        LANE_PHASE,
        LANE_HEADING, /* before those who were not asked in the ending */
        LANE_MEMBER,
        LANE_COUNT, /* several members as one */
        LANE_HOOK,
        LANE_ORPHANS,
        _LANE_KIND_MAX,
} LaneKind;

const char *lane_kind_to_string(LaneKind kind);
int lane_kind_from_string(const char *text);

typedef struct Lane {
        LaneKind kind;
        int phase;           /* in which it stands; STORY_NO_PHASE */
        size_t first, n;     /* in Lanes.order; of a hook or phase: its number in the story */
        const char *service; /* of a count: whose, or NULL when it is of several services */
        size_t n_hidden;     /* of a count: those who would have deserved a lane of their own and have none */
} Lane;

typedef struct Lanes {
        Lane *items;
        size_t n;
        size_t *order; /* members by phase, service, instance */
} Lanes;

#define LANES_MEMBERS_MOST 60 /* with more the members of a service become one lane, then those of a phase */
#define LANES_TOGETHER     8  /* instances of one service: more are one lane, however few there are in all */
#define LANES_APART_MOST   6  /* lanes of their own for whom a count would hide */
#define LANES_HOOKS_MOST   40

int lanes_make(const Story *story, Lanes *ret); /* 0 or -ENOMEM */
void lanes_done(Lanes *lanes);
/* It was killed, given up, or ended badly without being asked. */
bool lanes_stands_out(const StoryMember *member);
