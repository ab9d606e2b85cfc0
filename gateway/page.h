/* page.h - the status page: one document, whole without a script, alive with it.
 *
 * Whatever comes from the outside, names of services included, is text in it. The script draws what it reads from
 * /status and /events, and begins with what stands in the document. */
#pragma once
#include "gateway/metrics.h"
#include "gateway/recent.h"

#define PAGE_NONCE_MAX 33

typedef struct PageView {
        const Known *known;
        const Recent *recent;
        const char *nonce; /* of its style and script, of this answer only */
        usec_t now_usec;   /* monotonic, as the journal's */
} PageView;

void page_write(const PageView *view, FILE *out);
/* With < > & " ' as entities, and what is no valid UTF-8 as question marks. */
void page_write_text(const char *text, size_t length, FILE *out);
