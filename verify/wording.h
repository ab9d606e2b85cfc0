/* wording.h - how a difference between two items is said: "/run/ew/stops line 1: 6 became 7".
 *
 * Pure but for malloc. What a hook wrote is shown with its control characters escaped and cut where it is long. */
#pragma once
#include "verify/difference.h"
#include "verify/state.h"

const char *wording_unit(ItemKind kind);                                  /* "line", "row", "request" */
void wording_of_items(const Item *was, const Item *is, Differences *ret); /* kind, attributes or number of lines */
void wording_of_line(const Item *was, size_t line, const char *is, Differences *ret);
void wording_of_missing(const Item *was, Differences *ret);
void wording_of_extra(const Item *is, Differences *ret);
void wording_of_text(const char *what, const char *was, const char *is, Differences *ret);
