/* keeper_link.h - the verifier's end of a keeper: starts it, gives it orders, hears its answers, ends it. */
#pragma once
#include "verify/keeper.h"
#include "verify/trace.h"

typedef struct KeeperLink KeeperLink;

/* Waits until the world stands. 0; -EPERM: no right to such namespaces; or -errno; *ret_why says what failed. */
int keeper_link_new(KeeperLink **ret, const KeeperSetup *setup, char **ret_why);
/* Kills it, and with it what it keeps, and waits until it is gone. */
KeeperLink *keeper_link_free(KeeperLink *link);

/* What the keeper said of its world; the link's. */
const Overlay *keeper_link_overlay(const KeeperLink *link); /* no points outside overlay worlds */
int keeper_link_take_fd(KeeperLink *link, int which);       /* KEEPER_FD_…, now the caller's; -1: there is none */

int keeper_link_descriptor(const KeeperLink *link); /* readable: there is an answer */
int keeper_link_order(KeeperLink *link, const TracerPlan *plan);
/* The answer to the order. 0; what tracer_run() said; -ECONNRESET: the keeper is gone. *ret_why (may become NULL) says
 * why the run was given up. */
int keeper_link_answer(KeeperLink *link, Trace *ret, char **ret_why);
