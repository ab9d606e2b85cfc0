/* config_probe.h - reads what a probe looks at and how often: http://…, tcp://…, unix:… or exec:…, then its options;
 * for config_*.c only.
 *
 * Pure but for malloc. An option is a word period=, timeout=, failures=, successes= or delay= at the end of the value;
 * a word of a command that looks like one is written in quotes. */
#pragma once
#include "supervisor/config_problem.h"
#include "supervisor/probe.h"

/* 0, -EINVAL, -ENOMEM. `none` gives PROBE_BY_NONE. On 0 *ret owns its target and command. */
int probe_parse(const char *text, ProbeKind kind, ProbeConfig *ret, Problem *problem);
void probe_config_done(ProbeConfig *probe);

#define SOCKET_PATH_MAX 107 /* unix(7), without the NUL */
