/* plan.h - shows how a configuration would start and end: for people, and as JSON.
 *
 * Only reads the configuration; decides nothing. */
#pragma once
#include "base/complaints.h"
#include "supervisor/config.h"
#include <stdio.h>

/* The start plan, the stop plan, and the arithmetic of the budget. 0 or -ENOMEM; what `out` did with it is in ferror().
 */
int plan_print(const Config *config, FILE *out);

/* One JSON value and a newline: {"errors":[{file,line,message}],"warnings":[…],"plan":{…}}; `config` NULL: the plan is
 * null. Times end in _us; null stands for what has no limit of its own. 0 or -ENOMEM. */
int plan_print_json(const Config *config, const Complaints *complaints, FILE *out);

/* Descriptors that PID 1 would hold at once, at worst; and those of them that services may store. */
unsigned long plan_descriptors(const Config *config);
unsigned long plan_stored_descriptors(const Config *config);

/* Services by phase, then depth of their After chain, then as in the file: the order of the start within each phase,
 * and reversed that of the stop. free() it. 0 or -ENOMEM. */
int plan_order(const Config *config, uint16_t **ret_services);
