/* place.h - finds the journal of the endwell that runs or ran here, as `endwell events` finds its socket.
 *
 * Beside the control socket that is named or inherited ($ENDWELL_SOCKET); where a configuration has it; else in the
 * first default directory with one. */
#pragma once

/* NULL: not named. 0 and the path, which is the caller's and of which nobody says that it is there; -ENOENT: there is
 * none in any default directory; -ENOMEM; or what became of reading the configuration. */
int place_find(const char *socket, const char *config, char **ret_journal);
