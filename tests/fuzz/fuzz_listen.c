/* fuzz_listen.c - any text as held sockets: no crash; what is taken is the same when it is written out and read again;
 * and sorting puts each behind the one that it clashes with. */
#include "base/take.h"
#include "supervisor/config_listen.h"
#include "tests/fuzz/must.h"
#include <errno.h>
#include <stdint.h>
#include <string.h>

typedef struct Listens {
        ListenConfig *items;
        size_t n;
} Listens;

static void listens_done(Listens *listens) {
        listens_free(listens->items, listens->n);
}

static void check(const ListenConfig *listen) {
        must(listen->address && *listen->address && listen->name && *listen->name);
        must(strlen(listen->name) <= LISTEN_NAME_MAX && !strchr(listen->name, ':'));
        must(listen->mode >= 0 && listen->mode <= 0777);
        if (listen->by == LISTEN_UNIX)
                must(*listen->address == '/' && strlen(listen->address) <= 107 && listen_port(listen) == 0);
        else
                must(listen_port(listen) >= 1 && listen_port(listen) <= 65535);
}

static char *write_out(const Listens *listens) {
        char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);

        must(out);
        for (size_t i = 0; i < listens->n; i++) {
                const ListenConfig *listen = &listens->items[i];
                fputs(listen->by == LISTEN_TCP ? "tcp://" : "unix:", out);
                for (const char *c = listen->address; *c; c++)
                        fprintf(out, strchr("' \t\n\"\\", *c) ? "\"%s%c\"" : "%s%c", strchr("\"\\", *c) ? "\\" : "",
                                *c);
                if (listen->by == LISTEN_UNIX)
                        fprintf(out, " mode=%o", (unsigned)listen->mode);
                fputs(" 'name=", out);
                for (const char *c = listen->name; *c; c++)
                        fprintf(out, *c == '\'' ? "'\\'%c" : "%c", *c);
                fputs("' ", out);
        }
        must(fclose(out) == 0);
        return text;
}

static void check_same(const Listens *a, const Listens *b) {
        must(a->n == b->n);
        for (size_t i = 0; i < a->n; i++) {
                must(a->items[i].by == b->items[i].by && a->items[i].mode == b->items[i].mode);
                must(strcmp(a->items[i].address, b->items[i].address) == 0);
                must(strcmp(a->items[i].name, b->items[i].name) == 0);
        }
}

static int compare(const void *a, const void *b) {
        return listens_compare(a, b);
}

/* The law that finding clashes among neighbours rests on: whoever clashes with anybody before it clashes with the first
 * of its port or with the one just before. */
static void check_order(Listens *listens) {
        size_t group = 0;

        if (listens->n == 0)
                return;
        qsort(listens->items, listens->n, sizeof *listens->items, compare);
        for (size_t i = 0; i < listens->n; i++) {
                bool clashes = false;
                if (i > 0 && !listens_share_port(&listens->items[group], &listens->items[i]))
                        group = i;
                for (size_t j = 0; j < i; j++) {
                        bool one = listens_clash(&listens->items[j], &listens->items[i]);
                        must(one == listens_clash(&listens->items[i], &listens->items[j]));
                        clashes = clashes || one;
                }
                bool found = i > 0 && (listens_clash(&listens->items[i - 1], &listens->items[i]) ||
                                       (group < i && listens_clash(&listens->items[group], &listens->items[i])));
                must(clashes == found);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        _cleanup_(freep) char *text = strndup((const char *)data, size), *full = NULL;
        _cleanup_(listens_done) Listens listens = { 0 }, again = { 0 };
        Problem problem = { "" };

        int r = listen_parse(text, "web", &listens.items, &listens.n, &problem);
        must(r == 0 || (r == -EINVAL && *problem.text));
        if (r < 0 || listens.n > 200)
                return 0;
        for (size_t i = 0; i < listens.n; i++)
                check(&listens.items[i]);
        full = write_out(&listens);
        must(listen_parse(full, "other", &again.items, &again.n, &problem) == 0);
        check_same(&listens, &again);
        check_order(&listens);
        return 0;
}
