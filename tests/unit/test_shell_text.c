/* test_shell_text.c - what stands last in a text for a shell; and that in doubt nothing is said. */
#include "base/take.h"
#include "supervisor/shell_text.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

typedef struct Row {
        const char *text, *command;
} Row;

static void all_end(ShellEnd end, const Row *rows, size_t n) {
        for (size_t i = 0; i < n; i++) {
                const char *command = NULL;
                size_t length = 0;
                ShellEnd found = shell_text_end(rows[i].text, strlen(rows[i].text), &command, &length);
                cr_expect_eq(found, end, "%s: answered %d", rows[i].text, found);
                if (found != end || !rows[i].command)
                        continue;
                cr_expect(strlen(rows[i].command) == length && strncmp(command, rows[i].command, length) == 0,
                          "%s: found %.*s", rows[i].text, (int)length, command);
        }
}

Test(shell_text, a_program_that_stands_last_is_run_and_waited_for) {
        static const Row rows[] = {
                { "server", "server" },
                { "server --port 80", "server --port 80" },
                { "  server  ", "server" },
                { "server\n\n", "server" },
                { "cd /srv; ./server", "./server" },
                { "cd /srv && ./server -x", "./server -x" },
                { "A=1 B='x y' server", "server" },
                { "prepare || exit 1\nserver", "server" },
                { "set -e\nexport A=1\npython3 app.py # the app\n# the end\n", "python3 app.py" },
                { "server > log 2>&1", "server > log 2>&1" },
                { "server 'a ; b' \"c && exec d\"", "server 'a ; b' \"c && exec d\"" },
                { "if [ -n \"$X\" ]; then a; fi\nserver", "server" },
                { "until pg_isready; do sleep 1; done\nserver", "server" },
                { "for i in 1 2 3; do echo $i; done; server", "server" },
                { "case $1 in a) exec x;; *) y;; esac\nserver", "server" },
                { "helper() { echo; }\nhelper\nserver", "server" },
                { "( cd /; touch x )\nserver", "server" },
                { "{ a; b; }\nserver", "server" },
                { "x=$(date +%s)\ny=`id -u`\nserver \"$(echo \")\" )\"", "server \"$(echo \")\" )\"" },
                { "server \\\n  --port 80", "server \\\n  --port 80" },
                { "#!/bin/sh -e\nnginx -g 'daemon off;'\n", "nginx -g 'daemon off;'" },
                { "setup\n\"$@\"", "\"$@\"" },
                { "helper & \nserver", "server" },
                { "a | b\nserver", "server" },
                { "while [ ! -e /tmp/go ]; do sleep 1; done\nserver", "server" },
        };
        all_end(SHELL_END_RUNS, rows, LENGTH_OF(rows));
}

Test(shell_text, an_exec_that_stands_last_makes_the_shell_the_program) {
        static const Row rows[] = {
                { "exec server", "server" },
                { "cd /srv; exec ./server -x", "./server -x" },
                { "A=1 exec server", "server" },
                { "exec -a name server x", "server x" },
                { "set -e\nif true; then exec other; fi\nexec \"$@\"\n", "\"$@\"" },
                { "prepare && exec server", "server" },
                { "while true; do work; done &\nexec server", "server" },
                { "trap 'rm x' EXIT\nexec server", "server" },
        };
        all_end(SHELL_END_EXEC, rows, LENGTH_OF(rows));
}

Test(shell_text, in_doubt_nothing_is_said) {
        static const Row rows[] = {
                { "" },
                { "\n\n" },
                { "# server" },
                { "echo hello" }, /* soon over */
                { "server; echo over" },
                { "server &\nwait" },
                { "server &" }, /* in the background */
                { "server || exit 1" },
                { "server | tee log" }, /* a pipeline */
                { "! server" },
                { "if true; then server; fi" }, /* the last command is not the last word */
                { "while :; do server; done" },
                { "while true; do work; done\nserver" }, /* never comes so far */
                { "while : ; do work; done\ncleanup-db" },
                { "trap 'kill $pid' TERM\nserver" }, /* somebody thought of it */
                { "( server )" },
                { "{ server; }" },
                { "case $1 in a) server;; esac" },
                { "main() { server; }\nmain" }, /* a function */
                { "main () {\n  server\n}\nmain \"$@\"" },
                { "function main { server; }\nmain" },
                { "cat <<END\nserver\nEND\nserver" }, /* a here document */
                { "server 'not closed" },
                { "server \"not closed" },
                { "server $(not closed" },
                { "if true; then server" },
                { "server; fi" },
                { "$SERVER --port 80" }, /* whatever that is */
                { "eval server" },
                { "exec" },
                { "exec > log" },
                { "A=1" },
                { "command server" },
                { "sleep infinity" },
        };
        all_end(SHELL_END_UNSURE, rows, LENGTH_OF(rows));
}

/* Any bytes at all: no crash, no endless loop, and never a command that is not in the text. */
Test(shell_text, no_text_is_too_odd) {
        static const char letters[] = "ab ;\n&|()<>{}'\"`$\\#!=if fi do done case esac exec";
        unsigned state = 1;
        char text[200];
        for (unsigned round = 0; round < 200000; round++) {
                size_t length = round % sizeof text;
                for (size_t i = 0; i < length; i++) {
                        state = state * 1103515245 + 12345;
                        text[i] = letters[(state >> 16) % (sizeof letters - 1)];
                }
                const char *command = NULL;
                size_t n = 0;
                if (shell_text_end(text, length, &command, &n) == SHELL_END_UNSURE)
                        continue;
                cr_assert(command >= text && n > 0 && command + n <= text + length, "round %u", round);
        }
}

Test(shell_text, quotes_in_quotes_in_quotes_have_an_end) {
        static char text[64 << 10];
        for (size_t i = 0; i + 3 < sizeof text; i += 3)
                memcpy(text + i, "\"$(", 3);
        const char *command;
        size_t n;
        cr_assert_eq(shell_text_end(text, sizeof text - 1, &command, &n), SHELL_END_UNSURE);
}
