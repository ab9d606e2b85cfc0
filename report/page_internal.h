/* page_internal.h - what page.c and its tables share; for nobody else. */
#pragma once
#include "report/page.h"

#define PAGE_EVENTS_MOST 400 /* lines of the last table: the loud ones come first to be kept */

void page_put_facts(FILE *out, const PageFacts *facts, const Story *story, const Judgement *judgement);
void page_put_laws(FILE *out, const Judgement *judgement);
void page_put_phases(FILE *out, const Story *story);
void page_put_hooks(FILE *out, const Story *story);
void page_put_members(FILE *out, const Story *story, const Lanes *lanes);
void page_put_orphans(FILE *out, const Story *story);
void page_put_events(FILE *out, const Story *story);
