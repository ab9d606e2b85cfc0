/* summary.h - a run and its judgement as text for a terminal, or as JSON.
 *
 * Pure but for the stream, which is in memory. */
#pragma once
#include "report/story.h"
#include "shutdown/laws.h"
#include <stdio.h>

void summary_write(FILE *out, const Story *story, const Judgement *judgement);
void summary_write_json(FILE *out, const Story *story, const Judgement *judgement);
