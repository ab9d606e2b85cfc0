/* notify_words.c - reads one sd_notify datagram into a value, by a table of the words it knows. */
#include "base/notify_words.h"
#include "base/names.h"
#include "base/take.h"
#include "base/utf8.h"
#include <errno.h>
#include <limits.h>
#include <string.h>

#define ERRNO_MAX 4095 /* what the kernel can say */

typedef struct Value {
        const char *text; /* not ended by NUL */
        size_t length;
} Value;

static bool value_is(Value value, const char *word) {
        return value.length == strlen(word) && memcmp(value.text, word, value.length) == 0;
}

/* Decimal digits only: no sign, no blanks, no octal. */
static int read_number(Value value, uint64_t max, uint64_t *ret) {
        uint64_t number = 0;

        if (value.length == 0)
                return -EINVAL;
        for (size_t i = 0; i < value.length; i++) {
                char c = value.text[i];
                if (c < '0' || c > '9' || __builtin_mul_overflow(number, 10, &number) ||
                    __builtin_add_overflow(number, (uint64_t)(c - '0'), &number))
                        return -EINVAL;
        }
        if (number > max)
                return -ERANGE;
        *ret = number;
        return 0;
}

static int read_int(Value value, int max, int *ret) {
        uint64_t number;
        int r = read_number(value, (uint64_t)max, &number);
        if (r == 0)
                *ret = (int)number;
        return r;
}

static int read_flag(Value value, bool *ret) {
        if (!value_is(value, "1"))
                return -EINVAL;
        *ret = true;
        return 0;
}

/* 0 means "not said" in NotifyWords, so it cannot be said. */
static int read_span(Value value, usec_t *ret) {
        usec_t span;
        int r = read_number(value, UINT64_MAX, &span);
        if (r < 0 || span == 0)
                return -EINVAL;
        *ret = span;
        return 0;
}

static int on_ready(NotifyWords *words, Value value) {
        return read_flag(value, &words->ready);
}

static int on_reloading(NotifyWords *words, Value value) {
        return read_flag(value, &words->reloading);
}

static int on_stopping(NotifyWords *words, Value value) {
        return read_flag(value, &words->stopping);
}

static int on_barrier(NotifyWords *words, Value value) {
        return read_flag(value, &words->barrier);
}

static int on_fdstore(NotifyWords *words, Value value) {
        return read_flag(value, &words->fdstore);
}

static int on_fdstore_remove(NotifyWords *words, Value value) {
        return read_flag(value, &words->fdstore_remove);
}

/* To be watched is what a stored descriptor is by itself, so the other word changes nothing. */
static int on_fdpoll(NotifyWords *words, Value value) {
        if (!value_is(value, "0"))
                return value_is(value, "1") ? 0 : -EINVAL;
        words->fd_unwatched = true;
        return 0;
}

static int on_drained(NotifyWords *words, Value value) {
        return read_flag(value, &words->drained);
}

static int on_watchdog(NotifyWords *words, Value value) {
        if (!value_is(value, "trigger"))
                return read_flag(value, &words->watchdog);
        words->watchdog_trigger = true;
        return 0;
}

static int on_watchdog_usec(NotifyWords *words, Value value) {
        return read_span(value, &words->watchdog_usec);
}

static int on_extend_timeout_usec(NotifyWords *words, Value value) {
        return read_span(value, &words->extend_timeout_usec);
}

static int on_main_pid(NotifyWords *words, Value value) {
        int pid;
        if (read_int(value, INT_MAX, &pid) < 0 || pid == 0)
                return -EINVAL;
        words->main_pid = pid;
        return 0;
}

static int on_status(NotifyWords *words, Value value) {
        size_t length = utf8_cut(value.text, value.length, NOTIFY_TEXT_MAX - 1);

        memcpy(words->status, value.text, length);
        words->status[length] = '\0';
        utf8_clean(words->status, length);
        words->has_status = true;
        return 0;
}

static int on_errno(NotifyWords *words, Value value) {
        int r = read_int(value, ERRNO_MAX, &words->error_number);
        words->has_errno |= r == 0;
        return r;
}

static int on_exit_status(NotifyWords *words, Value value) {
        int r = read_int(value, 255, &words->exit_status);
        words->has_exit_status |= r == 0;
        return r;
}

/* Descriptor names go into LISTEN_FDNAMES, where a colon parts them: sd_pid_notify_with_fds(3) allows printable ASCII
 * without it. */
static int on_fd_name(NotifyWords *words, Value value) {
        if (value.length == 0 || value.length >= sizeof words->fd_name)
                return -EINVAL;
        for (size_t i = 0; i < value.length; i++)
                if (value.text[i] < ' ' || value.text[i] > '~' || value.text[i] == ':')
                        return -EINVAL;
        memcpy(words->fd_name, value.text, value.length);
        words->fd_name[value.length] = '\0';
        return 0;
}

static int on_active(NotifyWords *words, Value value) {
        uint64_t active;
        int r = read_number(value, UINT_MAX, &active);
        if (r < 0)
                return r;
        words->active = (unsigned)active;
        words->has_active = true;
        return 0;
}

static int on_hook(NotifyWords *words, Value value) {
        char name[NAME_LENGTH_MAX + 1] = "";

        if (value.length >= sizeof name)
                return -EINVAL;
        memcpy(name, value.text, value.length);
        /* A NUL inside would end the copy early and make another name of it. */
        if (strlen(name) != value.length || !name_is_valid(name))
                return -EINVAL;
        memcpy(words->hook, name, sizeof name);
        return 0;
}

static int on_edge(NotifyWords *words, Value value) {
        if (value_is(value, "begin"))
                words->hook_edge = NOTIFY_EDGE_BEGIN;
        else if (value_is(value, "end"))
                words->hook_edge = NOTIFY_EDGE_END;
        else
                return -EINVAL;
        return 0;
}

/* What a hook function returned: unlike an exit status it may be negative. */
static int on_rc(NotifyWords *words, Value value) {
        bool negative = value.length > 0 && value.text[0] == '-';
        Value digits = { value.text + negative, value.length - negative };
        int rc;

        int r = read_int(digits, INT_MAX, &rc);
        if (r < 0)
                return r;
        words->rc = negative ? -rc : rc;
        words->has_rc = true;
        return 0;
}

static const struct {
        const char *key;
        int (*read)(NotifyWords *words, Value value);
} known[] = {
        { "READY", on_ready },
        { "RELOADING", on_reloading },
        { "STOPPING", on_stopping },
        { "STATUS", on_status },
        { "ERRNO", on_errno },
        { "MAINPID", on_main_pid },
        { "WATCHDOG", on_watchdog },
        { "WATCHDOG_USEC", on_watchdog_usec },
        { "EXTEND_TIMEOUT_USEC", on_extend_timeout_usec },
        { "BARRIER", on_barrier },
        { "FDSTORE", on_fdstore },
        { "FDSTOREREMOVE", on_fdstore_remove },
        { "FDNAME", on_fd_name },
        { "FDPOLL", on_fdpoll },
        { "EXIT_STATUS", on_exit_status },
        { "X_ENDWELL_DRAINED", on_drained },
        { "X_ENDWELL_ACTIVE", on_active },
        { "X_ENDWELL_HOOK", on_hook },
        { "X_ENDWELL_EDGE", on_edge },
        { "X_ENDWELL_RC", on_rc },
};

static void read_line(NotifyWords *words, Value line) {
        const char *equals = memchr(line.text, '=', line.length);
        Value key = { line.text, equals ? (size_t)(equals - line.text) : 0 };

        for (size_t i = 0; equals && i < LENGTH_OF(known); i++) {
                if (!value_is(key, known[i].key))
                        continue;
                Value value = { equals + 1, line.length - key.length - 1 };
                if (known[i].read(words, value) < 0)
                        words->bad++;
                return;
        }
        words->unknown++;
}

void notify_words_parse(const char *text, size_t length, NotifyWords *ret) {
        *ret = (NotifyWords){ 0 };
        while (length > 0) {
                const char *newline = memchr(text, '\n', length);
                size_t n = newline ? (size_t)(newline - text) : length;

                if (n > 0)
                        read_line(ret, (Value){ text, n });
                n += newline != NULL;
                text += n;
                length -= n;
        }
}
