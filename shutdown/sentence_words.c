/* sentence_words.c - words of the journal that a person reads better as more than one. */
#include "base/take.h"
#include "shutdown/sentence_internal.h"
#include <string.h>

const char *sentence_words(const char *word) {
        static const struct {
                char word[16], words[40]; /* the letters and not pointers: nothing for the dynamic linker to write */
        } known[] = {
                /* what a signal did */
                { "ending_begins", "the ending begins" },
                { "ends_fast", "the ending becomes a fast one" },
                { "recorded", "recorded, and changes nothing" },
                { "passed_on", "passed on" },
                { "reopen", "the files are opened anew" },
                /* why somebody was killed */
                { "phase_limit", "at the limit of its phase" },
                { "stop_timeout", "it did not stop in time" },
                { "start_timeout", "not ready within its TimeoutStartSec" },
                { "deadline", "at the deadline" },
                { "fast", "in a fast ending" },
                { "drained", "it had drained" },
                { "died", "its main process had died" },
                { "startup", "its start-up probe failed" },
                { "liveness", "its liveness probe failed" },
                { "watchdog", "its watchdog expired" },
                /* why a hook did not run */
                { "already_ran", "it has run already" },
                { "no_time", "no time is left" },
                { "never_ready", "its service was never ready" },
                /* why the ending began */
                { "essential", "an essential service failed for good" },
                { "start_failed", "the start failed" },
                { "finished", "nothing is left to run" },
        };

        for (size_t i = 0; word && i < LENGTH_OF(known); i++)
                if (strcmp(known[i].word, word) == 0)
                        return known[i].words;
        return word ? word : "?";
}
