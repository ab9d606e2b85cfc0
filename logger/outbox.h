/* outbox.h - what the logger tells PID 1, in order, without waiting and without losing a word.
 *
 * At most OUTBOX_MAX messages wait. Who has something to say asks for room first, and, when there is none, stops its
 * own work until on_room. After outbox_stop() everything is taken and forgotten: PID 1 no longer listens. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#define OUTBOX_MAX      256
#define OUTBOX_TEXT_MAX 112

typedef struct Outbox Outbox;

int outbox_new(Outbox **ret, sd_event *event, int socket, void (*on_room)(void *userdata), void *userdata);
Outbox *outbox_free(Outbox *outbox);

unsigned outbox_room(const Outbox *outbox);
/* `KEY=VALUE` lines, each with its newline; the caller has asked for room. */
void outbox_say(Outbox *outbox, const char *format, ...) __attribute__((format(printf, 2, 3)));
void outbox_stop(Outbox *outbox);
