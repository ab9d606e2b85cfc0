/* names.c - which names are allowed, which known one was meant, and the names of signals. */
#include "base/names.h"
#include "base/take.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define NEAREST_LENGTH_MAX 64 /* longer words are no slip of the pen, and the rows below stay on the stack */

static char lower(char c) {
        return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool name_is_valid(const char *name) {
        size_t length = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-");
        return length >= 1 && length <= NAME_LENGTH_MAX && name[length] == '\0';
}

static unsigned min3(unsigned a, unsigned b, unsigned c) {
        unsigned least = a < b ? a : b;
        return least < c ? least : c;
}

/* Edits that make b of a: one letter put in, left out, changed, or two neighbours swapped (one slip, so one edit). */
static unsigned edit_distance(const char *a, size_t n_a, const char *b, size_t n_b) {
        unsigned rows[3][NEAREST_LENGTH_MAX + 1];

        for (unsigned j = 0; j <= n_b; j++)
                rows[0][j] = j;
        for (unsigned i = 1; i <= n_a; i++) {
                unsigned *row = rows[i % 3], *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];
                row[0] = i;
                for (size_t j = 1; j <= n_b; j++) {
                        bool same = lower(a[i - 1]) == lower(b[j - 1]);
                        row[j] = min3(above[j] + 1, row[j - 1] + 1, above[j - 1] + !same);
                        if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                            lower(a[i - 2]) == lower(b[j - 1]) && above2[j - 2] + 1 < row[j])
                                row[j] = above2[j - 2] + 1;
                }
        }
        return rows[n_a % 3][n_b];
}

const char *name_nearest(const char *name, const char *const *known, size_t n) {
        const char *nearest = NULL;
        size_t length = strnlen(name, NEAREST_LENGTH_MAX + 1);

        if (length == 0 || length > NEAREST_LENGTH_MAX)
                return NULL;
        unsigned least = length >= 4 ? 2 : 1;
        if (length / 3 > least)
                least = (unsigned)(length / 3);
        least++; /* from here on: an edit distance below this one is an answer, and a better one than the last */
        for (size_t i = 0; i < n; i++) {
                size_t known_length = strnlen(known[i], NEAREST_LENGTH_MAX + 1);
                if (known_length > NEAREST_LENGTH_MAX)
                        continue;
                unsigned distance = edit_distance(name, length, known[i], known_length);
                /* All letters changed is another word, not a slip. */
                if (distance < least && distance < known_length && distance < length) {
                        least = distance;
                        nearest = known[i];
                }
        }
        return nearest;
}

/* At most three digits and nothing else; -EINVAL otherwise. */
static int read_small_number(const char *text) {
        size_t n = strspn(text, "0123456789");
        if (n < 1 || n > 3 || text[n])
                return -EINVAL;
        int value = 0;
        for (size_t i = 0; i < n; i++)
                value = value * 10 + (text[i] - '0');
        return value;
}

/* The numbers between the last classic signal and SIGRTMIN belong to the threads of glibc: nobody may send them. */
static bool signal_exists(int number) {
        return (number > 0 && sigabbrev_np(number)) || (number >= SIGRTMIN && number <= SIGRTMAX);
}

/* "RTMIN", "RTMIN+3", "RTMAX-1" */
static int real_time_signal(const char *text) {
        bool from_least = strncasecmp(text, "RTMIN", 5) == 0;
        if (!from_least && strncasecmp(text, "RTMAX", 5) != 0)
                return -EINVAL;
        const char *offset_text = text + 5;
        if (!*offset_text)
                return from_least ? SIGRTMIN : SIGRTMAX;
        if (*offset_text != (from_least ? '+' : '-'))
                return -EINVAL;
        int offset = read_small_number(offset_text + 1);
        if (offset < 0 || offset > SIGRTMAX - SIGRTMIN)
                return -EINVAL;
        return from_least ? SIGRTMIN + offset : SIGRTMAX - offset;
}

static int named_signal(const char *text) {
        static const struct {
                const char *name;
                int number;
        } aliases[] = { { "IOT", SIGIOT }, { "IO", SIGIO }, { "POLL", SIGPOLL }, { "CLD", SIGCHLD } };

        for (int number = 1; number < SIGRTMIN; number++) {
                const char *name = sigabbrev_np(number);
                if (name && strcasecmp(name, text) == 0)
                        return number;
        }
        for (size_t i = 0; i < LENGTH_OF(aliases); i++)
                if (strcasecmp(aliases[i].name, text) == 0)
                        return aliases[i].number;
        return -EINVAL;
}

int signal_from_string(const char *text) {
        int number = read_small_number(text);
        if (number >= 0)
                return signal_exists(number) ? number : -EINVAL;
        if (strncasecmp(text, "SIG", 3) == 0)
                text += 3;
        number = named_signal(text);
        return number > 0 ? number : real_time_signal(text);
}

const char *signal_to_string(int signal_number, char ret_text[static SIGNAL_TEXT_MAX]) {
        const char *name = signal_number > 0 ? sigabbrev_np(signal_number) : NULL;

        if (name)
                snprintf(ret_text, SIGNAL_TEXT_MAX, "SIG%s", name);
        else if (signal_number == SIGRTMIN)
                snprintf(ret_text, SIGNAL_TEXT_MAX, "SIGRTMIN");
        else if (signal_number > SIGRTMIN && signal_number <= SIGRTMAX)
                snprintf(ret_text, SIGNAL_TEXT_MAX, "SIGRTMIN+%d", signal_number - SIGRTMIN);
        else
                snprintf(ret_text, SIGNAL_TEXT_MAX, "SIG%d", signal_number);
        return ret_text;
}
