/* The functions of observe.h that ask or change the store, and the callback for events. */
#include <pawl/observe.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/limits.h"
#include "core/client.h"
#include "core/error.h"
#include "core/name.h"
#include "core/payload.h"
#include "core/query.h"
#include "core/snapshot.h"

/* `name` may be NULL = all. The arguments were checked. */
static pawl_status inspect(pawl_client *client, const char *name, int64_t timeout_ms,
                           pawl_snapshot **ret_snapshot, pawl_error *err)
{
    struct pawl__query *query = pawl__query_new(client, PAWL__QUERY_INSPECT, name, NULL);

    if (query == NULL) {
        return pawl__error_set(err, PAWL_E_NOMEM, 0, "no memory for the request");
    }
    pawl_status status = pawl__query_run(query, timeout_ms, PAWL_E_UNAVAILABLE, err);
    if (status == PAWL_OK) {
        /* The outcome is ours alone now: nobody else takes it. */
        pawl_snapshot *snapshot =
            pawl__snapshot_new(query->entries, query->entry_count, pawl__wall_ms());
        if (snapshot != NULL) {
            query->entries = NULL;
            query->entry_count = 0;
            *ret_snapshot = snapshot;
        } else {
            status = pawl__error_set(err, PAWL_E_NOMEM, 0, "no memory for the queues");
        }
    }
    pawl__ticket_unref(&query->ticket);
    return status;
}

pawl_status pawl_inspect(pawl_client *client, const char *name, int64_t timeout_ms,
                         pawl_snapshot **ret_snapshot, pawl_error *err)
{
    pawl_status status = pawl__client_check(client, err);

    if (status == PAWL_OK && name != NULL) {
        status = pawl__name_check(name, strlen(name), err);
    }
    if (status != PAWL_OK) {
        return status;
    }
    if (ret_snapshot == NULL || timeout_ms < 0) {
        return pawl__error_set(err, PAWL_E_INVALID, 0,
                               "there is no place for the snapshot, or the time is negative");
    }
    return inspect(client, name, timeout_ms, ret_snapshot, err);
}

static pawl_status check_break(const pawl_client *client, const char *name, const char *reason,
                               pawl_error *err)
{
    pawl_status status = pawl__client_check(client, err);

    if (status != PAWL_OK) {
        return status;
    }
    if (name == NULL || reason == NULL) {
        return pawl__error_set(err, PAWL_E_INVALID, 0, "the name or the reason is NULL");
    }
    status = pawl__name_check(name, strlen(name), err);
    if (status == PAWL_OK) {
        status = pawl__payload_check("reason", reason, PAWL__REASON_MAX, err);
    }
    if (status == PAWL_OK && reason[0] == '\0') {
        status =
            pawl__error_set(err, PAWL_E_DATA, 0, "the reason is empty; say why the lock is broken");
    }
    return status;
}

/* Completes the message of E_FENCED with who holds it now, if that can be learned in time. */
static pawl_status explain_fenced(pawl_client *client, const char *name, uint64_t token,
                                  int64_t left_ms, pawl_error *err)
{
    pawl_snapshot *snapshot = NULL;
    char holder[PAWL__OWNER_MAX + 128] = "";

    if (inspect(client, name, left_ms, &snapshot, NULL) == PAWL_OK) {
        if (pawl_snapshot_count(snapshot) == 0) {
            (void)snprintf(holder, sizeof holder, "; it is free");
        } else {
            (void)snprintf(holder, sizeof holder,
                           "; it is held by %s (pid %" PRId64 "), token %" PRId64,
                           pawl_snapshot_text(snapshot, 0, PAWL_ENTRY_OWNER),
                           pawl_snapshot_number(snapshot, 0, PAWL_ENTRY_PID),
                           pawl_snapshot_number(snapshot, 0, PAWL_ENTRY_TOKEN));
        }
        pawl_snapshot_free(snapshot);
    }
    return pawl__error_set(err, PAWL_E_FENCED, 0, "lock '%s': no entry has token %" PRIu64 "%s",
                           name, token, holder);
}

/* NOLINTNEXTLINE(readability-function-size): the public API may have 8 parameters. */
pawl_status pawl_break(pawl_client *client, const char *name, uint64_t token, const char *reason,
                       unsigned flags, int64_t timeout_ms, pawl_error *err)
{
    pawl_status status = check_break(client, name, reason, err);

    if (status != PAWL_OK) {
        return status;
    }
    if (token == 0 || timeout_ms < 0 || (flags & ~PAWL_BREAK_NOW) != 0) {
        return pawl__error_set(err, PAWL_E_INVALID, 0,
                               "the token is 0, the time is negative, or a flag is not known");
    }
    struct pawl__query *query = pawl__query_new(client, PAWL__QUERY_BREAK, name, reason);
    if (query == NULL) {
        return pawl__error_set(err, PAWL_E_NOMEM, 0, "no memory for the request");
    }
    query->number = token;
    query->now = (flags & PAWL_BREAK_NOW) != 0;
    status = pawl__query_run(query, timeout_ms, PAWL_E_UNKNOWN, err);
    if (status == PAWL_E_FENCED) {
        int64_t left_ms = pawl__boot_diff(query->deadline, pawl__boot_now());
        status = explain_fenced(client, name, token, left_ms > 0 ? left_ms : 0, err);
    } else if (status != PAWL_OK) {
        pawl__error_prefix(err, "lock '%s'", name);
    }
    pawl__ticket_unref(&query->ticket);
    return status;
}

pawl_status pawl_client_on_event(pawl_client *client, pawl_event_fn handle, void *user,
                                 pawl_error *err)
{
    pawl_status status = pawl__client_check(client, err);

    if (status == PAWL_OK) {
        pawl__dispatch_on_event(&client->dispatch, handle, user);
    }
    return status;
}
