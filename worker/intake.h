/* intake.h - how many jobs a worker should ask for, when, and whether it may begin behind the last one it got.
 *
 * Pure. Polling is the truth, a notification only a hint that the next poll is due now. An answer that was full is
 * followed at once; one that was short waits for the poll. The cursor (begin behind the last claimed) saves the server
 * from stepping over what others hold, and hides jobs that came before it: so it is dropped each second, and an answer
 * that was short through it says nothing. Nothing is asked for after intake_close(). */
#pragma once
#include "base/usec.h"
#include <stdbool.h>
#include <stdint.h>

#define INTAKE_CURSOR_USEC USEC_PER_SEC

typedef struct Intake {
        usec_t poll_usec;   /* between two questions that were not answered in full */
        usec_t due_usec;    /* the next one, at this instant; 0: now */
        usec_t cursor_usec; /* the cursor counts until then; 0: there is none */
        uint64_t jobs_left; /* UINT64_MAX: no limit */
        unsigned batch;     /* most at once */
        bool closed;
} Intake;

unsigned intake_wants(const Intake *intake, unsigned free_slots, usec_t now_usec);
bool intake_has_cursor(const Intake *intake, usec_t now_usec);
/* When intake_wants() may change its answer by itself; USEC_INFINITY: not by time. */
usec_t intake_next_usec(const Intake *intake, unsigned free_slots);

/* It was asked for `wanted`, with the cursor or without, and got `got`; `chance` spreads the polls of many workers. */
void intake_answered(Intake *intake, unsigned wanted, unsigned got, bool with_cursor, usec_t now_usec, uint32_t chance);
void intake_failed(Intake *intake, usec_t now_usec, uint32_t chance); /* no answer, or an error */
void intake_notified(Intake *intake);
void intake_close(Intake *intake);
bool intake_is_closed(const Intake *intake); /* by a call, or because no job is left of its number */
