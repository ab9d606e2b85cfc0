/* probe_check.c - the least command that says that all is well, and counts that on the board. */
#include "board.h"

int main(void) {
        Board *board = board_open();
        if (!board)
                return 3;
        atomic_fetch_add(&board->checks, 1);
        return 0;
}
