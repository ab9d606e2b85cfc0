/* verb_notify.c - `endwell notify`: the words of sd_notify(3) from a shell, waited for until they were read. */
#include "base/notify_words.h"
#include "base/take.h"
#include "shutdown/verdict.h"
#include "supervisor/notifier.h"
#include "supervisor/verb_usage.h"
#include "supervisor/verbs.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const VerbUsage usage = {
        "notify",
        "usage: endwell notify NAME=VALUE...\n"
        "Tells the supervisor of this service something, and waits until it was read: READY=1, STOPPING=1, "
        "STATUS=TEXT,\n"
        "MAINPID=PID, WATCHDOG=1, WATCHDOG=trigger, WATCHDOG_USEC=N, EXTEND_TIMEOUT_USEC=N, FDSTOREREMOVE=1 with\n"
        "FDNAME=NAME, X_ENDWELL_DRAINED=1, X_ENDWELL_ACTIVE=N (sd_notify(3)).\n",
};

/* What nobody could make sense of would be read, passed over, and taken for said. */
static int check_word(const char *word) {
        NotifyWords words;

        if (!strchr(word, '=') || word[0] == '=')
                return verb_usage_refuse(&usage, "this is not NAME=VALUE: ", word);
        if (strchr(word, '\n'))
                return verb_usage_refuse(&usage, "there is a line break in ", word);
        notify_words_parse(word, strlen(word), &words);
        if (words.bad > 0)
                return verb_usage_refuse(&usage, "this value means nothing: ", word);
        if (words.fdstore)
                return verb_usage_refuse(&usage, "no descriptor can be passed from here, and this stores one: ", word);
        return 0;
}

/* One line a word; a line break in a value would begin another word. */
static int join_words(char **words, int n, char **ret) {
        size_t length = 1;

        for (int i = 0; i < n; i++) {
                int code = check_word(words[i]);
                if (code != 0)
                        return code;
                length += strlen(words[i]) + 1;
        }
        char *text = malloc(length), *at = text;
        if (!text)
                return EXIT_OWN_FAULT;
        for (int i = 0; i < n; i++)
                at = stpcpy(stpcpy(at, words[i]), "\n");
        *at = '\0';
        *ret = text;
        return 0;
}

int verb_notify(int argc, char **argv) {
        _cleanup_(freep) char *text = NULL;
        int first, code = verb_usage_read(&usage, argc, argv, NULL, NULL, &first);

        if (code == 0 && first == argc)
                code = verb_usage_refuse(&usage, "there is nothing to tell", "");
        if (code == 0)
                code = join_words(argv + first, argc - first, &text);
        if (code == 0)
                code = notifier_send(usage.verb, text);
        return code < 0 ? EXIT_CLEAN : code;
}
