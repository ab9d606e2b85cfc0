/* shell_text.h - finds the last command of a text for a shell, as far as that can be said for sure.
 *
 * Pure. Reads as a POSIX shell does (XCU 2), but expands nothing: quotes, comments, separators and compound commands
 * are seen, and whatever is beyond that (a function of that name, a trap, a pipeline, a job in the background, a here
 * document) makes the answer SHELL_END_UNSURE. */
#pragma once
#include <stddef.h>

typedef enum ShellEnd {
        SHELL_END_UNSURE, /* or nothing of interest */
        SHELL_END_EXEC,   /* the shell becomes the program */
        SHELL_END_RUNS,   /* the shell stays, and waits for the program */
        _SHELL_END_MAX
} ShellEnd;

/* With an answer but SHELL_END_UNSURE *ret_command is the simple command, without `exec` and assignments before it:
 * words, to be split as words_split() does. */
ShellEnd shell_text_end(const char *text, size_t length, const char **ret_command, size_t *ret_length);
