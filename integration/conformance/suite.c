/* Helpers of the conformance suite, see suite.h. */
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tap.h"

char *suite_make_url(const char *text)
{
    const char *base = getenv("TMPDIR");
    char *url = NULL;

    if (strcmp(text, "local:") != 0) {
        return strdup(text);
    }
    if (asprintf(&url, "local://%s/conformance.XXXXXX", base == NULL ? "/tmp" : base) < 0) {
        return NULL;
    }
    if (mkdtemp(url + strlen("local://")) == NULL) {
        free(url);
        return NULL;
    }
    return url;
}

int64_t suite_now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail on Linux */
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

pawl_client *suite_open(struct suite *suite, const char *key, const char *text)
{
    pawl_options *options = pawl_options_new();
    pawl_client *client = NULL;
    bool is_open = options != NULL &&
                   (key == NULL || pawl_options_set(options, key, text, suite->err) == PAWL_OK) &&
                   pawl_client_open(suite->url, options, &client, suite->err) == PAWL_OK;

    pawl_options_free(options);
    if (!is_open) {
        tap_case(false, "open %s: %s", suite->url, pawl_error_message(suite->err));
        exit(tap_done());
    }
    return client;
}

bool suite_close(pawl_client *client)
{
    return pawl_client_close(client, PATIENCE_MS, NULL) == PAWL_OK;
}

pawl_request *suite_request(struct suite *suite, const char *first, const char *second)
{
    pawl_request *request = pawl_request_new();

    if (request == NULL || pawl_request_add(request, first, PAWL_MODE_X, suite->err) != PAWL_OK ||
        (second != NULL && pawl_request_add(request, second, PAWL_MODE_X, suite->err) != PAWL_OK)) {
        tap_case(false, "request of %s: %s", first, pawl_error_message(suite->err));
        exit(tap_done());
    }
    return request;
}

pawl_hold *suite_lock(struct suite *suite, pawl_client *client, const char *name)
{
    pawl_hold *hold = NULL;

    if (pawl_lock(client, name, PATIENCE_MS, &hold, suite->err) != PAWL_OK) {
        tap_note("lock %s: %s", name, pawl_error_message(suite->err));
    }
    return hold;
}

pawl_pending *suite_start(struct suite *suite, pawl_client *client, const char *name,
                          int64_t wait_ms)
{
    pawl_request *request = suite_request(suite, name, NULL);
    pawl_pending *pending = NULL;

    if (pawl_acquire_start(client, request, wait_ms, NULL, NULL, &pending, suite->err) != PAWL_OK) {
        tap_note("start %s: %s", name, pawl_error_message(suite->err));
    }
    pawl_request_free(request);
    return pending;
}

pawl_hold *suite_take(struct suite *suite, pawl_pending *pending)
{
    pawl_hold *hold = NULL;

    if (pawl_pending_take(pending, PATIENCE_MS, &hold, suite->err) != PAWL_OK) {
        tap_note("take: %s", pawl_error_message(suite->err));
    }
    pawl_pending_free(pending);
    return hold;
}

bool suite_give_back(struct suite *suite, pawl_hold *hold)
{
    if (hold == NULL) {
        return false;
    }
    bool is_gone = pawl_hold_release(hold, PATIENCE_MS, suite->err) == PAWL_OK &&
                   pawl_hold_state(hold) == PAWL_HOLD_RELEASED;
    pawl_hold_free(hold);
    return is_gone;
}

long suite_count(struct suite *suite, pawl_client *client, const char *name)
{
    pawl_snapshot *snapshot = NULL;

    if (pawl_inspect(client, name, PATIENCE_MS, &snapshot, suite->err) != PAWL_OK) {
        tap_note("inspect: %s", pawl_error_message(suite->err));
        return -1;
    }
    long count = (long)pawl_snapshot_count(snapshot);
    pawl_snapshot_free(snapshot);
    return count;
}

bool suite_await_count(struct suite *suite, pawl_client *client, const char *name, long count)
{
    int64_t end = suite_now_ms() + PATIENCE_MS;
    /* No public call tells of changes in a queue that one is not in. */
    struct timespec pause = {.tv_nsec = 2000000};

    while (suite_count(suite, client, name) != count) {
        if (suite_now_ms() > end) {
            return false;
        }
        (void)nanosleep(&pause, NULL); /* a shorter pause does no harm */
    }
    return true;
}
