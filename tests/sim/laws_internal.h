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
void laws_check_steered_start(Laws *laws, uint32_t member);
void laws_check_steered_stop(Laws *laws, uint32_t member, const char *reason);
void laws_check_hooks_before_stop(Laws *laws, uint32_t member, const char *reason);
void laws_check_steering(Laws *laws);
void laws_check_start_order(Laws *laws, uint32_t member); /* its turn has come */
void laws_on_starting(Laws *laws, uint32_t member);
bool laws_must_be_essential(const Laws *laws);
/* Its main process is there for all PID 1 knows, and nobody told it to go. */
bool laws_is_up(const Laws *laws, uint32_t member);
void laws_place_probes(Laws *laws);
void laws_begin_run(Laws *laws, uint32_t member);
void laws_try_ready(Laws *laws, uint32_t member);
bool laws_tells_ready(const Laws *laws, uint32_t member); /* it is ready when it or a probe says so */
bool laws_is_unready(const Laws *laws, uint32_t member);  /* by its probes */
usec_t laws_ready_for(const Laws *laws, uint32_t member);
void laws_check_ill(Laws *laws, uint32_t member, int signal_number, const char *reason);
void laws_on_probe_changed(Laws *laws, uint32_t member, const Event *event);
void laws_check_health(Laws *laws);
void laws_check_checks_ended(Laws *laws);
void laws_check_sockets_before(Laws *laws, uint32_t member, const char *reason);
void laws_on_reload_signal(Laws *laws, uint32_t member, int signal_number);
void laws_check_holds(Laws *laws);
void laws_check_let_go(Laws *laws);
usec_t laws_slack(const Laws *laws); /* how late a timer may be */
void laws_on_hook_refused(Laws *laws, uint32_t member, const Event *event);
