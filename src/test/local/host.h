/* A host for the local backend in tests: drives the checked wrappers and keeps what is posted.
 * Calls that wait give up after 10 s and return NULL or E_TIMEOUT. */
#ifndef PAWL_TEST_LOCAL_HOST_H
#define PAWL_TEST_LOCAL_HOST_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "backends/backend.h"

#define HOST_WAIT_MS 10000

struct host {
    struct pawl__backend *backend;
    struct pawl__backend_info info;
    struct pawl__backend_host table;
    _Atomic int64_t shift_ms; /* added to the clock */
    _Atomic uint64_t next_op;
    pthread_mutex_t call_mu; /* around every call of a member */
    pthread_mutex_t mu;
    pthread_cond_t cond;
    struct pawl__backend_event *first, **tail; /* guarded by mu */
};

/* A new empty directory below $TMPDIR; removed with everything in it by host_remove_dir(). */
void host_make_dir(char out[64]);
void host_remove_dir(const char *dir);

/* Opens the store in `dir`; `err` may be NULL. */
pawl_status host_open(struct host *host, const char *dir, pawl_error *err);
pawl_status host_open_with(struct host *host, const char *dir, const char *store_id,
                           const char *root, pawl_error *err);
void host_close(struct host *host, int64_t timeout_ms);

/* The answer of `op`, or the next hint of `kind`; NULL after `timeout_ms`. */
struct pawl__backend_event *host_answer(struct host *host, uint64_t op, int64_t timeout_ms);
struct pawl__backend_event *host_hint(struct host *host, enum pawl__backend_event_kind kind,
                                      int64_t timeout_ms);
uint64_t host_op(struct host *host);

/* Start an op and wait for its answer; NULL = none came. The caller frees it. */
struct pawl__backend_event *host_session(struct host *host, uint64_t session, int64_t ttl_ms);
struct pawl__backend_event *host_renew(struct host *host, uint64_t session, const uint64_t *held,
                                       size_t held_count);
struct pawl__backend_event *host_session_close(struct host *host, uint64_t session, bool bequeath);
struct pawl__backend_event *host_enqueue(struct host *host, uint64_t session, uint64_t attempt,
                                         const char *name, bool only_if_free);
struct pawl__backend_event *host_enqueue_all(struct host *host, uint64_t session, uint64_t attempt,
                                             const struct pawl__want *wants, size_t count,
                                             bool only_if_free);
struct pawl__backend_event *host_look(struct host *host, uint64_t session, uint64_t attempt,
                                      const char *name);
struct pawl__backend_event *host_look_all(struct host *host, uint64_t session, uint64_t attempt,
                                          const struct pawl__want *wants, size_t count);
struct pawl__backend_event *host_remove_all(struct host *host, uint64_t session, uint64_t attempt,
                                            uint64_t number, const struct pawl__want *wants,
                                            size_t count);
struct pawl__backend_event *host_remove(struct host *host, uint64_t session, uint64_t attempt,
                                        uint64_t number, const char *name);
struct pawl__backend_event *host_mark(struct host *host, const char *name, uint64_t number,
                                      bool now);
struct pawl__backend_event *host_list(struct host *host, const char *name);

pawl_status host_watch(struct host *host, uint64_t watch, const char *name, uint64_t number);

/* The same, reduced to its status; E_TIMEOUT if no answer came. */
pawl_status host_status(struct pawl__backend_event *event);

/* Enqueues X; the number, 0 on failure. */
uint64_t host_number(struct host *host, uint64_t session, uint64_t attempt, const char *name);

#endif
