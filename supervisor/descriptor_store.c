/* descriptor_store.c - see descriptor_store.h. */
#include "supervisor/descriptor_store.h"
#include "base/take.h"
#include "supervisor/parcel.h"
#include "supervisor/priority.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EVENTS_MAX 64
#define NAMES_MAX  65536 /* of one member: they become one word of an environment, which holds 128 KiB (execve(2)) */

typedef struct Item {
        uint64_t key; /* without kcmp: of a socket or pipe one number a file and way to use it; else 0 */
        uint32_t member;
        int fd;
        bool watched, goes;
        char name[];
} Item;

typedef struct Shelf { /* of one member */
        Item **items;  /* oldest first */
        Item **sorted; /* the same, by compare() */
        uint32_t n, room, names_size;
        uint16_t most;
        bool was_full, some_go;
} Shelf;

struct DescriptorStore {
        int epoll_fd, fd_end;
        pid_t pid; /* ours */
        bool has_kcmp;
        sd_event_source *source;
        uint32_t n_shelves;
        Shelf shelves[];
};

/* ---- Which is which ---- */

/* From the name that the kernel has for it, which asks nobody: "socket:[4711]", "pipe:[4711]". */
static uint64_t read_key(int fd) {
        char path[32], text[64] = "";
        unsigned long long number;
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        if (readlink(path, text, sizeof text - 1) < 0)
                return 0;
        if (sscanf(text, "socket:[%llu]", &number) == 1)
                return number << 2 | 3;
        if (sscanf(text, "pipe:[%llu]", &number) == 1)
                return number << 2 | ((unsigned)fcntl(fd, F_GETFL) & O_ACCMODE); /* its ends have the same number */
        return 0;
}

static int kcmp_files(const DescriptorStore *store, int a, int b) {
        return (int)syscall(SYS_kcmp, store->pid, store->pid, KCMP_FILE, a, b);
}

static int sign(bool greater) {
        return greater ? 1 : -1;
}

/* An order of open files: negative, 0 (the same one) or positive. */
static int compare(const DescriptorStore *store, const Item *a, const Item *b) {
        int r = store->has_kcmp ? kcmp_files(store, a->fd, b->fd) : -1;
        if (r >= 0 && r <= 2)
                return r == 0 ? 0 : sign(r == 2);
        if (a->key != b->key)
                return sign(a->key > b->key);
        return a->key != 0 ? 0 : sign(a->fd > b->fd); /* nobody knows: two */
}

/* Where it stands, or would stand. */
static uint32_t find_place(const DescriptorStore *store, const Shelf *shelf, const Item *item, bool *ret_is_there) {
        uint32_t low = 0, high = shelf->n;
        while (low < high) {
                uint32_t middle = low + (high - low) / 2;
                int r = compare(store, item, shelf->sorted[middle]);
                if (r == 0) {
                        *ret_is_there = true;
                        return middle;
                }
                if (r < 0)
                        high = middle;
                else
                        low = middle + 1;
        }
        *ret_is_there = false;
        return low;
}

/* ---- Forgetting ---- */

/* Out of the epoll by name: a child between fork and exec has a copy of the descriptor, and that would keep it in. */
static void item_free(DescriptorStore *store, Item *item) {
        if (item->watched)
                (void)epoll_ctl(store->epoll_fd, EPOLL_CTL_DEL, item->fd, NULL);
        parcel_close_one(item->fd);
        free(item);
}

static void let_go(DescriptorStore *store, Item *item) {
        item->goes = true;
        store->shelves[item->member].some_go = true;
}

/* All that goes, in one pass. */
static void forget(DescriptorStore *store, Shelf *shelf) {
        uint32_t n_sorted = 0, n_items = 0;
        if (!shelf->some_go)
                return;
        for (uint32_t i = 0; i < shelf->n; i++)
                if (!shelf->sorted[i]->goes)
                        shelf->sorted[n_sorted++] = shelf->sorted[i];
        for (uint32_t i = 0; i < shelf->n; i++) {
                Item *item = shelf->items[i];
                if (!item->goes) {
                        shelf->items[n_items++] = item;
                        continue;
                }
                shelf->names_size -= (uint32_t)strlen(item->name) + 1;
                item_free(store, item);
        }
        shelf->n = n_items;
        shelf->some_go = false;
}

static int on_hung_up(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        DescriptorStore *store = userdata;
        struct epoll_event events[EVENTS_MAX];
        uint32_t members[EVENTS_MAX];
        (void)source, (void)revents;
        int n = epoll_wait(fd, events, EVENTS_MAX, 0);
        for (int i = 0; i < n; i++) {
                members[i] = ((Item *)events[i].data.ptr)->member;
                let_go(store, events[i].data.ptr);
        }
        for (int i = 0; i < n; i++)
                forget(store, &store->shelves[members[i]]);
        return 0;
}

/* ---- Keeping ---- */

static bool make_room(Shelf *shelf) {
        if (shelf->n < shelf->room)
                return true;
        uint32_t room = shelf->room == 0 ? 8 : 2 * shelf->room;
        Item **items = reallocarray(shelf->items, room, sizeof(Item *));
        if (items)
                shelf->items = items;
        Item **sorted = reallocarray(shelf->sorted, room, sizeof(Item *));
        if (sorted)
                shelf->sorted = sorted;
        if (items && sorted)
                shelf->room = room;
        return items && sorted;
}

/* Sockets and pipes only: to ask whether another file is ready may block. */
static void watch(DescriptorStore *store, Item *item) {
        struct epoll_event event = { .events = 0, .data.ptr = item }; /* EPOLLHUP and EPOLLERR are always there */
        bool may_be_asked = item->key != 0 || read_key(item->fd) != 0;
        item->watched = may_be_asked && epoll_ctl(store->epoll_fd, EPOLL_CTL_ADD, item->fd, &event) >= 0;
}

/* False: there is no place for it. */
static bool keep(DescriptorStore *store, Shelf *shelf, Item *item, bool watched) {
        bool is_there;
        size_t name_size = strlen(item->name) + 1;
        uint32_t place = find_place(store, shelf, item, &is_there);
        if (is_there) {
                item_free(store, item);
                return true;
        }
        if (shelf->n >= shelf->most || shelf->names_size + name_size > NAMES_MAX || item->fd >= store->fd_end ||
            !make_room(shelf))
                return false;
        memmove(shelf->sorted + place + 1, shelf->sorted + place, (shelf->n - place) * sizeof(Item *));
        shelf->sorted[place] = item;
        shelf->items[shelf->n++] = item;
        shelf->names_size += (uint32_t)name_size;
        if (watched)
                watch(store, item);
        return true;
}

static bool add_one(DescriptorStore *store, uint32_t member, const char *name, bool watched, int fd) {
        Shelf *shelf = &store->shelves[member];
        /* Who goes on when it is full, and that was said, is not looked at more closely: it may be a flood. */
        bool over = shelf->n >= shelf->most && (shelf->was_full || shelf->most == 0);
        Item *item = over ? NULL : malloc(sizeof *item + strlen(name) + 1);
        if (!item) {
                parcel_close_one(fd);
                return false;
        }
        *item = (Item){ .key = store->has_kcmp ? 0 : read_key(fd), .member = member, .fd = fd };
        strcpy(item->name, name);
        bool kept = keep(store, shelf, item, watched);
        if (!kept)
                item_free(store, item);
        return kept;
}

bool descriptor_store_add(DescriptorStore *store, uint32_t member, const char *name, bool watched, const int *fds,
                          size_t n_fds) {
        Shelf *shelf = &store->shelves[member];
        bool all_kept = true;
        for (size_t i = 0; i < n_fds; i++)
                if (fds[i] >= 0 && !add_one(store, member, *name ? name : "stored", watched, fds[i]))
                        all_kept = false;
        if (all_kept || shelf->was_full)
                return false;
        shelf->was_full = true;
        return true;
}

void descriptor_store_remove(DescriptorStore *store, uint32_t member, const char *name) {
        Shelf *shelf = &store->shelves[member];
        for (uint32_t i = 0; i < shelf->n; i++)
                if (strcmp(shelf->items[i]->name, name) == 0)
                        let_go(store, shelf->items[i]);
        forget(store, shelf);
}

void descriptor_store_drop(DescriptorStore *store, uint32_t member) {
        Shelf *shelf = &store->shelves[member];
        for (uint32_t i = 0; i < shelf->n; i++)
                item_free(store, shelf->items[i]);
        free(shelf->items);
        free(shelf->sorted);
        *shelf = (Shelf){ .most = shelf->most };
}

size_t descriptor_store_count(const DescriptorStore *store, uint32_t member) {
        return store->shelves[member].n;
}

StoredDescriptor descriptor_store_get(const DescriptorStore *store, uint32_t member, size_t i) {
        const Item *item = store->shelves[member].items[i];
        return (StoredDescriptor){ .fd = item->fd, .name = item->name };
}

/* ---- Birth and end ---- */

static void place_shelves(DescriptorStore *store, const Config *config) {
        uint32_t next = 0;
        for (size_t s = 0; s < config->n_services; s++)
                for (unsigned i = 0; i < config->services[s].instances; i++)
                        store->shelves[next++].most = config->services[s].descriptor_store_max;
}

static int add_source(DescriptorStore *store, sd_event *event) {
        store->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
        if (store->epoll_fd < 0)
                return -errno;
        store->pid = getpid();
        store->has_kcmp = kcmp_files(store, store->epoll_fd, store->epoll_fd) == 0;
        int r = sd_event_add_io(event, &store->source, store->epoll_fd, EPOLLIN, on_hung_up, store);
        return r < 0 ? r : sd_event_source_set_priority(store->source, PRIORITY_ORDINARY);
}

int descriptor_store_new(DescriptorStore **ret, sd_event *event, const Config *config, int fd_end) {
        DescriptorStore *store = calloc(1, sizeof *store + config->n_members * sizeof(Shelf));
        if (!store)
                return -ENOMEM;
        store->n_shelves = (uint32_t)config->n_members;
        store->fd_end = fd_end;
        place_shelves(store, config);
        int r = add_source(store, event);
        if (r < 0) {
                descriptor_store_free(store);
                return r;
        }
        *ret = store;
        return 0;
}

DescriptorStore *descriptor_store_free(DescriptorStore *store) {
        if (!store)
                return NULL;
        for (uint32_t member = 0; member < store->n_shelves; member++)
                descriptor_store_drop(store, member);
        sd_event_source_unref(store->source);
        close_fd(store->epoll_fd);
        free(store);
        return NULL;
}
