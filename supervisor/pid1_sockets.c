/* pid1_sockets.c - what is held for services over their restarts: sockets, stored descriptors; and their ready pipes.
 */
#include "supervisor/pid1.h"

void pid1_close_sockets(void *self, uint32_t service) {
        (void)self, (void)service;
}

void pid1_drop_store(void *self, uint32_t member) {
        (void)self, (void)member;
}
