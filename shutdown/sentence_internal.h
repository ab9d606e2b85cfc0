/* sentence_internal.h - what sentence.c and its words share; for nobody else. */
#pragma once

/* "it did not stop in time" for "stop_timeout"; any other word says itself, and none is "?". */
const char *sentence_words(const char *word);
