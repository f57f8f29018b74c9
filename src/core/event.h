/* One event of a client, for people: what pawl_event_*() read. */
#ifndef PAWL_CORE_EVENT_H
#define PAWL_CORE_EVENT_H

#include <stdint.h>

#include "base/list.h"
#include "core/internal.h"
#include <pawl/observe.h>

/* Most that wait for dispatch; then the oldest are dropped and counted. */
#define PAWL__EVENTS_MAX 1024

struct pawl_event {
    /* Guarded by dispatch.mu. */
    struct pawl__due due;
    struct pawl__list event_link; /* in dispatch.events */

    /* Immutable after init. */
    pawl_event_kind kind;
    uint64_t token;
    const char *lock; /* in the same block, or borrowed; never NULL. So is `text` */
    const char *text;
};

/* A copy of all; NULL when memory is out. Free with pawl__free(). */
struct pawl_event *pawl__event_new(pawl_event_kind kind, const char *lock, uint64_t token,
                                   const char *text);

#endif
