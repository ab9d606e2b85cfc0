/* owner.c - the name of one run, as 16 bytes and as text. */
#include "supervisor/owner.h"
#include <errno.h>
#include <string.h>

static const char digits[] = "0123456789abcdef";

static bool has_dash_before(unsigned byte) {
        return byte == 4 || byte == 6 || byte == 8 || byte == 10;
}

Owner owner_make(const uint32_t random[static 4]) {
        Owner owner;
        for (unsigned i = 0; i < sizeof owner.bytes; i++)
                owner.bytes[i] = (uint8_t)(random[i / 4] >> (24 - i % 4 * 8));
        owner.bytes[6] = (uint8_t)(0x40 | (owner.bytes[6] & 0x0f));
        owner.bytes[8] = (uint8_t)(0x80 | (owner.bytes[8] & 0x3f));
        return owner;
}

bool owner_is(const Owner *a, const Owner *b) {
        return memcmp(a, b, sizeof *a) == 0;
}

/* By hand: each event of a member carries it, and snprintf() takes ten times as long. */
void owner_write(const Owner *owner, char ret_text[static OWNER_TEXT_MAX]) {
        static const Owner nobody = { 0 };
        char *at = ret_text;

        for (unsigned i = 0; i < sizeof owner->bytes && !owner_is(owner, &nobody); i++) {
                if (has_dash_before(i))
                        *at++ = '-';
                *at++ = digits[owner->bytes[i] >> 4];
                *at++ = digits[owner->bytes[i] & 0x0f];
        }
        *at = '\0';
}

static int read_digit(char letter) {
        const char *found = letter ? strchr(digits, letter) : NULL;
        return found ? (int)(found - digits) : -1;
}

int owner_read(const char *text, Owner *ret) {
        Owner owner;

        for (unsigned i = 0; i < sizeof owner.bytes; i++) {
                if (has_dash_before(i) && *text++ != '-')
                        return -EBADMSG;
                int high = read_digit(text[0]), low = high < 0 ? -1 : read_digit(text[1]);
                if (low < 0)
                        return -EBADMSG;
                owner.bytes[i] = (uint8_t)(high << 4 | low);
                text += 2;
        }
        if (*text)
                return -EBADMSG;
        *ret = owner;
        return 0;
}
