/* Seeing and mending: who holds, who waits, since when and why; breaking a stuck hold; events. */
#ifndef PAWL_OBSERVE_H
#define PAWL_OBSERVE_H

#include <stddef.h>
#include <stdint.h>

#include <pawl/client.h>
#include <pawl/export.h>
#include <pawl/lock.h>
#include <pawl/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What stands in the queues at one point in time. Owned by the caller; immutable, so any thread may
 * read it; pawl_snapshot_free() it. Strings borrowed from it live as long as it does. */
typedef struct pawl_snapshot pawl_snapshot;

/* Reads the queue of `name`, or of every lock for NULL, from the store. Takes no lock and leaves no
 * trace. Blocks at most `timeout_ms`. PAWL_E_DATA (name), PAWL_E_LIMIT (more than 10,000 entries),
 * PAWL_E_UNAVAILABLE, PAWL_E_PERMISSION, PAWL_E_STORE, PAWL_E_CLOSED, PAWL_E_FORKED. */
PAWL_API PAWL_MUST_CHECK pawl_status pawl_inspect(pawl_client *client, const char *name,
                                                  int64_t timeout_ms, pawl_snapshot **ret_snapshot,
                                                  pawl_error *err);

/* Frees `snapshot`; NULL is allowed. */
PAWL_API void pawl_snapshot_free(pawl_snapshot *snapshot);

/* Number of entries: sorted by lock name, then by place in the queue. */
PAWL_API size_t pawl_snapshot_count(const pawl_snapshot *snapshot);

/* Text fields of an entry. */
typedef enum pawl_entry_text_field {
    PAWL_ENTRY_LOCK = 1,    /* name of the lock */
    PAWL_ENTRY_OWNER = 2,   /* principal: "os:ann@host" */
    PAWL_ENTRY_HOST = 3,    /* host of the contender */
    PAWL_ENTRY_MODE = 4,    /* "x" */
    PAWL_ENTRY_REASON = 5,  /* words of the contender, "" if none */
    PAWL_ENTRY_RUN = 6,     /* its run id, "" if none */
    PAWL_ENTRY_TRACE = 7,   /* its trace id, "" if none */
    PAWL_ENTRY_SESSION = 8, /* its session */
    PAWL_ENTRY_STATE = 9    /* "held", "waiting", "expired" (session over, not yet removed),
                               "breaking" (marked, see pawl_break()) */
} pawl_entry_text_field;

/* Number fields of an entry. */
typedef enum pawl_entry_number_field {
    PAWL_ENTRY_TOKEN = 1,    /* fencing token; 0 for a waiter whose token is not shown */
    PAWL_ENTRY_PID = 2,      /* process of the contender on its host */
    PAWL_ENTRY_SINCE = 3,    /* wall clock at which it was enqueued, ms UTC, for people only */
    PAWL_ENTRY_AGE = 4,      /* ms since then by the store's host, never negative */
    PAWL_ENTRY_POSITION = 5, /* 0 = holder, 1 = first waiter, ... */
    PAWL_ENTRY_TTL_LEFT = 6  /* ms until the session ends if it is not renewed; -1 = no ttl */
} pawl_entry_number_field;

/* Field of entry `index`; NULL for an index or field that does not exist. Borrowed. */
PAWL_API const char *pawl_snapshot_text(const pawl_snapshot *snapshot, size_t index,
                                        pawl_entry_text_field field);

/* Field of entry `index`; -1 for an index or field that does not exist. */
PAWL_API int64_t pawl_snapshot_number(const pawl_snapshot *snapshot, size_t index,
                                      pawl_entry_number_field field);

/* Take an entry away at once instead of asking its owner first. The promise that a holder knows of
 * its loss before the next is granted (P3) does then not hold for the victim: only a fence
 * protects. */
#define PAWL_BREAK_NOW 1u

/* Removes exactly the entry of `name` that has `token`, holder or waiter. `reason` (1 to 256 bytes
 * of UTF-8) is recorded and told to the victim.
 *
 * Without PAWL_BREAK_NOW a mark is written that the victim obeys at its next renewal: it turns
 * LOST, then its entry goes. If it does not, the entry is removed one whole granted ttl after the
 * mark. Blocks until it is gone or `timeout_ms` passed (PAWL_E_TIMEOUT: marked, not gone; repeat to
 * go on waiting). A victim without ttl that does not obey stays: use PAWL_BREAK_NOW.
 *
 * PAWL_OK: gone. PAWL_E_FENCED: no entry of this lock has that token; nothing changed (the message
 * names the present holder). PAWL_E_DATA, PAWL_E_INVALID, PAWL_E_UNKNOWN, PAWL_E_UNAVAILABLE,
 * PAWL_E_PERMISSION, PAWL_E_CLOSED, PAWL_E_FORKED. */
PAWL_API pawl_status pawl_break(pawl_client *client, const char *name, uint64_t token,
                                const char *reason, unsigned flags, int64_t timeout_ms,
                                pawl_error *err);

/* What happened in this client. Values are stable; programs pass over those they do not know. */
typedef enum pawl_event_kind {
    PAWL_EVENT_SESSION_OPENED = 1, /* first session, or a new one after a loss */
    PAWL_EVENT_SESSION_LOST = 2,   /* deadline passed, or the store ended it */
    PAWL_EVENT_STORE_AWAY = 3,     /* a request failed; retrying */
    PAWL_EVENT_STORE_BACK = 4,     /* answered again */
    PAWL_EVENT_WAITING = 5,        /* a request waits: who holds, position */
    PAWL_EVENT_GRANTED = 6,        /* a request became a hold */
    PAWL_EVENT_HOLD_CHANGED = 7,   /* a hold changed its state */
    PAWL_EVENT_DEBT = 8,           /* something abandoned is still in the store; being removed */
    PAWL_EVENT_DEBT_PAID = 9,      /* it is gone */
    PAWL_EVENT_DROPPED = 10        /* events were dropped because nobody dispatched them */
} pawl_event_kind;

/* One event; borrowed for the duration of the callback. */
typedef struct pawl_event pawl_event;

/* Its kind. */
PAWL_API pawl_event_kind pawl_event_get_kind(const pawl_event *event);

/* The lock concerned (first name of the request), "" if none. Borrowed. */
PAWL_API const char *pawl_event_lock(const pawl_event *event);

/* One line in words: "waiting for job: held by os:ann@h (pid 811) for 12s, token 391, you are 3rd".
 * Borrowed. */
PAWL_API const char *pawl_event_text(const pawl_event *event);

/* Token of the hold or of the present holder; 0 if none. */
PAWL_API uint64_t pawl_event_token(const pawl_event *event);

/* Called from pawl_dispatch() or the dispatch thread, no lock held. May call any function but
 * pawl_client_close(). */
typedef void (*pawl_event_fn)(void *user, const pawl_event *event);

/* Sets or (NULL) removes the callback for events of this client. Without one no events are kept. At
 * most 1,024 wait for dispatch; then the oldest are dropped and counted. Never blocks. */
PAWL_API pawl_status pawl_client_on_event(pawl_client *client, pawl_event_fn handle, void *user,
                                          pawl_error *err);

#ifdef __cplusplus
}
#endif

#endif
