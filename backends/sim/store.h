/* The simulated store: sessions and queues in memory, one operation after the other, so its order
 * is the order of calls. Knows no network and no clock: `now` is given. A model of what backend.h
 * demands, not of one product. */
#ifndef PAWL_BACKENDS_SIM_STORE_H
#define PAWL_BACKENDS_SIM_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/backend.h"

struct pawl__sim_mark {
    uint64_t number;
    char *by;     /* owned */
    char *reason; /* owned */
};

/* An attempt that is over, because its entry went or was refused: only a younger request, sent
 * after a settling look, makes an entry of it again. */
struct pawl__sim_removed {
    uint64_t attempt;
    uint64_t floor; /* of the request that made the entry or was refused */
};

struct pawl__sim_session {
    uint64_t id;
    unsigned client; /* endpoint that opened it: where hints go */
    int64_t ttl_ms;
    int64_t expires_ms; /* not before the last proof of life + ttl; INT64_MAX without ttl */
    uint64_t floor;     /* older mutating requests are refused (design.md 6, rule 5) */
    struct pawl__sim_removed *removed; /* owned */
    size_t removed_count;
    struct pawl__sim_mark *marks; /* owned */
    size_t mark_count;
};

struct pawl__sim_entry {
    uint64_t number;
    uint64_t session;
    uint64_t attempt;
    uint64_t floor; /* of the request that made it */
    enum pawl__mode mode;
    char *payload; /* owned */
};

struct pawl__sim_queue {
    char *name;                      /* owned */
    struct pawl__sim_entry *entries; /* owned; by rising number */
    size_t count;
    size_t cap;
};

struct pawl__sim_watch {
    unsigned client;
    uint64_t watch;
    uint64_t number;
    char *name; /* owned */
};

enum pawl__sim_cause {
    PAWL__SIM_REMOVED = 1, /* by its owner */
    PAWL__SIM_CLOSED,      /* with its session, by its owner */
    PAWL__SIM_EXPIRED,     /* with its session, after its ttl */
    PAWL__SIM_KILLED,      /* with its session, before its ttl: an operator, a broken store */
    PAWL__SIM_BROKEN,      /* by `break --now` */
};

/* Who is told of changes, in the store's order. Any member may be NULL. Must not call the store. */
struct pawl__sim_observer {
    void *ctx;
    void (*added)(void *ctx, const char *name, const struct pawl__sim_entry *entry);
    void (*removed)(void *ctx, const char *name, const struct pawl__sim_entry *entry,
                    enum pawl__sim_cause cause);
    void (*session_ended)(void *ctx, const struct pawl__sim_session *session,
                          enum pawl__sim_cause cause);
    /* A hint for the endpoint `client`; owned by the callee. Set by the world, for itself. */
    void (*hint)(void *hint_ctx, unsigned client, struct pawl__backend_event *event);
    void *hint_ctx;
};

struct pawl__sim_store {
    uint64_t number;                    /* of the last commit */
    struct pawl__sim_session *sessions; /* owned, as the arrays below */
    size_t session_count;
    uint64_t *ended; /* sessions that are over: never opened again */
    size_t ended_count;
    struct pawl__sim_queue *queues;
    size_t queue_count;
    struct pawl__sim_watch *watches;
    size_t watch_count;
    struct pawl__sim_observer observer;
};

/* A request as it reaches the store. What it points to is borrowed. */
struct pawl__sim_request {
    enum pawl__backend_event_kind kind;
    uint64_t op;
    unsigned client;
    uint64_t floor; /* of the session when it was sent */
    uint64_t session;
    uint64_t attempt;
    uint64_t number; /* REMOVED, MARKED */
    const struct pawl__want *wants;
    size_t count;
    const uint64_t *held;
    size_t held_count;
    int64_t ttl_ms;
    const char *text; /* payload, reason */
    const char *by;
    const char *name; /* MARKED, LISTED */
    bool flag;        /* only_if_free, settle, now */
    bool position;
};

/* What came of it beside the event. */
struct pawl__sim_result {
    struct pawl__backend_event *event; /* owned by the caller */
    bool touched;                      /* the session was proved alive */
    bool below_floor;                  /* refused only for its floor: may be sent again */
};

void pawl__sim_store_init(struct pawl__sim_store *store);
void pawl__sim_store_release(struct pawl__sim_store *store);

/* A deep copy without watches, for a restore. */
void pawl__sim_store_copy(struct pawl__sim_store *to, const struct pawl__sim_store *from);

struct pawl__sim_result pawl__sim_store_execute(struct pawl__sim_store *store,
                                                const struct pawl__sim_request *request,
                                                int64_t now_ms);

/* Ends a session that is there, and everything of it. */
void pawl__sim_store_end_session(struct pawl__sim_store *store, uint64_t session,
                                 enum pawl__sim_cause cause);

void pawl__sim_store_watch(struct pawl__sim_store *store, unsigned client, uint64_t watch,
                           const char *name, uint64_t number);
void pawl__sim_store_unwatch(struct pawl__sim_store *store, unsigned client, uint64_t watch);

/* NULL if it is not there. Borrowed until the next change. */
struct pawl__sim_session *pawl__sim_store_session(const struct pawl__sim_store *store,
                                                  uint64_t session);
const struct pawl__sim_queue *pawl__sim_store_queue(const struct pawl__sim_store *store,
                                                    const char *name);
size_t pawl__sim_store_entry_count(const struct pawl__sim_store *store);

/* Memory of the simulator: a run without memory is no run, so it aborts. */
void *pawl__sim_alloc(size_t size);
void *pawl__sim_grow(void *block, size_t count, size_t size);

#endif
