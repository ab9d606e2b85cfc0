/* entry.h - writes one line of a service as people or programs shall read it: with a name before it, or as JSON.
 *
 * Pure. What is written is at most ENTRY_MAX bytes with its newline, which is what a pipe takes whole or not at all
 * (PIPE_BUF), so that entries of several writers never mix. A text that is longer becomes several entries, marked. */
#pragma once
#include "base/usec.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ENTRY_MAX      4096
#define ENTRY_NAME_MAX 41 /* of a service or a hook, with its NUL */

/* Whose output it is. */
typedef struct EntrySource {
        char service[ENTRY_NAME_MAX], hook[ENTRY_NAME_MAX]; /* hook "": the service itself */
        unsigned instance;
        bool is_one_of_many; /* the instance is worth naming */
        int pid;             /* of the run's main process, which may have written it or not; 0: unknown */
        bool is_stderr;
} EntrySource;

typedef struct Entry {
        const EntrySource *source;
        usec_t wall; /* when it was read */
        const char *text;
        size_t length;
        bool continues; /* the entry before it */
        bool goes_on;   /* in the next one */
} Entry;

/* {"time":…,"service":…,"instance":…,"pid":…,"stream":"stdout","line":…}, and "hook" where it is one, and
 * "partial":true where the line goes on. Bytes that are no UTF-8 become U+FFFD. How many bytes of the text are in it;
 * fewer than all of them: the rest belongs into the next one. */
size_t entry_write_json(const Entry *entry, char ret_text[static ENTRY_MAX], size_t *ret_length);
/* `web@2 | text`, and `web@2 + text` where it continues the entry before. The bytes stay as they are. */
size_t entry_write_prefix(const Entry *entry, bool colour, char ret_text[static ENTRY_MAX], size_t *ret_length);
