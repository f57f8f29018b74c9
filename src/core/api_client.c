/* The functions of client.h. */
#include <pawl/client.h>

#include "base/assert.h"
#include "base/text.h"
#include "core/client.h"
#include "core/client_open.h"
#include "core/error.h"
#include "core/query.h"

pawl_status pawl_client_open(const char *url, const pawl_options *options, pawl_client **ret_client,
                             pawl_error *err)
{
    struct pawl__url parsed = {0};
    struct pawl__settings settings = {0};

    if (ret_client == NULL) {
        return pawl__error_set(err, PAWL_E_INVALID, 0, "there is no place for the client");
    }
    pawl_status status =
        pawl__url_parse(url != NULL ? url : pawl__options_store(options), &parsed, err);
    if (status != PAWL_OK) {
        return status;
    }
    status = pawl__options_resolve(options, &parsed, &settings, err);
    if (status == PAWL_OK) {
        status = pawl__client_new(&parsed, &settings, ret_client, err);
    }
    pawl__url_release(&parsed);
    return status;
}

pawl_status pawl_client_close(pawl_client *client, int64_t timeout_ms, pawl_error *err)
{
    char duration[PAWL__DURATION_TEXT_MAX];

    if (client == NULL) {
        return PAWL_OK;
    }
    if (timeout_ms < 0) {
        return pawl__error_set(err, PAWL_E_INVALID, 0, "the time to wait is negative");
    }
    if (pawl__is_forked(client->generation)) {
        /* The descriptors were closed when the child began. The memory is the threads' that are not
         * here: they may have been in the middle of changing it, so it is left alone. */
        return PAWL_OK;
    }
    if (pawl__dispatch_is_runner(&client->dispatch)) {
        return pawl__error_set(err, PAWL_E_INVALID, 0,
                               "a callback of a client cannot close that client");
    }
    pawl_status status = pawl__client_end(client, timeout_ms);
    if (status == PAWL_OK) {
        return PAWL_OK;
    }
    pawl__format_duration(duration, sizeof duration, timeout_ms);
    return pawl__error_set(err, PAWL_E_UNKNOWN, 0,
                           "the store did not confirm the end of the session within %s; what is "
                           "left ends by itself with the session's ttl",
                           duration);
}

int pawl_client_fd(pawl_client *client)
{
    return pawl__client_check(client, NULL) == PAWL_OK ? pawl__dispatch_fd(&client->dispatch) : -1;
}

pawl_status pawl_dispatch(pawl_client *client, int *ret_count)
{
    pawl_status status = pawl__client_check(client, NULL);

    if (status != PAWL_OK) {
        return status;
    }
    /* A callback may outlast a close that another thread gives up waiting for. */
    pawl__client_ref(client);
    int count = pawl__dispatch_run(&client->dispatch);
    pawl__client_unref(client);
    if (ret_count != NULL) {
        *ret_count = count;
    }
    return PAWL_OK;
}

pawl_status pawl_client_start_dispatch(pawl_client *client, pawl_error *err)
{
    pawl_status status = pawl__client_check(client, err);

    if (status != PAWL_OK) {
        return status;
    }
    status = pawl__dispatch_start_thread(&client->dispatch, client);
    if (status == PAWL_E_CLOSED) {
        return pawl__error_set(err, status, 0, "the client is closing");
    }
    if (status != PAWL_OK) {
        return pawl__error_set(err, status, 0, "no thread for the callbacks");
    }
    return PAWL_OK;
}

const char *pawl_client_store_id(pawl_client *client)
{
    return pawl__client_check(client, NULL) == PAWL_OK ? client->info.store_id : "";
}

const char *pawl_client_url(pawl_client *client)
{
    return client != NULL ? client->url : "";
}

unsigned pawl_client_capabilities(pawl_client *client)
{
    return pawl__client_check(client, NULL) == PAWL_OK ? client->info.capabilities : 0;
}

pawl_status pawl_client_session_fd(pawl_client *client, int *ret_fd, pawl_error *err)
{
    pawl_status status = pawl__client_check(client, err);

    if (status != PAWL_OK) {
        return status;
    }
    if (ret_fd == NULL) {
        return pawl__error_set(err, PAWL_E_INVALID, 0, "there is no place for the descriptor");
    }
    struct pawl__query *query = pawl__query_new(client, PAWL__QUERY_SESSION, NULL, NULL);
    if (query == NULL) {
        return pawl__error_set(err, PAWL_E_NOMEM, 0, "no memory for the request");
    }
    status = pawl__query_run(query, client->request_timeout_ms, PAWL_E_UNAVAILABLE, err);
    if (status == PAWL_OK) {
        /* The outcome is ours alone now: nobody else takes it. */
        PAWL_INVARIANT(query->fd >= 0);
        *ret_fd = query->fd;
        query->fd = -1;
    }
    pawl__ticket_unref(&query->ticket);
    return status;
}
