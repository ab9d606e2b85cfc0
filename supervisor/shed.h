/* shed.h - lets go of what only the start needed: free pages of heap and stack, and library pages that were mapped for
 * loading.
 *
 * PID 1 lives for months, and its end is waited for: the kernel takes back each mapped page one by one before it tells
 * the parent. Nothing is lost: whatever is touched again is mapped again from the page cache. */
#pragma once

void shed_start(void); /* all of it */
void shed_stack(void); /* what deeper calls than the caller's have used */
