/* See request.h. */
#include "backends/wrap/request.h"

#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"

static char *copy_text(const char *text, bool *ok)
{
    char *copy = pawl__strdup(text);

    *ok = *ok && (text == NULL || copy != NULL);
    return copy;
}

static struct pawl__want *copy_wants(const struct pawl__want *wants, size_t count, bool *ok)
{
    struct pawl__want *copy = count == 0 ? NULL : pawl__alloc_array(count, sizeof(*copy));

    *ok = *ok && (count == 0 || copy != NULL);
    for (size_t i = 0; copy != NULL && i < count; i++) {
        copy[i].mode = wants[i].mode;
        copy[i].name = copy_text(wants[i].name, ok);
    }
    return copy;
}

bool pawl__wrap_request_copy(struct pawl__wrap_request *to, const struct pawl__wrap_request *from)
{
    bool ok = true;

    *to = *from;
    to->wants = copy_wants(from->wants, from->count, &ok);
    to->name = copy_text(from->name, &ok);
    to->text = copy_text(from->text, &ok);
    to->by = copy_text(from->by, &ok);
    to->held = NULL;
    if (from->held_count > 0) {
        to->held = pawl__memdup(from->held, from->held_count * sizeof(from->held[0]));
        ok = ok && to->held != NULL;
    }
    if (!ok) {
        pawl__wrap_request_release(to);
    }
    return ok;
}

void pawl__wrap_request_release(struct pawl__wrap_request *copy)
{
    /* What a copy points to is its own, so the casts only undo the const of borrowed requests. */
    for (size_t i = 0; copy->wants != NULL && i < copy->count; i++) {
        pawl__free((char *)copy->wants[i].name);
    }
    pawl__free((struct pawl__want *)copy->wants);
    pawl__free((uint64_t *)copy->held);
    pawl__free((char *)copy->name);
    pawl__free((char *)copy->text);
    pawl__free((char *)copy->by);
    memset(copy, 0, sizeof(*copy));
}

static pawl_status start_enqueue(struct pawl__backend *backend, uint64_t op,
                                 const struct pawl__wrap_request *request)
{
    struct pawl__enqueue enqueue = {.session = request->session,
                                    .attempt = request->attempt,
                                    .wants = request->wants,
                                    .count = request->count,
                                    .payload = request->text,
                                    .only_if_free = request->flag};

    return pawl__backend_enqueue(backend, op, &enqueue);
}

static pawl_status start_look(struct pawl__backend *backend, uint64_t op,
                              const struct pawl__wrap_request *request)
{
    struct pawl__look look = {.session = request->session,
                              .attempt = request->attempt,
                              .wants = request->wants,
                              .count = request->count,
                              .settle = request->flag,
                              .position = request->position};

    return pawl__backend_look(backend, op, &look);
}

static pawl_status start_remove(struct pawl__backend *backend, uint64_t op,
                                const struct pawl__wrap_request *request)
{
    struct pawl__remove removal = {.session = request->session,
                                   .attempt = request->attempt,
                                   .number = request->number,
                                   .wants = request->wants,
                                   .count = request->count};

    return pawl__backend_remove(backend, op, &removal);
}

static pawl_status start_mark(struct pawl__backend *backend, uint64_t op,
                              const struct pawl__wrap_request *request)
{
    struct pawl__mark_request mark = {.name = request->name,
                                      .number = request->number,
                                      .by = request->by,
                                      .reason = request->text,
                                      .now = request->flag};

    return pawl__backend_mark(backend, op, &mark);
}

pawl_status pawl__wrap_request_start(struct pawl__backend *backend, uint64_t op,
                                     const struct pawl__wrap_request *request)
{
    switch (request->kind) {
    case PAWL__BEV_SESSION_OPENED:
        return pawl__backend_session_open(backend, op, request->session, request->ttl_ms);
    case PAWL__BEV_RENEWED:
        return pawl__backend_session_renew(backend, op, request->session, request->held,
                                           request->held_count);
    case PAWL__BEV_SESSION_CLOSED:
        return pawl__backend_session_close(backend, op, request->session, request->flag);
    case PAWL__BEV_ENQUEUED:
        return start_enqueue(backend, op, request);
    case PAWL__BEV_LOOKED:
        return start_look(backend, op, request);
    case PAWL__BEV_REMOVED:
        return start_remove(backend, op, request);
    case PAWL__BEV_MARKED:
        return start_mark(backend, op, request);
    case PAWL__BEV_LISTED:
        return pawl__backend_list(backend, op, request->name);
    case PAWL__BEV_WATCH:
    case PAWL__BEV_OWN:
    case PAWL__BEV_SESSION:
        break;
    }
    PAWL_INVARIANT(request->kind < PAWL__BEV_WATCH); /* Hints are no requests. */
    return PAWL_E_INTERNAL;
}
