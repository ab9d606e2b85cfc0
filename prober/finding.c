/* finding.c - the words of what was found. */
#include "prober/finding.h"
#include "base/enumeration.h"
#include <stdbool.h>
#include <stdio.h>

static const char *const words[_FINDING_MAX] = {
        [FINDING_SUCCEEDED] = "succeeded",
        [FINDING_FAILED] = "failed",
        [FINDING_UNKNOWN] = "unknown",
};

const char *finding_to_string(Finding finding) {
        return (unsigned)finding < _FINDING_MAX ? words[finding] : NULL;
}

static bool is_ours(int error) {
        return error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOBUFS;
}

Finding finding_of_error(int error, char ret_detail[static FINDING_DETAIL_MAX]) {
        const char *text = strerrordesc_np(error);

        snprintf(ret_detail, FINDING_DETAIL_MAX, "%s%s", is_ours(error) ? "could not look: " : "",
                 text ? text : "unknown error");
        if (!is_ours(error) && *ret_detail >= 'A' && *ret_detail <= 'Z')
                *ret_detail = (char)(*ret_detail - 'A' + 'a');
        return is_ours(error) ? FINDING_UNKNOWN : FINDING_FAILED;
}
