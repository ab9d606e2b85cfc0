/* observe_item.h - makes an item of one file: its kind, its attributes, its content.
 *
 * Time stamps and inode numbers are no part of it. Of extended attributes only those that a program sets: no label that
 * the system gives, nothing of overlayfs. */
#pragma once
#include "verify/state.h"
#include <sys/stat.h>

/* `name` in the folder `folder`; links are not followed. 0; -ENOENT: there is none; -ENOMEM; or the -errno of
 * reading it. */
int observe_item(int folder, const char *name, const char *key, Item *ret);
/* Of what was saved: `attributes` are names and values in turn, NULL-ended, by name; the content stands in `contents`.
 */
int observe_saved(const struct stat *what, char *const *attributes, int contents, uint64_t offset, uint64_t size,
                  const char *target, const char *key, Item *ret);
/* That something which was there is not there now. */
int observe_absent(const char *key, Item *ret);
bool observe_items_are_equal(const Item *left, const Item *right); /* but for their keys */
