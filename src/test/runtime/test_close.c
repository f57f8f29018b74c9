/* The end of a client: everybody gets an answer, objects stay valid, nothing is left. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "tap.h"
#include "test/runtime/fake.h"
#include "test/runtime/support.h"

static pawl_error *err;

struct waiter {
    pthread_t thread;
    pawl_client *client;
    pawl_status status;
};

static void *wait_for_ever(void *arg)
{
    struct waiter *waiter = arg;
    pawl_hold *hold = NULL;

    waiter->status = pawl_lock(waiter->client, "job", PAWL_WAIT_FOREVER, &hold, NULL);
    pawl_hold_free(hold);
    return NULL;
}

/* Threads that wait while another closes end with E_CLOSED; holds become RELEASED and stay valid.
 */
static void close_ends_who_waits(void)
{
    pawl_client *client = open_fake("30s");
    struct waiter waiters[8];
    pawl_hold *hold = lock_now(client, "job");
    int closed = 0;

    for (int i = 0; i < 8; i++) {
        waiters[i].client = client;
        pthread_create(&waiters[i].thread, NULL, wait_for_ever, &waiters[i]);
    }
    fake_wait_for_ops(PAWL__BEV_ENQUEUED, 9);
    int64_t begin = now_ms();
    TAP_CHECK(pawl_client_close(client, 5000, err) == PAWL_OK);
    TAP_CHECK(now_ms() - begin < 3000);
    for (int i = 0; i < 8; i++) {
        pthread_join(waiters[i].thread, NULL);
        closed += waiters[i].status == PAWL_E_CLOSED ? 1 : 0;
    }
    TAP_CHECK(closed == 8);
    TAP_CHECK(fake_entries() == 0);
    TAP_CHECK(fake_sessions() == 0);
    TAP_CHECK(pawl_hold_state(hold) == PAWL_HOLD_RELEASED);
    TAP_CHECK(pawl_hold_remaining_ms(hold) == 0);
    TAP_CHECK(strcmp(pawl_hold_name(hold, 0), "job") == 0);
    TAP_CHECK(pawl_hold_reenter(hold, err) == PAWL_E_LOST);
    TAP_CHECK(pawl_hold_release(hold, 100, err) == PAWL_E_CLOSED);
    TAP_CHECK(pawl_hold_on_change(hold, NULL, NULL, err) == PAWL_OK);
    pawl_hold_free(hold);
}

/* A pending lives longer than its client and says E_CLOSED. */
static void pendings_outlive_the_client(void)
{
    pawl_client *client = open_fake("30s");
    pawl_request *request = request_of("job");
    pawl_pending *pending = NULL;
    pawl_hold *hold = lock_now(client, "job");
    pawl_hold *none = NULL;
    int position = -1;

    TAP_CHECK(pawl_acquire_start(client, request, PAWL_WAIT_FOREVER, NULL, NULL, &pending, err) ==
              PAWL_OK);
    TAP_CHECK(pawl_client_close(client, 5000, err) == PAWL_OK);
    TAP_CHECK(pawl_pending_position(pending, &position) == PAWL_OK);
    pawl_pending_cancel(pending);
    TAP_CHECK(pawl_pending_take(pending, 1000, &none, err) == PAWL_E_CLOSED);
    TAP_CHECK(none == NULL);
    pawl_pending_free(pending);
    pawl_hold_free(hold);
    pawl_request_free(request);
}

struct tally {
    _Atomic int closed;
    _Atomic int others;
};

static void count_closed(void *user, pawl_status status, pawl_hold *hold, const pawl_error *error)
{
    struct tally *tally = user;

    (void)error;
    atomic_fetch_add(status == PAWL_E_CLOSED ? &tally->closed : &tally->others, 1);
    pawl_hold_free(hold);
}

static void start_many(pawl_client *client, struct tally *tally)
{
    pawl_request *request = request_of("job");

    for (int i = 0; i < 50; i++) {
        if (pawl_acquire_start(client, request, PAWL_WAIT_FOREVER, count_closed, tally, NULL,
                               NULL) != PAWL_OK) {
            tap_case(false, "started");
        }
    }
    pawl_request_free(request);
}

/* Callbacks of what was under way come before close returns, exactly once, with and without a
 * thread of the library to run them. */
static void close_runs_what_is_due(void)
{
    for (int with_thread = 0; with_thread < 2; with_thread++) {
        pawl_client *client = open_fake("30s");
        struct tally tally = {0};
        pawl_hold *hold = lock_now(client, "job");
        if (with_thread != 0) {
            TAP_CHECK(pawl_client_start_dispatch(client, NULL) == PAWL_OK);
        }
        start_many(client, &tally);
        TAP_CHECK(pawl_client_close(client, 5000, err) == PAWL_OK);
        TAP_CHECK(tally.closed == 50);
        TAP_CHECK(tally.others == 0);
        pawl_hold_free(hold);
    }
}

static _Atomic bool is_in_callback;
static _Atomic bool may_return;
static _Atomic bool has_returned;

static void hang(void *user, pawl_status status, pawl_hold *hold, const pawl_error *error)
{
    (void)user;
    (void)status;
    (void)error;
    atomic_store(&is_in_callback, true);
    while (!atomic_load(&may_return)) {
        sleep_ms(1);
    }
    pawl_hold_free(hold);
    atomic_store(&has_returned, true);
}

static bool flag_is_set(void *ctx)
{
    return atomic_load((_Atomic bool *)ctx);
}

/* A callback that does not return cannot hold up the close; what was due behind it comes when it
 * does. */
static void close_is_bounded_by_its_time_not_by_callbacks(void)
{
    pawl_client *client = open_fake("30s");
    pawl_request *request = request_of("first");
    struct tally tally = {0};
    pawl_hold *hold = lock_now(client, "job");

    TAP_CHECK(pawl_client_start_dispatch(client, NULL) == PAWL_OK);
    TAP_CHECK(pawl_acquire_start(client, request, 1000, hang, NULL, NULL, NULL) == PAWL_OK);
    TAP_CHECK(wait_until(flag_is_set, &is_in_callback, 5000));
    start_many(client, &tally);
    int64_t begin = now_ms();
    TAP_CHECK(pawl_client_close(client, 300, err) == PAWL_OK);
    TAP_CHECK(now_ms() - begin < 1500);
    TAP_CHECK(tally.closed == 0);
    atomic_store(&may_return, true);
    TAP_CHECK(wait_until(flag_is_set, &has_returned, 5000));
    for (int i = 0; i < 500 && tally.closed < 50; i++) {
        sleep_ms(10);
    }
    TAP_CHECK(tally.closed == 50);
    pawl_hold_free(hold);
    pawl_request_free(request);
}

/* Close without waiting for the store does not wait, and does not claim what it does not know. */
static void close_without_time_does_not_wait(void)
{
    pawl_client *client = open_fake("30s");
    pawl_hold *hold = lock_now(client, "job");

    fake_pause(true);
    int64_t begin = now_ms();
    TAP_CHECK(pawl_client_close(client, 0, err) == PAWL_E_UNKNOWN);
    TAP_CHECK(now_ms() - begin < 1000);
    TAP_CHECK(pawl_hold_state(hold) == PAWL_HOLD_LOST);
    fake_pause(false);
    pawl_hold_free(hold);
}

int main(void)
{
    fake_install();
    err = pawl_error_new();
    close_ends_who_waits();
    pendings_outlive_the_client();
    close_runs_what_is_due();
    close_is_bounded_by_its_time_not_by_callbacks();
    close_without_time_does_not_wait();
    pawl_error_free(err);
    return tap_done();
}
