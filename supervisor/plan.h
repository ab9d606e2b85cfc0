/* plan.h - shows how a configuration would start and end: for people, and as JSON.
 *
 * Only reads the configuration; decides nothing. */
#pragma once
#include "base/complaints.h"
#include "base/json.h"
#include "supervisor/config.h"
#include "supervisor/platform.h"
#include <stdio.h>

/* The start plan, the stop plan, and the arithmetic of the budget. 0 or -ENOMEM; what `out` did with it is in ferror().
 */
int plan_print(const Config *config, FILE *out);

/* One JSON value and a newline: {"errors":[{file,line,message}],"warnings":[…],"plan":{…},"platform":{…}}; `config`
 * NULL: the plan is null, and so is a `platform` that was not asked for. Times end in _us; null stands for what has no
 * limit of its own. 0 or -ENOMEM. */
int plan_print_json(const Config *config, const PlatformFacts *platform, const Complaints *complaints, FILE *out);

/* What is wrong with the plan on this platform (NULL: on any), with the lines that say so. */
void plan_judge(const Config *config, const PlatformFacts *platform, Complaints *complaints);
/* What the platform will do to the plan, step by step. */
void plan_print_platform(const Config *config, const PlatformFacts *platform, FILE *out);
/* null for what has no limit of its own. */
void plan_put_span(Json *json, const char *key, usec_t span);
void plan_put_platform(Json *json, const Config *config, const PlatformFacts *platform);

/* Descriptors that PID 1 would hold at once, at worst; and those of them that services may store. */
unsigned long plan_descriptors(const Config *config);
unsigned long plan_stored_descriptors(const Config *config);

/* Services by phase, then depth of their After chain, then as in the file: the order of the start within each phase,
 * and reversed that of the stop. free() it. 0 or -ENOMEM. */
int plan_order(const Config *config, uint16_t **ret_services);
