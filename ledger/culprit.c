/* culprit.c - puts failures together that have one cause. */
#include "ledger/culprit.h"
#include "base/take.h"
#include <errno.h>
#include <stdbool.h>
#include <string.h>

static bool is_full(uint64_t n) { /* room is made at powers of two */
        return (n & (n - 1)) == 0;
}

/* 1: the id was new and is in now; 0: it was in; -ENOMEM. */
static int note(int64_t **seen, uint64_t *n, int64_t id) {
        uint64_t low = 0, high = *n;

        while (low < high) {
                uint64_t middle = low + (high - low) / 2;
                if ((*seen)[middle] < id)
                        low = middle + 1;
                else
                        high = middle;
        }
        if (low < *n && (*seen)[low] == id)
                return 0;
        if (is_full(*n)) {
                int64_t *larger = reallocarray(*seen, *n ? *n * 2 : 1, sizeof *larger);
                if (!larger)
                        return -ENOMEM;
                *seen = larger;
        }
        memmove(*seen + low + 1, *seen + low, (*n - low) * sizeof **seen);
        (*seen)[low] = id;
        (*n)++;
        return 1;
}

static bool is_it(const Culprit *item, const char *queue, const char *kind, const char *class, const char *text) {
        return strcmp(item->text, text) == 0 && strcmp(item->class, class) == 0 && strcmp(item->queue, queue) == 0 &&
               strcmp(item->kind, kind) == 0;
}

static void item_done(Culprit *item) {
        free(item->queue);
        free(item->kind);
        free(item->class);
        free(item->seen);
}

static int add_item(Culprits *culprits, const char *queue, const char *kind, const char *class, const char *text,
                    Culprit **ret) {
        Culprit *items = culprits->items;

        if (is_full(culprits->n))
                items = reallocarray(items, culprits->n ? culprits->n * 2 : 1, sizeof *items);
        if (!items)
                return -ENOMEM;
        culprits->items = items;
        Culprit item = { .queue = strdup(queue), .kind = strdup(kind), .class = strdup(class), .ago_usec = INT64_MAX };
        if (!item.queue || !item.kind || !item.class) {
                item_done(&item);
                return -ENOMEM;
        }
        strcpy(item.text, text);
        items[culprits->n] = item;
        *ret = &items[culprits->n++];
        return 0;
}

static int find(Culprits *culprits, const char *queue, const char *kind, const char *class, const char *text,
                Culprit **ret) {
        for (size_t i = 0; i < culprits->n; i++)
                if (is_it(&culprits->items[i], queue, kind, class, text)) {
                        *ret = &culprits->items[i];
                        return 0;
                }
        return add_item(culprits, queue, kind, class, text, ret);
}

int culprits_add(Culprits *culprits, const char *queue, const char *kind, const char *class, const char *error,
                 int64_t job, uint64_t failures, int64_t ago_usec) {
        char text[FINGERPRINT_MAX];
        Culprit *item = NULL;

        int r = find(culprits, queue, kind, class, fingerprint(error, text), &item);
        if (r < 0)
                return r;
        uint64_t place = item->n_jobs;
        r = note(&item->seen, &item->n_jobs, job);
        if (r > 0 && place < CULPRIT_JOBS_MAX)
                item->jobs[place] = job;
        if (r < 0 || (r = note(&culprits->seen, &culprits->n_jobs, job)) < 0)
                return r;
        if (item->jobs[0] == job)
                item->worst_failures += failures;
        item->failures += failures;
        culprits->failures += failures;
        item->ago_usec = ago_usec < item->ago_usec ? ago_usec : item->ago_usec;
        return 0;
}

static int in_order(const void *a, const void *b, void *unused) {
        const Culprit *x = a, *y = b;
        (void)unused;

        if (x->n_jobs != y->n_jobs)
                return x->n_jobs < y->n_jobs ? 1 : -1;
        if (x->failures != y->failures)
                return x->failures < y->failures ? 1 : -1;
        int r = strcmp(x->queue, y->queue);
        return r != 0 ? r : strcmp(x->text, y->text);
}

void culprits_sort(Culprits *culprits) {
        if (culprits->n > 1)
                qsort_r(culprits->items, culprits->n, sizeof *culprits->items, in_order, NULL);
}

void culprits_done(Culprits *culprits) {
        for (size_t i = 0; i < culprits->n; i++)
                item_done(&culprits->items[i]);
        free(culprits->items);
        free(culprits->seen);
        *culprits = (Culprits){ 0 };
}
