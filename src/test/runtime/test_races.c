/* Many threads against one client: outcomes come exactly once, whatever races with them. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "tap.h"
#include "test/runtime/contend.h"
#include "test/runtime/fake.h"
#include "test/runtime/support.h"

#define ROUNDS 400

static bool store_is_empty(void *ctx)
{
    (void)ctx;
    return fake_entries() == 0;
}

/* Threads of one client exclude each other like strangers, and tokens rise. */
static void threads_of_one_client_exclude_each_other(void)
{
    pawl_client *client = open_fake("30s");

    struct contention contention = contend(client, "shared", 20);
    TAP_CHECK(contention.grants == CONTEND_THREADS * 20);
    TAP_CHECK(contention.overlaps == 0);
    TAP_CHECK(contention.token_errors == 0);
    TAP_CHECK(fake_entries() == 0);
    TAP_CHECK(close_client(client));
}

/* ---- Cancel, timeout and free against the grant
 * -------------------------------------------------- */

static void *cancel_it(void *arg)
{
    pawl_pending_cancel(arg);
    return NULL;
}

/* Cancel in the moment of the grant: either a hold or E_CANCELED, never both, never neither. */
static void cancel_races_with_the_grant(void)
{
    pawl_client *client = open_fake("30s");
    pawl_request *request = request_of("job");
    int granted = 0;
    int canceled = 0;

    for (int i = 0; i < ROUNDS; i++) {
        pawl_pending *pending = NULL;
        pawl_hold *hold = NULL;
        pthread_t thread;
        if (pawl_acquire_start(client, request, PAWL_WAIT_FOREVER, NULL, NULL, &pending, NULL) !=
            PAWL_OK) {
            break;
        }
        for (volatile int spin = 0; spin < i * 100; spin++) {
        }
        pthread_create(&thread, NULL, cancel_it, pending);
        pawl_status status = pawl_pending_take(pending, 10000, &hold, NULL);
        pthread_join(thread, NULL);
        granted += status == PAWL_OK && hold != NULL ? 1 : 0;
        canceled += status == PAWL_E_CANCELED && hold == NULL ? 1 : 0;
        pawl_hold_free(hold);
        pawl_pending_free(pending);
    }
    TAP_CHECK(granted + canceled == ROUNDS);
    tap_note("%d granted, %d canceled", granted, canceled);
    TAP_CHECK(wait_until(store_is_empty, NULL, 5000));
    pawl_request_free(request);
    TAP_CHECK(close_client(client));
}

/* A timeout in the moment of the hand-over: a hold or E_TIMEOUT, and nothing is left. */
static void timeout_races_with_the_grant(void)
{
    pawl_client *client = open_fake("30s");
    int granted = 0;
    int timed_out = 0;

    for (int i = 0; i < 60; i++) {
        pawl_request *request = request_of("job");
        pawl_pending *pending = NULL;
        pawl_hold *hold = NULL;
        pawl_hold *first = lock_now(client, "job");
        if (first == NULL ||
            pawl_acquire_start(client, request, 10, NULL, NULL, &pending, NULL) != PAWL_OK) {
            break;
        }
        sleep_ms(9 + i % 3);
        pawl_hold_free(first);
        pawl_status status = pawl_pending_take(pending, 10000, &hold, NULL);
        granted += status == PAWL_OK && hold != NULL ? 1 : 0;
        timed_out += status == PAWL_E_TIMEOUT && hold == NULL ? 1 : 0;
        pawl_hold_free(hold);
        pawl_pending_free(pending);
        pawl_request_free(request);
    }
    TAP_CHECK(granted + timed_out == 60);
    tap_note("%d granted, %d timed out", granted, timed_out);
    TAP_CHECK(wait_until(store_is_empty, NULL, 5000));
    TAP_CHECK(close_client(client));
}

/* A caller whose own wait ends in the moment of the grant: what it does not get is given back. */
static void short_waits_leave_nothing(void)
{
    pawl_client *client = open_fake("30s");
    int other = 0;

    for (int i = 0; i < 100; i++) {
        pawl_hold *hold = NULL;
        fake_stall(true);
        /* The owner hangs in the enqueue until after the caller has given up. */
        pawl_status status = pawl_lock(client, "job", 1, &hold, NULL);
        fake_stall(false);
        other += status == PAWL_OK || status == PAWL_E_TIMEOUT ? 0 : 1;
        pawl_hold_free(hold);
    }
    TAP_CHECK(other == 0);
    TAP_CHECK(wait_until(store_is_empty, NULL, 5000));
    pawl_hold *hold = lock_now(client, "job");
    TAP_CHECK(hold != NULL);
    pawl_hold_free(hold);
    TAP_CHECK(close_client(client));
}

/* A pending that is freed at any moment leaves no entry. */
static void freed_pendings_leave_nothing(void)
{
    pawl_client *client = open_fake("30s");
    pawl_request *request = request_of("job");
    int failed = 0;

    for (int i = 0; i < ROUNDS; i++) {
        pawl_pending *pending = NULL;
        failed += pawl_acquire_start(client, request, PAWL_WAIT_FOREVER, NULL, NULL, &pending,
                                     NULL) == PAWL_OK
                      ? 0
                      : 1;
        for (volatile int spin = 0; spin < i * 100; spin++) {
        }
        pawl_pending_free(pending);
    }
    TAP_CHECK(failed == 0);
    TAP_CHECK(wait_until(store_is_empty, NULL, 5000));
    pawl_request_free(request);
    TAP_CHECK(close_client(client));
}

/* ---- Exactly once
 * --------------------------------------------------------------------------------- */

struct tally {
    _Atomic int calls;
    _Atomic int grants;
    _Atomic int wrong;
};

struct one {
    struct tally *tally;
    _Atomic int calls;
};

static void count_done(void *user, pawl_status status, pawl_hold *hold, const pawl_error *err)
{
    struct one *one = user;

    if (atomic_fetch_add(&one->calls, 1) != 0 || (status == PAWL_OK) != (hold != NULL) ||
        pawl_error_status(err) != status) {
        atomic_fetch_add(&one->tally->wrong, 1);
    }
    atomic_fetch_add(&one->tally->grants, status == PAWL_OK ? 1 : 0);
    (void)pawl_hold_release(hold, 0, NULL);
    pawl_hold_free(hold);
    atomic_fetch_add(&one->tally->calls, 1);
}

static bool all_called(void *ctx)
{
    return atomic_load(&((struct tally *)ctx)->calls) >= ROUNDS;
}

/* Each started acquire calls `done` exactly once: granted, timed out, canceled or closed alike. */
static void done_comes_exactly_once(void)
{
    pawl_client *client = open_fake("30s");
    struct tally tally = {0};
    struct one *ones = calloc(ROUNDS, sizeof *ones);
    pawl_pending *pendings[ROUNDS] = {NULL};
    char name[16];

    TAP_CHECK(pawl_client_start_dispatch(client, NULL) == PAWL_OK);
    TAP_CHECK(pawl_client_start_dispatch(client, NULL) == PAWL_OK);
    for (int i = 0; i < ROUNDS; i++) {
        ones[i].tally = &tally;
        snprintf(name, sizeof name, "job-%d", i % 7);
        pawl_request *request = request_of(name);
        int64_t wait_ms = i % 3 == 0 ? 0 : i % 3 == 1 ? 5 : PAWL_WAIT_FOREVER;
        if (pawl_acquire_start(client, request, wait_ms, count_done, &ones[i], &pendings[i],
                               NULL) != PAWL_OK) {
            tap_case(false, "started");
        }
        pawl_request_free(request);
        if (i % 5 == 0) {
            pawl_pending_cancel(pendings[i]);
        }
    }
    TAP_CHECK(wait_until(all_called, &tally, 20000));
    sleep_ms(50);
    TAP_CHECK(tally.calls == ROUNDS);
    TAP_CHECK(tally.wrong == 0);
    TAP_CHECK(tally.grants > 0);
    tap_note("%d granted of %d", tally.grants, ROUNDS);
    for (int i = 0; i < ROUNDS; i++) {
        pawl_pending_free(pendings[i]);
    }
    TAP_CHECK(wait_until(store_is_empty, NULL, 5000));
    TAP_CHECK(close_client(client));
    free(ones);
}

/* ---- LOST is final
 * -------------------------------------------------------------------------------- */

struct reader {
    pawl_hold *hold;
    _Atomic bool stop;
    _Atomic int resurrections;
};

static void *read_state(void *arg)
{
    struct reader *reader = arg;
    bool was_lost = false;

    while (!atomic_load(&reader->stop)) {
        pawl_hold_state_value state = pawl_hold_state(reader->hold);
        if (was_lost && (state != PAWL_HOLD_LOST || pawl_hold_remaining_ms(reader->hold) != 0)) {
            atomic_fetch_add(&reader->resurrections, 1);
        }
        was_lost = was_lost || state == PAWL_HOLD_LOST;
    }
    return NULL;
}

/* Readers see the deadline pass while the owner thread hangs; the renewal that comes afterwards
 * does not bring the hold back for anybody. */
static void lost_is_final_for_every_reader(void)
{
    pawl_client *client = open_fake("2s");
    struct reader reader = {.hold = lock_now(client, "job")};
    pthread_t threads[4];
    pawl_hold *other = NULL;

    for (int i = 0; i < 4; i++) {
        pthread_create(&threads[i], NULL, read_state, &reader);
    }
    fake_pause(true); /* renewals are sent, and answered too late */
    int64_t end = now_ms() + 4000;
    while (pawl_hold_state(reader.hold) != PAWL_HOLD_LOST && now_ms() < end) {
        sleep_ms(1);
    }
    fake_pause(false);
    sleep_ms(300);
    TAP_CHECK(pawl_hold_state(reader.hold) == PAWL_HOLD_LOST);
    TAP_CHECK(pawl_lock(client, "job", 5000, &other, NULL) == PAWL_OK);
    atomic_store(&reader.stop, true);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
    TAP_CHECK(reader.resurrections == 0);
    pawl_hold_free(other);
    pawl_hold_free(reader.hold);
    TAP_CHECK(close_client(client));
}

int main(void)
{
    fake_install();
    threads_of_one_client_exclude_each_other();
    cancel_races_with_the_grant();
    timeout_races_with_the_grant();
    short_waits_leave_nothing();
    freed_pendings_leave_nothing();
    done_comes_exactly_once();
    lost_is_final_for_every_reader();
    return tap_done();
}
