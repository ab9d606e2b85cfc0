/* plain.h - makes somebody else's text fit for a terminal, and keeps its lines.
 *
 * Pure. A name, an error or a payload was written by whoever may enqueue: it shall neither move a cursor nor forge a
 * line of ours. */
#pragma once

/* A copy, which is the caller's: each control character and each byte of no valid UTF-8 is a '?', a tab a blank, and
 * behind each newline stands `indent`, so that what follows is seen to belong to it; without `indent` a newline is a
 * blank. Newlines at the end are left out. NULL when there is no memory. */
char *plain_text(const char *text, const char *indent);
