/* server_words.h - makes what libpq and the server say fit for a line of a log: short, in one line, without a secret.
 *
 * Pure. */
#pragma once
#include <stddef.h>

#define SERVER_WORDS_MAX 400

/* The message without its hints (lines that begin with a blank), lines joined by "; ", cleaned of control characters,
 * with `secret` (NULL: none) replaced wherever it stands. Returns `ret_text`. */
const char *server_words(const char *message, const char *secret, char ret_text[static SERVER_WORDS_MAX]);

#define SERVER_STATE_MAX 6
/* A refused connection has its code only in its words, "FATAL:  28P01: password …" (verbose errors): takes it out of
 * `text` and into ret_state, which is "" when there was none. */
void server_words_take_state(char *text, char ret_state[static SERVER_STATE_MAX]);
