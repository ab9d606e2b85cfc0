/* notifier.h - sends words to $NOTIFY_SOCKET for the verbs, and waits until they were read.
 *
 * The wait is what makes the words of a short-lived process count: its supervisor read them before it ended. */
#pragma once

/* 0; 69 without a $NOTIFY_SOCKET or without a reader there (said on stderr). */
int notifier_send(const char *verb, const char *text);
