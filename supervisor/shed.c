/* shed.c - lets go of what only the start needed. */
#include "supervisor/shed.h"
#include <link.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define STACK_SPAN (256UL * 1024) /* deeper than any start */

static uintptr_t page_size(void) {
        return (uintptr_t)sysconf(_SC_PAGESIZE);
}

/* Those that PID 1 runs in for as long as it lives. libsystemd brings six more, for compression and cryptography. */
static bool is_in_use(const char *object) {
        static const char *const used[] = { "/libc.so", "/libsystemd.so", "/libjansson.so" };

        for (size_t i = 0; i < sizeof used / sizeof *used; i++)
                if (strstr(object, used[i]))
                        return true;
        return !*object; /* the program itself */
}

/* Relocations that were written into the text would be lost with its pages. No library of a distribution has any. */
static bool text_is_as_in_the_file(const struct dl_phdr_info *object) {
        for (int i = 0; i < object->dlpi_phnum; i++) {
                const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
                if (segment->p_type != PT_DYNAMIC)
                        continue;
                const ElfW(Dyn) *entry = (const ElfW(Dyn) *)(object->dlpi_addr + segment->p_vaddr);
                for (; entry->d_tag != DT_NULL; entry++)
                        if (entry->d_tag == DT_TEXTREL || (entry->d_tag == DT_FLAGS && entry->d_un.d_val & DF_TEXTREL))
                                return false;
                return true;
        }
        return false; /* the vdso and other oddities */
}

/* Only what can never have been written to: private pages that were would come back as they are in the file. */
static bool can_be_shed(const ElfW(Phdr) * segment, bool in_use) {
        bool has_symbols = segment->p_offset == 0; /* and relocations; all symbols are bound by now */
        return segment->p_type == PT_LOAD && !(segment->p_flags & PF_W) && (has_symbols || !in_use);
}

static int shed_object(struct dl_phdr_info *object, size_t size, void *userdata) {
        uintptr_t page = page_size();
        bool in_use = is_in_use(object->dlpi_name);
        (void)size, (void)userdata;

        for (int i = 0; i < object->dlpi_phnum && text_is_as_in_the_file(object); i++) {
                const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
                uintptr_t begin = (object->dlpi_addr + segment->p_vaddr) & ~(page - 1);
                uintptr_t end = object->dlpi_addr + segment->p_vaddr + segment->p_memsz;
                if (can_be_shed(segment, in_use))
                        (void)madvise((void *)begin, end - begin, MADV_DONTNEED); /* refused: it stays mapped */
        }
        return 0;
}

/* What lies below the frame of the caller was some deeper call's, and is nobody's now. A page is left for our own
 * calls; below the main thread's stack there is nothing else for a hundred megabytes, and what is not mapped does not
 * matter.
 */
void shed_stack(void) {
        uintptr_t page = page_size(), end = ((uintptr_t)__builtin_frame_address(0) & ~(page - 1)) - page;
        (void)madvise((void *)(end - STACK_SPAN), STACK_SPAN, MADV_DONTNEED);
}

void shed_start(void) {
        malloc_trim(0);
        (void)dl_iterate_phdr(shed_object, NULL);
        shed_stack();
}
