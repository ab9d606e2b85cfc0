/* terminal.c - see terminal.h. */
#include "supervisor/terminal.h"
#include "base/kin.h"
#include <unistd.h>

#define FD STDIN_FILENO

bool terminal_on_input(void) {
        return isatty(FD);
}

static bool read_modes(struct termios *ret) {
        return tcgetattr(FD, ret) == 0;
}

/* At once, not after the output has drained: a terminal whose other end reads nothing must not hold us up. */
static void set_modes(const struct termios *modes) {
        (void)tcsetattr(FD, TCSANOW, modes);
}

/* As unshare(1) leaves it: the first process of a namespace in a group of the outer one. */
static void become_nameable(void) {
        if (getpgrp() != 0 || setpgid(0, 0) < 0)
                return;
        if (tcgetpgrp(FD) == 0)
                (void)tcsetpgrp(FD, getpgrp());
}

void terminal_open(Terminal *terminal, bool pid_one) {
        *terminal = (Terminal){ .is_there = terminal_on_input() };
        if (!terminal->is_there)
                return;
        if (pid_one)
                become_nameable();
        terminal->has_found = read_modes(&terminal->found);
}

TerminalHolder terminal_holder(const Terminal *terminal) {
        pid_t group = terminal->is_there ? tcgetpgrp(FD) : -1;
        if (group < 0)
                return HOLDER_NOBODY;
        if (group == getpgrp())
                return HOLDER_OURS;
        return terminal->is_given ? HOLDER_PROGRAM : HOLDER_OTHERS;
}

bool terminal_is_gone(const Terminal *terminal) {
        return terminal->is_there && !terminal_on_input();
}

void terminal_lend(Terminal *terminal, bool again) {
        if (again)
                terminal_restore(terminal);
        terminal->is_given = true;
        terminal->is_shared = terminal->has_left = false;
}

void terminal_give(Terminal *terminal, pid_t group) {
        /* Whoever gave it to us may have changed its modes meanwhile, and wants to find them so again. */
        struct termios now;
        if (!terminal->is_shared && terminal_holder(terminal) == HOLDER_OURS && read_modes(&now)) {
                terminal->found = now;
                terminal->has_found = true;
        }
        if (tcsetpgrp(FD, group) < 0)
                return; /* the group is gone, or has left our session: it needs no terminal of ours */
        terminal->is_given = true;
        terminal->is_shared = false;
        if (terminal->has_left)
                set_modes(&terminal->left);
        terminal->has_left = false;
}

void terminal_take(Terminal *terminal) {
        if (terminal->is_given)
                (void)tcsetpgrp(FD, getpgrp());
        terminal->is_given = false;
}

void terminal_share(Terminal *terminal) {
        terminal_take(terminal);
        terminal->is_shared = true;
}

void terminal_doubt(Terminal *terminal, pid_t group) {
        pid_t holder = terminal->is_given ? tcgetpgrp(FD) : -1;
        if (holder < 0 || (holder != group && !kin_is_below(holder, getpid())))
                terminal->is_given = false;
}

void terminal_put_aside(Terminal *terminal) {
        terminal->has_left = read_modes(&terminal->left);
        terminal_restore(terminal);
}

void terminal_restore(const Terminal *terminal) {
        if (terminal->has_found)
                set_modes(&terminal->found);
}
