/* shed.h - lets go of what only the start needed: free pages of heap and stack.
 *
 * PID 1 lives for months, and its end is waited for: the kernel takes back each page one by one before it tells the
 * parent. Nothing is lost: what is touched again is there again, as zeros. */
#pragma once

void shed_start(void); /* heap and stack */
void shed_stack(void); /* what deeper calls than the caller's have used */
