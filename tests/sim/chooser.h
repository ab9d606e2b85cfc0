/* chooser.h - decides in place of random numbers, so that every possibility is tried once: an odometer over choices.
 *
 * A run asks chooser_pick() at each fork of the way; chooser_advance() moves the last wheel that can still turn and
 * forgets those behind it. Runs are made again from the start, so what is chosen needs no undoing. */
#pragma once
#include <stdbool.h>

#define CHOICES_MAX 256

struct Chooser {
        unsigned char picked[CHOICES_MAX], of[CHOICES_MAX];
        unsigned at, n;
        unsigned limit; /* at most this many wheels; choices behind them always take 0 */
};
typedef struct Chooser Chooser;

/* 0 to n - 1; limit is at most CHOICES_MAX. */
static inline unsigned chooser_pick(Chooser *chooser, unsigned n) {
        if (n < 2)
                return 0;
        if (chooser->at == chooser->limit)
                return 0;
        if (chooser->at == chooser->n) {
                chooser->picked[chooser->n] = 0;
                chooser->of[chooser->n++] = (unsigned char)n;
        }
        return chooser->picked[chooser->at++];
}

/* False when everything was tried. */
static inline bool chooser_advance(Chooser *chooser) {
        while (chooser->n > 0 && chooser->picked[chooser->n - 1] + 1 == chooser->of[chooser->n - 1])
                chooser->n--;
        if (chooser->n == 0)
                return false;
        chooser->picked[chooser->n - 1]++;
        chooser->at = 0;
        return true;
}
