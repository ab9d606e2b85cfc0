/* config_capabilities.h - the names of capabilities, and lists of them as systemd writes them; for config_*.c and
 * plan_*.c.
 *
 * Pure but for malloc. Source: capabilities(7), systemd.exec(5). */
#pragma once
#include "supervisor/config_problem.h"
#include <stdbool.h>
#include <stdint.h>

#define CAPABILITIES_ALL UINT64_MAX
#define CAPABILITY(n)    (UINT64_C(1) << (n))

const char *capability_name(unsigned number); /* "CAP_KILL"; NULL: there is none */

/* Puts one line of CapabilityBoundingSet= or AmbientCapabilities= on top of *set. The first line, when *given is not
 * yet set, is the set, or with ~ all but that; later ones add, or with ~ take away. An empty line leaves none, a single
 * ~ all. 0, -EINVAL, -ENOMEM. */
int capabilities_read(const char *text, bool *given, uint64_t *set, Problem *problem);

#define CAPABILITIES_TEXT_MAX 1400
/* "CAP_KILL CAP_SETUID", "all but CAP_SYS_ADMIN", "none"; the shorter way. Returns `ret_text`. */
const char *capabilities_format(uint64_t set, char ret_text[static CAPABILITIES_TEXT_MAX]);
