/* test_server_words.c - what the server said, fit for a line. */
#include "ledger/server_words.h"
#include <criterion/criterion.h>
#include <string.h>

Test(server_words, lines_become_one_and_hints_go) {
        char text[SERVER_WORDS_MAX];

        cr_assert_str_eq(
                server_words("connection to \"a\" failed: refused\n\tIs it running?\nconnection to \"b\" failed\n",
                             NULL, text),
                "connection to \"a\" failed: refused; connection to \"b\" failed");
        cr_assert_str_eq(server_words("FATAL:  x\nLOCATION:  auth_failed, auth.c:338\nHINT: y\nDETAIL: Key (s)\n", NULL,
                                      text),
                         "FATAL:  x");
        cr_assert_str_eq(server_words(NULL, NULL, text), "");
        cr_assert_str_eq(server_words("", "x", text), "");
}

Test(server_words, a_secret_is_hidden_wherever_it_stands) {
        char text[SERVER_WORDS_MAX];

        cr_assert_str_eq(server_words("s3cret is s3cret\nno s3cre or s3cret", "s3cret", text),
                         "(hidden) is (hidden); no s3cre or (hidden)");
        cr_assert_str_eq(server_words("nothing", "", text), "nothing");
}

Test(server_words, long_words_are_cut_at_a_character_and_control_characters_cleaned) {
        char message[2000], text[SERVER_WORDS_MAX];

        memset(message, 'a', sizeof message);
        memcpy(message + SERVER_WORDS_MAX - 2, "ü", 2);
        message[sizeof message - 1] = '\0';
        server_words(message, NULL, text);
        cr_assert_eq(strlen(text), SERVER_WORDS_MAX - 2);
        cr_assert_str_eq(server_words("a\033[31mb\rc", NULL, text), "a?[31mb?c");
}

Test(server_words, the_code_of_a_refusal_is_taken_out_of_its_words) {
        char state[SERVER_STATE_MAX];
        char refused[] = "connection to server at \"::1\" failed: FATAL:  28P01: password authentication failed";
        char plain[] = "connection to server failed: FATAL:  the database system is starting up";
        char none[] = "could not translate host name";

        server_words_take_state(refused, state);
        cr_assert_str_eq(state, "28P01");
        cr_assert_str_eq(refused, "connection to server at \"::1\" failed: FATAL:  password authentication failed");
        server_words_take_state(plain, state);
        cr_assert_str_eq(state, "");
        server_words_take_state(none, state);
        cr_assert_str_eq(state, "");
        cr_assert_str_eq(none, "could not translate host name");
        char standby[] = "connection to server on socket \"/x\" failed: session is read-only";
        server_words_take_state(standby, state);
        cr_assert_str_eq(state, "25006", "libpq itself refuses a standby, without a code");
}
