/* Conformance: acquires with a callback, run by the library's dispatch thread or by the host. */
#include <poll.h>

#include "suite.h"
#include "tap.h"

#define REQUESTS 200

/* One thread at a time runs callbacks of a client, so plain fields do. */
struct tally {
    int granted;
    int failed;
    int falls; /* tokens that were not greater than the one before */
    uint64_t last;
};

/* Frees the hold after counting: the next waiter is granted by what happens in here. */
static void count_grant(void *user, pawl_status status, pawl_hold *hold, const pawl_error *err)
{
    struct tally *tally = user;

    (void)err; /* the status says enough */
    if (status != PAWL_OK) {
        tally->failed++;
        return;
    }
    tally->falls += pawl_hold_token(hold) <= tally->last;
    tally->last = pawl_hold_token(hold);
    tally->granted++;
    pawl_hold_free(hold);
}

static int start_all(struct suite *suite, pawl_client *client, const char *name,
                     struct tally *tally)
{
    pawl_request *request = suite_request(suite, name, NULL);
    int started = 0;

    for (int i = 0; i < REQUESTS; i++) {
        started += pawl_acquire_start(client, request, PAWL_WAIT_FOREVER, count_grant, tally, NULL,
                                      suite->err) == PAWL_OK;
    }
    pawl_request_free(request);
    return started;
}

/* A host with a loop of its own polls one descriptor and runs the callbacks itself; those of one
 * client come in the order in which they were asked for. */
static void a_host_dispatches(struct suite *suite)
{
    pawl_client *client = suite_open(suite, NULL, NULL);
    struct tally tally = {0};
    struct pollfd ready = {.fd = pawl_client_fd(client), .events = POLLIN};

    TAP_CHECK(start_all(suite, client, "callback/host", &tally) == REQUESTS);
    while (tally.granted + tally.failed < REQUESTS && poll(&ready, 1, PATIENCE_MS) == 1) {
        if (pawl_dispatch(client, NULL) != PAWL_OK) {
            break;
        }
    }
    TAP_CHECK(tally.granted == REQUESTS);
    TAP_CHECK(tally.falls == 0);
    TAP_CHECK(suite_await_count(suite, client, "callback/host", 0));
    TAP_CHECK(suite_close(client));
}

/* Close ends what still waits: every callback has come exactly once when it returns. */
static void close_answers_everybody(struct suite *suite)
{
    pawl_client *client = suite_open(suite, NULL, NULL);
    pawl_client *other = suite_open(suite, NULL, NULL);
    pawl_hold *hold = suite_lock(suite, other, "callback/closed");
    struct tally tally = {0};

    TAP_CHECK(pawl_client_start_dispatch(client, suite->err) == PAWL_OK);
    TAP_CHECK(start_all(suite, client, "callback/closed", &tally) == REQUESTS);
    TAP_CHECK(suite_await_count(suite, other, "callback/closed", REQUESTS + 1));
    TAP_CHECK(suite_close(client));
    TAP_CHECK(tally.granted == 0);
    TAP_CHECK(tally.failed == REQUESTS);
    TAP_CHECK(suite_count(suite, other, "callback/closed") == 1);
    TAP_CHECK(suite_give_back(suite, hold));
    TAP_CHECK(suite_close(other));
}

void suite_callback_cases(struct suite *suite)
{
    a_host_dispatches(suite);
    close_answers_everybody(suite);
}
