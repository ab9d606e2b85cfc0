/* fuzz_environment_file.c - any bytes as an environment file: no crash; every assignment is one that exec takes; and
 * all of them, quoted and read again, are the same. */
#include "base/take.h"
#include "supervisor/config_environment_file.h"
#include "tests/fuzz/must.h"
#include <stdint.h>
#include <string.h>

/* The assignments, each with its NUL, and as a file of its own. */
typedef struct Heard {
        FILE *plain, *quoted;
        unsigned line;
} Heard;

static void check(const char *assignment) {
        size_t name = strspn(assignment, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789");

        must(name > 0 && assignment[name] == '=' && !(*assignment >= '0' && *assignment <= '9'));
        must(strlen(assignment) <= ENVIRONMENT_ASSIGNMENT_MAX);
        for (const char *c = assignment; *c; c++)
                must((unsigned char)*c >= ' ' || *c == '\t' || *c == '\n');
}

static int on_assign(void *userdata, const char *assignment) {
        Heard *heard = userdata;
        const char *value = strchr(assignment, '=') + 1;

        check(assignment);
        fwrite(assignment, 1, strlen(assignment) + 1, heard->plain);
        if (!heard->quoted)
                return 0;
        fprintf(heard->quoted, "%.*s\"", (int)(value - assignment), assignment);
        for (; *value; value++)
                fprintf(heard->quoted, strchr("\"\\`$", *value) ? "\\%c" : "%c", *value);
        fputs("\"\n", heard->quoted);
        return 0;
}

static void on_refuse(void *userdata, unsigned line, const char *sentence) {
        Heard *heard = userdata;

        must(heard->quoted); /* what was quoted by rule is never refused */
        must(line > heard->line && *sentence);
        heard->line = line;
}

static void parse(const char *text, size_t length, Heard *heard) {
        const EnvironmentSink sink = { .assign = on_assign, .refuse = on_refuse, .userdata = heard };
        must(environment_file_parse(text, length, &sink) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        _cleanup_(freep) char *first = NULL, *second = NULL, *quoted = NULL;
        size_t n_first, n_second, n_quoted;
        Heard heard = { .plain = open_memstream(&first, &n_first), .quoted = open_memstream(&quoted, &n_quoted) };
        Heard again = { .plain = open_memstream(&second, &n_second) };

        parse((const char *)data, size, &heard);
        must(fclose(heard.plain) == 0 && fclose(heard.quoted) == 0);
        parse(quoted, n_quoted, &again);
        must(fclose(again.plain) == 0);
        must(n_first == n_second && memcmp(first, second, n_first) == 0);
        return 0;
}
