/* config_program.h - reads commands, and says where their program is; for config_*.c only. */
#pragma once
#include "supervisor/config_reading.h"

/* Packed words of the command; with `shell` /bin/sh -c TEXT. NULL after a complaint. */
char **program_read(Reading *reading, const Setting *setting, bool shell);

/* Where a child would look. */
typedef struct ProgramPlace {
        char *const *environment;       /* of the configuration; NULL: none */
        const Inheritance *inheritance; /* of endwell's own; NULL: all of it */
        const char *directory;          /* NULL: endwell's own */
} ProgramPlace;

/* 0: `program` can be executed there; else -ENOENT or -EACCES; or -ENOMEM. */
int program_find(const char *program, const ProgramPlace *place);

/* Where a program that program_find() has found is, for whoever wants to read it. 0 and a path to be freed; or -ENOENT,
 * -EACCES, -ENOMEM. */
int program_path(const char *program, const ProgramPlace *place, char **ret);
