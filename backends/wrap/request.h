/* A call of a backend as a value, so that a decorator can keep it, repeat it, or make it later. */
#ifndef PAWL_BACKENDS_WRAP_REQUEST_H
#define PAWL_BACKENDS_WRAP_REQUEST_H

#include "backends/backend.h"

/* The op is named by the event that answers it. Fields that it has not are zero. */
struct pawl__wrap_request {
    enum pawl__backend_event_kind kind;
    uint64_t session;
    uint64_t attempt;
    uint64_t number;
    const struct pawl__want *wants;
    size_t count;
    const uint64_t *held;
    size_t held_count;
    int64_t ttl_ms;
    const char *name;
    const char *text; /* payload or reason */
    const char *by;
    bool flag; /* only_if_free, settle, bequeath, now */
    bool position;
};

/* A copy that owns all it points to; false and empty without memory. */
bool pawl__wrap_request_copy(struct pawl__wrap_request *to, const struct pawl__wrap_request *from);
void pawl__wrap_request_release(struct pawl__wrap_request *copy);

/* Makes the call. */
pawl_status pawl__wrap_request_start(struct pawl__backend *backend, uint64_t op,
                                     const struct pawl__wrap_request *request);

#endif
