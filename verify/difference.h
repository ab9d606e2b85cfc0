/* difference.h - what is different between two ends of a hook, as sentences.
 *
 * Pure but for malloc. Files that only one of the two has, and that the reference has not, stand apart: after a crash
 * they may be litter. An out of memory is remembered in `failed`, so that a list which lost a sentence is never taken
 * for an empty one. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

typedef struct Differences { /* all zero: none */
        char **sentences;
        size_t n_sentences;
        char **extras; /* keys of files that are there in addition */
        size_t n_extras;
        bool failed;
} Differences;

void differences_done(Differences *differences);
void differences_say(Differences *differences, const char *format, ...) __attribute__((format(printf, 2, 3)));
void differences_add_extra(Differences *differences, const char *key);
static inline bool differences_are_none(const Differences *differences) {
        return differences->n_sentences == 0 && differences->n_extras == 0 && !differences->failed;
}
/* Two trials that were alike left these: is all that differs a file whose name is another one each time, or one that
 * `globs` (NULL-terminated, or NULL) allow? */
bool differences_are_litter(const Differences *once, const Differences *again, char *const *globs);
