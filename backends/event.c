/* Events of backends: made, failed, freed. Apart from backend.c, so that a module can have its own
 * copy: the symbols of the library are hidden. */
#include <stdarg.h>
#include <stdio.h>

#include "backends/backend.h"
#include "base/alloc.h"
#include "base/assert.h"

struct pawl__backend_event *pawl__backend_event_new(enum pawl__backend_event_kind kind, uint64_t op)
{
    struct pawl__backend_event *event = pawl__alloc(sizeof(*event));

    if (event == NULL) {
        return NULL;
    }
    event->kind = kind;
    event->op = op;
    event->session_fd = -1;
    return event;
}

static void free_entries(struct pawl__backend_event *event)
{
    for (size_t i = 0; i < event->entry_count; i++) {
        pawl__free(event->entries[i].name);
        pawl__free(event->entries[i].payload);
        pawl__free(event->entries[i].session);
    }
    pawl__free(event->entries);
}

void pawl__backend_event_free(struct pawl__backend_event *event)
{
    if (event == NULL) {
        return;
    }
    for (size_t i = 0; i < event->mark_count; i++) {
        pawl__free(event->marks[i].by);
        pawl__free(event->marks[i].reason);
    }
    pawl__free(event->marks);
    free_entries(event);
    pawl__free(event->views);
    pawl__free(event->gone);
    pawl__free(event);
}

void pawl__backend_event_fail(struct pawl__backend_event *event, pawl_status status, int code,
                              const char *format, ...)
{
    va_list args;

    pawl__assert(status != PAWL_OK);
    event->status = status;
    event->backend_code = code;
    va_start(args, format);
    /* A longer text is cut: it is for people. */
    (void)vsnprintf(event->text, sizeof(event->text), format, args);
    va_end(args);
}
