/* fuzz_probe.c - any text as a probe: no crash; and what is taken, written in full and read again, is the same. */
#include "base/take.h"
#include "supervisor/config_probe.h"
#include "tests/fuzz/must.h"
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <string.h>

/* In single quotes, by the one rule that needs no other: ' becomes '\''. */
static void put_quoted(FILE *out, const char *word) {
        fputc('\'', out);
        for (; *word; word++)
                if (*word == '\'')
                        fputs("'\\''", out);
                else
                        fputc(*word, out);
        fputc('\'', out);
}

static void put_target(FILE *out, const ProbeConfig *probe) {
        static const char *const prefixes[_PROBE_BY_MAX] = {
                [PROBE_BY_HTTP] = "", [PROBE_BY_TCP] = "tcp://", [PROBE_BY_UNIX] = "unix:"
        };

        if (probe->by == PROBE_BY_EXEC)
                fputs("exec:", out);
        else {
                fputs(prefixes[probe->by], out);
                put_quoted(out, probe->target);
        }
        for (char **word = probe->argv; word && *word; word++) {
                fputc(' ', out);
                put_quoted(out, *word);
        }
}

static char *write_out(const ProbeConfig *probe) {
        char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);

        must(out);
        put_target(out, probe);
        fprintf(out, " period=%" PRIu64 "us timeout=%" PRIu64 "us delay=%" PRIu64 "us failures=%u successes=%u",
                probe->period_usec, probe->timeout_usec, probe->delay_usec, probe->failures, probe->successes);
        must(fclose(out) == 0);
        return text;
}

static void check(const ProbeConfig *probe, ProbeKind kind) {
        must(probe->by > PROBE_BY_NONE && probe->by < _PROBE_BY_MAX);
        must((probe->by == PROBE_BY_EXEC) == (probe->argv != NULL));
        must((probe->target != NULL) != (probe->argv != NULL));
        must(!probe->argv || (probe->argv[0] && *probe->argv[0]));
        must(probe->period_usec >= 100 * USEC_PER_MSEC && probe->period_usec < USEC_INFINITY);
        must(probe->timeout_usec > 0 && probe->timeout_usec < USEC_INFINITY && probe->delay_usec < USEC_INFINITY);
        must(probe->failures >= 1 && probe->successes >= 1);
        must(kind == PROBE_READINESS || probe->successes == 1);
}

static void check_same(const ProbeConfig *a, const ProbeConfig *b) {
        must(a->by == b->by && a->period_usec == b->period_usec && a->timeout_usec == b->timeout_usec);
        must(a->delay_usec == b->delay_usec && a->failures == b->failures && a->successes == b->successes);
        must(!a->target || strcmp(a->target, b->target) == 0);
        for (size_t i = 0; a->argv && (a->argv[i] || b->argv[i]); i++)
                must(a->argv[i] && b->argv[i] && strcmp(a->argv[i], b->argv[i]) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        ProbeKind kind = size > 0 ? (ProbeKind)(data[0] % _PROBE_KIND_MAX) : PROBE_READINESS;
        _cleanup_(freep) char *text = size > 0 ? strndup((const char *)data + 1, size - 1) : strdup(""), *full = NULL;
        _cleanup_(probe_config_done) ProbeConfig probe = { 0 }, again = { 0 };
        Problem problem = { "" };

        int r = probe_parse(text, kind, &probe, &problem);
        must(r == 0 || (r == -EINVAL && *problem.text));
        if (r < 0 || probe.by == PROBE_BY_NONE)
                return 0;
        check(&probe, kind);
        full = write_out(&probe);
        must(probe_parse(full, kind, &again, &problem) == 0);
        check_same(&probe, &again);
        return 0;
}
