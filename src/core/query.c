/* See query.h. */
#include "core/query.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "core/client.h"
#include "core/error.h"

struct pawl__query *pawl__query_new(pawl_client *client, enum pawl__query_kind kind,
                                    const char *name, const char *reason)
{
    struct pawl__query *query = pawl__alloc(sizeof *query);

    if (query == NULL) {
        return NULL;
    }
    pawl__ticket_init(&query->ticket, PAWL__TICKET_QUERY, client);
    query->kind = kind;
    query->fd = -1;
    query->name = pawl__strdup(name);
    query->reason = pawl__strdup(reason);
    if ((name != NULL && query->name == NULL) || (reason != NULL && query->reason == NULL)) {
        return pawl__ticket_unref(&query->ticket);
    }
    return query;
}

void pawl__entries_free(struct pawl__entry_info *entries, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        pawl__free(entries[i].name);
        pawl__free(entries[i].payload);
        pawl__free(entries[i].session);
    }
    pawl__free(entries);
}

void pawl__query_destroy(struct pawl__query *query)
{
    pawl__entries_free(query->entries, query->entry_count);
    if (query->fd >= 0) {
        (void)close(query->fd); /* A copy that nobody took. */
    }
    pawl__free(query->name);
    pawl__free(query->reason);
    pawl__ticket_release(&query->ticket);
    pawl__free(query);
}

void pawl__query_fill_event(struct pawl__query *query, struct pawl__core_event *event)
{
    event->id = query->ticket.id;
    event->deadline = query->deadline;
    switch (query->kind) {
    case PAWL__QUERY_INSPECT:
        event->kind = PAWL__EV_INSPECT;
        event->name = query->name;
        break;
    case PAWL__QUERY_BREAK:
        event->kind = PAWL__EV_BREAK;
        event->break_.name = query->name;
        event->break_.number = query->number;
        event->break_.reason = query->reason;
        event->break_.now = query->now;
        break;
    case PAWL__QUERY_SESSION:
        event->kind = PAWL__EV_SESSION;
        break;
    }
}

static void wait_until(struct pawl__query *query, struct pawl__boot end)
{
    (void)pthread_mutex_lock(&query->ticket.mu);
    while (!query->is_done) {
        int64_t left_ms = pawl__boot_diff(end, pawl__boot_now());
        if (left_ms <= 0) {
            break;
        }
        (void)pawl__cond_wait_ms(&query->ticket.cond, &query->ticket.mu, left_ms);
    }
    (void)pthread_mutex_unlock(&query->ticket.mu);
}

pawl_status pawl__query_run(struct pawl__query *query, int64_t timeout_ms, pawl_status late,
                            pawl_error *err)
{
    query->deadline = pawl__boot_add(pawl__boot_now(), timeout_ms);
    pawl_status status = pawl__mailbox_admit(&query->ticket.client->mailbox, &query->ticket, false);
    if (status != PAWL_OK) {
        return pawl__error_set(err, status, 0, "the client is closing");
    }
    wait_until(query, pawl__boot_add(query->deadline, PAWL__GRACE_MS));
    /* The owner thread is late, or stuck in the backend; if it answers now, that counts. */
    pawl__query_finish(query, late, "the client did not answer in time");
    if (query->status != PAWL_OK) {
        return pawl__error_set(err, query->status, 0, "%s",
                               query->text[0] != '\0' ? query->text
                                                      : pawl_status_text(query->status));
    }
    return PAWL_OK;
}

/* mu held on entry. False: it is done already. */
static bool begin_finish(struct pawl__query *query, pawl_status status, const char *text)
{
    if (query->is_done) {
        return false;
    }
    query->is_done = true;
    query->status = status;
    (void)snprintf(query->text, sizeof query->text, "%s", text != NULL ? text : "");
    (void)pthread_cond_broadcast(&query->ticket.cond);
    return true;
}

void pawl__query_finish(struct pawl__query *query, pawl_status status, const char *text)
{
    (void)pthread_mutex_lock(&query->ticket.mu);
    (void)begin_finish(query, status, text);
    (void)pthread_mutex_unlock(&query->ticket.mu);
}

void pawl__query_finish_inspect(struct pawl__query *query, struct pawl__backend_event *event)
{
    PAWL_INVARIANT(query->kind == PAWL__QUERY_INSPECT);
    (void)pthread_mutex_lock(&query->ticket.mu);
    if (begin_finish(query, PAWL_OK, NULL)) {
        query->entries = event->entries;
        query->entry_count = event->entry_count;
        event->entries = NULL;
        event->entry_count = 0;
    }
    (void)pthread_mutex_unlock(&query->ticket.mu);
}

void pawl__query_finish_session(struct pawl__query *query, int fd)
{
    PAWL_INVARIANT(query->kind == PAWL__QUERY_SESSION);
    if (fd < 0) {
        pawl__query_finish(query, PAWL_E_UNSUPPORTED,
                           "sessions of this store are not bound to a descriptor");
        return;
    }
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (copy < 0) {
        pawl__query_finish(query, errno == EMFILE ? PAWL_E_LIMIT : PAWL_E_INTERNAL,
                           "the session's descriptor cannot be duplicated: too many open files");
        return;
    }
    (void)pthread_mutex_lock(&query->ticket.mu);
    if (begin_finish(query, PAWL_OK, NULL)) {
        query->fd = copy;
        copy = -1;
    }
    (void)pthread_mutex_unlock(&query->ticket.mu);
    if (copy >= 0) {
        (void)close(copy); /* The caller gave up. */
    }
}
