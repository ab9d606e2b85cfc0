/* descriptor_store.h - keeps the descriptors that a service hands over with FDSTORE=1, for its next run.
 *
 * At most FileDescriptorStoreMax an instance, and none of the same file twice. What is not kept is closed without
 * blocking (parcel.h). Source: sd_notify(3), sd_listen_fds(3). */
#pragma once
#include "supervisor/config.h"
#include <stddef.h>
#include <stdint.h>

typedef struct DescriptorStore DescriptorStore;

typedef struct StoredDescriptor {
        int fd;
        char name[256]; /* FDNAME=, else "stored" */
} StoredDescriptor;

int descriptor_store_new(DescriptorStore **ret, const Config *config); /* by member, as the crew numbers them */
DescriptorStore *descriptor_store_free(DescriptorStore *store);

/* Takes all `fds`: keeps, or closes. How many were kept; `name` NULL: not said. */
size_t descriptor_store_add(DescriptorStore *store, uint32_t member, const char *name, const int *fds, size_t n_fds);
void descriptor_store_remove(DescriptorStore *store, uint32_t member, const char *name);
void descriptor_store_drop(DescriptorStore *store, uint32_t member); /* all of a member */
/* Borrowed, valid until the next change. */
size_t descriptor_store_get(const DescriptorStore *store, uint32_t member, const StoredDescriptor **ret);
