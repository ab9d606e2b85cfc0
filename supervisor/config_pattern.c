/* config_pattern.c - reads LogPattern: a regular expression that compiles, and whose compiling has a bound.
 *
 * regcomp(3) writes out what is repeated: "((a{255}){255}){255}" has 20 letters and asks for gigabytes, "a+" is "aa*".
 * So the size of the written-out pattern is estimated first. */
#include "base/take.h"
#include "supervisor/config_values.h"
#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH_MAX      1024
#define WRITTEN_OUT_MAX 20000 /* letters of the written-out pattern */
#define DEPTH_MAX       32    /* of parentheses */

typedef struct Measure {
        unsigned long sums[DEPTH_MAX + 1]; /* of each open group; [0] is the whole pattern */
        unsigned long last;                /* size of the atom that a repetition would repeat */
        unsigned depth;
} Measure;

static void add_atom(Measure *measure, unsigned long size) {
        measure->last = size;
        measure->sums[measure->depth] += size;
}

static void repeat_atom(Measure *measure, unsigned long times) {
        if (times > WRITTEN_OUT_MAX)
                times = WRITTEN_OUT_MAX;
        if (times > 1) {
                measure->sums[measure->depth] += measure->last * (times - 1);
                measure->last *= times;
        }
        if (measure->last > WRITTEN_OUT_MAX)
                measure->last = WRITTEN_OUT_MAX + 1;
        if (measure->sums[measure->depth] > WRITTEN_OUT_MAX)
                measure->sums[measure->depth] = WRITTEN_OUT_MAX + 1;
}

/* The larger of the numbers in "{2,5}"; without an upper bound the lower one is written out, and a star behind it. */
static unsigned long bound(const char *brace) {
        char *end;
        unsigned long least = strtoul(brace + 1, &end, 10);
        unsigned long most = *end == ',' ? strtoul(end + 1, NULL, 10) : 0;
        return most > least ? most : least + 1;
}

/* Behind the bracket expression that begins at `at`. */
static const char *skip_bracket(const char *at) {
        at++;
        if (*at == '^')
                at++;
        if (*at == ']')
                at++;
        while (*at && *at != ']') {
                if (*at == '[' && at[1] && strchr(":.=", at[1])) {
                        const char end[] = { at[1], ']', '\0' };
                        const char *close = strstr(at + 2, end);
                        at = close ? close + 1 : at;
                }
                at++;
        }
        return at;
}

static bool close_group(Measure *measure) {
        unsigned long size = measure->sums[measure->depth];
        measure->depth--;
        add_atom(measure, size + 2);
        return size <= WRITTEN_OUT_MAX;
}

/* False: written out it would be too large, or it is nested too deeply. */
static bool size_is_bearable(const char *pattern) {
        Measure measure = { 0 };

        for (const char *at = pattern; *at; at++) {
                if (*at == '(') {
                        if (measure.depth == DEPTH_MAX)
                                return false;
                        measure.sums[++measure.depth] = 0;
                        continue;
                }
                if (*at == ')' && measure.depth > 0) {
                        if (!close_group(&measure))
                                return false;
                } else if (*at == '{') {
                        repeat_atom(&measure, bound(at));
                } else if (*at == '+') {
                        repeat_atom(&measure, 2);
                } else {
                        if (*at == '[')
                                at = skip_bracket(at);
                        else if (*at == '\\' && at[1])
                                at++;
                        add_atom(&measure, 1);
                }
                if (!*at)
                        break;
        }
        return measure.sums[measure.depth] <= WRITTEN_OUT_MAX && measure.sums[0] <= WRITTEN_OUT_MAX;
}

static const char *find_problem(const char *pattern) {
        if (!*pattern)
                return "the pattern is empty";
        if (strlen(pattern) > LENGTH_MAX)
                return "the pattern is longer than 1024 bytes";
        if (!size_is_bearable(pattern))
                return "its repetitions or parentheses would make it too large";
        return NULL;
}

void value_pattern(Reading *reading, const Setting *setting, void *ret_value) {
        const char *problem = find_problem(setting->value);
        char sentence[200];
        regex_t compiled;

        if (problem) {
                value_refuse(reading, setting, "%s", problem);
                return;
        }
        int r = regcomp(&compiled, setting->value, REG_EXTENDED | REG_NOSUB);
        if (r == REG_ESPACE) {
                reading->error = -ENOMEM;
                return;
        }
        if (r != 0) {
                regerror(r, NULL, sentence, sizeof sentence);
                value_refuse(reading, setting, "is no extended regular expression: %s", sentence);
                return;
        }
        regfree(&compiled);
        char *copy = strdup(setting->value);
        if (!copy)
                reading->error = -ENOMEM;
        free(*(char **)ret_value);
        *(char **)ret_value = copy;
}
