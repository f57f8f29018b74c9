/* Callers keep their deadlines when the owner thread hangs in the backend, and when the store does
 * not answer. */
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"
#include "test/runtime/fake.h"
#include "test/runtime/support.h"

/* What a caller may take over its deadline: grace and a busy machine, far below any retry. */
#define SLACK_MS 700

static pawl_error *err;

static bool store_is_empty(void *ctx)
{
    (void)ctx;
    return fake_entries() == 0;
}

/* A client whose owner thread hangs; the session is open. */
static pawl_client *open_stalled(void)
{
    pawl_client *client = open_fake("30s");
    pawl_hold *hold = NULL;

    pawl_hold_free(lock_now(client, "warm-up"));
    (void)wait_until(store_is_empty, NULL, 2000);
    fake_stall(true);
    TAP_CHECK(pawl_lock(client, "stuck", 20, &hold, NULL) == PAWL_E_TIMEOUT);
    fake_wait_for_stalled();
    return client;
}

/* With a stalled owner thread a timed acquire, a try and an inspect still end in time; what the
 * acquire asked for is given up, not granted to nobody. */
static void calls_end_while_the_owner_hangs(void)
{
    pawl_client *client = open_stalled();
    pawl_snapshot *snapshot = NULL;
    pawl_hold *hold = NULL;

    int64_t begin = now_ms();
    TAP_CHECK(pawl_lock(client, "job", 200, &hold, err) == PAWL_E_TIMEOUT);
    TAP_CHECK(now_ms() - begin >= 190);
    TAP_CHECK(now_ms() - begin < 200 + SLACK_MS);
    TAP_CHECK(hold == NULL);
    begin = now_ms();
    TAP_CHECK(pawl_inspect(client, NULL, 200, &snapshot, err) == PAWL_E_UNAVAILABLE);
    TAP_CHECK(pawl_break(client, "job", 1, "why", 0, 200, err) == PAWL_E_UNKNOWN);
    TAP_CHECK(now_ms() - begin < 400 + 2 * SLACK_MS);
    fake_stall(false);
    TAP_CHECK(wait_until(store_is_empty, NULL, 3000));
    hold = lock_now(client, "job");
    TAP_CHECK(hold != NULL);
    pawl_hold_free(hold);
    TAP_CHECK(close_client(client));
}

struct waiter {
    pthread_t thread;
    pawl_client *client;
    pawl_status status;
};

static void *wait_for_ever(void *arg)
{
    struct waiter *waiter = arg;
    pawl_hold *hold = NULL;

    waiter->status = pawl_lock(waiter->client, "other", PAWL_WAIT_FOREVER, &hold, NULL);
    pawl_hold_free(hold);
    return NULL;
}

/* A close is bounded although the owner thread hangs, and ends who waits without a limit. */
static void close_is_bounded_while_the_owner_hangs(void)
{
    pawl_client *client = open_fake("30s");
    struct waiter waiter = {.client = client};
    pawl_hold *hold = lock_now(client, "job");
    pawl_hold *try_hold = NULL;

    TAP_CHECK(hold != NULL);
    fake_stall(true);
    TAP_CHECK(pawl_lock(client, "stuck", 20, &try_hold, NULL) == PAWL_E_TIMEOUT);
    fake_wait_for_stalled();
    pthread_create(&waiter.thread, NULL, wait_for_ever, &waiter);
    sleep_ms(50);
    int64_t begin = now_ms();
    TAP_CHECK(pawl_client_close(client, 200, err) == PAWL_E_UNKNOWN);
    TAP_CHECK(now_ms() - begin < 200 + 2 * SLACK_MS);
    pthread_join(waiter.thread, NULL);
    TAP_CHECK(waiter.status == PAWL_E_CLOSED);
    TAP_CHECK(pawl_hold_state(hold) == PAWL_HOLD_LOST);
    TAP_CHECK(strstr(pawl_hold_lost_reason(hold), "closed") != NULL);
    TAP_CHECK(pawl_hold_release(hold, 100, err) == PAWL_E_LOST);
    fake_stall(false);
    pawl_hold_free(hold);
    /* The thread that hung puts the rest away. */
    TAP_CHECK(wait_until(store_is_empty, NULL, 3000));
}

/* With a store that does not answer: tries, waits and close end in time. */
static void calls_end_while_the_store_is_silent(void)
{
    pawl_client *client = open_fake("30s");
    pawl_snapshot *snapshot = NULL;
    pawl_hold *held = lock_now(client, "held");
    pawl_hold *hold = NULL;
    int fd = -1;

    fake_pause(true);
    int64_t begin = now_ms();
    TAP_CHECK(pawl_lock(client, "job", 200, &hold, err) == PAWL_E_TIMEOUT);
    TAP_CHECK(pawl_inspect(client, "job", 200, &snapshot, err) == PAWL_E_UNAVAILABLE);
    TAP_CHECK(now_ms() - begin < 400 + SLACK_MS);
    TAP_CHECK(pawl_client_session_fd(client, &fd, err) == PAWL_OK);
    TAP_CHECK(fd >= 0);
    close(fd);
    begin = now_ms();
    TAP_CHECK(pawl_client_close(client, 200, err) == PAWL_E_UNKNOWN);
    TAP_CHECK(now_ms() - begin < 200 + SLACK_MS);
    TAP_CHECK(pawl_hold_state(held) == PAWL_HOLD_LOST);
    pawl_hold_free(held);
    fake_pause(false);
}

int main(void)
{
    fake_install();
    err = pawl_error_new();
    calls_end_while_the_owner_hangs();
    close_is_bounded_while_the_owner_hangs();
    calls_end_while_the_store_is_silent();
    pawl_error_free(err);
    return tap_done();
}
