/* The members that queue: each copies its arguments into one block and makes the answer beforehand,
 * so that no op can end without one for lack of memory. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "backends/local/local.h"
#include "base/alloc.h"
#include "base/assert.h"

struct pawl__local_op *pawl__local_op_new(enum pawl__local_kind kind, size_t extra)
{
    struct pawl__local_op *op = pawl__alloc(sizeof(*op) + extra);

    if (op != NULL) {
        op->kind = kind;
    }
    return op;
}

void pawl__local_op_free(struct pawl__local_op *op)
{
    if (op == NULL) {
        return;
    }
    if (op->watch != NULL) {
        pawl__backend_event_free(op->watch->event);
        pawl__free(op->watch);
    }
    pawl__backend_event_free(op->event);
    pawl__free(op);
}

enum pawl__local_need pawl__local_op_need(const struct pawl__local_op *op)
{
    switch (op->kind) {
    case PAWL__LOCAL_OP_OPEN:
    case PAWL__LOCAL_OP_RENEW:
    case PAWL__LOCAL_OP_CLOSE:
    case PAWL__LOCAL_OP_ENQUEUE:
    case PAWL__LOCAL_OP_REMOVE:
    case PAWL__LOCAL_OP_MARK:
    case PAWL__LOCAL_OP_REAP:
        return PAWL__LOCAL_NEEDS_WRITE;
    case PAWL__LOCAL_OP_LOOK:
    case PAWL__LOCAL_OP_WATCH:
    case PAWL__LOCAL_OP_LIST:
        return PAWL__LOCAL_NEEDS_READ;
    case PAWL__LOCAL_OP_UNWATCH:
        break;
    }
    return PAWL__LOCAL_NEEDS_NOTHING;
}

void pawl__local_queue_push(struct pawl__local_queue *queue, struct pawl__local_op *op)
{
    op->next = NULL;
    if (queue->last != NULL) {
        queue->last->next = op;
    } else {
        queue->first = op;
    }
    queue->last = op;
}

struct pawl__local_op *pawl__local_queue_pop(struct pawl__local_queue *queue)
{
    struct pawl__local_op *op = queue->first;

    if (op != NULL) {
        queue->first = op->next;
        queue->last = queue->first == NULL ? NULL : queue->last;
        op->next = NULL;
    }
    return op;
}

/* ---- Answers ----------------------------------------------------------------------------------
 */

static void drop_data(struct pawl__backend_event *event)
{
    for (size_t i = 0; i < event->entry_count; i++) {
        pawl__free(event->entries[i].name);
        pawl__free(event->entries[i].payload);
        pawl__free(event->entries[i].session);
    }
    for (size_t i = 0; i < event->mark_count; i++) {
        pawl__free(event->marks[i].by);
        pawl__free(event->marks[i].reason);
    }
    pawl__free(event->entries);
    pawl__free(event->marks);
    pawl__free(event->gone);
    event->entries = NULL;
    event->marks = NULL;
    event->gone = NULL;
    event->entry_count = 0;
    event->mark_count = 0;
    event->gone_count = 0;
}

void pawl__local_op_rewind(struct pawl__local_op *op)
{
    struct pawl__backend_event *event = op->event;

    if (event == NULL) {
        return;
    }
    drop_data(event);
    event->status = PAWL_OK;
    event->backend_code = 0;
    event->text[0] = '\0';
    event->evidence = PAWL__BOOT_NONE;
    event->session_fd = -1;
    event->ttl_ms = 0;
    if (event->views != NULL) {
        memset(event->views, 0, op->count * sizeof(*event->views));
        event->view_count = op->count;
    }
}

void pawl__local_op_fail(struct pawl__local_op *op, pawl_status status, int code,
                         const char *format, ...)
{
    va_list args;

    if (op->event == NULL) {
        return;
    }
    pawl__local_op_rewind(op);
    op->event->view_count = 0;
    op->event->status = status;
    op->event->backend_code = code;
    va_start(args, format);
    /* A longer text is cut: it is for people. */
    (void)vsnprintf(op->event->text, sizeof(op->event->text), format, args);
    va_end(args);
}

/* ---- Members ----------------------------------------------------------------------------------
 */

static pawl_status submit(struct pawl__local *local, struct pawl__local_op *op,
                          enum pawl__backend_event_kind kind, uint64_t number)
{
    if (op == NULL) {
        return PAWL_E_NOMEM;
    }
    op->event = pawl__backend_event_new(kind, number);
    if (op->event == NULL) {
        pawl__local_op_free(op);
        return PAWL_E_NOMEM;
    }
    bool has_views = kind == PAWL__BEV_ENQUEUED || kind == PAWL__BEV_LOOKED;
    if (has_views) {
        op->event->views = pawl__alloc_array(op->count, sizeof(*op->event->views));
        op->event->view_count = op->count;
        if (op->event->views == NULL) {
            op->event->view_count = 0;
            pawl__local_op_free(op);
            return PAWL_E_NOMEM;
        }
    }
    bool has_session = kind != PAWL__BEV_MARKED && kind != PAWL__BEV_LISTED;
    op->event->session = has_session ? op->session : 0;
    return pawl__local_submit(local, op);
}

static size_t size_of(const char *text)
{
    return text != NULL ? strlen(text) + 1 : 0;
}

/* Copies `text` to *at and moves *at behind it. */
static const char *put_text(char **at, const char *text)
{
    if (text == NULL) {
        return NULL;
    }
    size_t size = strlen(text) + 1;
    char *copy = memcpy(*at, text, size);
    *at += size;
    return copy;
}

/* An op with a copy of `wants` and room for `text`, which is copied to op->text. */
static struct pawl__local_op *new_with_wants(enum pawl__local_kind kind,
                                             const struct pawl__want *wants, size_t count,
                                             const char *text)
{
    size_t extra = count * sizeof(*wants) + size_of(text);

    for (size_t i = 0; i < count; i++) {
        extra += size_of(wants[i].name);
    }
    struct pawl__local_op *op = pawl__local_op_new(kind, extra);
    if (op == NULL) {
        return NULL;
    }
    op->wants = (struct pawl__want *)(void *)(op + 1);
    op->count = count;
    char *at = (char *)(op->wants + count);
    for (size_t i = 0; i < count; i++) {
        op->wants[i].mode = wants[i].mode;
        op->wants[i].name = put_text(&at, wants[i].name);
    }
    op->text = put_text(&at, text);
    return op;
}

pawl_status pawl__local_session_open(void *state, uint64_t op_number, uint64_t session,
                                     int64_t ttl_ms)
{
    struct pawl__local_op *op = pawl__local_op_new(PAWL__LOCAL_OP_OPEN, 0);

    if (op != NULL) {
        op->session = session;
        op->ttl_ms = ttl_ms;
    }
    return submit(state, op, PAWL__BEV_SESSION_OPENED, op_number);
}

pawl_status pawl__local_session_renew(void *state, uint64_t op_number, uint64_t session,
                                      const uint64_t *held, size_t held_count)
{
    struct pawl__local_op *op =
        pawl__local_op_new(PAWL__LOCAL_OP_RENEW, held_count * sizeof(*held));

    if (op != NULL) {
        op->session = session;
        op->held = (uint64_t *)(void *)(op + 1);
        op->count = held_count;
        if (held_count > 0) {
            memcpy(op->held, held, held_count * sizeof(*held));
        }
    }
    return submit(state, op, PAWL__BEV_RENEWED, op_number);
}

pawl_status pawl__local_session_close(void *state, uint64_t op_number, uint64_t session,
                                      bool bequeath)
{
    struct pawl__local_op *op = pawl__local_op_new(PAWL__LOCAL_OP_CLOSE, 0);

    if (op != NULL) {
        op->session = session;
        op->flag = bequeath;
    }
    return submit(state, op, PAWL__BEV_SESSION_CLOSED, op_number);
}

pawl_status pawl__local_enqueue(void *state, uint64_t op_number,
                                const struct pawl__enqueue *enqueue)
{
    struct pawl__local_op *op =
        new_with_wants(PAWL__LOCAL_OP_ENQUEUE, enqueue->wants, enqueue->count, enqueue->payload);

    if (op != NULL) {
        op->session = enqueue->session;
        op->attempt = enqueue->attempt;
        op->flag = enqueue->only_if_free;
    }
    return submit(state, op, PAWL__BEV_ENQUEUED, op_number);
}

pawl_status pawl__local_look(void *state, uint64_t op_number, const struct pawl__look *look)
{
    struct pawl__local_op *op = new_with_wants(PAWL__LOCAL_OP_LOOK, look->wants, look->count, NULL);

    if (op != NULL) {
        op->session = look->session;
        op->attempt = look->attempt;
        op->flag = look->settle;
        op->flag2 = look->position;
    }
    return submit(state, op, PAWL__BEV_LOOKED, op_number);
}

pawl_status pawl__local_remove(void *state, uint64_t op_number, const struct pawl__remove *remove)
{
    struct pawl__local_op *op =
        new_with_wants(PAWL__LOCAL_OP_REMOVE, remove->wants, remove->count, NULL);

    if (op != NULL) {
        op->session = remove->session;
        op->attempt = remove->attempt;
        op->number = remove->number;
    }
    return submit(state, op, PAWL__BEV_REMOVED, op_number);
}

pawl_status pawl__local_mark(void *state, uint64_t op_number, const struct pawl__mark_request *mark)
{
    struct pawl__local_op *op = pawl__local_op_new(
        PAWL__LOCAL_OP_MARK, size_of(mark->name) + size_of(mark->by) + size_of(mark->reason));

    if (op != NULL) {
        char *at = (char *)(op + 1);
        op->name = put_text(&at, mark->name);
        op->by = put_text(&at, mark->by);
        op->text = put_text(&at, mark->reason);
        op->number = mark->number;
        op->flag = mark->now;
    }
    return submit(state, op, PAWL__BEV_MARKED, op_number);
}

pawl_status pawl__local_list(void *state, uint64_t op_number, const char *name)
{
    struct pawl__local_op *op = pawl__local_op_new(PAWL__LOCAL_OP_LIST, size_of(name));

    if (op != NULL) {
        char *at = (char *)(op + 1);
        op->name = put_text(&at, name);
    }
    return submit(state, op, PAWL__BEV_LISTED, op_number);
}

pawl_status pawl__local_watch(void *state, uint64_t watch, const char *name, uint64_t number)
{
    struct pawl__local_op *op = pawl__local_op_new(PAWL__LOCAL_OP_WATCH, 0);

    if (op == NULL) {
        return PAWL_E_NOMEM;
    }
    size_t size = strlen(name) + 1;
    op->watch = pawl__alloc(sizeof(*op->watch) + size);
    if (op->watch == NULL) {
        pawl__local_op_free(op);
        return PAWL_E_NOMEM;
    }
    memcpy(op->watch->name, name, size);
    op->watch->id = watch;
    op->watch->number = number;
    op->watch->event = pawl__backend_event_new(PAWL__BEV_WATCH, 0);
    if (op->watch->event == NULL) {
        pawl__local_op_free(op);
        return PAWL_E_NOMEM;
    }
    op->watch->event->watch = watch;
    return pawl__local_submit(state, op);
}

void pawl__local_unwatch(void *state, uint64_t watch)
{
    struct pawl__local_op *op = pawl__local_op_new(PAWL__LOCAL_OP_UNWATCH, 0);

    if (op == NULL) {
        return; /* A hint too many, later. */
    }
    op->watch_id = watch;
    /* Refused only without a thread, and then there is no watch. */
    (void)pawl__local_submit(state, op);
}
