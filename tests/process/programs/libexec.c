/* libexec.c - says where the built-in program of a room is, as libexec_find() has it. */
#include "supervisor/libexec.h"
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
        char path[PATH_MAX] = "";
        int r = argc == 2 ? libexec_find(argv[1], path) : -1;

        puts(r == 0 ? path : strerrorname_np(-r));
        return 0;
}
