/* fuzz_durations.c - any text as a duration, a size and a signal: no crash, an allowed answer, and what was read is
 * written so that it can be read again. */
#include "base/duration.h"
#include "base/names.h"
#include "base/take.h"
#include "tests/fuzz/must.h"
#include <errno.h>
#include <string.h>

static void check_duration(const char *text) {
        char written[DURATION_TEXT_MAX];
        usec_t span = 1, again;

        int r = duration_parse(text, &span);
        must(r == 0 || ((r == -EINVAL || r == -ERANGE) && span == 1));
        must(duration_parse(duration_format(span, written), &again) == 0);
        must(again <= span); /* parts are left out, never added */
        must(span != USEC_INFINITY || again == span);
}

static void check_size(const char *text) {
        uint64_t bytes = 1;
        int r = size_parse(text, &bytes);
        must(r == 0 || ((r == -EINVAL || r == -ERANGE) && bytes == 1));
}

static void check_signal(const char *text) {
        char written[SIGNAL_TEXT_MAX];
        int number = signal_from_string(text);
        must(number == -EINVAL || (number > 0 && number <= 64));
        must(number == -EINVAL || signal_from_string(signal_to_string(number, written)) == number);
}

static void check_nearest(const char *text) {
        static const char *const known[] = { "ExecStart", "On", "TimeoutStopSec", "SuccessExitStatus" };
        const char *nearest = name_nearest(text, known, LENGTH_OF(known));
        must(!nearest || strlen(nearest) <= 2 * strlen(text) + 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        _cleanup_(freep) char *text = strndup((const char *)data, size);

        check_duration(text);
        check_size(text);
        check_signal(text);
        check_nearest(text);
        return 0;
}
