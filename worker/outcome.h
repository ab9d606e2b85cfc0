/* outcome.h - what is to be said to the ledger of a job whose command has ended.
 *
 * Pure. Exit 0 completes; another code fails, with backoff; a listed code buries at once, but never 75 (EX_TEMPFAIL,
 * sysexits.h: try again); a signal is a crash, which counts as a death too, as do the worker's own kills at a stall or
 * at the hard limit. What was cut off by the worker's own ending is given back, whatever its exit code says: a program
 * that was told to stop may well exit with 0 in the middle of its work. The class groups failures of one kind: the same
 * words with other numbers are the same class. */
#pragma once
#include "ledger/fingerprint.h"
#include "worker/slot.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum OutcomeVerb {
        OUTCOME_COMPLETE,
        OUTCOME_FAIL,
        OUTCOME_RELEASE,
        OUTCOME_NOTHING, /* the job is somebody else's: not a word */
} OutcomeVerb;

typedef enum OutcomeHow {
        OUTCOME_EXITED,
        OUTCOME_SIGNALLED,
        OUTCOME_UNKNOWN,   /* the process that watched the command is dead */
        OUTCOME_NOT_BEGUN, /* the command could not be started */
} OutcomeHow;

typedef struct OutcomeCodes {
        bool buries[256];
} OutcomeCodes;

typedef struct OutcomeEnd {
        OutcomeHow how;
        int status; /* the exit code, the signal, or errno */
        SlotCause cause;
        bool stream;          /* a stream does not end its job by exit code: whatever it is, the job failed */
        bool result_too_long; /* more than the limit */
        size_t result_limit;
        usec_t span_usec;   /* of the limit that was hit */
        const char *tail;   /* of what it wrote to stderr; "" */
        const char *detail; /* of SLOT_CAUSE_BROKEN: what was wrong */
} OutcomeEnd;

#define OUTCOME_CLASS_MAX FINGERPRINT_MAX
#define OUTCOME_ERROR_MAX 4000 /* what the ledger keeps */

typedef struct Outcome {
        OutcomeVerb verb;
        bool died, fatal;
        char class[OUTCOME_CLASS_MAX];
        char error[OUTCOME_ERROR_MAX + 1];
} Outcome;

void outcome_of(const OutcomeEnd *end, const OutcomeCodes *codes, Outcome *ret);

/* The last line of a text that says something, as ledger/fingerprint.h has it: what two failures of one kind have in
 * common. "" when there is none. */
void outcome_fingerprint(const char *text, char ret_print[static OUTCOME_CLASS_MAX]);

/* "65,66,70" -> codes. -EINVAL: no code from 1 to 255, or 75. */
int outcome_codes_parse(const char *text, OutcomeCodes *ret);
