/* Conformance: break, and that a lost hold stays lost. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "suite.h"
#include "tap.h"

/* A short ttl, so that the victim's next renewal, when it sees the mark, is near. */
#define TTL "4s"

/* A waiter's token is not shown; it is among the first numbers after the holder's. */
#define TOKENS_TRIED 256u

/* A token that nobody has changes nothing, and the message names the present holder. */
static void a_wrong_token_is_refused(struct suite *suite)
{
    pawl_client *client = suite_open(suite, NULL, NULL);
    pawl_hold *hold = suite_lock(suite, client, "wrong");
    char token[32];

    (void)snprintf(token, sizeof(token), "%" PRIu64, pawl_hold_token(hold)); /* fits */
    TAP_CHECK(pawl_break(client, "wrong", pawl_hold_token(hold) + 1000000, "test", 0, PATIENCE_MS,
                         suite->err) == PAWL_E_FENCED);
    TAP_CHECK(strstr(pawl_error_message(suite->err), token) != NULL);
    TAP_CHECK(strstr(pawl_error_message(suite->err), "held by") != NULL ||
              strstr(pawl_error_message(suite->err), "holder") != NULL);
    TAP_CHECK(pawl_break(client, "wrong", pawl_hold_token(hold), "", 0, PATIENCE_MS, suite->err) ==
              PAWL_E_DATA);
    TAP_CHECK(pawl_hold_state(hold) == PAWL_HOLD_HELD);
    TAP_CHECK(suite_count(suite, client, "wrong") == 1);
    TAP_CHECK(suite_give_back(suite, hold));
    TAP_CHECK(suite_close(client));
}

/* The victim knows of its loss when the next is granted, and it is final. */
static void a_victim_is_lost_before_the_next_grant(struct suite *suite)
{
    pawl_client *victim = suite_open(suite, "ttl", TTL);
    pawl_client *other = suite_open(suite, NULL, NULL);
    pawl_hold *hold = suite_lock(suite, victim, "victim");
    pawl_pending *pending = suite_start(suite, other, "victim", PAWL_WAIT_FOREVER);
    pawl_hold *next = NULL;

    TAP_CHECK(suite_await_count(suite, other, "victim", 2));
    TAP_CHECK(pawl_break(other, "victim", pawl_hold_token(hold), "stuck", 0, PATIENCE_MS,
                         suite->err) == PAWL_OK);
    TAP_CHECK(pawl_pending_take(pending, PATIENCE_MS, &next, suite->err) == PAWL_OK);
    TAP_CHECK(pawl_hold_state(hold) == PAWL_HOLD_LOST);
    TAP_CHECK(strstr(pawl_hold_lost_reason(hold), "stuck") != NULL);
    TAP_CHECK(next != NULL && pawl_hold_token(next) > pawl_hold_token(hold));
    TAP_CHECK(pawl_hold_remaining_ms(hold) == 0);
    TAP_CHECK(pawl_hold_reenter(hold, suite->err) == PAWL_E_LOST);
    TAP_CHECK(pawl_hold_release(hold, PATIENCE_MS, suite->err) == PAWL_E_LOST);
    /* Neither did the refused release take the lock from the one that has it now. */
    TAP_CHECK(suite_count(suite, other, "victim") == 1);
    TAP_CHECK(suite_give_back(suite, next));

    /* Not even when its client has the same lock again. */
    next = suite_lock(suite, victim, "victim");
    TAP_CHECK(next != NULL && pawl_hold_state(next) == PAWL_HOLD_HELD);
    TAP_CHECK(pawl_hold_state(hold) == PAWL_HOLD_LOST);
    pawl_hold_free(hold);
    TAP_CHECK(suite_count(suite, other, "victim") == 1);
    TAP_CHECK(suite_give_back(suite, next));
    pawl_pending_free(pending);
    TAP_CHECK(suite_close(other));
    TAP_CHECK(suite_close(victim));
}

/* --now does not ask the victim, which learns of it all the same. */
static void now_does_not_ask(struct suite *suite)
{
    pawl_client *victim = suite_open(suite, "ttl", TTL);
    pawl_client *other = suite_open(suite, NULL, NULL);
    pawl_hold *hold = suite_lock(suite, victim, "now");

    TAP_CHECK(pawl_break(other, "now", pawl_hold_token(hold), "at once", PAWL_BREAK_NOW,
                         PATIENCE_MS, suite->err) == PAWL_OK);
    TAP_CHECK(suite_count(suite, other, "now") == 0);
    int64_t end = suite_now_ms() + PATIENCE_MS;
    while (pawl_hold_state(hold) != PAWL_HOLD_LOST && suite_now_ms() < end) {
        /* Each look is a round to the store, so that this does not spin. */
        (void)suite_count(suite, other, "now");
    }
    TAP_CHECK(pawl_hold_state(hold) == PAWL_HOLD_LOST);
    pawl_hold_free(hold);
    TAP_CHECK(suite_close(other));
    TAP_CHECK(suite_close(victim));
}

/* A waiter can be broken as well: its request ends with E_LOST and the holder keeps the lock. */
static void a_waiter_can_be_broken(struct suite *suite)
{
    pawl_client *client = suite_open(suite, NULL, NULL);
    pawl_client *victim = suite_open(suite, "ttl", TTL);
    pawl_hold *hold = suite_lock(suite, client, "waiter");
    pawl_pending *pending = suite_start(suite, victim, "waiter", PAWL_WAIT_FOREVER);
    pawl_hold *none = NULL;
    pawl_status status = PAWL_E_FENCED;

    TAP_CHECK(suite_await_count(suite, client, "waiter", 2));
    for (uint64_t i = 1; i <= TOKENS_TRIED && status == PAWL_E_FENCED; i++) {
        status = pawl_break(client, "waiter", pawl_hold_token(hold) + i, "no", 0, PATIENCE_MS,
                            suite->err);
    }
    TAP_CHECK(status == PAWL_OK);
    TAP_CHECK(pawl_pending_take(pending, PATIENCE_MS, &none, suite->err) == PAWL_E_LOST);
    TAP_CHECK(none == NULL);
    TAP_CHECK(suite_count(suite, client, "waiter") == 1);
    TAP_CHECK(pawl_hold_state(hold) == PAWL_HOLD_HELD);
    pawl_pending_free(pending);
    TAP_CHECK(suite_give_back(suite, hold));
    TAP_CHECK(suite_close(victim));
    TAP_CHECK(suite_close(client));
}

void suite_break_cases(struct suite *suite)
{
    a_wrong_token_is_refused(suite);
    a_victim_is_lost_before_the_next_grant(suite);
    now_does_not_ask(suite);
    a_waiter_can_be_broken(suite);
}
