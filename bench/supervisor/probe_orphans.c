/* probe_orphans.c - a service that makes orphans, when the board asks: double forks, one after the other.
 *
 * Each orphan waits until its parent is gone, so that every one of them dies as a child of PID 1. The maker never makes
 * more than it was asked for and says how many it really made. */
#include "member.h"
#include <sys/wait.h>

/* A poll is enough here: the maker looks for work only in scenarios that do not measure an idle supervisor. */
static uint64_t wait_for_work(Board *board) {
        uint64_t wanted;
        while ((wanted = atomic_load(&board->orphans_wanted)) == 0)
                nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
        return wanted;
}

/* The pipe's writing end is held by the middle process alone: its end of file says that the middle process is gone. */
static void orphan(int pipe_fds[2]) {
        char nothing;
        close(pipe_fds[1]);
        (void)!read(pipe_fds[0], &nothing, 1);
        _exit(0);
}

static int make_one(void) {
        int pipe_fds[2];
        pid_t middle = fork();
        if (middle == 0) {
                if (pipe(pipe_fds) < 0)
                        _exit(1);
                pid_t child = fork();
                if (child == 0)
                        orphan(pipe_fds);
                _exit(child < 0);
        }
        int status = 1;
        if (middle < 0 || waitpid(middle, &status, 0) < 0)
                return -1;
        return status == 0 ? 0 : -1;
}

int main(int argc, char **argv) {
        Board *board = member_begin(argc, argv);
        uint64_t wanted = wait_for_work(board);
        while (wanted-- > 0)
                if (make_one() == 0)
                        atomic_fetch_add(&board->orphans_made, 1);
        atomic_store(&board->orphans_done_nsec, board_now_nsec());
        for (;;)
                pause();
}
