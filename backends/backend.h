/* The contract between the core and a store: what a backend does, and what it answers.
 *
 * Words: entry, queue, session, number, attempt as in design.md 2. A *number* is the store's own
 * commit number (czxid, create_revision, local sequence): the order of the queue and the fencing
 * token. An *attempt* is a random id that the core gives to one try to enqueue; with the session it
 * says whose an entry is.
 *
 * Flow. The owner thread calls a member; the member starts the work, copies what it needs and
 * returns. The result comes later, exactly once, as an event through host->post, carrying the `op`
 * number of the call. Events are posted from any thread of the backend, never from inside a member:
 * the core may be in the middle of a step. Only open, close and fork_child do their work before
 * they return.
 *
 * Outcome of a mutating op (session_*, enqueue, remove, mark):
 *   OK             done
 *   E_UNAVAILABLE  certainly not done, and never will be
 *   E_UNKNOWN      may be done, or may still be done later
 *   E_LOST         the session is not in the store any more; nothing of it is left or can be made
 *   others         refused for good; nothing was done
 * An op is completed at the latest one request_timeout after the store would have to have answered;
 * the core does not rely on it: callers' deadlines are kept by timers of its own.
 *
 * The members are called through the checked wrappers of backend.c only. */
#ifndef PAWL_BACKENDS_BACKEND_H
#define PAWL_BACKENDS_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "core/mode.h"
#include <pawl/client.h>
#include <pawl/status.h>

struct pawl__url; /* core/url.h */

/* One name of a request. */
struct pawl__want {
    const char *name; /* decoded; the backend encodes it into one safe segment (formats.md 1) */
    enum pawl__mode mode;
};

/* Whom a request names in its queue at one point in the store's order. */
struct pawl__queue_view {
    bool own_present;    /* the entry of this session *and* attempt is there */
    uint64_t own_number; /* its number; the same for all names of the request. 0 if absent */
    uint64_t blocker;    /* nearest earlier entry of a conflicting mode; 0 = none: first in line */
    uint64_t holder; /* first entry of the queue that conflicts: whom to name to people; 0 = none */
    int position;    /* conflicting entries before ours; -1 if not asked for */
};

/* An entry in full, for people and for break. Strings are owned by the event. */
struct pawl__entry_info {
    char *name;
    char *payload; /* JSON as the contender wrote it (formats.md 1); "" if unreadable */
    char *session; /* store's name of the session */
    enum pawl__mode mode;
    uint64_t number;
    uint64_t attempt;
    int64_t ttl_left_ms; /* until the session ends if not renewed; -1 = no ttl, 0 = over */
    bool marked;         /* a break mark stands on it */
};

/* A break mark found on the own session. */
struct pawl__mark {
    uint64_t number; /* entry that is to go */
    char *by;        /* principal; owned by the event */
    char *reason;    /* owned by the event */
};

enum pawl__backend_event_kind {
    PAWL__BEV_SESSION_OPENED = 1, /* op: session_open */
    PAWL__BEV_RENEWED,            /* op: session_renew */
    PAWL__BEV_SESSION_CLOSED,     /* op: session_close */
    PAWL__BEV_ENQUEUED,           /* op: enqueue */
    PAWL__BEV_LOOKED,             /* op: look */
    PAWL__BEV_REMOVED,            /* op: remove */
    PAWL__BEV_MARKED,             /* op: mark */
    PAWL__BEV_LISTED,             /* op: list */
    /* Hints: op is 0; may come late, twice, for nothing, or not at all. */
    PAWL__BEV_WATCH,   /* `watch`: the watched entry may be gone */
    PAWL__BEV_OWN,     /* `number`: an own entry may have been removed by someone else */
    PAWL__BEV_SESSION, /* `session`: renew now, there may be a mark, or the session may be gone */
};

/* What a backend tells. Made by pawl__backend_event_new(), owned by the receiver of post(), freed
 * by pawl__backend_event_free(). Fields that a kind does not name are zero. */
struct pawl__backend_event {
    enum pawl__backend_event_kind kind;
    uint64_t op;
    pawl_status status;
    char text[256];   /* reason of a failure, for people; "" otherwise */
    int backend_code; /* the number that the store gave with it */

    uint64_t session; /* the session the op belonged to; all kinds but MARKED, LISTED, WATCH */

    /* Proof of life (rule 1 and 2 of design.md 6): the time at which the write was *sent* that
     * proves the session alive in the store's own order; PAWL__BOOT_NONE if this reply proves
     * nothing. Computing it is the backend's duty: it alone knows what counts as evidence in its
     * store. Read from SESSION_OPENED and RENEWED alone: only what also brings the marks may
     * prolong. */
    struct pawl__boot evidence;

    int64_t ttl_ms;        /* SESSION_OPENED, RENEWED: granted ttl, 0 = none (`ttl=off`);
                              MARKED: the ttl granted to the victim, 0 = none */
    char session_name[64]; /* SESSION_OPENED: the store's name for it */
    int session_fd;        /* SESSION_OPENED: descriptor that keeps it alive; borrowed; -1 = none */

    struct pawl__queue_view *views; /* ENQUEUED, LOOKED: one a name, in the order asked; owned */
    size_t view_count;

    struct pawl__mark *marks; /* RENEWED; owned */
    size_t mark_count;
    uint64_t *gone; /* RENEWED: numbers among the `held` that are not there any more; owned */
    size_t gone_count;

    struct pawl__entry_info
        *entries; /* LISTED: by name, then place; ENQUEUED or LOOKED with a blocker:
                     at most one, the holder named in views[i] where known; owned */
    size_t entry_count;

    uint64_t watch;  /* WATCH */
    uint64_t number; /* OWN */

    struct pawl__backend_event *next; /* for the queue of the receiver */
};

struct pawl__backend_event *pawl__backend_event_new(enum pawl__backend_event_kind kind,
                                                    uint64_t op);
void pawl__backend_event_free(struct pawl__backend_event *event);

/* Sets status, text (printf) and code. */
void pawl__backend_event_fail(struct pawl__backend_event *event, pawl_status status, int code,
                              const char *format, ...) __attribute__((format(printf, 4, 5)));

/* What the core lends to a backend. Lives until close() has returned; callable from any thread. */
struct pawl__backend_host {
    /* Takes ownership of `event`; never blocks; never fails. */
    void (*post)(void *ctx, struct pawl__backend_event *event);
    /* CLOCK_BOOTTIME, or virtual time in the simulator. The only clock a backend may use for
     * sessions. */
    struct pawl__boot (*now)(void *ctx);
    void *ctx;
};

/* Settings a backend needs, all checked by the options table. Copied by open(). */
struct pawl__backend_settings {
    const struct pawl__url *url; /* borrowed for open() */
    const char *store_id;        /* the only store id that is accepted; NULL = any */
    const char *root;
    const char *principal; /* "os:ann@host": recorded with marks and sessions */
    int64_t request_timeout_ms;
    int64_t connect_timeout_ms;
    void *context; /* what open() of a decorator or of the simulator needs beside; else NULL */
};

/* What open() found. */
struct pawl__backend_info {
    char store_id[17];
    uint64_t epoch;
    unsigned capabilities; /* pawl_capability bits */
    char warning[256]; /* for people, "" if none: "overlayfs: locks are not shared between ..." */
};

/* Arguments of the members below; everything they point to is borrowed for the call. */
struct pawl__enqueue {
    uint64_t session;
    uint64_t attempt;
    const struct pawl__want *wants;
    size_t count;
    const char *payload;
    bool only_if_free;
};

struct pawl__look {
    uint64_t session;
    uint64_t attempt;
    const struct pawl__want *wants;
    size_t count;
    bool settle;
    bool position;
};

struct pawl__remove {
    uint64_t session;
    uint64_t attempt;
    uint64_t number;
    const struct pawl__want *wants;
    size_t count;
};

struct pawl__mark_request {
    const char *name;
    uint64_t number;
    const char *by;
    const char *reason;
    bool now;
};

#define PAWL__BACKEND_VERSION 1

/* The table of a backend. One `static const` instance each, designated initialisers. */
struct pawl__backend_ops {
    /* PAWL__BACKEND_VERSION of the header it was compiled with; another is refused at load. */
    unsigned version;

    /* The scheme it serves: "local", "etcd", "zk", "sim". */
    const char *scheme;

    /* Connects and checks the store: identity made or compared, fitness (versions, file system),
     * `store_id`. Blocks at most connect_timeout + request_timeout. *ret_state is owned by the
     * caller: close(). On failure nothing is left open. Mandatory. */
    pawl_status (*open)(const struct pawl__backend_settings *settings,
                        const struct pawl__backend_host *host, void **ret_state,
                        struct pawl__backend_info *ret_info, pawl_error *err);

    /* Ends all I/O: after it returns nothing is posted any more. Ops without an answer are dropped.
     * Sessions are left to their ttl (session_close comes before, if the core wants it). Blocks at
     * most `timeout_ms`: a thread that is stuck is left behind with memory of its own. Mandatory.
     */
    void (*close)(void *state, int64_t timeout_ms);

    /* In the child of a fork: closes the descriptors, touches no lock, no memory, no thread. Async
     * signal safe. Mandatory. */
    void (*fork_child)(void *state);

    /* Opens session `session` (random, not 0, < 2^63, chosen by the core, so that a repeat is found
     * to be the same) with `ttl_ms` (0 = none). May be repeated after E_UNKNOWN; then OK means
     * adopted. Event SESSION_OPENED: ttl_ms as granted, evidence, session_name, session_fd.
     * Mandatory. */
    pawl_status (*session_open)(void *state, uint64_t op, uint64_t session, int64_t ttl_ms);

    /* Proves the session alive and sweeps: of the `held` numbers (at most 128) those whose entries
     * are not there come back in `gone`; marks on the session come back in `marks` until their
     * entries are removed. Event RENEWED with evidence. E_LOST: the store has ended the session.
     * Mandatory. */
    pawl_status (*session_renew)(void *state, uint64_t op, uint64_t session, const uint64_t *held,
                                 size_t held_count);

    /* Ends the session and removes every entry of it, those still under way included: an enqueue of
     * this session that lands later is refused. With `bequeath`, where sessions are bound to
     * descriptors and another process has a copy: leaves the entries to it and answers OK. Safe to
     * repeat; OK also if it is not there. Event SESSION_CLOSED. Mandatory. */
    pawl_status (*session_close)(void *state, uint64_t op, uint64_t session, bool bequeath);

    /* Puts one entry in the queue of each of the `count` names (1 to 64, no name twice), all or
     * none, in one transaction, all with one number, and looks at the same point. With
     * `only_if_free`: nothing is written when any of them would have to wait; then status
     * E_TIMEOUT, views say who is in the way. `payload` is copied. Safe to execute twice and late
     * (rule 5): one entry per (session, attempt). After OK the backend watches the own entries
     * until they are removed and hints OWN. Event ENQUEUED with views. E_UNKNOWN: settle by look()
     * before anything else. Mandatory. */
    pawl_status (*enqueue)(void *state, uint64_t op, const struct pawl__enqueue *enqueue);

    /* The queues of `look->wants` at a point that is not older than the call. With `settle`: first
     * makes sure that no mutating op of this session that was sent before can still land, so that
     * "absent" is final. With `position`: counts. Event LOOKED with views. Mandatory. */
    pawl_status (*look)(void *state, uint64_t op, const struct pawl__look *look);

    /* Removes the entries of (session, attempt) with exactly this number from the queues of
     * `wants`, comparing number and owner in the same transaction. OK also when they are not there.
     * Works when the store is full (deletes only). Event REMOVED. Mandatory. */
    pawl_status (*remove)(void *state, uint64_t op, const struct pawl__remove *remove);

    /* Marks the entry of `mark->name` with `number` for breaking in the session record of its
     * owner, or with `now` removes every entry of that number; recorded with who and why either
     * way. Needs no session. Event MARKED with the victim's ttl. E_FENCED: no such entry.
     * Mandatory. */
    pawl_status (*mark)(void *state, uint64_t op, const struct pawl__mark_request *mark);

    /* Every entry of the queue of `name`, or of all queues for NULL, at one point, sorted by name
     * and number. At most 10,000: else E_LIMIT. Must not wait for writers. Event LISTED. Mandatory.
     */
    pawl_status (*list)(void *state, uint64_t op, const char *name);

    /* Hints WATCH once with `watch` when the entry `number` in the queue of `name` may be gone, at
     * once if it is gone already. Detects the end of its session, too, and removes entries of
     * sessions that ended. Mandatory. */
    pawl_status (*watch)(void *state, uint64_t watch, const char *name, uint64_t number);

    /* Forgets a watch. A hint may still be under way. Mandatory. */
    void (*unwatch)(void *state, uint64_t watch);
};

/* ---- Checked wrappers: the only way to call a backend ---------------------------------------- */

/* An opened backend: table, state, and the checks on what it posts. */
struct pawl__backend;

/* Finds the table for the scheme of settings->url (built in, registered by a test, or a module that
 * is loaded), opens it behind the checks. E_UNSUPPORTED names the scheme and how to get it. */
pawl_status pawl__backend_open(const struct pawl__backend_settings *settings,
                               const struct pawl__backend_host *host,
                               struct pawl__backend **ret_backend,
                               struct pawl__backend_info *ret_info, pawl_error *err);

/* As pawl__backend_open() with a given table: for decorators and tests. */
pawl_status pawl__backend_open_with(const struct pawl__backend_ops *ops,
                                    const struct pawl__backend_settings *settings,
                                    const struct pawl__backend_host *host,
                                    struct pawl__backend **ret_backend,
                                    struct pawl__backend_info *ret_info, pawl_error *err);

void pawl__backend_close(struct pawl__backend *backend, int64_t timeout_ms);
void pawl__backend_fork_child(struct pawl__backend *backend);

/* Start an op. A status other than OK means that it was not started (no memory): certainly not
 * done, and no event will come. */
pawl_status pawl__backend_session_open(struct pawl__backend *backend, uint64_t op, uint64_t session,
                                       int64_t ttl_ms);
pawl_status pawl__backend_session_renew(struct pawl__backend *backend, uint64_t op,
                                        uint64_t session, const uint64_t *held, size_t held_count);
pawl_status pawl__backend_session_close(struct pawl__backend *backend, uint64_t op,
                                        uint64_t session, bool bequeath);
pawl_status pawl__backend_enqueue(struct pawl__backend *backend, uint64_t op,
                                  const struct pawl__enqueue *enqueue);
pawl_status pawl__backend_look(struct pawl__backend *backend, uint64_t op,
                               const struct pawl__look *look);
pawl_status pawl__backend_remove(struct pawl__backend *backend, uint64_t op,
                                 const struct pawl__remove *remove);
pawl_status pawl__backend_mark(struct pawl__backend *backend, uint64_t op,
                               const struct pawl__mark_request *mark);
pawl_status pawl__backend_list(struct pawl__backend *backend, uint64_t op, const char *name);
pawl_status pawl__backend_watch(struct pawl__backend *backend, uint64_t watch, const char *name,
                                uint64_t number);
void pawl__backend_unwatch(struct pawl__backend *backend, uint64_t watch);

#endif
