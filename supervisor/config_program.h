/* config_program.h - reads commands, and says where their program is; for config_*.c only. */
#pragma once
#include "supervisor/config_reading.h"

/* Packed words of the command; with `shell` /bin/sh -c TEXT. NULL after a complaint. */
char **program_read(Reading *reading, const Setting *setting, bool shell);

/* 0: `program` can be executed by a child with this environment (NULL: endwell's own) in this directory (NULL:
 * endwell's own); else -ENOENT or -EACCES. */
int program_find(const char *program, char *const *environment, const char *directory);
