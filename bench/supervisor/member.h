/* member.h - what every measured program does: it tells the board that it runs, and that it was asked to stop. */
#pragma once
#include "board.h"

/* Takes the place that the digits of `argv[1]` say, or of the working directory's name (runit starts `./run` without
 * arguments), hears SIGTERM from now on, and writes the time. Ends the program when there is no board. */
Board *member_begin(int argc, char **argv);
const BoardPlace *member_place(void); /* after that */
