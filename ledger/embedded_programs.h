/* embedded_programs.h - finds the PostgreSQL that an embedded database shall be run by; for embedded_*.c only. */
#pragma once
#include <limits.h>

#define EMBEDDED_OLDEST 13 /* contracts/ledger.md */

typedef struct EmbeddedPrograms {
        unsigned version; /* major */
        char postgres[PATH_MAX], initdb[PATH_MAX];
} EmbeddedPrograms;

/* "postgres (PostgreSQL) 15.20 (Debian 15.20-0+deb12u1)": 15; 0 when it says none. Pure. */
unsigned embedded_version_of(const char *text);

/* Of that major version; 0: the newest, if it is not too old. Where PATH and the usual folders have the same one, PATH
 * wins. 0; -ENOENT: there is none, and then `ret_known` names those there are ("14, 16"; "" when there are none). */
int embedded_find_programs(unsigned version, EmbeddedPrograms *ret, char *ret_known, unsigned size);
