/* The pure core of a client: step(event) -> actions. Owns no socket, clock, thread or random
 * source, so that every race is a table of events. Used by the owner thread of a client (client.c)
 * and by the simulator (src/test/sim). States and invariants: src/README.md. */
#ifndef PAWL_CORE_CORE_H
#define PAWL_CORE_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/backend.h"
#include "base/clock.h"
#include <pawl/lock.h>
#include <pawl/observe.h>
#include <pawl/status.h>

struct pawl__core;

/* Copied by pawl__core_new(). All values were checked against each other by the options table. */
struct pawl__core_config {
    int64_t ttl_ms; /* asked for; 0 = none */
    int64_t margin_ms;
    int64_t renew_ms;
    int64_t request_timeout_ms; /* bound of a try */
    int64_t retry_base_ms;
    int64_t retry_cap_ms;
    const char *principal;         /* recorded with breaks; copied */
    uint64_t (*random)(void *ctx); /* source of session ids and jitter */
    void *random_ctx;
};

enum pawl__core_event_kind {
    PAWL__EV_TICK = 1,   /* time passed */
    PAWL__EV_ACQUIRE,    /* id, acquire */
    PAWL__EV_CANCEL,     /* id of an acquire: give up; its outcome is E_CANCELED unless decided */
    PAWL__EV_RELEASE,    /* id of a granted acquire */
    PAWL__EV_BREAK,      /* id, break_, deadline */
    PAWL__EV_INSPECT,    /* id, name (NULL = all), deadline */
    PAWL__EV_SESSION,    /* id, deadline: open the session if need be, tell its descriptor */
    PAWL__EV_CLOSE,      /* deadline, flag = bequeath */
    PAWL__EV_BACKEND,    /* backend */
    PAWL__EV_LEASE_DEAD, /* session: a reader saw the deadline pass; what was answered must stay
                            true */
};

/* What is asked for. `wants` (each name too) and `payload` are allocated by pawl__alloc and owned
 * by the core from the step on, whatever comes of it. Names are sorted and unique. */
struct pawl__core_acquire {
    struct pawl__want *wants;
    size_t count;
    char *payload;
    uint64_t attempt;           /* random, not 0 */
    bool only_if_free;          /* a try */
    struct pawl__boot deadline; /* PAWL__BOOT_NEVER = until canceled; a try: when to stop asking */
};

struct pawl__core_break {
    const char *name; /* borrowed for the step, as is `reason` */
    uint64_t number;
    const char *reason;
    bool now;
};

struct pawl__core_event {
    enum pawl__core_event_kind kind;
    uint64_t id; /* chosen by the caller: not 0, below 2^48, never used twice in one core */
    struct pawl__boot deadline;
    bool flag;
    const char *name; /* borrowed for the step */
    uint64_t session;
    struct pawl__core_acquire acquire;
    struct pawl__core_break break_;
    struct pawl__backend_event *backend; /* borrowed until the actions of the step are drained */
};

enum pawl__core_action_kind {
    /* For the backend; executed by pawl__driver_run(). `op` goes along. */
    PAWL__ACT_SESSION_OPEN = 1, /* session, ttl_ms */
    PAWL__ACT_SESSION_RENEW,    /* session, numbers, number_count */
    PAWL__ACT_SESSION_CLOSE,    /* session, flag = bequeath */
    PAWL__ACT_ENQUEUE,          /* session, attempt, wants, count, payload, flag = only_if_free */
    PAWL__ACT_LOOK,    /* session, attempt, wants, count, flag = settle, flag2 = position */
    PAWL__ACT_REMOVE,  /* session, attempt, number, wants, count */
    PAWL__ACT_MARK,    /* name, number, text = reason, by, flag = now */
    PAWL__ACT_LIST,    /* name */
    PAWL__ACT_WATCH,   /* op = watch, name, number */
    PAWL__ACT_UNWATCH, /* op = watch */
    /* For the caller; handed to the sink. */
    PAWL__ACT_LEASE, /* session, deadline: until when its holds are held; PAWL__BOOT_NONE = dead */
    PAWL__ACT_GRANTED, /* id, number, session, session_name: the acquire became a hold, HELD */
    PAWL__ACT_FAILED,  /* id, status, text: the acquire is over, nothing is held */
    PAWL__ACT_HOLD,    /* id, hold, text = why if LOST. RELEASED and LOST are the last of an id */
    PAWL__ACT_WAITING, /* id, position (-1 = unknown), entry (NULL = unknown): who is in the way */
    PAWL__ACT_INSPECTED,  /* id, status, text, event: entries are to be taken from it */
    PAWL__ACT_BROKEN,     /* id, status, text */
    PAWL__ACT_SESSION_UP, /* id, status, text, fd (-1 = none; borrowed) */
    PAWL__ACT_CLOSED,     /* status: E_UNKNOWN if something may be left; the core is done */
    PAWL__ACT_EVENT,      /* event_kind, id (0 = none), text: for people */
};

/* Everything pointed to is borrowed until the next step. */
struct pawl__core_action {
    enum pawl__core_action_kind kind;
    uint64_t op;
    uint64_t id;
    uint64_t session;
    uint64_t attempt;
    uint64_t number;
    const struct pawl__want *wants;
    size_t count;
    const char *payload;
    const char *name;
    const char *text;
    const char *by;
    const char *session_name;
    const uint64_t *numbers;
    size_t number_count;
    int64_t ttl_ms;
    struct pawl__boot deadline;
    pawl_status status;
    pawl_hold_state_value hold;
    pawl_event_kind event_kind;
    int position;
    int fd;
    bool flag;
    bool flag2;
    const struct pawl__entry_info *entry;
    struct pawl__backend_event *event;
};

/* NULL when memory is out. */
struct pawl__core *pawl__core_new(const struct pawl__core_config *config);
void pawl__core_free(struct pawl__core *core);

/* One step at time `now` (not before that of the last step). First of all, whatever the event,
 * holds whose deadline passed are LOST; then the event; then the timers that are due. A step never
 * fails: what cannot be done for lack of memory is refused in an action (E_NOMEM). */
void pawl__core_step(struct pawl__core *core, struct pawl__boot now,
                     struct pawl__core_event *event);

/* The backend could not start op `op`: certainly not done. */
void pawl__core_refuse(struct pawl__core *core, struct pawl__boot now, uint64_t op,
                       pawl_status status);

/* The next action, oldest first; NULL when there is none. Must be drained before the next step. */
const struct pawl__core_action *pawl__core_next_action(struct pawl__core *core);

/* When a TICK is due at the latest; PAWL__BOOT_NEVER = not before something happens. */
struct pawl__boot pawl__core_next_deadline(const struct pawl__core *core);

/* What lives in the core, for limits, statistics and the simulator's checks. */
struct pawl__core_counts {
    size_t requests; /* acquires not over, debts included */
    size_t holds;    /* HELD or SUSPECT */
    size_t debts;    /* nobody wants them any more, but the store may have an entry */
};
struct pawl__core_counts pawl__core_count(const struct pawl__core *core);

#endif
