/* owner.h - the name of one run, under which its jobs are held: 16 bytes where thousands are kept, a uuid as text.
 *
 * Pure. All bytes zero: there was no run yet; its text is empty. Source: RFC 9562, 5.4 (version 4). */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#define OWNER_TEXT_MAX 37

typedef struct Owner {
        uint8_t bytes[16];
} Owner;

/* A version 4 uuid made of these random numbers. */
Owner owner_make(const uint32_t random[static 4]);
void owner_write(const Owner *owner, char ret_text[static OWNER_TEXT_MAX]);
/* Exactly the text that owner_write() makes of one. 0 or -EBADMSG. */
int owner_read(const char *text, Owner *ret);
bool owner_is(const Owner *a, const Owner *b);
