/* clause.c - see clause.h. */
#include "verify/clause.h"
#include "base/enumeration.h"
#include "base/take.h"
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const words[_CLAUSE_KIND_MAX] = {
        [CLAUSE_SIGNIFICANT] = "Significant",
        [CLAUSE_MASK] = "Mask",
        [CLAUSE_IGNORE] = "Ignore",
};

const char *clause_kind_to_string(ClauseKind kind) {
        return (size_t)kind < _CLAUSE_KIND_MAX ? words[kind] : NULL;
}

void clause_done(Clause *clause) {
        free(clause->place);
        free(clause->column);
        free(clause->reason);
        if (clause->has_pattern)
                regfree(&clause->pattern);
        *clause = (Clause){ 0 };
}

/* ---- Reading ---- */

/* "jobs.at" is of the schema public, "audit.log.at" of the schema audit. */
static int set_table(Clause *clause, const char *place, size_t length) {
        const char *last = memrchr(place, '.', length);
        size_t table = (size_t)(last - place);
        const char *schema = memchr(place, '.', table) ? "" : "public.";

        clause->column = strndup(last + 1, length - table - 1);
        if (asprintf(&clause->place, "table %s%.*s", schema, (int)table, place) < 0)
                clause->place = NULL;
        return clause->place && clause->column ? 0 : -ENOMEM;
}

static int set_place(Clause *clause, const char *text, size_t length, char *ret_problem) {
        const char *dot = memrchr(text, '.', length);

        if (text[0] == '/' || (length == 6 && strncmp(text, "stdout", 6) == 0)) {
                clause->place = strndup(text, length);
                return clause->place ? 0 : -ENOMEM;
        }
        if (dot && dot > text && dot < text + length - 1)
                return set_table(clause, text, length);
        snprintf(ret_problem, CLAUSE_PROBLEM_MAX, "begins with neither an absolute path nor TABLE.COLUMN nor stdout");
        return -EINVAL;
}

static int set_pattern(Clause *clause, const char *text, size_t length, char *ret_problem) {
        _cleanup_(freep) char *pattern = strndup(text, length);
        char sentence[100];

        if (!pattern)
                return -ENOMEM;
        int r = regcomp(&clause->pattern, pattern, REG_EXTENDED);
        if (r == REG_ESPACE)
                return -ENOMEM;
        if (r != 0) {
                regerror(r, NULL, sentence, sizeof sentence);
                snprintf(ret_problem, CLAUSE_PROBLEM_MAX, "is no extended regular expression: %s", sentence);
                return -EINVAL;
        }
        clause->has_pattern = true;
        return 0;
}

static size_t length_without_blanks(const char *text, size_t length) {
        while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t'))
                length--;
        return length;
}

static int set_parts(Clause *clause, const char *text, char *ret_problem) {
        const char *reason = strstr(text, " # ");
        size_t all = reason ? (size_t)(reason - text) : strlen(text), place = strcspn(text, " \t");

        place = place < all ? place : all;
        int r = place == 0 ? set_place(clause, "", 0, ret_problem) : set_place(clause, text, place, ret_problem);
        size_t at = place + strspn(text + place, " \t"), end = length_without_blanks(text, all);
        if (r == 0 && at < end)
                r = set_pattern(clause, text + at, end - at, ret_problem);
        if (r == 0 && reason && reason[3 + strspn(reason + 3, " \t")]) {
                clause->reason = strdup(reason + 3);
                r = clause->reason ? 0 : -ENOMEM;
        }
        return r;
}

int clause_parse(Clause *ret, ClauseKind kind, const char *text, char ret_problem[static CLAUSE_PROBLEM_MAX]) {
        Clause clause = { .kind = kind };
        int r = set_parts(&clause, text, ret_problem);

        if (r < 0) {
                clause_done(&clause);
                return r;
        }
        *ret = clause;
        return 0;
}

/* ---- Where it lies in a line ---- */

static const char *skip_string(const char *at) {
        for (at++; *at && *at != '"'; at++)
                if (*at == '\\' && at[1])
                        at++;
        return *at ? at + 1 : at;
}

/* Behind a value of a row: a string, or up to the comma or brace that ends it. */
static const char *skip_value(const char *at) {
        for (unsigned depth = 0; *at;) {
                if (*at == '"') {
                        at = skip_string(at);
                        continue;
                }
                if (depth == 0 && (*at == ',' || *at == '}'))
                        break;
                if (*at == '{' || *at == '[')
                        depth++;
                else if (*at == '}' || *at == ']')
                        depth--;
                at++;
        }
        return at;
}

/* The value of `column` in a row such as to_jsonb() writes it. */
static bool find_column(const char *row, const char *column, size_t *ret_begin, size_t *ret_end) {
        const char *at = row + (*row == '{');

        while (*at == '"') {
                const char *name = at + 1, *behind = skip_string(at);
                size_t length = (size_t)(behind - name) - 1;
                const char *value = behind + strspn(behind, ": "), *end = skip_value(value);
                if (strlen(column) == length && strncmp(name, column, length) == 0) {
                        *ret_begin = (size_t)(value - row);
                        *ret_end = (size_t)(end - row);
                        return true;
                }
                at = end + strspn(end, ", ");
        }
        return false;
}

static bool find_part(const Clause *clause, const char *line, size_t *ret_begin, size_t *ret_end) {
        regmatch_t match;
        size_t begin = 0, end = strlen(line);

        if (clause->column && !find_column(line, clause->column, &begin, &end))
                return false;
        if (clause->has_pattern) {
                match = (regmatch_t){ .rm_so = (regoff_t)begin, .rm_eo = (regoff_t)end };
                if (regexec(&clause->pattern, line, 1, &match, REG_STARTEND) != 0)
                        return false;
                begin = (size_t)match.rm_so;
                end = (size_t)match.rm_eo;
        }
        *ret_begin = begin;
        *ret_end = end;
        return true;
}

static bool lies_in(const Clause *clause, const Item *item) {
        return clause->place[0] == '/' ? fnmatch(clause->place, item->key, FNM_PATHNAME) == 0
                                       : strcmp(clause->place, item->key) == 0;
}

/* ---- What it does ---- */

static int mask_line(const Clause *clause, char **line) {
        size_t begin, end;
        char *masked;

        if (!find_part(clause, *line, &begin, &end))
                return 0;
        if (asprintf(&masked, "%.*s<masked>%s", (int)begin, *line, *line + end) < 0)
                return -ENOMEM;
        free(*line);
        *line = masked;
        return 0;
}

static void drop_lines(const Clause *clause, Item *item) {
        size_t kept = 0, begin, end;

        for (size_t i = 0; i < item->n_lines; i++) {
                if (find_part(clause, item->lines[i], &begin, &end))
                        free(item->lines[i]);
                else
                        item->lines[kept++] = item->lines[i];
        }
        item->n_lines = kept;
}

/* An Ignore of a whole path ignores that it is there, too. */
static void drop_item(State *state, size_t at) {
        item_done(&state->items[at]);
        memmove(&state->items[at], &state->items[at + 1], (--state->n_items - at) * sizeof(Item));
}

int clause_apply(const Clause *clause, State *state) {
        for (size_t i = 0; i < state->n_items && clause->kind != CLAUSE_SIGNIFICANT;) {
                Item *item = &state->items[i];
                if (!lies_in(clause, item)) {
                        i++;
                } else if (clause->kind == CLAUSE_IGNORE && !clause->has_pattern && !clause->column) {
                        drop_item(state, i);
                } else if (clause->kind == CLAUSE_IGNORE) {
                        drop_lines(clause, item);
                        i++;
                } else {
                        for (size_t k = 0; k < item->n_lines; k++) {
                                int r = mask_line(clause, &item->lines[k]);
                                if (r < 0)
                                        return r;
                        }
                        i++;
                }
        }
        return 0;
}

static void put_line(const Clause *clause, FILE *to, const char *line, const char *end) {
        size_t begin, behind;

        if (!find_part(clause, line, &begin, &behind)) {
                fputs(line, to);
                fputs(end, to);
        } else if (clause->kind == CLAUSE_MASK) {
                fwrite(line, 1, begin, to);
                fputs("<masked>", to);
                fputs(line + behind, to);
                fputs(end, to);
        }
}

int clause_apply_output(const Clause *clause, char **output) {
        char *text = NULL;
        size_t size = 0;

        if (clause->kind == CLAUSE_SIGNIFICANT || strcmp(clause->place, "stdout") != 0 || !*output)
                return 0;
        FILE *to = open_memstream(&text, &size);
        if (!to)
                return -ENOMEM;
        for (char *line = *output; *line;) {
                char *end = strchrnul(line, '\n'), was = *end;
                *end = '\0';
                put_line(clause, to, line, was ? "\n" : "");
                line = was ? end + 1 : end;
        }
        if (fclose(to) != 0) {
                free(text);
                return -ENOMEM;
        }
        free(*output);
        *output = text;
        return 0;
}

static void compare_lines(const Clause *clause, const Item *before, const Item *after, Differences *ret) {
        size_t begin, end, begin_after, end_after;

        for (size_t i = 0; i < before->n_lines && i < after->n_lines; i++) {
                const char *was = before->lines[i], *is = after->lines[i];
                if (!find_part(clause, was, &begin, &end) || !find_part(clause, is, &begin_after, &end_after))
                        continue;
                if (end - begin != end_after - begin_after || memcmp(was + begin, is + begin_after, end - begin) != 0)
                        differences_say(ret, "%s: %.*s became %.*s, and it is significant", before->key,
                                        (int)(end - begin), was + begin, (int)(end_after - begin_after),
                                        is + begin_after);
        }
}

void clause_compare(const Clause *clause, const State *before, const State *after, Differences *ret) {
        for (size_t i = 0; i < before->n_items && clause->kind == CLAUSE_SIGNIFICANT; i++) {
                const Item *item = state_find(after, before->items[i].key);
                if (item && lies_in(clause, item))
                        compare_lines(clause, &before->items[i], item, ret);
        }
}
