/* Decorator: any backend, with failures by script, at the level of the contract: each rule hits the
 * n-th call of one kind. Opened as trace.h shows, with a struct pawl__fault in settings.context.
 *
 * A thread of its own posts what comes late or instead of an answer, because nothing may be posted
 * from inside a member. Requests that land late are executed by the owner thread, just before a
 * later call; a settling look and the end of the session make sure that they never land, as the
 * contract demands of a backend. */
#ifndef PAWL_BACKENDS_WRAP_FAULT_H
#define PAWL_BACKENDS_WRAP_FAULT_H

#include "backends/backend.h"

extern const struct pawl__backend_ops pawl__fault_ops;

enum pawl__fault_kind {
    PAWL__FAULT_REFUSE = 1,   /* answered E_UNAVAILABLE, nothing is done */
    PAWL__FAULT_LOSE_REQUEST, /* nothing is done; answered E_UNKNOWN (reads: E_UNAVAILABLE) */
    PAWL__FAULT_LOSE_REPLY,   /* done; answered the same */
    PAWL__FAULT_LATE,         /* answered E_UNKNOWN; done before the `amount`-th later call, unless
                                 it is settled before that. Mutating ops but session_close */
    PAWL__FAULT_DUPLICATE,    /* executed twice, answered once, by the first */
    PAWL__FAULT_DELAY,        /* the answer comes `amount` ms later */
    PAWL__FAULT_DROP_HINT,    /* the n-th hint of the kind does not come */
    PAWL__FAULT_REPEAT_HINT,  /* it comes twice */
};

struct pawl__fault_rule {
    enum pawl__fault_kind fault;
    enum pawl__backend_event_kind kind; /* of the event that the op is answered with, or a hint */
    unsigned nth;                       /* from 1; 0 = every one */
    unsigned amount;
};

/* Borrowed until the backend is closed; one open backend at a time. */
struct pawl__fault {
    const struct pawl__backend_ops *inner;
    void *inner_context; /* settings.context of the inner backend */
    const struct pawl__fault_rule *rules;
    size_t rule_count;
    unsigned hits; /* rules that took effect; written by the decorator, read it after close */
};

#endif
