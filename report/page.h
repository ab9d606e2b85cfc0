/* page.h - one HTML file of a run: the verdict, the picture, and the same facts as tables.
 *
 * Pure but for memory and the stream, which is in memory. No script; well-formed as XML, too. Who sees no picture has
 * the tables: all that the picture shows stands in them. */
#pragma once
#include "report/picture.h"
#include <stdio.h>

typedef struct PageFacts {
        const char *journal; /* its name */
        unsigned run, n_runs, n_bad;
        bool torn;
} PageFacts;

/* 0 or -ENOMEM. */
int page_write(FILE *out, const PageFacts *facts, const Story *story, const Judgement *judgement, const Lanes *lanes);
