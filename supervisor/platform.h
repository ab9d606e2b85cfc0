/* platform.h - what each platform does to a container that shall end, and what that means for a plan.
 *
 * Pure. Knows the platforms' defaults and bounds, never how a container is really set up there: what a setting must be
 * is said, not looked up. Sources: the platforms' own manuals, as of 2026. */
#pragma once
#include "base/usec.h"
#include <stdbool.h>
#include <stddef.h>

typedef enum Platform {
        PLATFORM_KUBERNETES,
        PLATFORM_ECS,
        PLATFORM_DOCKER,
        PLATFORM_CLOUD_RUN,
        PLATFORM_FLY,
        PLATFORM_NOMAD,
        PLATFORM_HEROKU,
        PLATFORM_SYSTEMD,
        _PLATFORM_MAX
} Platform;

const char *platform_to_string(Platform platform);
int platform_from_string(const char *text);
const char *platform_nearest(const char *text); /* the word that was probably meant, or NULL */

typedef struct PlatformFacts {
        const char *name; /* as its makers write it */
        int first_signal;
        const char *signal_setting; /* what makes it another one, the image's STOPSIGNAL for one; NULL: nothing */
        bool takes_stopsignal;      /* the image's STOPSIGNAL does */
        bool late_endpoints;        /* requests go on coming for a while after the signal */
        bool every_process;         /* it goes to every process, not only to the first */
        usec_t grace_usec;          /* until SIGKILL, when nothing is set */
        usec_t most_usec;           /* that can be set; USEC_INFINITY: no bound */
        const char *most_words;     /* where that bound holds; NULL: there is none */
        const char *setting;        /* what sets the grace, with % for whole seconds; NULL: nothing does */
        const char *before;         /* what happens before the signal; NULL: nothing that matters */
        const char *meanwhile;      /* and beside that; NULL: nothing */
        const char *advice;         /* what else its configuration must say; NULL: nothing */
} PlatformFacts;

const PlatformFacts *platform_facts(Platform platform);

#define PLATFORM_TEXT_MAX 480
/* "terminationGracePeriodSeconds: 30" for a grace; "" where nothing sets it. Returns `ret_text`. */
const char *platform_write_setting(const PlatformFacts *facts, usec_t grace_usec,
                                   char ret_text[static PLATFORM_TEXT_MAX]);

/* The figures of a plan. */
typedef struct PlatformPlan {
        usec_t grace_usec, deadline_usec;
        bool deadline_is_given;
        bool serves_http; /* there is a phase http, and it has members */
        usec_t http_delay_usec;
        const char *later;       /* a service that ends by SIGTERM, but not before others are gone; NULL */
        const char *odd_program; /* one whose own images have a STOPSIGNAL that is no end to endwell; NULL */
        int odd_signal;
} PlatformPlan;

typedef enum PlatformTopic {
        PLATFORM_TOPIC_GRACE,
        PLATFORM_TOPIC_DEADLINE,
        PLATFORM_TOPIC_DELAY,
        PLATFORM_TOPIC_ORDER,
        PLATFORM_TOPIC_SIGNAL,
        _PLATFORM_TOPIC_MAX
} PlatformTopic;

typedef struct PlatformFinding {
        PlatformTopic topic;
        bool is_error; /* no setting of the platform can make it good */
        char text[PLATFORM_TEXT_MAX];
} PlatformFinding;

/* At most one finding a topic, in their order; how many. `facts` NULL: only what holds everywhere. */
size_t platform_judge(const PlatformFacts *facts, const PlatformPlan *plan,
                      PlatformFinding ret[static _PLATFORM_TOPIC_MAX]);
