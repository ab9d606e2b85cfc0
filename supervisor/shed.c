/* shed.c - lets go of what only the start needed. */
#include "supervisor/shed.h"
#include <malloc.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#define STACK_SPAN (256UL * 1024) /* deeper than any start */

/* What lies below the frame of the caller was some deeper call's, and is nobody's now. A page is left for our own
 * calls; below the main thread's stack there is nothing else for a hundred megabytes, and what is not mapped does not
 * matter.
 */
void shed_stack(void) {
        uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
        uintptr_t end = ((uintptr_t)__builtin_frame_address(0) & ~(page - 1)) - page;
        (void)madvise((void *)(end - STACK_SPAN), STACK_SPAN, MADV_DONTNEED); /* refused: it stays */
}

void shed_start(void) {
        malloc_trim(0);
        shed_stack();
}
