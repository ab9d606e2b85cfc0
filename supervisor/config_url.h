/* config_url.h - judges the place of a database as far as a supervisor must, and makes that of a socket; for config_*.c
 * only.
 *
 * Pure but for malloc. libpq knows what a URL means, but PID 1 does not link it, and its own complaints show what they
 * did not understand: the password, if that is where the slip is. So only the shape is judged, and no answer holds a
 * letter of the value. */
#pragma once

/* NULL: may be a URI or keywords of libpq. Else what is wrong, a sentence that shows nothing of it. */
const char *url_problem(const char *text);

/* The URL of the database `endwell` on the socket in `folder`, and the same behind DATABASE_URL=; free() both. 0 or
 * -ENOMEM. */
int url_of_socket(const char *folder, char **ret_url, char **ret_word);
