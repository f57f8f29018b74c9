/* Conformance: what a request that is not granted leaves behind, which is nothing. */
#include <string.h>

#include "suite.h"
#include "tap.h"

/* A try that fails was never in the queue, and says who holds. */
static void a_failed_try_leaves_nothing(struct suite *suite)
{
    pawl_client *client = suite_open(suite, NULL, NULL);
    pawl_client *other = suite_open(suite, NULL, NULL);
    pawl_hold *hold = suite_lock(suite, client, "tried");
    pawl_hold *none = NULL;

    for (int i = 0; i < 5; i++) {
        pawl_error_clear(suite->err);
        TAP_CHECK(pawl_lock(other, "tried", 0, &none, suite->err) == PAWL_E_TIMEOUT);
        TAP_CHECK(suite_count(suite, client, "tried") == 1);
    }
    TAP_CHECK(strstr(pawl_error_message(suite->err), "tried") != NULL);
    TAP_CHECK(suite_give_back(suite, hold));
    TAP_CHECK(suite_count(suite, client, "tried") == 0);
    TAP_CHECK(suite_close(other));
    TAP_CHECK(suite_close(client));
}

/* A timed wait ends at its deadline, not before and hardly after, and leaves nothing. */
static void a_timed_wait_ends_in_time(struct suite *suite)
{
    pawl_client *client = suite_open(suite, NULL, NULL);
    pawl_client *other = suite_open(suite, NULL, NULL);
    pawl_hold *hold = suite_lock(suite, client, "timed");
    pawl_hold *none = NULL;
    int64_t begin = suite_now_ms();

    TAP_CHECK(pawl_lock(other, "timed", 300, &none, suite->err) == PAWL_E_TIMEOUT);
    int64_t waited = suite_now_ms() - begin;
    tap_case(waited >= 299 && waited < 3000, "300 ms took %lld ms", (long long)waited);
    TAP_CHECK(none == NULL);
    /* The removal goes on in the background. */
    TAP_CHECK(suite_await_count(suite, client, "timed", 1));
    TAP_CHECK(suite_give_back(suite, hold));
    TAP_CHECK(suite_count(suite, client, "timed") == 0);
    TAP_CHECK(suite_close(other));
    TAP_CHECK(suite_close(client));
}

/* One that gives up in the middle of the queue does not hold up those behind it. */
static void those_behind_a_timeout_go_on(struct suite *suite)
{
    pawl_client *client = suite_open(suite, NULL, NULL);
    pawl_client *other = suite_open(suite, NULL, NULL);
    pawl_hold *hold = suite_lock(suite, client, "middle");
    pawl_pending *first = suite_start(suite, other, "middle", 200);
    pawl_hold *none = NULL;

    TAP_CHECK(suite_await_count(suite, client, "middle", 2));
    pawl_pending *second = suite_start(suite, client, "middle", PAWL_WAIT_FOREVER);
    TAP_CHECK(pawl_pending_take(first, PATIENCE_MS, &none, suite->err) == PAWL_E_TIMEOUT);
    pawl_pending_free(first);
    TAP_CHECK(suite_await_count(suite, client, "middle", 2));
    TAP_CHECK(pawl_pending_take(second, 0, &none, suite->err) == PAWL_E_BUSY);
    TAP_CHECK(suite_give_back(suite, hold));
    TAP_CHECK(suite_give_back(suite, suite_take(suite, second)));
    TAP_CHECK(suite_close(other));
    TAP_CHECK(suite_close(client));
}

/* A canceled waiter is told so and is gone from the queue; the outcome is taken once. */
static void a_canceled_wait_leaves_nothing(struct suite *suite)
{
    pawl_client *client = suite_open(suite, NULL, NULL);
    pawl_client *other = suite_open(suite, NULL, NULL);
    pawl_hold *hold = suite_lock(suite, client, "canceled");
    pawl_pending *pending = suite_start(suite, other, "canceled", PAWL_WAIT_FOREVER);
    pawl_hold *none = NULL;

    TAP_CHECK(suite_await_count(suite, client, "canceled", 2));
    pawl_pending_cancel(pending);
    TAP_CHECK(pawl_pending_take(pending, PATIENCE_MS, &none, suite->err) == PAWL_E_CANCELED);
    TAP_CHECK(pawl_pending_take(pending, 0, &none, suite->err) == PAWL_E_INVALID);
    pawl_pending_free(pending);
    TAP_CHECK(suite_await_count(suite, client, "canceled", 1));

    /* At any moment of an acquire: freed without a look at it. */
    for (int i = 0; i < 20; i++) {
        pawl_pending_free(suite_start(suite, other, "canceled", PAWL_WAIT_FOREVER));
    }
    TAP_CHECK(suite_await_count(suite, client, "canceled", 1));
    TAP_CHECK(suite_give_back(suite, hold));
    TAP_CHECK(suite_await_count(suite, client, "canceled", 0));
    TAP_CHECK(suite_close(other));
    TAP_CHECK(suite_close(client));
}

/* A cancel after the grant changes nothing: the outcome was decided. */
static void a_late_cancel_changes_nothing(struct suite *suite)
{
    pawl_client *client = suite_open(suite, NULL, NULL);
    pawl_pending *pending = suite_start(suite, client, "late", PATIENCE_MS);

    TAP_CHECK(suite_await_count(suite, client, "late", 1));
    pawl_hold *hold = suite_take(suite, pending);
    TAP_CHECK(hold != NULL && pawl_hold_state(hold) == PAWL_HOLD_HELD);
    TAP_CHECK(suite_give_back(suite, hold));

    /* Freeing a granted request that nobody took gives the lock back. */
    pending = suite_start(suite, client, "late", PATIENCE_MS);
    TAP_CHECK(suite_await_count(suite, client, "late", 1));
    pawl_pending_free(pending);
    TAP_CHECK(suite_await_count(suite, client, "late", 0));
    TAP_CHECK(suite_close(client));
}

void suite_wait_cases(struct suite *suite)
{
    a_failed_try_leaves_nothing(suite);
    a_timed_wait_ends_in_time(suite);
    those_behind_a_timeout_go_on(suite);
    a_canceled_wait_leaves_nothing(suite);
    a_late_cancel_changes_nothing(suite);
}
