/* requests.h - takes requests of PID 1, has them carried out within their time, and answers each one; ends when PID 1
 * is gone.
 *
 * The words (base/packet), PID 1 first:
 *   ASK=ID BY=http|tcp|unix TIMEOUT=USEC   body: the target (a URL; HOST:PORT; a path). ID: any number that is not open
 *          METHOD=WORD                     of http; else GET
 *          HOOK=1                          of http: a hook, not a check (http.h)
 *   CANCEL=ID                              nobody waits for it any more
 * and back, once for each ASK:
 *   ANSWER=ID RESULT=succeeded|failed|unknown DETAIL=a few words
 * So many are carried out at once as descriptors are there, at most REQUESTS_AT_ONCE; the others wait their turn. Who
 * has no turn within half of his time and is not done, or whose time went by while we could not look (stopped, no
 * processor), is unknown. */
#pragma once
#include <systemd/sd-event.h>

#define REQUESTS_AT_ONCE 2048

typedef struct Requests Requests;

/* `socket` is not taken over. `n_descriptors`: how many this process may have. */
int requests_new(Requests **ret, sd_event *event, int socket, unsigned n_descriptors);
Requests *requests_free(Requests *requests);
