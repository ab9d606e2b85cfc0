/* opening.h - reads what PID 1 says of a stream that it opens: whose output it is, what it becomes, into which file.
 *
 * Pure. What is not said, or not understood, is left as it is without a word: output unchanged, of nobody. */
#pragma once
#include "base/packet.h"
#include "logger/stream.h"

/* Fills in path (the packet's body, borrowed), truncate, format, source, max_size and most. */
void opening_read(const Packet *packet, StreamPlan *plan);
