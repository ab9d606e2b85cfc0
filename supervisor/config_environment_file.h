/* config_environment_file.h - reads the text of an EnvironmentFile, as systemd does but strictly; for config_*.c only.
 *
 * Pure but for malloc. NAME=VALUE lines; # and ; begin a comment; 'single' and "double" quotes, in which lines may end;
 * a backslash before the end of a line goes on in the next. What it says of a line never holds a letter of it: values
 * are secrets. Source: systemd.exec(5), EnvironmentFile=. */
#pragma once
#include <stddef.h>

#define ENVIRONMENT_ASSIGNMENT_MAX 131071 /* MAX_ARG_STRLEN of the kernel, with the NUL: exec refuses more */

typedef struct EnvironmentSink {
        int (*assign)(void *userdata, const char *assignment); /* "NAME=VALUE"; a negative answer ends the reading */
        void (*refuse)(void *userdata, unsigned line, const char *sentence);
        void *userdata;
} EnvironmentSink;

/* Every good assignment in its order, and a sentence for each that is not. 0, -ENOMEM, or what assign() said. */
int environment_file_parse(const char *text, size_t length, const EnvironmentSink *sink);
