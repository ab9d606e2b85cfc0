/* difference.c - see difference.h. */
#include "verify/difference.h"
#include "verify/texts.h"
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void differences_say(Differences *differences, const char *format, ...) {
        va_list args;
        char *text;

        va_start(args, format);
        if (vasprintf(&text, format, args) < 0)
                text = NULL;
        va_end(args);
        if (texts_add(&differences->sentences, &differences->n_sentences, text) < 0)
                differences->failed = true;
}

void differences_add_extra(Differences *differences, const char *key) {
        if (texts_add(&differences->extras, &differences->n_extras, strdup(key)) < 0)
                differences->failed = true;
}

void differences_done(Differences *differences) {
        texts_free(differences->sentences);
        texts_free(differences->extras);
        *differences = (Differences){ 0 };
}

static bool has_extra(const Differences *differences, const char *key) {
        for (size_t i = 0; i < differences->n_extras; i++)
                if (strcmp(differences->extras[i], key) == 0)
                        return true;
        return false;
}

static bool is_allowed(const char *key, char *const *globs) {
        for (; globs && *globs; globs++)
                if (fnmatch(*globs, key, FNM_PATHNAME) == 0)
                        return true;
        return false;
}

static bool extras_are_random(const Differences *these, const Differences *those, char *const *globs) {
        for (size_t i = 0; i < these->n_extras; i++)
                if (has_extra(those, these->extras[i]) && !is_allowed(these->extras[i], globs))
                        return false;
        return true;
}

bool differences_are_litter(const Differences *once, const Differences *again, char *const *globs) {
        if (once->failed || again->failed || once->n_sentences > 0 || again->n_sentences > 0 || once->n_extras == 0)
                return false;
        return extras_are_random(once, again, globs) && extras_are_random(again, once, globs);
}
