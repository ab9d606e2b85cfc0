/* server_words.c - makes what libpq and the server say fit for a line of a log. */
#include "ledger/server_words.h"
#include "base/utf8.h"
#include <stdbool.h>
#include <string.h>

#define HIDDEN    "(hidden)"
#define STATE_LEN (SERVER_STATE_MAX - 1)

typedef struct Line {
        char *text;
        size_t length;
} Line;

static void put(Line *line, const char *text, size_t length) {
        size_t room = SERVER_WORDS_MAX - 1 - line->length;
        size_t n = length > room ? utf8_cut(text, length, room) : length;

        memcpy(line->text + line->length, text, n);
        line->length += n;
}

static void put_hiding(Line *line, const char *text, size_t length, const char *secret) {
        size_t secret_length = secret ? strlen(secret) : 0;

        while (length > 0) {
                const char *found = secret_length ? memmem(text, length, secret, secret_length) : NULL;
                size_t front = found ? (size_t)(found - text) : length;
                put(line, text, front);
                if (!found)
                        return;
                put(line, HIDDEN, strlen(HIDDEN));
                text += front + secret_length;
                length -= front + secret_length;
        }
}

/* "LOCATION: …" comes with the verbosity that brings the code; hints begin with a blank or a word of their own. */
static bool is_aside(const char *line) {
        return strchr("\t \n", *line) || strncmp(line, "LOCATION:", 9) == 0 || strncmp(line, "HINT:", 5) == 0 ||
               strncmp(line, "DETAIL:", 7) == 0;
}

const char *server_words(const char *message, const char *secret, char ret_text[static SERVER_WORDS_MAX]) {
        Line line = { .text = ret_text };

        while (message && *message) {
                size_t length = strcspn(message, "\n");
                if (length > 0 && !is_aside(message)) {
                        if (line.length > 0)
                                put(&line, "; ", 2);
                        put_hiding(&line, message, length, secret);
                }
                message += length + (message[length] == '\n');
        }
        utf8_clean(ret_text, line.length);
        ret_text[line.length] = '\0';
        return ret_text;
}

void server_words_take_state(char *text, char ret_state[static SERVER_STATE_MAX]) {
        static const char alphabet[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
        static const char before[] = "FATAL:  ";
        char *found = strstr(text, before);

        ret_state[0] = '\0';
        if (!found) {
                /* Of target_session_attrs it is libpq that refuses, with words and no code. */
                if (strstr(text, "session is read-only"))
                        strcpy(ret_state, "25006");
                return;
        }
        char *state = found + strlen(before);
        if (strspn(state, alphabet) != STATE_LEN || strncmp(state + STATE_LEN, ": ", 2) != 0)
                return;
        memcpy(ret_state, state, STATE_LEN);
        ret_state[STATE_LEN] = '\0';
        memmove(state, state + STATE_LEN + 2, strlen(state + STATE_LEN + 2) + 1);
}
