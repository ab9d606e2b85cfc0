/* laws_internal.h - what the files of the laws share. */
#pragma once
#include "tests/sim/laws.h"

#ifndef SIM_CROWDED
#define SIM_CROWDED 0
#endif

const ServiceConfig *laws_service(const Laws *laws, uint32_t member);
bool laws_is_resting(const Laws *laws, uint32_t member); /* by the crew's own word */
bool laws_is_given_up(const Laws *laws, const Process *process);
bool laws_is_development(const Laws *laws);
void laws_check_hooks_ran(Laws *laws);
void laws_on_hook_refused(Laws *laws, uint32_t member, const Event *event);
