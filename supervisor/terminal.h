/* terminal.h - the terminal on standard input: who has it, giving it away and taking it back, and its modes.
 *
 * The only place in PID 1 that moves a terminal's foreground or changes its modes; the child takes the foreground by
 * itself before exec (launch.c), so that the program finds it. SIGTTOU is blocked, so all of this may be done from the
 * background too; nothing here waits for output to drain. A terminal that went away makes each call do nothing. */
#pragma once
#include "supervisor/foreground.h"
#include <stdbool.h>
#include <sys/types.h>
#include <termios.h>

typedef struct Terminal {
        bool is_there;  /* standard input was a terminal when we began */
        bool is_given;  /* to the program: whoever has it now, but our own group, has it from there */
        bool is_shared; /* somebody else of our own group needs it: the program does not get it unasked */
        bool has_found, has_left;
        struct termios found; /* its modes as whoever started us, or put us into the foreground, had them */
        struct termios left;  /* the program's, when it was stopped */
} Terminal;

/* True: standard input is a terminal. */
bool terminal_on_input(void);
/* Once, before the first program. `pid_one`: our process group may be one of another namespace, that has no number here
 * and could never be named again: then we get one of our own. */
void terminal_open(Terminal *terminal, bool pid_one);
TerminalHolder terminal_holder(const Terminal *terminal);
/* True: there was one, and it has hung up. */
bool terminal_is_gone(const Terminal *terminal);

/* The program is about to take the foreground itself. `again`: it is not its first run, and finds the modes that the
 * first one found. */
void terminal_lend(Terminal *terminal, bool again);
/* To this group, with the modes in which the program was stopped. */
void terminal_give(Terminal *terminal, pid_t group);
/* Back to our own group, if it was given. */
void terminal_take(Terminal *terminal);
/* The same, and until the program reaches for it, it stays there: somebody else of our own group does. */
void terminal_share(Terminal *terminal);
/* We were stopped, and a shell may have taken the terminal meanwhile: it is still given only if this group of the
 * program's has it, or one below us. */
void terminal_doubt(Terminal *terminal, pid_t group);
/* The program was stopped: keep its modes for terminal_give(), set those that we found. Before terminal_take(). */
void terminal_put_aside(Terminal *terminal);
void terminal_restore(const Terminal *terminal);
