/* sentence.h - an event as a sentence for people, and how loud it is.
 *
 * Pure. The same words in the log of PID 1, in `endwell events` and in a report: names, not numbers, in the past tense.
 */
#pragma once
#include "base/log.h"
#include "shutdown/event.h"
#include <stddef.h>

#define SENTENCE_MAX 512

LogLevel sentence_level(const Event *event);
/* Returns `ret_text`. */
const char *sentence_write(const Event *event, char ret_text[static SENTENCE_MAX]);
