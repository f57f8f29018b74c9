/* Locks: ask for one or more names together, hold them, know at any moment whether they are held.
 *
 * A *request* names what is wanted; a *hold* is a granted request. All names of a request are
 * enqueued in one store transaction, so requests never deadlock each other, in whatever order they
 * name things. Waiters are served strictly first come, first served.
 *
 * A lock without a fence cannot stop a process that was paused between its check and its write.
 * Hand pawl_hold_token() to whatever is written to, and have it refuse smaller ones. */
#ifndef PAWL_LOCK_H
#define PAWL_LOCK_H

#include <stddef.h>
#include <stdint.h>

#include <pawl/client.h>
#include <pawl/export.h>
#include <pawl/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How a name is locked. Values are stable. Only PAWL_MODE_X exists in this version. */
typedef enum pawl_mode {
    PAWL_MODE_X = 1 /* exclusive */
} pawl_mode;

/* Life of a hold; each change goes one step to the right, never back.
 *
 *     HELD <-> SUSPECT
 *       |  \    |  \
 *       |   v   v   v
 *       |   RELEASING --> RELEASED
 *       v       |
 *      LOST <---+
 *
 * HELD: the store confirmed a renewal recently. SUSPECT: a renewal is overdue but the deadline has
 * not passed: still exclusive, finish or stop. LOST: no longer yours, for good. RELEASING: the
 * release is sent, not yet confirmed. RELEASED: confirmed gone. */
typedef enum pawl_hold_state_value {
    PAWL_HOLD_HELD = 1,
    PAWL_HOLD_SUSPECT = 2,
    PAWL_HOLD_RELEASING = 3,
    PAWL_HOLD_RELEASED = 4,
    PAWL_HOLD_LOST = 5
} pawl_hold_state_value;

/* "HELD", "SUSPECT", ...; "?" for another number. Static storage. */
PAWL_API const char *pawl_hold_state_name(pawl_hold_state_value state);

/* Wait until granted, canceled, or the client is closed. */
#define PAWL_WAIT_FOREVER ((int64_t)-1)

/* What is asked for. Owned by the caller, used by one thread at a time, re-usable, and not kept by
 * the functions that take it. */
typedef struct pawl_request pawl_request;

/* A new, empty request; NULL when memory is out. Free with pawl_request_free(). */
PAWL_API pawl_request *pawl_request_new(void);

/* Frees `request`; NULL is allowed. */
PAWL_API void pawl_request_free(pawl_request *request);

/* Adds a lock name: 1 to 512 bytes of UTF-8 without control characters, copied. A name given twice
 * is locked once, in the join of its modes. PAWL_E_DATA: not a legal name; PAWL_E_LIMIT: more than
 * 64 names; PAWL_E_INVALID, PAWL_E_NOMEM. Nothing is changed on failure. */
PAWL_API pawl_status pawl_request_add(pawl_request *request, const char *name, pawl_mode mode,
                                      pawl_error *err);

/* As pawl_request_add(), for names that may hold NUL (refused, but named in the message). */
PAWL_API pawl_status pawl_request_add_bytes(pawl_request *request, const char *name,
                                            size_t name_len, pawl_mode mode, pawl_error *err);

/* Words for people, shown by `pawl inspect`: why the lock is wanted. At most 256 bytes of UTF-8,
 * copied; NULL clears. PAWL_E_DATA, PAWL_E_NOMEM. */
PAWL_API pawl_status pawl_request_set_reason(pawl_request *request, const char *reason,
                                             pawl_error *err);

/* An id of the run and of the trace that the lock is part of, shown by `pawl inspect -o json`. At
 * most 128 bytes each, copied; NULL clears. PAWL_E_DATA, PAWL_E_NOMEM. */
PAWL_API pawl_status pawl_request_set_run(pawl_request *request, const char *run, const char *trace,
                                          pawl_error *err);

/* A granted request. Owned by the caller; any thread may use it; pawl_hold_free() it. */
typedef struct pawl_hold pawl_hold;

/* Acquires all names of `request`. `wait_ms`: 0 = try (leaves no trace in the store when it fails),
 * positive = at most so long, PAWL_WAIT_FOREVER. Blocks up to `wait_ms` (counted on a monotonic
 * clock) and no longer, whatever the store does; a try is bounded by `request_timeout`.
 *
 * PAWL_OK: *ret_hold is HELD and owned by the caller. Otherwise nothing is held, *ret_hold is
 * untouched, and whatever the attempt left in the store is removed in the background or dies with
 * the session. PAWL_E_TIMEOUT (the message names holder and position), PAWL_E_UNAVAILABLE (try
 * only, or the store refuses for good), PAWL_E_BUSY, PAWL_E_LOST (someone broke our place in the
 * queue), PAWL_E_LIMIT, PAWL_E_CLOSED, PAWL_E_FORKED, PAWL_E_INVALID (no names), PAWL_E_PERMISSION,
 * PAWL_E_STORE, PAWL_E_NOMEM. Not from inside a callback when another callback must run for the
 * lock to become free. */
PAWL_API PAWL_MUST_CHECK pawl_status pawl_acquire(pawl_client *client, const pawl_request *request,
                                                  int64_t wait_ms, pawl_hold **ret_hold,
                                                  pawl_error *err);

/* pawl_acquire() of one name in exclusive mode. */
PAWL_API PAWL_MUST_CHECK pawl_status pawl_lock(pawl_client *client, const char *name,
                                               int64_t wait_ms, pawl_hold **ret_hold,
                                               pawl_error *err);

/* An acquire under way. Owned by the caller; any thread; free with pawl_pending_free(), which
 * cancels it if it is not done. */
typedef struct pawl_pending pawl_pending;

/* Called once, from pawl_dispatch(), the dispatch thread or at last pawl_client_close(), no lock
 * held, when an acquire is done.
 * `hold` is owned by the callee from now on, or NULL. `err` is borrowed for the call. May call any
 * function but pawl_client_close(). */
typedef void (*pawl_acquired_fn)(void *user, pawl_status status, pawl_hold *hold,
                                 const pawl_error *err);

/* Starts an acquire and returns. `done` may be NULL: then poll pawl_pending_take(). `user` is
 * handed to `done`. *ret_pending (may be NULL when `done` is given: then it cannot be canceled but
 * by closing) is owned by the caller. `done` is called exactly once if and only if this returns
 * PAWL_OK, unless pawl_pending_free() came first. Never blocks. PAWL_E_BUSY: `max_requests` are
 * under way. Other statuses as pawl_acquire(), except those of the outcome, which go to `done`. */
PAWL_API PAWL_MUST_CHECK pawl_status pawl_acquire_start(pawl_client *client,
                                                        const pawl_request *request,
                                                        int64_t wait_ms, pawl_acquired_fn done,
                                                        void *user, pawl_pending **ret_pending,
                                                        pawl_error *err);

/* Gives up. The outcome becomes PAWL_E_CANCELED unless it was decided already. Never blocks; NULL
 * is allowed. */
PAWL_API void pawl_pending_cancel(pawl_pending *pending);

/* Waits up to `wait_ms` (0 = look only, PAWL_WAIT_FOREVER) for the outcome, then as pawl_acquire().
 * PAWL_E_BUSY: not decided yet. PAWL_E_INVALID: the outcome was taken already, or `done` was given.
 */
PAWL_API PAWL_MUST_CHECK pawl_status pawl_pending_take(pawl_pending *pending, int64_t wait_ms,
                                                       pawl_hold **ret_hold, pawl_error *err);

/* Who stands before a waiting acquire, as last seen. *ret_position: 1 = next but the holder, 0 =
 * not known yet. Never blocks, no network. PAWL_E_INVALID. */
PAWL_API pawl_status pawl_pending_position(pawl_pending *pending, int *ret_position);

/* Cancels if need be and frees; `done` is not called after this returns unless it is running. NULL
 * is allowed. */
PAWL_API void pawl_pending_free(pawl_pending *pending);

/* Is it held? Answered from our own clock, with no network call: past the deadline the answer is
 * LOST, and stays so. Any thread; never blocks. LOST in a forked child. */
PAWL_API pawl_hold_state_value pawl_hold_state(pawl_hold *hold);

/* Milliseconds until the deadline at which this hold turns LOST if no renewal is confirmed; 0 when
 * it is not held; INT64_MAX when the session has no ttl. Do not start work that does not fit. Never
 * blocks. */
PAWL_API int64_t pawl_hold_remaining_ms(pawl_hold *hold);

/* Number of names held. */
PAWL_API size_t pawl_hold_count(const pawl_hold *hold);

/* Name number `index`, in the order of the request; NULL past the end. Borrowed from the hold. */
PAWL_API const char *pawl_hold_name(const pawl_hold *hold, size_t index);

/* Mode of name number `index`. */
PAWL_API pawl_mode pawl_hold_mode(const pawl_hold *hold, size_t index);

/* The fencing token: greater than that of every earlier conflicting grant of the same lock in this
 * store and epoch. The same for all names of one hold. Compare only tokens of one lock name. */
PAWL_API uint64_t pawl_hold_token(const pawl_hold *hold);

/* The token of name number `index` with everything a guard needs to refuse the wrong one:
 * "pawl1.<store id>.<epoch>.<number>.<mode>.<encoded name>". NULL past the end. Borrowed. */
PAWL_API const char *pawl_hold_sealed_token(const pawl_hold *hold, size_t index);

/* Session of the hold, as shown by `pawl inspect`. Borrowed from the hold. */
PAWL_API const char *pawl_hold_session(const pawl_hold *hold);

/* Why a hold is LOST, for people ("broken by os:ann@h: stuck deploy"); "" while it is not. Borrowed
 * until the hold is freed. */
PAWL_API const char *pawl_hold_lost_reason(pawl_hold *hold);

/* Takes the hold once more in this flow: the release that frees it must come once more too. Never
 * blocks, no network. PAWL_E_LOST when it is not held any more; PAWL_E_LIMIT past INT_MAX. */
PAWL_API PAWL_MUST_CHECK pawl_status pawl_hold_reenter(pawl_hold *hold, pawl_error *err);

/* Gives the hold back; the outermost release (see pawl_hold_reenter()) removes it from the store
 * and waits up to `timeout_ms` for the confirmation (0 = do not wait).
 *
 * PAWL_OK: confirmed gone, or one of several re-entries given back. PAWL_E_UNKNOWN: not confirmed
 * in time; the hold counts as not held at once and the removal is repeated until it is confirmed or
 * the session has ended: state RELEASING. PAWL_E_LOST: it was not held any more; nothing was
 * removed. PAWL_E_INVALID: released already. The hold object stays valid until pawl_hold_free(). */
PAWL_API pawl_status pawl_hold_release(pawl_hold *hold, int64_t timeout_ms, pawl_error *err);

/* Releases if need be, without waiting, and frees the object. NULL is allowed. */
PAWL_API void pawl_hold_free(pawl_hold *hold);

/* Called from pawl_dispatch() or the dispatch thread, no lock held, when the state of a hold
 * changed; always with the newest state: steps in between may be left out, LOST never is. May call
 * any function but pawl_client_close(). */
typedef void (*pawl_hold_fn)(void *user, pawl_hold *hold, pawl_hold_state_value state);

/* Sets or (NULL) removes the callback for changes of this hold. If the state changed since the
 * grant, the callback comes at once. After pawl_hold_free() it does not come unless it is running.
 */
PAWL_API pawl_status pawl_hold_on_change(pawl_hold *hold, pawl_hold_fn changed, void *user,
                                         pawl_error *err);

#ifdef __cplusplus
}
#endif

#endif
