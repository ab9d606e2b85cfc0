/* desk_internal.h - what desk.c (statements and their sending) and desk_answers.c (what came of them) share; for nobody
 * else. */
#pragma once
#include "ledger/connection.h"
#include "worker/desk.h"

typedef enum AskKind {
        ASK_UP,
        ASK_QUEUE,
        ASK_LISTEN,
        ASK_CLAIM,
        ASK_NEXT,
        ASK_COMPLETE,
        ASK_FAIL,
        ASK_RELEASE,
        ASK_BEATS,
        ASK_BEAT,
        ASK_ITEM_BEGIN,
        ASK_ITEM_END,
        ASK_LOOK,
        ASK_DRAIN,
        ASK_HELD,
        _ASK_KIND_MAX,
} AskKind;

typedef struct Ask { /* one statement in flight */
        Desk *desk;
        AskKind kind;
        unsigned wanted;
        bool with_cursor;
        usec_t sent_usec;
        size_t n_keys;
        JobKey keys[];
} Ask;

struct Desk {
        sd_event *event;
        DeskOptions options;
        DeskCalls calls;
        Connection *connection, *listening; /* the second one only with a ListenUrl */
        char *sql[_ASK_KIND_MAX];
        bool over;
        bool ready;      /* the ledger knows this worker and its queue */
        int64_t last_id; /* the cursor: the last job that came; 0: none */
        char host[65], pid[12];
};

void desk_take_answer(Ask *ask, PqReply *reply);
