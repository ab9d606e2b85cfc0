/* words.h - what became of an instance, a hook, a phase, a whole run, in a few words.
 *
 * Pure. The picture, the tables and the text say it in the same words. */
#pragma once
#include "report/story.h"

#define WORDS_MAX 256

typedef enum Tone { TONE_PLAIN, TONE_GOOD, TONE_WARNING, TONE_BAD, _TONE_MAX } Tone;
const char *tone_to_string(Tone tone);
int tone_from_string(const char *text);

/* Each returns `ret`. */
const char *words_member_name(const StoryMember *member, char ret[static WORDS_MAX]); /* "web", "worker@3" */
const char *words_member(const StoryMember *member, char ret[static WORDS_MAX], Tone *ret_tone);
const char *words_hook(const StoryHook *hook, char ret[static WORDS_MAX], Tone *ret_tone);
const char *words_phase(const StoryPhase *phase, char ret[static WORDS_MAX], Tone *ret_tone);
/* "exit 0", and the sentence of it: why, how long it took, how much of the grace was left. */
const char *words_code(const Story *story, char ret[static WORDS_MAX], Tone *ret_tone);
const char *words_sentence(const Story *story, char ret[static WORDS_MAX]);
const char *words_cause(const Story *story, char ret[static WORDS_MAX]);
const char *words_span(usec_t from, usec_t to, char ret[static WORDS_MAX]); /* "" if either never came */
