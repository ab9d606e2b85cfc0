/* finding.h - what a check found, as a word for PID 1 and a few words for people. Pure. */
#pragma once

typedef enum Finding {
        FINDING_SUCCEEDED,
        FINDING_FAILED,
        FINDING_UNKNOWN, /* we could not look: that says nothing of who was to be looked at */
        _FINDING_MAX,
} Finding;

#define FINDING_DETAIL_MAX 96

const char *finding_to_string(Finding finding); /* succeeded, failed, unknown */

/* Of a connection that failed with this errno: "connection refused"; when it was our own want of descriptors or memory,
 * unknown. */
Finding finding_of_error(int error, char ret_detail[static FINDING_DETAIL_MAX]);
