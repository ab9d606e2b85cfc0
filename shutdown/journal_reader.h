/* journal_reader.h - reads a line of the journal back into an Event, with jansson.
 *
 * Fields and events that this version does not know are passed over, so that a newer journal can still be judged. */
#pragma once
#include "shutdown/event.h"
#include "shutdown/sentence.h"
#include <jansson.h>
#include <stddef.h>

typedef struct EventLine {
        Event event; /* its texts live as long as the line */
        json_t *root;
        char *lists; /* the lists, joined again */
} EventLine;

/* 0; -EBADMSG: not a whole journal line (a torn last one); -EOPNOTSUPP: an event of another version; -ENOMEM. */
int event_line_read(const char *line, size_t length, EventLine *ret);
void event_line_done(EventLine *line);

/* The sentence of a line, as PID 1's log has it; an event of another version is shown as its line. `instances`: how
 * many each service has, {"web":1}, so that a single one is not numbered; NULL: not known. Returns `ret_text`;
 * `ret_level` may be NULL. */
const char *event_line_sentence(const char *text, size_t length, const json_t *instances,
                                char ret_text[static SENTENCE_MAX], LogLevel *ret_level);
