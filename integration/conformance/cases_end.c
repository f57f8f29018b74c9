/* Conformance: release, re-entry, close. */
#include "suite.h"
#include "tap.h"

/* What was given back is free at once, and can be had again by the same client. */
static void a_released_lock_can_be_had_again(struct suite *suite)
{
    pawl_client *client = suite_open(suite, NULL, NULL);
    pawl_hold *hold = suite_lock(suite, client, "again");
    uint64_t token = hold == NULL ? 0 : pawl_hold_token(hold);

    TAP_CHECK(pawl_hold_release(hold, PATIENCE_MS, suite->err) == PAWL_OK);
    TAP_CHECK(pawl_hold_state(hold) == PAWL_HOLD_RELEASED);
    TAP_CHECK(pawl_hold_remaining_ms(hold) == 0);
    TAP_CHECK(pawl_hold_release(hold, PATIENCE_MS, suite->err) == PAWL_E_INVALID);
    TAP_CHECK(suite_count(suite, client, "again") == 0);
    pawl_hold *next = suite_lock(suite, client, "again");
    TAP_CHECK(next != NULL && pawl_hold_token(next) > token);
    TAP_CHECK(pawl_hold_state(hold) == PAWL_HOLD_RELEASED);
    /* The old object is no handle on the new hold. */
    pawl_hold_free(hold);
    TAP_CHECK(suite_count(suite, client, "again") == 1);
    TAP_CHECK(suite_give_back(suite, next));
    TAP_CHECK(suite_close(client));
}

/* A hold that is freed without a release is given back. */
static void a_freed_hold_is_given_back(struct suite *suite)
{
    pawl_client *client = suite_open(suite, NULL, NULL);
    pawl_client *other = suite_open(suite, NULL, NULL);

    pawl_hold_free(suite_lock(suite, client, "freed"));
    TAP_CHECK(suite_give_back(suite, suite_lock(suite, other, "freed")));
    TAP_CHECK(suite_close(other));
    TAP_CHECK(suite_close(client));
}

/* Taken twice more, the hold is free after the third release, not before. */
static void the_outermost_release_counts(struct suite *suite)
{
    pawl_client *client = suite_open(suite, NULL, NULL);
    pawl_client *other = suite_open(suite, NULL, NULL);
    pawl_hold *hold = suite_lock(suite, client, "reentered");
    pawl_hold *none = NULL;

    TAP_CHECK(pawl_hold_reenter(hold, suite->err) == PAWL_OK);
    TAP_CHECK(pawl_hold_reenter(hold, suite->err) == PAWL_OK);
    TAP_CHECK(suite_count(suite, other, "reentered") == 1);
    for (int i = 0; i < 2; i++) {
        TAP_CHECK(pawl_hold_release(hold, PATIENCE_MS, suite->err) == PAWL_OK);
        TAP_CHECK(pawl_hold_state(hold) == PAWL_HOLD_HELD);
        TAP_CHECK(pawl_lock(other, "reentered", 0, &none, suite->err) == PAWL_E_TIMEOUT);
    }
    TAP_CHECK(suite_give_back(suite, hold));
    TAP_CHECK(suite_give_back(suite, suite_lock(suite, other, "reentered")));
    TAP_CHECK(suite_close(other));
    TAP_CHECK(suite_close(client));
}

/* Close frees holds and waiters at once; requests end with E_CLOSED; the next client goes on. */
static void close_frees_everything(struct suite *suite)
{
    pawl_client *client = suite_open(suite, NULL, NULL);
    pawl_client *other = suite_open(suite, NULL, NULL);
    pawl_hold *hold = suite_lock(suite, client, "closed/1");
    pawl_hold *blocking = suite_lock(suite, other, "closed/2");
    pawl_pending *waiting = suite_start(suite, client, "closed/2", PAWL_WAIT_FOREVER);
    pawl_pending *own = suite_start(suite, client, "closed/1", PAWL_WAIT_FOREVER);
    pawl_hold *none = NULL;

    TAP_CHECK(suite_await_count(suite, other, "closed/1", 2));
    TAP_CHECK(suite_await_count(suite, other, "closed/2", 2));
    pawl_pending *next = suite_start(suite, other, "closed/1", PAWL_WAIT_FOREVER);
    TAP_CHECK(suite_await_count(suite, other, "closed/1", 3));
    TAP_CHECK(suite_close(client));
    TAP_CHECK(pawl_hold_state(hold) == PAWL_HOLD_RELEASED);
    TAP_CHECK(pawl_pending_take(waiting, 0, &none, suite->err) == PAWL_E_CLOSED);
    TAP_CHECK(pawl_pending_take(own, 0, &none, suite->err) == PAWL_E_CLOSED);
    TAP_CHECK(suite_count(suite, other, "closed/2") == 1);
    TAP_CHECK(suite_give_back(suite, suite_take(suite, next)));
    TAP_CHECK(suite_count(suite, other, "closed/1") == 0);
    pawl_pending_free(waiting);
    pawl_pending_free(own);
    pawl_hold_free(hold);
    TAP_CHECK(suite_give_back(suite, blocking));
    TAP_CHECK(suite_close(other));
}

void suite_end_cases(struct suite *suite)
{
    a_released_lock_can_be_had_again(suite);
    a_freed_hold_is_given_back(suite);
    the_outermost_release_counts(suite);
    close_frees_everything(suite);
}
