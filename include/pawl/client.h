/* A client: one connection to a store and one session in it, shared by all threads of a process. */
#ifndef PAWL_CLIENT_H
#define PAWL_CLIENT_H

#include <stdint.h>

#include <pawl/export.h>
#include <pawl/options.h>
#include <pawl/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One client serves thousands of locks; make one a process and share it. All functions on it may be
 * called from any thread and from callbacks, except pawl_client_close() from a callback of the same
 * client (PAWL_E_INVALID). After fork() the child may only call pawl_client_close() and the `_free`
 * functions, which do nothing there: another thread may have been changing the memory at the time
 * of the fork, so it is left as it is, and the parent's locks are left alone. All else is
 * PAWL_E_FORKED. */
typedef struct pawl_client pawl_client;

/* Opens the store at `url` ("local:", "local:///dir", "etcd://h1,h2/root?ttl=10s", ...); NULL = the
 * option `store`, by default "local:". `options` is copied; NULL = defaults only, nothing is read
 * from environment or files.
 *
 * Checks the settings against each other and the store for fitness, and starts the client's
 * threads. The session is opened with the first request, so that a client that only looks leaves no
 * trace. Blocks at most `connect_timeout` plus `request_timeout`.
 *
 * On success *ret_client is owned by the caller: pawl_client_close() it. On failure it is
 * untouched. PAWL_E_CONFIG (URL, options, unsafe pair), PAWL_E_UNSUPPORTED (scheme not in this
 * build, file system refused), PAWL_E_UNAVAILABLE, PAWL_E_PERMISSION, PAWL_E_STORE (other store id,
 * damaged), PAWL_E_NOMEM. */
PAWL_API PAWL_MUST_CHECK pawl_status pawl_client_open(const char *url, const pawl_options *options,
                                                      pawl_client **ret_client, pawl_error *err);

/* Ends the session, which frees all its locks at once, and the client. Requests under way end with
 * PAWL_E_CLOSED; holds become RELEASED or, when the store did not confirm, LOST. Returns after at
 * most `timeout_ms` (not negative; 0 = do not wait for the store).
 *
 * Callbacks that are due then, those of the requests that it ends included, are run before it
 * returns: by the dispatch thread, or, if there is none, on the calling thread. One that does not
 * return is not waited for beyond `timeout_ms`; the others come when it does.
 *
 * PAWL_OK: the store confirmed that nothing of this client is left. PAWL_E_UNKNOWN: it did not;
 * what is left ends by itself with the session's ttl. In both cases, and for NULL, the client is
 * gone. Other threads must not use the client any more; holds, requests and snapshots stay valid
 * objects until they are freed. PAWL_E_INVALID: called from a callback of this client; nothing
 * happened. */
PAWL_API pawl_status pawl_client_close(pawl_client *client, int64_t timeout_ms, pawl_error *err);

/* A descriptor that is readable while pawl_dispatch() has something to do. Owned by the client: do
 * not read or close it, only poll. -1 in a forked child. Never blocks. */
PAWL_API int pawl_client_fd(pawl_client *client);

/* Runs the callbacks that are due, in order, on the calling thread, with no lock of ours held; the
 * callbacks may call any function but pawl_client_close(). Two threads never run callbacks of one
 * client at the same time: the second returns at once. *ret_count (may be NULL) = callbacks run.
 * Does not block beyond the callbacks themselves. PAWL_E_FORKED, PAWL_E_INVALID. */
PAWL_API pawl_status pawl_dispatch(pawl_client *client, int *ret_count);

/* Starts a thread of the library that runs the callbacks as they come, for programs without an
 * event loop. Idempotent; ends with the client. Renewal never waits for it: a callback that blocks
 * delays only other callbacks. PAWL_E_NOMEM, PAWL_E_FORKED, PAWL_E_CLOSED. Never blocks. */
PAWL_API pawl_status pawl_client_start_dispatch(pawl_client *client, pawl_error *err);

/* Identity of the store, 16 hex digits; borrowed, valid as long as the client. "" in a forked
 * child. */
PAWL_API const char *pawl_client_store_id(pawl_client *client);

/* The store's URL as it was understood, without secrets; borrowed, valid as long as the client. */
PAWL_API const char *pawl_client_url(pawl_client *client);

/* What the store of this client can do; an application refuses a store without what it needs. */
typedef enum pawl_capability {
    PAWL_CAP_LINEARIZABLE = 1 << 0,   /* reads and writes have one order, also after failover */
    PAWL_CAP_SURVIVES_HOST = 1 << 1,  /* the loss of one machine loses nothing acknowledged */
    PAWL_CAP_HONEST_EXPIRY = 1 << 2,  /* a session never ends in the store before its renewed ttl */
    PAWL_CAP_ATOMIC_MULTI = 1 << 3,   /* several names are enqueued in one transaction */
    PAWL_CAP_SNAPSHOT_LIST = 1 << 4,  /* lists show one point in time */
    PAWL_CAP_TLS = 1 << 5,            /* the connection is encrypted */
    PAWL_CAP_INSTANT_RELEASE = 1 << 6 /* the locks of a process that ends are free at once */
} pawl_capability;

/* Bits of pawl_capability. Never blocks. 0 in a forked child. */
PAWL_API unsigned pawl_client_capabilities(pawl_client *client);

/* A descriptor that keeps this client's session alive for as long as any process holds a copy: give
 * it to a child process that works under a lock, and the next holder waits for the child even when
 * this process is killed (not longer than the ttl, which then nobody renews). When copies are left
 * in other processes at pawl_client_close(), the locks stay theirs until the last one is closed.
 * Opens the session if need be. The descriptor is a duplicate with FD_CLOEXEC set, owned by the
 * caller. PAWL_E_UNSUPPORTED where sessions are not bound to descriptors (etcd, ZooKeeper).
 * Blocks at most `request_timeout`. */
PAWL_API pawl_status pawl_client_session_fd(pawl_client *client, int *ret_fd, pawl_error *err);

#ifdef __cplusplus
}
#endif

#endif
