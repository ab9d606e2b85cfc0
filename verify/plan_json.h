/* plan_json.h - an order to a keeper, a plan of a run, as JSON and back.
 *
 * The engine, `save` and `is_database` do not travel: who carries the plan out sets them. */
#pragma once
#include "verify/tracer.h"
#include <jansson.h>

/* 0 or -ENOMEM. */
int plan_to_json(const TracerPlan *plan, json_t **ret);

typedef struct PlanRead {
        TracerPlan plan;
        char **first_argv, **first_envp, **second_argv, **second_envp; /* what it points to, and the rest: */
        char *first_directory, *second_directory;
        gid_t *first_groups, *second_groups;
} PlanRead;

/* 0; -EBADMSG: not what plan_to_json() makes; -ENOMEM. */
int plan_from_json(const json_t *value, PlanRead *ret);
void plan_read_done(PlanRead *read);
