/* The runtime with the embedded store beneath: what the fake store cannot show. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "tap.h"
#include "test/runtime/contend.h"
#include "test/runtime/support.h"

static pawl_error *err;
static const char *url;

/* Threads of one client exclude each other, and tokens rise. */
static void threads_of_one_client_exclude_each_other(void)
{
    pawl_client *client = open_url(url, NULL);
    pawl_snapshot *snapshot = NULL;

    struct contention contention = contend(client, "shared", 50);
    TAP_CHECK(contention.grants == CONTEND_THREADS * 50);
    TAP_CHECK(contention.overlaps == 0);
    TAP_CHECK(contention.token_errors == 0);
    TAP_CHECK(pawl_inspect(client, NULL, 2000, &snapshot, err) == PAWL_OK);
    TAP_CHECK(pawl_snapshot_count(snapshot) == 0);
    pawl_snapshot_free(snapshot);
    TAP_CHECK(close_client(client));
}

/* A lock goes from client to client, and the close of a holder is a release. */
static void clients_hand_over(void)
{
    pawl_client *first = open_url(url, NULL);
    pawl_client *second = open_url(url, NULL);
    pawl_request *request = request_of("job");
    pawl_pending *pending = NULL;
    pawl_hold *hold = lock_now(first, "job");
    pawl_hold *next = NULL;

    TAP_CHECK(hold != NULL);
    uint64_t token = pawl_hold_token(hold);
    TAP_CHECK(pawl_acquire_start(second, request, PAWL_WAIT_FOREVER, NULL, NULL, &pending, err) ==
              PAWL_OK);
    TAP_CHECK(pawl_pending_take(pending, 100, &next, err) == PAWL_E_BUSY);
    TAP_CHECK(close_client(first));
    TAP_CHECK(pawl_hold_state(hold) == PAWL_HOLD_RELEASED);
    TAP_CHECK(pawl_pending_take(pending, 2000, &next, err) == PAWL_OK);
    TAP_CHECK(pawl_hold_token(next) > token);
    pawl_hold_free(next);
    pawl_hold_free(hold);
    pawl_pending_free(pending);
    pawl_request_free(request);
    TAP_CHECK(close_client(second));
}

/* Break: the victim is LOST before the next is granted. */
static void broken_hold_is_lost_before_the_next_grant(void)
{
    pawl_client *victim = open_url(url, NULL);
    pawl_client *other = open_url(url, NULL);
    pawl_request *request = request_of("job");
    pawl_pending *pending = NULL;
    pawl_hold *hold = lock_now(victim, "job");
    pawl_hold *next = NULL;

    TAP_CHECK(pawl_acquire_start(other, request, PAWL_WAIT_FOREVER, NULL, NULL, &pending, err) ==
              PAWL_OK);
    TAP_CHECK(pawl_break(other, "job", pawl_hold_token(hold), "stuck", 0, 20000, err) == PAWL_OK);
    TAP_CHECK(pawl_pending_take(pending, 2000, &next, err) == PAWL_OK);
    TAP_CHECK(pawl_hold_state(hold) == PAWL_HOLD_LOST);
    TAP_CHECK(strstr(pawl_hold_lost_reason(hold), "stuck") != NULL);
    pawl_hold_free(next);
    pawl_hold_free(hold);
    pawl_pending_free(pending);
    pawl_request_free(request);
    TAP_CHECK(close_client(other));
    TAP_CHECK(close_client(victim));
}

/* ---- Throughput
 * ------------------------------------------------------------------------------------ */

#define IN_FLIGHT 64
#define CYCLES    20000

struct turnover {
    pawl_client *client;
    _Atomic long done;
    _Atomic long failed;
};

struct lane {
    struct turnover *turnover;
    pawl_request *request;
};

static void go_round(void *user, pawl_status status, pawl_hold *hold, const pawl_error *error)
{
    struct lane *lane = user;
    struct turnover *turnover = lane->turnover;

    (void)error;
    atomic_fetch_add(&turnover->failed, status == PAWL_OK ? 0 : 1);
    pawl_hold_free(hold);
    if (atomic_fetch_add(&turnover->done, 1) < CYCLES - IN_FLIGHT &&
        pawl_acquire_start(turnover->client, lane->request, PAWL_WAIT_FOREVER, go_round, lane, NULL,
                           NULL) != PAWL_OK) {
        atomic_fetch_add(&turnover->failed, 1);
    }
}

static bool is_through(void *ctx)
{
    return atomic_load(&((struct turnover *)ctx)->done) >= CYCLES;
}

/* Thousands of cycles with 64 in flight are all granted; the rate is noted, and judged by the
 * bench. */
static void many_in_flight_are_all_granted(void)
{
    struct turnover turnover = {.client = open_url(url, NULL)};
    struct lane lanes[IN_FLIGHT];
    char name[24];

    TAP_CHECK(pawl_client_start_dispatch(turnover.client, err) == PAWL_OK);
    int64_t begin = now_ms();
    for (int i = 0; i < IN_FLIGHT; i++) {
        snprintf(name, sizeof name, "lane-%d", i);
        lanes[i].turnover = &turnover;
        lanes[i].request = request_of(name);
        if (pawl_acquire_start(turnover.client, lanes[i].request, PAWL_WAIT_FOREVER, go_round,
                               &lanes[i], NULL, err) != PAWL_OK) {
            tap_case(false, "started");
        }
    }
    TAP_CHECK(wait_until(is_through, &turnover, 60000));
    int64_t took = now_ms() - begin;
    TAP_CHECK(turnover.failed == 0);
    TAP_CHECK(turnover.done == CYCLES);
    tap_note("%lld cycles a second", (long long)CYCLES * 1000 / (took > 0 ? took : 1));
    TAP_CHECK(close_client(turnover.client));
    for (int i = 0; i < IN_FLIGHT; i++) {
        pawl_request_free(lanes[i].request);
    }
}

int main(void)
{
    err = pawl_error_new();
    url = enter_local();
    threads_of_one_client_exclude_each_other();
    clients_hand_over();
    broken_hold_is_lost_before_the_next_grant();
    many_in_flight_are_all_granted();
    leave_local();
    pawl_error_free(err);
    return tap_done();
}
