/* descriptor_store.h - keeps the descriptors that a service hands over with FDSTORE=1, for its next run.
 *
 * At most FileDescriptorStoreMax an instance, and none of them twice: compared by kcmp(2), or where a sandbox forbids
 * that by the number of a socket or pipe; never by asking the file, which may be one on a dead network. A stored socket
 * or pipe whose other end is gone is forgotten, unless FDPOLL=0 came with it. What is not kept is closed without
 * blocking (parcel.h). A descriptor is found in logarithmic time, so that a flood of them costs no more than it does
 * anywhere. Source: sd_pid_notify_with_fds(3), sd_listen_fds(3). */
#pragma once
#include "supervisor/config.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-event.h>

typedef struct DescriptorStore DescriptorStore;

typedef struct StoredDescriptor {
        int fd;
        const char *name; /* FDNAME=, else "stored" */
} StoredDescriptor;

/* Members are numbered as in the crew. No descriptor from `fd_end` on is kept: what PID 1 needs itself stays free. */
int descriptor_store_new(DescriptorStore **ret, sd_event *event, const Config *config, int fd_end);
DescriptorStore *descriptor_store_free(DescriptorStore *store);

/* Takes all `fds` that are not -1: keeps, or closes. `name` "": not said. True when one found no place, for the first
 * time since this member's store was empty. */
bool descriptor_store_add(DescriptorStore *store, uint32_t member, const char *name, bool watched, const int *fds,
                          size_t n_fds);
void descriptor_store_remove(DescriptorStore *store, uint32_t member, const char *name);
void descriptor_store_drop(DescriptorStore *store, uint32_t member); /* all of a member */
size_t descriptor_store_count(const DescriptorStore *store, uint32_t member);
StoredDescriptor descriptor_store_get(const DescriptorStore *store, uint32_t member, size_t i); /* oldest first */
