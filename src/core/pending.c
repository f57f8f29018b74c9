/* See pending.h. */
#include "core/pending.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/buf.h"
#include "base/clock.h"
#include "core/client.h"
#include "core/error.h"
#include "core/payload.h"

static int compare_wants(const void *a, const void *b)
{
    return strcmp(((const struct pawl__want *)a)->name, ((const struct pawl__want *)b)->name);
}

/* Sorted copies, owned by `acquire` as far as they got. */
static bool copy_wants(struct pawl__core_acquire *acquire, const pawl_request *request)
{
    acquire->wants = pawl__alloc_array(request->count, sizeof *acquire->wants);
    if (acquire->wants == NULL) {
        return false;
    }
    for (size_t i = 0; i < request->count; i++) {
        acquire->wants[i].name = pawl__strdup(request->names[i].name);
        acquire->wants[i].mode = request->names[i].mode;
        if (acquire->wants[i].name == NULL) {
            return false;
        }
        acquire->count++;
    }
    qsort(acquire->wants, acquire->count, sizeof *acquire->wants, compare_wants);
    return true;
}

static pawl_status write_payload(struct pawl__core_acquire *acquire, pawl_client *client,
                                 const pawl_request *request)
{
    struct pawl__payload payload = {.attempt = acquire->attempt,
                                    .owner = client->principal,
                                    .host = client->host,
                                    .pid = client->pid,
                                    .mode = request->names[0].mode,
                                    .reason = request->reason,
                                    .run = request->run,
                                    .trace = request->trace,
                                    .since_ms = pawl__wall_ms()};
    struct pawl__buf buf;

    pawl__buf_init(&buf);
    pawl_status status = pawl__payload_build(&payload, &buf, NULL);
    if (status == PAWL_OK) {
        acquire->payload = pawl__buf_detach(&buf, NULL);
        status = acquire->payload != NULL ? PAWL_OK : PAWL_E_NOMEM;
    }
    pawl__buf_release(&buf);
    return status;
}

static void release_acquire(struct pawl__core_acquire *acquire)
{
    for (size_t i = 0; i < acquire->count; i++) {
        pawl__free((char *)acquire->wants[i].name); /* ours: copied by copy_wants() */
    }
    pawl__free(acquire->wants);
    pawl__free(acquire->payload);
}

pawl_status pawl__pending_new(pawl_client *client, const pawl_request *request, int64_t wait_ms,
                              pawl_pending **ret_pending)
{
    struct pawl_pending *pending = pawl__alloc(sizeof *pending);

    if (pending == NULL) {
        return PAWL_E_NOMEM;
    }
    pawl__ticket_init(&pending->ticket, PAWL__TICKET_PENDING, client);
    pending->acquire.attempt = pawl__client_random(client);
    pending->is_try = wait_ms == 0;
    pending->acquire.only_if_free = pending->is_try;
    pending->acquire.deadline = PAWL__BOOT_NEVER;
    if (wait_ms != PAWL_WAIT_FOREVER) {
        pending->acquire.deadline =
            pawl__boot_add(pawl__boot_now(), wait_ms > 0 ? wait_ms : client->request_timeout_ms);
    }
    pending->promised = pawl__hold_new(client, request);
    pawl_status status = pending->promised != NULL && copy_wants(&pending->acquire, request)
                             ? write_payload(&pending->acquire, client, request)
                             : PAWL_E_NOMEM;
    if (status != PAWL_OK) {
        pawl__ticket_unref(&pending->ticket);
        return status;
    }
    *ret_pending = pending;
    return PAWL_OK;
}

void pawl__pending_destroy(struct pawl_pending *pending)
{
    PAWL_INVARIANT(pending->hold == NULL);
    if (!pending->is_started) {
        release_acquire(&pending->acquire);
    }
    if (pending->promised != NULL) {
        pawl__ticket_unref(&pending->promised->ticket);
    }
    pawl__waiting_release(&pending->waiting);
    pawl__free(pending->text);
    pawl__ticket_release(&pending->ticket);
    pawl__free(pending);
}

/* "lock 'job': not acquired in the time given: held by os:ann@h (pid 811) ..., you are 3rd"; a try
 * has no place in the queue. mu held on entry. */
static void word_timeout(const struct pawl_pending *pending, const char *text,
                         struct pawl__buf *buf)
{
    struct pawl__waiting waiting = pending->waiting;

    if (pending->is_try) {
        waiting.position = 0;
    } else {
        pawl__buf_appendf(buf, "%s: ", text);
    }
    pawl__waiting_describe(&waiting, buf);
}

/* mu held on entry. NULL: the status must do. */
static char *word_failure(const struct pawl_pending *pending, pawl_status status, const char *text)
{
    char quoted[PAWL__QUOTE_MAX];
    struct pawl__buf buf;

    const char *name = pending->promised->held[0].name;
    text = text != NULL && text[0] != '\0' ? text : pawl_status_text(status);
    pawl__buf_init(&buf);
    pawl__buf_appendf(&buf, "lock %s: ", pawl__error_quote(quoted, name, strlen(name)));
    if (status == PAWL_E_TIMEOUT && pending->waiting.token != 0) {
        word_timeout(pending, text, &buf);
    } else {
        pawl__buf_append_str(&buf, text);
    }
    return pawl__buf_detach(&buf, NULL);
}

bool pawl__pending_decide(struct pawl_pending *pending, pawl_status status, const char *text,
                          pawl_hold *hold)
{
    PAWL_INVARIANT((status == PAWL_OK) == (hold != NULL));
    (void)pthread_mutex_lock(&pending->ticket.mu);
    bool is_first = pending->state == PAWL__PENDING_OPEN;
    if (is_first) {
        pending->state = PAWL__PENDING_DECIDED;
        pending->status = status;
        pending->hold = hold;
        pending->text = status != PAWL_OK ? word_failure(pending, status, text) : NULL;
        (void)pthread_cond_broadcast(&pending->ticket.cond);
    }
    (void)pthread_mutex_unlock(&pending->ticket.mu);
    if (is_first && pending->done != NULL) {
        pawl__ticket_make_due(&pending->ticket);
    }
    return is_first;
}

bool pawl__pending_take(struct pawl_pending *pending, pawl_status *ret_status, pawl_hold **ret_hold)
{
    (void)pthread_mutex_lock(&pending->ticket.mu);
    bool is_mine = pending->state == PAWL__PENDING_DECIDED;
    if (is_mine) {
        pending->state = PAWL__PENDING_TAKEN;
        *ret_status = pending->status;
        *ret_hold = pending->hold;
        pending->hold = NULL;
    }
    (void)pthread_mutex_unlock(&pending->ticket.mu);
    return is_mine;
}

const char *pawl__pending_text(const struct pawl_pending *pending)
{
    return pending->text != NULL ? pending->text : pawl_status_text(pending->status);
}

bool pawl__pending_run_done(struct pawl_pending *pending, pawl_error *scratch)
{
    pawl_status status = PAWL_OK;
    pawl_hold *hold = NULL;

    if (!pawl__pending_take(pending, &status, &hold)) {
        return false; /* freed in between */
    }
    pawl_error_clear(scratch);
    if (status != PAWL_OK) {
        (void)pawl__error_set(scratch, status, 0, "%s", pawl__pending_text(pending));
    }
    pending->done(pending->user, status, hold, scratch);
    return true;
}
