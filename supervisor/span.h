/* span.h - a duration as text in the middle of an expression. */
#pragma once
#include "base/duration.h"

/* Lives as long as the block in which it stands. */
#define SPAN(span) duration_format(span, (char[DURATION_TEXT_MAX]){ 0 })
