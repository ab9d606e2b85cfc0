/* verb_program.c - the verbs that need a library which PID 1 must not have: each becomes the built-in program of its
 * name. */
#include "shutdown/verdict.h"
#include "supervisor/libexec.h"
#include "supervisor/verbs.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

/* The program says `endwell VERB` of itself, and knows its words, --help among them: only it can explain them. */
int verb_program(int argc, char **argv) {
        char path[PATH_MAX];
        (void)argc;

        int r = libexec_find(argv[0], path);
        if (r < 0) {
                fprintf(stderr, "endwell %s: could not find endwell-%s beside this program: %s; nothing was done\n",
                        argv[0], argv[0], strerrordesc_np(-r));
                return EXIT_NOT_RUNNING;
        }
        execve(path, argv, environ);
        fprintf(stderr, "endwell %s: could not run %s: %s; nothing was done\n", argv[0], path, strerrordesc_np(errno));
        return EXIT_NOT_RUNNING;
}
