/* observe_database.h - what a database looks like: rows, sequences, catalogue.
 *
 * Reads only, in one snapshot. A table of more than OBSERVE_ROWS_MAX rows is one line: how many, and their sum. */
#pragma once
#include "ledger/session.h"
#include "verify/state.h"

#define OBSERVE_ROWS_MAX 50000

/* Adds everything there is; the xmax of the server too. 0; -ENOMEM; -EIO and *ret_why. */
int observe_database(Session *session, State *state, char **ret_why);
