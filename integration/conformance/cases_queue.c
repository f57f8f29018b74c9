/* Conformance: one holder at a time, first come first served, tokens that rise, several names. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "suite.h"
#include "tap.h"

#define WAITERS 9
#define ROUNDS  40

/* A second client does not get what the first holds, and gets it after. */
static void one_holds_at_a_time(struct suite *suite)
{
    pawl_client *first = suite_open(suite, NULL, NULL);
    pawl_client *second = suite_open(suite, NULL, NULL);
    pawl_hold *hold = suite_lock(suite, first, "exclusive");
    pawl_hold *other = NULL;

    TAP_CHECK(hold != NULL && pawl_hold_state(hold) == PAWL_HOLD_HELD);
    TAP_CHECK(pawl_lock(second, "exclusive", 0, &other, suite->err) == PAWL_E_TIMEOUT);
    TAP_CHECK(pawl_lock(first, "exclusive", 0, &other, suite->err) == PAWL_E_TIMEOUT);
    TAP_CHECK(other == NULL);
    TAP_CHECK(suite_give_back(suite, hold));
    TAP_CHECK(suite_give_back(suite, suite_lock(suite, second, "exclusive")));
    TAP_CHECK(suite_close(second));
    TAP_CHECK(suite_close(first));
}

/* Waiters of two clients, enqueued one after the other, are granted in that order, one at a time.
 */
static void waiters_are_served_in_order(struct suite *suite)
{
    pawl_client *clients[2] = {suite_open(suite, NULL, NULL), suite_open(suite, NULL, NULL)};
    pawl_pending *pending[WAITERS];
    pawl_hold *hold = suite_lock(suite, clients[0], "fifo");
    pawl_hold *early = NULL;
    int position = 0;

    for (long i = 0; i < WAITERS; i++) {
        /* Two of one client, then one of the other: neither prefers its own. */
        pending[i] = suite_start(suite, clients[i % 3 == 2], "fifo", PAWL_WAIT_FOREVER);
        if (!suite_await_count(suite, clients[0], "fifo", i + 2)) {
            tap_case(false, "waiter %ld is in the queue", i);
        }
    }
    TAP_CHECK(pawl_pending_position(pending[WAITERS - 1], &position) == PAWL_OK);
    TAP_CHECK(position == 0 || position == WAITERS);
    for (int i = 0; i < WAITERS; i++) {
        uint64_t before = pawl_hold_token(hold);
        bool released = suite_give_back(suite, hold);
        hold = suite_take(suite, pending[i]);
        tap_case(released && hold != NULL && pawl_hold_token(hold) > before,
                 "waiter %d is next, with a greater token", i);
        if (i + 1 < WAITERS) {
            tap_case(pawl_pending_take(pending[i + 1], 0, &early, NULL) == PAWL_E_BUSY,
                     "waiter %d still waits", i + 1);
        }
    }
    TAP_CHECK(suite_give_back(suite, hold));
    TAP_CHECK(suite_close(clients[1]));
    TAP_CHECK(suite_close(clients[0]));
}

/* Tokens rise from hold to hold, over sessions, and over the end of every client of the store. */
static void tokens_rise(struct suite *suite)
{
    uint64_t last = 0;
    int falls = 0;

    for (int i = 0; i < 5; i++) {
        pawl_client *client = suite_open(suite, NULL, NULL);
        for (int k = 0; k < 5; k++) {
            pawl_hold *hold = suite_lock(suite, client, "token");
            falls += hold == NULL || pawl_hold_token(hold) <= last;
            last = hold == NULL ? last : pawl_hold_token(hold);
            falls += !suite_give_back(suite, hold);
        }
        falls += !suite_close(client);
    }
    TAP_CHECK(falls == 0);
}

/* A request of two names waits for both at once: it stands before a later one also in the queue
 * of the name that is free. */
static void names_are_enqueued_together(struct suite *suite)
{
    pawl_client *client = suite_open(suite, NULL, NULL);
    pawl_client *other = suite_open(suite, NULL, NULL);
    pawl_hold *hold = suite_lock(suite, client, "both/b");
    pawl_request *request = suite_request(suite, "both/a", "both/b");
    pawl_pending *pending = NULL;
    pawl_hold *pair = NULL;

    TAP_CHECK(pawl_acquire_start(other, request, PAWL_WAIT_FOREVER, NULL, NULL, &pending,
                                 suite->err) == PAWL_OK);
    TAP_CHECK(suite_await_count(suite, client, "both/b", 2));
    TAP_CHECK(suite_count(suite, client, "both/a") == 1);
    TAP_CHECK(pawl_lock(client, "both/a", 0, &pair, suite->err) == PAWL_E_TIMEOUT);
    TAP_CHECK(suite_give_back(suite, hold));
    pair = suite_take(suite, pending);
    TAP_CHECK(pair != NULL && pawl_hold_count(pair) == 2);
    TAP_CHECK(strcmp(pawl_hold_name(pair, 0), "both/a") == 0);
    TAP_CHECK(strcmp(pawl_hold_name(pair, 1), "both/b") == 0);
    TAP_CHECK(pawl_hold_name(pair, 2) == NULL);
    TAP_CHECK(pawl_lock(client, "both/b", 0, &hold, suite->err) == PAWL_E_TIMEOUT);
    TAP_CHECK(suite_give_back(suite, pair));
    TAP_CHECK(suite_count(suite, client, "both/a") == 0);
    TAP_CHECK(suite_count(suite, client, "both/b") == 0);
    pawl_request_free(request);
    TAP_CHECK(suite_close(other));
    TAP_CHECK(suite_close(client));
}

/* A try of two names takes neither when one is held. */
static void a_try_takes_all_or_nothing(struct suite *suite)
{
    pawl_client *client = suite_open(suite, NULL, NULL);
    pawl_client *other = suite_open(suite, NULL, NULL);
    pawl_hold *hold = suite_lock(suite, client, "try/b");
    pawl_request *request = suite_request(suite, "try/a", "try/b");
    pawl_hold *pair = NULL;

    TAP_CHECK(pawl_acquire(other, request, 0, &pair, suite->err) == PAWL_E_TIMEOUT);
    TAP_CHECK(suite_count(suite, client, "try/a") == 0);
    TAP_CHECK(suite_count(suite, client, "try/b") == 1);
    TAP_CHECK(suite_give_back(suite, hold));
    TAP_CHECK(pawl_acquire(other, request, 0, &pair, suite->err) == PAWL_OK);
    TAP_CHECK(suite_give_back(suite, pair));
    pawl_request_free(request);
    TAP_CHECK(suite_close(other));
    TAP_CHECK(suite_close(client));
}

/* A name given twice is locked once. */
static void a_name_twice_is_one_lock(struct suite *suite)
{
    pawl_client *client = suite_open(suite, NULL, NULL);
    pawl_request *request = suite_request(suite, "twice", "twice");
    pawl_hold *hold = NULL;

    TAP_CHECK(pawl_acquire(client, request, PATIENCE_MS, &hold, suite->err) == PAWL_OK);
    TAP_CHECK(pawl_hold_count(hold) == 1);
    TAP_CHECK(suite_count(suite, client, "twice") == 1);
    TAP_CHECK(suite_give_back(suite, hold));
    TAP_CHECK(suite_count(suite, client, "twice") == 0);
    pawl_request_free(request);
    TAP_CHECK(suite_close(client));
}

struct crossing {
    pawl_client *client; /* borrowed */
    const pawl_request *request;
    atomic_int *inside; /* shared by all */
    int failures;
};

static void *cross(void *user)
{
    struct crossing *crossing = user;

    for (int i = 0; i < ROUNDS; i++) {
        pawl_hold *hold = NULL;
        if (pawl_acquire(crossing->client, crossing->request, PATIENCE_MS, &hold, NULL) !=
            PAWL_OK) {
            crossing->failures++;
            continue;
        }
        crossing->failures += atomic_fetch_add(crossing->inside, 1) != 0;
        atomic_fetch_sub(crossing->inside, 1);
        crossing->failures += pawl_hold_release(hold, PATIENCE_MS, NULL) != PAWL_OK;
        pawl_hold_free(hold);
    }
    return NULL;
}

/* Two clients that name the same two locks in opposite orders, four threads, never block each
 * other. */
static void opposite_orders_do_not_deadlock(struct suite *suite)
{
    pawl_client *clients[2] = {suite_open(suite, NULL, NULL), suite_open(suite, NULL, NULL)};
    pawl_request *requests[2] = {suite_request(suite, "cross/a", "cross/b"),
                                 suite_request(suite, "cross/b", "cross/a")};
    pthread_t threads[4];
    struct crossing crossings[4];
    atomic_int inside = 0;
    int failures = 0;

    for (int i = 0; i < 4; i++) {
        crossings[i] = (struct crossing){
            .client = clients[i / 2], .request = requests[i % 2], .inside = &inside};
        if (pthread_create(&threads[i], NULL, cross, &crossings[i]) != 0) {
            tap_case(false, "no thread");
            return;
        }
    }
    for (int i = 0; i < 4; i++) {
        (void)pthread_join(threads[i], NULL); /* cannot fail: joinable, once */
        failures += crossings[i].failures;
    }
    TAP_CHECK(failures == 0);
    TAP_CHECK(suite_count(suite, clients[0], "cross/a") == 0);
    for (int i = 0; i < 2; i++) {
        pawl_request_free(requests[i]);
        TAP_CHECK(suite_close(clients[i]));
    }
}

void suite_queue_cases(struct suite *suite)
{
    one_holds_at_a_time(suite);
    waiters_are_served_in_order(suite);
    tokens_rise(suite);
    names_are_enqueued_together(suite);
    a_try_takes_all_or_nothing(suite);
    a_name_twice_is_one_lock(suite);
    opposite_orders_do_not_deadlock(suite);
}
