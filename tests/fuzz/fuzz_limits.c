/* fuzz_limits.c - any text as a limit of any kind, and as capabilities: no crash; and what is taken is the same when it
 * is written out and read again. */
#include "base/take.h"
#include "supervisor/config_capabilities.h"
#include "supervisor/config_limits.h"
#include "tests/fuzz/must.h"
#include <errno.h>
#include <stdint.h>
#include <string.h>

static void fuzz_limit(const LimitKind *kind, const char *text) {
        char soft[LIMIT_TEXT_MAX], hard[LIMIT_TEXT_MAX], full[2 * LIMIT_TEXT_MAX];
        struct rlimit limit = { 0 }, again = { 0 };
        Problem problem = { "" };

        int r = limit_parse(kind, text, &limit, &problem);
        must(r == 0 || (r == -EINVAL && *problem.text));
        if (r < 0)
                return;
        must(limit.rlim_cur <= limit.rlim_max);
        must(kind->unit != LIMIT_NICE || limit.rlim_cur <= 40 || limit.rlim_cur == RLIM_INFINITY);
        snprintf(full, sizeof full, "%s:%s", limit_format(limit.rlim_cur, soft), limit_format(limit.rlim_max, hard));
        must(limit_parse(kind, full, &again, &problem) == 0);
        must(limit.rlim_cur == again.rlim_cur && limit.rlim_max == again.rlim_max);
}

static void fuzz_capabilities(const char *text) {
        uint64_t set = 0x5555, again = 0;
        char full[CAPABILITIES_TEXT_MAX];
        bool given = false, given_again = false;
        Problem problem = { "" };

        int r = capabilities_read(text, &given, &set, &problem);
        must(r == 0 || (r == -EINVAL && *problem.text));
        must(given == (r == 0) && (given || set == 0x5555));
        capabilities_format(set, full);
        if (r < 0 || strcmp(full, "none") == 0 || strncmp(full, "all", 3) == 0)
                return;
        must(capabilities_read(full, &given_again, &again, &problem) == 0);
        must(((set ^ again) & ((UINT64_C(1) << 41) - 1)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        if (size == 0)
                return 0;
        _cleanup_(freep) char *text = strndup((const char *)data + 1, size - 1);

        if (data[0] % (LIMIT_KINDS + 1) == LIMIT_KINDS)
                fuzz_capabilities(text);
        else
                fuzz_limit(&limit_kinds[data[0] % (LIMIT_KINDS + 1)], text);
        return 0;
}
