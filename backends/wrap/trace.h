/* Decorator: any backend, with one line of text for every call and every event.
 *
 *   struct pawl__trace trace = {.inner = &pawl__backend_local, .line = print, .ctx = stderr};
 *   settings.context = &trace;
 *   pawl__backend_open_with(&pawl__trace_ops, &settings, ...);
 *
 * or, for a whole client, pawl__backend_register("local", &pawl__trace_ops, &trace). A line:
 *
 *   12345 > enqueue op=3 session=1f attempt=2a names=job,other
 *   12347 < enqueued op=3 status=OK number=17 blocker=0
 *
 * begins with the host's clock in milliseconds. Payloads, reasons and principals are left out. */
#ifndef PAWL_BACKENDS_WRAP_TRACE_H
#define PAWL_BACKENDS_WRAP_TRACE_H

#include "backends/backend.h"

extern const struct pawl__backend_ops pawl__trace_ops;

/* Borrowed until the backend is closed; one open backend at a time. */
struct pawl__trace {
    const struct pawl__backend_ops *inner;
    void *inner_context; /* settings.context of the inner backend */
    /* Gets a line without its newline; borrowed. Called from the owner thread and from every thread
     * of the backend, also at once; must not call the backend. */
    void (*line)(void *ctx, const char *text);
    void *ctx;
};

/* A `line` that prints to the FILE * in ctx. */
void pawl__trace_print(void *ctx, const char *text);

#endif
