/* member.c - see member.h. */
#include "member.h"
#include <signal.h>
#include <string.h>

static BoardPlace *place;

static void on_term(int signal_number) {
        (void)signal_number;
        atomic_store(&place->asked_nsec, board_now_nsec());
        atomic_store(&place->leaving_nsec, board_now_nsec());
        _exit(0);
}

static size_t place_in(const char *name) {
        return strtoul(name + strcspn(name, "0123456789"), NULL, 10);
}

static size_t place_of(int argc, char **argv) {
        char directory[4096];
        if (argc > 1)
                return place_in(argv[1]);
        if (!getcwd(directory, sizeof directory))
                _exit(3);
        return place_in(strrchr(directory, '/') + 1);
}

Board *member_begin(int argc, char **argv) {
        Board *board = board_open();
        if (!board)
                _exit(3);
        place = &board->places[place_of(argc, argv)];
        atomic_store(&place->pid, (uint64_t)getpid());
        atomic_fetch_add(&place->runs, 1);
        struct sigaction action = { .sa_handler = on_term };
        sigaction(SIGTERM, &action, NULL);
        atomic_store(&place->started_nsec, board_now_nsec());
        return board;
}

const BoardPlace *member_place(void) {
        return place;
}
