/* A plan: everything that is done to a simulated world, item by item, made from a seed. Apart from
 * the run, so that a failing plan can be cut down, printed and played again. */
#ifndef PAWL_TEST_SIM_PLAN_H
#define PAWL_TEST_SIM_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define PLAN_CLIENTS_MAX 5
#define PLAN_NAMES_MAX   6
#define PLAN_ITEMS_MAX   256

enum plan_kind {
    PLAN_ACQUIRE,   /* a = names, bit set; b = wait ms, 0 = try, -1 = for ever; c = hold ms */
    PLAN_ACQUIRE_S, /* the same in shared mode */
    PLAN_CANCEL,    /* a = which of the pending acquires */
    PLAN_RELEASE,   /* a = which of the holds, before its time */
    PLAN_BREAK,     /* a = name; b = place in its queue */
    PLAN_BREAK_NOW, /* the same, at once */
    PLAN_INSPECT,   /* a = name, -1 = all */
    PLAN_CLOSE,     /* a = timeout ms; b = started again after ms */
    PLAN_PAUSE,     /* a = ms: the process stands still */
    PLAN_CRASH,     /* a = started again after ms */
    PLAN_CUT,       /* a = ms: no message gets through */
    PLAN_MUTE,      /* a = ms: no hint gets through */
    PLAN_KILL,      /* the store ends the client's session */
    PLAN_DOWN,      /* a = ms: the store stops */
    PLAN_NET,       /* a = ms; b = PLAN_NET_*: for this client */
    PLAN_SAVE,      /* the store is saved */
    PLAN_RESTORE,   /* the store goes back to what was saved */
    PLAN_KIND_COUNT
};

enum plan_net {
    PLAN_NET_CALM,  /* fast, loses nothing */
    PLAN_NET_SLOW,  /* replies may take longer than a margin */
    PLAN_NET_LOSSY, /* loses requests, replies, hints */
    PLAN_NET_ODD,   /* repeats and late arrivals */
    PLAN_NET_BAD,   /* everything */
    PLAN_NET_COUNT
};

struct plan_item {
    int64_t at_ms;
    enum plan_kind kind;
    unsigned client;
    int64_t a, b, c;
};

struct plan {
    uint64_t seed;
    unsigned clients;
    unsigned names;
    int64_t ttl_ms;
    enum plan_net net; /* when no PLAN_NET item is in force */
    size_t count;
    struct plan_item items[PLAN_ITEMS_MAX]; /* by rising at_ms */
};

void plan_make(struct plan *plan, uint64_t seed);
void plan_print(const struct plan *plan, FILE *file);

/* Reads the next plan of a file that may hold several. False: the end of the file, or no plan: then
 * `plan` has no clients, or the line of number `ret_line`, counted from where reading began, is
 * wrong. */
bool plan_read(struct plan *plan, FILE *file, int *ret_line);

#endif
