/* The way to the caller's callbacks: a queue of what is due, run by whoever calls pawl_dispatch(),
 * by a thread of ours if it was asked for, and for the rest by pawl_client_close(). One at a time,
 * in order, with no lock held. */
#ifndef PAWL_CORE_DISPATCH_H
#define PAWL_CORE_DISPATCH_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/event.h"
#include "core/internal.h"

struct pawl__dispatch {
    pthread_mutex_t mu;
    pthread_cond_t cond; /* monotonic: something is due, nobody runs any more, the thread is gone */
    _Atomic bool wants_events; /* `handle` is set: asked before an event is put into words */

    /* Used by the runner alone. */
    pawl_error *scratch; /* owned; filled for one callback */

    /* Guarded by mu. */
    int event_fd; /* -1 after _end */
    struct pawl__list due;
    struct pawl__list events; /* those among `due` that are events, oldest first */
    size_t event_count;
    uint64_t dropped; /* events, since the last DROPPED event */
    uint64_t last_seq;
    pawl_event_fn handle;
    void *user;
    pthread_t runner;  /* who runs callbacks, if is_running */
    pthread_t thread;  /* ours, if has_thread */
    bool fd_is_wanted; /* the host polls it */
    bool fd_is_set;    /* it is readable */
    bool is_running;
    bool has_thread;
    bool thread_waits;
    bool thread_is_gone; /* it has ended, or is about to without touching anything */
    bool is_ending;      /* nothing more will become due */
    bool is_ended;       /* what becomes due is dropped */
};

/* False: no descriptor or no memory is left; nothing is to be released. */
bool pawl__dispatch_init(struct pawl__dispatch *dispatch);
void pawl__dispatch_release(struct pawl__dispatch *dispatch);

/* Descriptors of a forked child; async-signal-safe. */
void pawl__dispatch_fork_child(struct pawl__dispatch *dispatch);

/* Queues the callback of a ticket. False: it is queued already, or nobody will run it. */
bool pawl__dispatch_push(struct pawl__dispatch *dispatch, struct pawl__due *due);

/* Takes it out again. False: it was not queued. */
bool pawl__dispatch_withdraw(struct pawl__dispatch *dispatch, struct pawl__due *due);

/* Whether anybody wants to hear of events. */
bool pawl__dispatch_wants_events(struct pawl__dispatch *dispatch);

/* Queues an event; all is copied. Without memory, or room, it counts as dropped. */
void pawl__dispatch_event(struct pawl__dispatch *dispatch, pawl_event_kind kind, const char *lock,
                          uint64_t token, const char *text);

/* Sets or (NULL) removes the callback for events. */
void pawl__dispatch_on_event(struct pawl__dispatch *dispatch, pawl_event_fn handle, void *user);

/* The descriptor; from now on it is kept up to date. */
int pawl__dispatch_fd(struct pawl__dispatch *dispatch);

/* Runs what is due now, not what becomes due meanwhile. Returns the number of callbacks. */
int pawl__dispatch_run(struct pawl__dispatch *dispatch);

/* Whether the calling thread is inside a callback. */
bool pawl__dispatch_is_runner(struct pawl__dispatch *dispatch);

/* Starts the thread; a reference on `client` is its. E_NOMEM, E_CLOSED. */
pawl_status pawl__dispatch_start_thread(struct pawl__dispatch *dispatch, pawl_client *client);

/* The client closes: waits for the runner up to `timeout_ms`, runs what is left on this thread (or
 * lets our thread do it, and ends that). A callback that does not return is left behind with its
 * thread. */
void pawl__dispatch_end(struct pawl__dispatch *dispatch, int64_t timeout_ms);

#endif
