/* The client: its shell, which lives as long as anything refers to it, and what the owner thread
 * has in it. Life: client.c. The owner thread: owner.c; what it does with the core's answers:
 * sink.c. */
#ifndef PAWL_CORE_CLIENT_H
#define PAWL_CORE_CLIENT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "backends/backend.h"
#include "base/clock.h"
#include "base/rand.h"
#include "base/table.h"
#include "core/core.h"
#include "core/dispatch.h"
#include "core/fork.h"
#include "core/internal.h"
#include "core/lease_view.h"
#include "core/mailbox.h"
#include <pawl/client.h>

/* How long after its deadline a caller still waits for the owner thread's own answer, which says
 * more than what the caller can say by itself. */
#define PAWL__GRACE_MS 25

/* How long after its deadline a close waits for the owner thread before it is given up as stuck. */
#define PAWL__CLOSE_GRACE_MS 250

struct pawl_client {
    _Atomic unsigned refs; /* user, owner thread, dispatch thread, every ticket */
    struct pawl__fork_node fork_node;

    /* Immutable after init. */
    unsigned generation; /* of forks; another one than the process's = we are in a child */
    char *url;           /* owned; without secrets */
    char *principal;     /* owned */
    char *host;          /* owned */
    int pid;
    int64_t request_timeout_ms;
    struct pawl__backend_host backend_host; /* lent to the backend */
    struct pawl__backend_info info;
    pthread_t owner;

    /* These have locks of their own. */
    struct pawl__mailbox mailbox;
    struct pawl__dispatch dispatch;

    /* Owner thread only, once it runs. */
    struct pawl__backend *backend; /* owned; NULL after the end */
    struct pawl__core *core;       /* owned; NULL after the end */
    struct pawl__table tickets;    /* id -> struct pawl__ticket, a reference each */
    struct pawl__lease_view *view; /* of the present session; NULL = none */
    struct pawl__lease_view
        *spare_view;       /* so that a new session needs no memory; NULL = none was had */
    uint64_t dead_session; /* a reader ended its view: the core is to be told; 0 = no */
    int timer_fd;
    struct pawl__boot timer_at;       /* what timer_fd is set to; NEVER = not */
    struct pawl__boot close_deadline; /* NEVER until a close is asked for */
    bool may_have_debts; /* a request failed since the core was last counted without any */
    bool fd_is_given;    /* the session's descriptor was handed out */
    bool is_done;        /* the core said CLOSED */
    pawl_status done_status;

    /* Guarded by mu. */
    pthread_mutex_t mu;
    pthread_cond_t cond; /* monotonic: is_finished */
    bool is_finished;    /* the owner thread has put everything away */
    pawl_status finish_status;
    struct pawl__rand rand; /* attempt ids */
};

pawl_client *pawl__client_ref(pawl_client *client);
void pawl__client_unref(pawl_client *client);

/* E_INVALID for NULL, E_FORKED in a child: what every public function asks first. */
pawl_status pawl__client_check(const pawl_client *client, pawl_error *err);

/* Whether an object of `generation` belongs to the parent of this process. */
bool pawl__is_forked(unsigned generation);

/* A random number, not 0. Any thread. */
uint64_t pawl__client_random(pawl_client *client);

/* Starts the owner thread; a reference on the client is its. False: no thread. */
bool pawl__owner_start(pawl_client *client);

/* The sink of the core's actions (core/driver.h). Owner thread. */
void pawl__sink_take(void *ctx, const struct pawl__core_action *action);

#endif
