/* fuzz_expand.c - any value: no crash, an answer or a problem, and text with its dollars doubled comes out as it was.
 */
#include "base/expand.h"
#include "base/take.h"
#include "tests/fuzz/must.h"
#include <errno.h>
#include <stdint.h>
#include <string.h>

static const char *look_up(void *userdata, const char *name) {
        (void)userdata;
        must(*name && strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == strlen(name));
        return *name == 'A' ? "$${B} value" : *name == 'E' ? "" : NULL;
}

static char *double_dollars(const char *text) {
        char *doubled = calloc(1, 2 * strlen(text) + 1), *to = doubled;

        must(doubled);
        for (; *text; text++) {
                *to++ = *text;
                if (*text == '$')
                        *to++ = '$';
        }
        return doubled;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        _cleanup_(freep) char *text = strndup((const char *)data, size), *result = NULL, *problem = NULL;
        _cleanup_(freep) char *doubled = double_dollars(text), *same = NULL;

        int r = expand_text(text, look_up, NULL, &result, &problem);
        must(r == 0 ? result && !problem : !result && problem && (r == -ENOKEY || r == -EINVAL));
        must(expand_text(doubled, look_up, NULL, &same, &problem) == 0);
        must(strcmp(same, text) == 0);
        return 0;
}
