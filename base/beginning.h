/* beginning.h - how a helper process begins: deaf to the signals that others decide about, with all descriptors that it
 * may have.
 *
 * A helper is ended by the end of its socket, never by a signal to a whole group. */
#pragma once

/* An orchestrator, a terminal or a person may signal everything at once; and a full pipe or disk is an error of the
 * write, no signal. */
void beginning_ignore_signals(void);

/* As many descriptors as the hard limit allows; a failure leaves what there is. How many that is; 0: not known. */
unsigned beginning_raise_descriptor_limit(void);
