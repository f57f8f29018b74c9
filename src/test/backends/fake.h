/* A backend for tests of the wrappers: does nothing by itself, so that a test decides what is
 * answered and when. */
#ifndef PAWL_TEST_BACKENDS_FAKE_H
#define PAWL_TEST_BACKENDS_FAKE_H

#include <pthread.h>

#include "backends/backend.h"

extern const struct pawl__backend_ops fake_ops;

/* What one opened fake saw; the last call only. settings.context of the open. */
struct fake {
    const struct pawl__backend_host *host; /* what the wrappers lend */
    unsigned calls;
    uint64_t op;
    uint64_t session;
    pawl_status answer; /* what members return */
    bool posts_inside;  /* post the answer from inside the member: forbidden */
    bool is_open;
    uint64_t unwatched;
};

/* The other side of a backend: keeps what is posted, from any thread. */
struct sink {
    struct pawl__backend_host host;
    struct pawl__boot now;
    pthread_mutex_t mu;
    pthread_cond_t more;
    /* Guarded by mu. */
    struct pawl__backend_event *last; /* owned */
    unsigned count;
};

void sink_init(struct sink *sink);

/* Waits until `count` events came; false after two seconds without them. */
bool sink_wait(struct sink *sink, unsigned count);
void sink_release(struct sink *sink);

/* Opens a fake behind the wrappers. */
struct pawl__backend *open_fake(struct fake *fake, struct sink *sink);

/* An event for the last op of the fake. */
struct pawl__backend_event *fake_event(struct fake *fake, enum pawl__backend_event_kind kind);
void fake_post(struct fake *fake, struct pawl__backend_event *event);

#endif
