/* Acquire, hold and release through the public functions, one thread, against the fake store. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "test/runtime/fake.h"
#include "test/runtime/support.h"

static pawl_error *err;

static bool store_is_empty(void *ctx)
{
    (void)ctx;
    return fake_entries() == 0;
}

/* A granted lock has everything it promises, and its release is confirmed. */
static void grants_and_releases(void)
{
    pawl_client *client = open_fake("30s");
    pawl_hold *hold = NULL;

    TAP_CHECK(pawl_lock(client, "job/1", 1000, &hold, err) == PAWL_OK);
    TAP_CHECK(pawl_hold_state(hold) == PAWL_HOLD_HELD);
    TAP_CHECK(pawl_hold_count(hold) == 1);
    TAP_CHECK(strcmp(pawl_hold_name(hold, 0), "job/1") == 0);
    TAP_CHECK(pawl_hold_name(hold, 1) == NULL);
    TAP_CHECK(pawl_hold_mode(hold, 0) == PAWL_MODE_X);
    TAP_CHECK(pawl_hold_token(hold) > 0);
    TAP_CHECK(strncmp(pawl_hold_sealed_token(hold, 0), "pawl1.00000000feedf00d.3.", 25) == 0);
    TAP_CHECK(strstr(pawl_hold_sealed_token(hold, 0), ".x.job%2F1") != NULL);
    TAP_CHECK(strncmp(pawl_hold_session(hold), "fake-", 5) == 0);
    TAP_CHECK(pawl_hold_remaining_ms(hold) > 20000);
    TAP_CHECK(pawl_hold_remaining_ms(hold) <= 30000);
    TAP_CHECK(strcmp(pawl_hold_lost_reason(hold), "") == 0);
    TAP_CHECK(fake_entries() == 1);
    TAP_CHECK(pawl_hold_release(hold, 1000, err) == PAWL_OK);
    TAP_CHECK(pawl_hold_state(hold) == PAWL_HOLD_RELEASED);
    TAP_CHECK(pawl_hold_remaining_ms(hold) == 0);
    TAP_CHECK(fake_entries() == 0);
    TAP_CHECK(pawl_hold_release(hold, 1000, err) == PAWL_E_INVALID);
    pawl_hold_free(hold);
    TAP_CHECK(close_client(client));
    TAP_CHECK(fake_sessions() == 0);
}

/* Without a ttl the time that is left has no end. */
static void has_no_deadline_without_ttl(void)
{
    pawl_client *client = open_fake("off");
    pawl_hold *hold = lock_now(client, "job");

    TAP_CHECK(hold != NULL);
    TAP_CHECK(pawl_hold_remaining_ms(hold) == INT64_MAX);
    pawl_hold_free(hold);
    TAP_CHECK(close_client(client));
}

/* A client that only opens and closes leaves no trace in the store. */
static void opens_no_session_before_need(void)
{
    pawl_client *client = open_fake("30s");

    TAP_CHECK(fake_sessions() == 0);
    TAP_CHECK(strcmp(pawl_client_store_id(client), "00000000feedf00d") == 0);
    TAP_CHECK(strcmp(pawl_client_url(client), "fake:") == 0);
    TAP_CHECK((pawl_client_capabilities(client) & PAWL_CAP_ATOMIC_MULTI) != 0);
    TAP_CHECK(close_client(client));
}

/* A hold that is freed without a release is released all the same. */
static void freed_hold_is_released(void)
{
    pawl_client *client = open_fake("30s");

    pawl_hold_free(lock_now(client, "job"));
    TAP_CHECK(wait_until(store_is_empty, NULL, 2000));
    pawl_hold *hold = lock_now(client, "job");
    TAP_CHECK(hold != NULL);
    pawl_hold_free(hold);
    TAP_CHECK(close_client(client));
}

/* A try on a held lock fails at once, leaves nothing, and says who holds it. */
static void try_names_the_holder(void)
{
    pawl_client *client = open_fake("30s");
    pawl_hold *hold = NULL;
    uint64_t number = fake_add_stranger("job", "os:ann@h", 1000);

    int64_t begin = now_ms();
    TAP_CHECK(pawl_lock(client, "job", 0, &hold, err) == PAWL_E_TIMEOUT);
    TAP_CHECK(now_ms() - begin < 1000);
    TAP_CHECK(hold == NULL);
    TAP_CHECK(fake_entries() == 1);
    const char *begins = "lock 'job': held by os:ann@h (pid 811) for ";
    TAP_CHECK(strncmp(pawl_error_message(err), begins, strlen(begins)) == 0);
    TAP_CHECK(strstr(pawl_error_message(err), "you are") == NULL);
    fake_remove_stranger(number);
    TAP_CHECK(pawl_lock(client, "job", 0, &hold, err) == PAWL_OK);
    pawl_hold_free(hold);
    TAP_CHECK(close_client(client));
}

/* A timed wait ends at its time, leaves nothing, and names holder and position. */
static void timeout_names_holder_and_position(void)
{
    pawl_client *client = open_fake("30s");
    pawl_hold *hold = NULL;
    uint64_t first = fake_add_stranger("job", "os:ann@h", 1000);
    uint64_t second = fake_add_stranger("job", "os:bob@h", 1000);

    int64_t begin = now_ms();
    TAP_CHECK(pawl_lock(client, "job", 300, &hold, err) == PAWL_E_TIMEOUT);
    int64_t took = now_ms() - begin;
    TAP_CHECK(took >= 290);
    TAP_CHECK(took < 800);
    TAP_CHECK(strstr(pawl_error_message(err), "held by os:ann@h") != NULL);
    TAP_CHECK(strstr(pawl_error_message(err), "you are 2nd") != NULL);
    fake_remove_stranger(first);
    fake_remove_stranger(second);
    TAP_CHECK(wait_until(store_is_empty, NULL, 2000));
    TAP_CHECK(close_client(client));
}

/* Several names are one hold under one token, in the order of the request; a name twice is one. */
static void several_names_are_one_hold(void)
{
    pawl_client *client = open_fake("30s");
    pawl_request *request = request_of("zebra");
    pawl_hold *hold = NULL;

    TAP_CHECK(pawl_request_add(request, "ant", PAWL_MODE_X, err) == PAWL_OK);
    TAP_CHECK(pawl_request_add(request, "zebra", PAWL_MODE_X, err) == PAWL_OK);
    TAP_CHECK(pawl_request_set_reason(request, "feeding", err) == PAWL_OK);
    TAP_CHECK(pawl_request_set_run(request, "run-1", NULL, err) == PAWL_OK);
    TAP_CHECK(pawl_acquire(client, request, 1000, &hold, err) == PAWL_OK);
    TAP_CHECK(pawl_hold_count(hold) == 2);
    TAP_CHECK(strcmp(pawl_hold_name(hold, 0), "zebra") == 0);
    TAP_CHECK(strcmp(pawl_hold_name(hold, 1), "ant") == 0);
    TAP_CHECK(strstr(pawl_hold_sealed_token(hold, 1), ".x.ant") != NULL);
    TAP_CHECK(fake_entries() == 2);
    TAP_CHECK(pawl_hold_release(hold, 1000, err) == PAWL_OK);
    TAP_CHECK(fake_entries() == 0);
    pawl_hold_free(hold);
    pawl_request_free(request);
    TAP_CHECK(close_client(client));
}

/* As many releases as entries: only the outermost gives the lock back. */
static void reentry_needs_as_many_releases(void)
{
    pawl_client *client = open_fake("30s");
    pawl_hold *hold = lock_now(client, "job");

    TAP_CHECK(pawl_hold_reenter(hold, err) == PAWL_OK);
    TAP_CHECK(pawl_hold_reenter(hold, err) == PAWL_OK);
    TAP_CHECK(pawl_hold_release(hold, 1000, err) == PAWL_OK);
    TAP_CHECK(pawl_hold_release(hold, 1000, err) == PAWL_OK);
    TAP_CHECK(pawl_hold_state(hold) == PAWL_HOLD_HELD);
    TAP_CHECK(fake_entries() == 1);
    TAP_CHECK(pawl_hold_release(hold, 1000, err) == PAWL_OK);
    TAP_CHECK(pawl_hold_state(hold) == PAWL_HOLD_RELEASED);
    TAP_CHECK(pawl_hold_reenter(hold, err) == PAWL_E_LOST);
    pawl_hold_free(hold);
    TAP_CHECK(close_client(client));
}

/* A release that the store does not confirm is UNKNOWN, and not held from then on; it is confirmed
 * later.
 */
static void unconfirmed_release_is_unknown(void)
{
    pawl_client *client = open_fake("30s");
    pawl_hold *hold = lock_now(client, "job");

    fake_pause(true);
    int64_t begin = now_ms();
    TAP_CHECK(pawl_hold_release(hold, 100, err) == PAWL_E_UNKNOWN);
    TAP_CHECK(now_ms() - begin < 600);
    TAP_CHECK(pawl_hold_state(hold) == PAWL_HOLD_RELEASING);
    TAP_CHECK(pawl_hold_remaining_ms(hold) == 0);
    fake_pause(false);
    TAP_CHECK(wait_until(store_is_empty, NULL, 2000));
    pawl_hold_free(hold);
    TAP_CHECK(close_client(client));
}

/* A session that the store ended makes its holds LOST, with a reason, for good. */
static void ended_session_loses_its_holds(void)
{
    pawl_client *client = open_fake("2s");
    pawl_hold *hold = lock_now(client, "job");

    fake_expire_sessions();
    int64_t end = now_ms() + 3000;
    while (pawl_hold_state(hold) != PAWL_HOLD_LOST && now_ms() < end) {
        sleep_ms(5);
    }
    TAP_CHECK(pawl_hold_state(hold) == PAWL_HOLD_LOST);
    TAP_CHECK(pawl_hold_lost_reason(hold)[0] != '\0');
    TAP_CHECK(pawl_hold_release(hold, 100, err) == PAWL_E_LOST);
    TAP_CHECK(strstr(pawl_error_message(err), "lock 'job'") != NULL);
    TAP_CHECK(pawl_hold_reenter(hold, err) == PAWL_E_LOST);
    pawl_hold *next = lock_now(client, "job");
    TAP_CHECK(next != NULL);
    TAP_CHECK(pawl_hold_state(hold) == PAWL_HOLD_LOST);
    pawl_hold_free(next);
    pawl_hold_free(hold);
    TAP_CHECK(close_client(client));
}

/* When renewals fail the hold is SUSPECT first, then LOST at the deadline and not before. */
static void failing_renewals_end_at_the_deadline(void)
{
    pawl_client *client = open_fake("2s");
    pawl_hold *hold = lock_now(client, "job");
    bool was_suspect = false;

    fake_fail(PAWL__BEV_RENEWED, PAWL_E_UNAVAILABLE);
    int64_t begin = now_ms();
    pawl_hold_state_value state = pawl_hold_state(hold);
    while (state != PAWL_HOLD_LOST && now_ms() < begin + 4000) {
        was_suspect = was_suspect || state == PAWL_HOLD_SUSPECT;
        sleep_ms(5);
        state = pawl_hold_state(hold);
    }
    TAP_CHECK(was_suspect);
    TAP_CHECK(state == PAWL_HOLD_LOST);
    TAP_CHECK(now_ms() - begin < 2300);
    TAP_CHECK(now_ms() - begin > 1000);
    fake_fail(PAWL__BEV_RENEWED, PAWL_OK);
    pawl_hold_free(hold);
    TAP_CHECK(close_client(client));
}

/* Renewal keeps a hold for as long as it is wanted. */
static void renewal_keeps_the_hold(void)
{
    pawl_client *client = open_fake("2s");
    pawl_hold *hold = lock_now(client, "job");
    bool was_held = true;

    for (int64_t end = now_ms() + 5000; now_ms() < end;) {
        was_held = was_held && pawl_hold_state(hold) == PAWL_HOLD_HELD;
        sleep_ms(20);
    }
    TAP_CHECK(was_held);
    pawl_hold_free(hold);
    TAP_CHECK(close_client(client));
}

/* The bound of requests counts what is held and what waits, and is given back at the end of each.
 */
static void mailbox_is_bounded(void)
{
    pawl_client *client = open_fake_with("30s", "max_requests", "2");
    pawl_request *request = request_of("one");
    pawl_pending *pending = NULL;
    pawl_hold *other = NULL;

    pawl_hold *hold = lock_now(client, "one");
    TAP_CHECK(hold != NULL);
    TAP_CHECK(pawl_acquire_start(client, request, PAWL_WAIT_FOREVER, NULL, NULL, &pending, err) ==
              PAWL_OK);
    TAP_CHECK(pawl_lock(client, "two", 0, &other, err) == PAWL_E_BUSY);
    TAP_CHECK(strstr(pawl_error_message(err), "max_requests") != NULL);
    TAP_CHECK(pawl_hold_release(hold, 1000, err) == PAWL_OK);
    TAP_CHECK(pawl_lock(client, "two", 1000, &other, err) == PAWL_OK);
    pawl_pending_free(pending);
    pawl_hold_free(hold);
    pawl_hold_free(other);
    pawl_request_free(request);
    TAP_CHECK(close_client(client));
}

/* What was given up but may still be in a store that does not answer is bounded too. */
static void debts_are_bounded(void)
{
    pawl_client *client = open_fake_with("30s", "max_requests", "3");
    pawl_hold *hold = NULL;
    pawl_status status = PAWL_E_TIMEOUT;
    int tries = 0;

    pawl_hold_free(lock_now(client, "warm"));
    TAP_CHECK(wait_until(store_is_empty, NULL, 2000));
    fake_pause(true);
    while (status == PAWL_E_TIMEOUT && tries < 20) {
        status = pawl_lock(client, "job", 30, &hold, err);
        tries++;
    }
    TAP_CHECK(status == PAWL_E_BUSY);
    TAP_CHECK(tries >= 3);
    fake_pause(false);
    TAP_CHECK(wait_until(store_is_empty, NULL, 2000));
    int64_t end = now_ms() + 2000;
    while (status == PAWL_E_BUSY && now_ms() < end) {
        status = pawl_lock(client, "job", 500, &hold, err);
    }
    TAP_CHECK(status == PAWL_OK);
    pawl_hold_free(hold);
    TAP_CHECK(close_client(client));
}

/* A pending is decided once and taken once; cancel decides it; its place is known while it waits.
 */
static void pending_is_taken_once(void)
{
    pawl_client *client = open_fake("30s");
    pawl_request *request = request_of("job");
    pawl_pending *pending = NULL;
    pawl_hold *hold = NULL;
    int position = -1;
    uint64_t number = fake_add_stranger("job", "os:ann@h", 1000);

    TAP_CHECK(pawl_acquire_start(client, request, PAWL_WAIT_FOREVER, NULL, NULL, &pending, err) ==
              PAWL_OK);
    TAP_CHECK(pawl_pending_take(pending, 200, &hold, err) == PAWL_E_BUSY);
    TAP_CHECK(pawl_pending_position(pending, &position) == PAWL_OK);
    TAP_CHECK(position == 1);
    pawl_pending_cancel(pending);
    TAP_CHECK(pawl_pending_take(pending, 2000, &hold, err) == PAWL_E_CANCELED);
    TAP_CHECK(pawl_pending_take(pending, 0, &hold, err) == PAWL_E_INVALID);
    pawl_pending_free(pending);
    fake_remove_stranger(number);
    TAP_CHECK(wait_until(store_is_empty, NULL, 2000));
    TAP_CHECK(pawl_acquire_start(client, request, PAWL_WAIT_FOREVER, NULL, NULL, &pending, err) ==
              PAWL_OK);
    TAP_CHECK(pawl_pending_take(pending, 2000, &hold, err) == PAWL_OK);
    TAP_CHECK(pawl_pending_take(pending, 2000, &hold, err) == PAWL_E_INVALID);
    pawl_pending_free(pending);
    TAP_CHECK(pawl_hold_state(hold) == PAWL_HOLD_HELD);
    pawl_hold_free(hold);
    pawl_request_free(request);
    TAP_CHECK(close_client(client));
}

/* Wrong calls are refused by name and change nothing. */
static void wrong_calls_are_refused(void)
{
    pawl_client *client = open_fake("30s");
    pawl_request *request = pawl_request_new();
    pawl_hold *hold = NULL;
    pawl_pending *pending = NULL;
    char many[16];

    TAP_CHECK(pawl_acquire(client, request, 0, &hold, err) == PAWL_E_INVALID);
    TAP_CHECK(pawl_acquire(client, NULL, 0, &hold, err) == PAWL_E_INVALID);
    TAP_CHECK(pawl_lock(NULL, "job", 0, &hold, err) == PAWL_E_INVALID);
    TAP_CHECK(pawl_lock(client, NULL, 0, &hold, err) == PAWL_E_INVALID);
    TAP_CHECK(pawl_lock(client, "", 0, &hold, err) == PAWL_E_DATA);
    TAP_CHECK(pawl_lock(client, "a\nb", 0, &hold, err) == PAWL_E_DATA);
    TAP_CHECK(pawl_lock(client, "job", -2, &hold, err) == PAWL_E_INVALID);
    TAP_CHECK(pawl_lock(client, "job", 0, NULL, err) == PAWL_E_INVALID);
    TAP_CHECK(pawl_request_add_bytes(request, "a\0b", 3, PAWL_MODE_X, err) == PAWL_E_DATA);
    TAP_CHECK(pawl_request_add(request, "a", (pawl_mode)9, err) == PAWL_E_INVALID);
    TAP_CHECK(pawl_request_set_reason(request, "a\x01", err) == PAWL_E_DATA);
    for (int i = 0; i < 64; i++) {
        (void)snprintf(many, sizeof many, "n%d", i);
        if (pawl_request_add(request, many, PAWL_MODE_X, err) != PAWL_OK) {
            tap_case(false, "64 names fit");
        }
    }
    TAP_CHECK(pawl_request_add(request, "n0", PAWL_MODE_X, err) == PAWL_OK);
    TAP_CHECK(pawl_request_add(request, "n64", PAWL_MODE_X, err) == PAWL_E_LIMIT);
    TAP_CHECK(pawl_acquire_start(client, request, 0, NULL, NULL, NULL, err) == PAWL_E_INVALID);
    TAP_CHECK(pawl_pending_take(pending, 0, &hold, err) == PAWL_E_INVALID);
    TAP_CHECK(pawl_client_close(client, -1, err) == PAWL_E_INVALID);
    TAP_CHECK(pawl_client_open("nosuch:", NULL, &client, err) == PAWL_E_UNSUPPORTED);
    TAP_CHECK(pawl_client_open("not a url", NULL, &client, err) == PAWL_E_CONFIG);
    TAP_CHECK(hold == NULL);
    TAP_CHECK(fake_entries() == 0);
    TAP_CHECK(pawl_client_close(NULL, 0, err) == PAWL_OK);
    pawl_hold_free(NULL);
    pawl_pending_free(NULL);
    pawl_request_free(request);
    TAP_CHECK(close_client(client));
}

int main(void)
{
    fake_install();
    err = pawl_error_new();
    grants_and_releases();
    has_no_deadline_without_ttl();
    opens_no_session_before_need();
    freed_hold_is_released();
    try_names_the_holder();
    timeout_names_holder_and_position();
    several_names_are_one_hold();
    reentry_needs_as_many_releases();
    unconfirmed_release_is_unknown();
    ended_session_loses_its_holds();
    failing_renewals_end_at_the_deadline();
    renewal_keeps_the_hold();
    mailbox_is_bounded();
    debts_are_bounded();
    pending_is_taken_once();
    wrong_calls_are_refused();
    pawl_error_free(err);
    return tap_done();
}
