/* Callbacks: when they come, on which thread, what they may do, and what they cannot delay. */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"
#include "test/runtime/fake.h"
#include "test/runtime/support.h"

static bool is_readable(int fd)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};

    return poll(&poll_fd, 1, 0) == 1;
}

static bool becomes_readable(int fd)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};

    return poll(&poll_fd, 1, 5000) == 1;
}

struct outcome {
    _Atomic int calls;
    pawl_status status;
    pawl_hold *hold;
    pthread_t thread;
};

static void keep(void *user, pawl_status status, pawl_hold *hold, const pawl_error *err)
{
    struct outcome *outcome = user;

    (void)err;
    outcome->status = status;
    outcome->hold = hold;
    outcome->thread = pthread_self();
    atomic_fetch_add(&outcome->calls, 1);
}

static bool was_called(void *ctx)
{
    return atomic_load(&((struct outcome *)ctx)->calls) > 0;
}

/* Without a dispatch thread nothing runs before pawl_dispatch(), and then on the caller's thread;
 * the descriptor is readable exactly while something is due. */
static void runs_in_dispatch_and_fd_tells(void)
{
    pawl_client *client = open_fake("30s");
    pawl_request *request = request_of("job");
    struct outcome outcome = {0};
    int count = -1;
    int fd = pawl_client_fd(client);

    TAP_CHECK(fd >= 0);
    TAP_CHECK(!is_readable(fd));
    TAP_CHECK(pawl_dispatch(client, &count) == PAWL_OK);
    TAP_CHECK(count == 0);
    TAP_CHECK(pawl_acquire_start(client, request, 1000, keep, &outcome, NULL, NULL) == PAWL_OK);
    TAP_CHECK(becomes_readable(fd));
    TAP_CHECK(outcome.calls == 0);
    TAP_CHECK(pawl_dispatch(client, &count) == PAWL_OK);
    TAP_CHECK(count == 1);
    TAP_CHECK(outcome.calls == 1);
    TAP_CHECK(pthread_equal(outcome.thread, pthread_self()));
    TAP_CHECK(!is_readable(fd));
    TAP_CHECK(outcome.status == PAWL_OK);
    TAP_CHECK(pawl_hold_release(outcome.hold, 1000, NULL) == PAWL_OK);
    pawl_hold_free(outcome.hold);
    pawl_request_free(request);
    TAP_CHECK(close_client(client));
}

/* A pending that is freed before its outcome is dispatched: `done` does not come, the lock is given
 * back.
 */
static bool nothing_is_held(void *ctx)
{
    (void)ctx;
    return fake_entries() == 0;
}

static void freed_pending_is_not_told(void)
{
    pawl_client *client = open_fake("30s");
    pawl_request *request = request_of("job");
    struct outcome outcome = {0};
    pawl_pending *pending = NULL;
    int count = -1;
    int fd = pawl_client_fd(client);

    TAP_CHECK(pawl_acquire_start(client, request, 1000, keep, &outcome, &pending, NULL) == PAWL_OK);
    TAP_CHECK(becomes_readable(fd));
    TAP_CHECK(fake_entries() == 1);
    pawl_pending_free(pending);
    TAP_CHECK(!is_readable(fd));
    TAP_CHECK(pawl_dispatch(client, &count) == PAWL_OK);
    TAP_CHECK(count == 0);
    TAP_CHECK(outcome.calls == 0);
    TAP_CHECK(wait_until(nothing_is_held, NULL, 3000));
    pawl_request_free(request);
    TAP_CHECK(close_client(client));
}

/* ---- Everything from a callback -----------------------------------------------------------------
 */

struct everything {
    pawl_client *client;
    _Atomic int calls;
    _Atomic int failures;
    char last_failure[64];
};

static void expect(struct everything *all, bool is_right, const char *what)
{
    if (!is_right) {
        atomic_fetch_add(&all->failures, 1);
        snprintf(all->last_failure, sizeof all->last_failure, "%s", what);
    }
}

static void ignore_hold(void *user, pawl_hold *hold, pawl_hold_state_value state)
{
    (void)user;
    (void)hold;
    (void)state;
}

static void ignore_event(void *user, const pawl_event *event)
{
    (void)user;
    (void)pawl_event_get_kind(event);
    (void)pawl_event_lock(event);
    (void)pawl_event_text(event);
    (void)pawl_event_token(event);
}

static void call_acquires(struct everything *all)
{
    pawl_request *request = request_of("from-callback");
    pawl_pending *pending = NULL;
    pawl_hold *hold = NULL;
    int position = -1;

    expect(all, pawl_acquire(all->client, request, 2000, &hold, NULL) == PAWL_OK, "acquire");
    expect(all, pawl_hold_on_change(hold, ignore_hold, NULL, NULL) == PAWL_OK, "on_change");
    expect(all, pawl_hold_state(hold) == PAWL_HOLD_HELD, "state");
    expect(all, pawl_hold_remaining_ms(hold) > 0, "remaining");
    expect(all, pawl_hold_reenter(hold, NULL) == PAWL_OK, "reenter");
    expect(all, pawl_hold_release(hold, 0, NULL) == PAWL_OK, "release of a re-entry");
    expect(all,
           pawl_acquire_start(all->client, request, 2000, NULL, NULL, &pending, NULL) == PAWL_OK,
           "acquire_start");
    expect(all, pawl_pending_position(pending, &position) == PAWL_OK, "position");
    pawl_pending_cancel(pending);
    pawl_hold *none = NULL;
    expect(all, pawl_pending_take(pending, 2000, &none, NULL) == PAWL_E_CANCELED, "take");
    pawl_pending_free(pending);
    expect(all, pawl_lock(all->client, "from-callback", 0, &none, NULL) == PAWL_E_TIMEOUT, "try");
    expect(all, pawl_hold_release(hold, 2000, NULL) == PAWL_OK, "release");
    (void)pawl_hold_lost_reason(hold);
    (void)pawl_hold_sealed_token(hold, 0);
    pawl_hold_free(hold);
    pawl_request_free(request);
}

static void call_others(struct everything *all)
{
    pawl_snapshot *snapshot = NULL;
    pawl_client *other = NULL;
    int count = -1;
    int fd = -1;

    expect(all, pawl_inspect(all->client, NULL, 2000, &snapshot, NULL) == PAWL_OK, "inspect");
    (void)pawl_snapshot_count(snapshot);
    pawl_snapshot_free(snapshot);
    expect(all, pawl_break(all->client, "nothing", 1, "why", 0, 2000, NULL) == PAWL_E_FENCED,
           "break");
    expect(all, pawl_client_session_fd(all->client, &fd, NULL) == PAWL_OK, "session_fd");
    close(fd);
    expect(all, pawl_client_on_event(all->client, ignore_event, NULL, NULL) == PAWL_OK, "on_event");
    expect(all, pawl_dispatch(all->client, &count) == PAWL_OK && count == 0, "dispatch inside");
    expect(all, pawl_client_start_dispatch(all->client, NULL) == PAWL_OK, "start_dispatch");
    expect(all, pawl_client_fd(all->client) >= 0, "fd");
    (void)pawl_client_url(all->client);
    (void)pawl_client_store_id(all->client);
    (void)pawl_client_capabilities(all->client);
    expect(all, pawl_client_close(all->client, 1000, NULL) == PAWL_E_INVALID, "close inside");
    other = open_fake("30s");
    expect(all, close_client(other), "another client");
}

static void call_everything(void *user, pawl_status status, pawl_hold *hold, const pawl_error *err)
{
    struct everything *all = user;

    (void)err;
    expect(all, status == PAWL_OK, "status");
    call_acquires(all);
    call_others(all);
    pawl_hold_free(hold);
    atomic_fetch_add(&all->calls, 1);
}

static bool everything_was_called(void *ctx)
{
    return atomic_load(&((struct everything *)ctx)->calls) > 0;
}

/* A callback may call every function but the close of its own client, on the dispatch thread. */
static void may_call_everything(void)
{
    struct everything all = {.client = open_fake("30s")};
    pawl_request *request = request_of("job");

    TAP_CHECK(pawl_client_start_dispatch(all.client, NULL) == PAWL_OK);
    TAP_CHECK(pawl_acquire_start(all.client, request, 1000, call_everything, &all, NULL, NULL) ==
              PAWL_OK);
    TAP_CHECK(wait_until(everything_was_called, &all, 20000));
    if (!tap_case(all.failures == 0, "nothing was refused to the callback")) {
        tap_note("last: %s", all.last_failure);
    }
    pawl_request_free(request);
    TAP_CHECK(close_client(all.client));
}

/* ---- A callback that blocks ---------------------------------------------------------------------
 */

static void block_long(void *user, pawl_status status, pawl_hold *hold, const pawl_error *err)
{
    (void)err;
    sleep_ms(6000); /* three times the ttl */
    keep(user, status, hold, NULL);
}

/* A callback that blocks for three ttl delays no renewal: the hold it was given stays held. */
static void blocking_callback_delays_no_renewal(void)
{
    pawl_client *client = open_fake("2s");
    pawl_request *request = request_of("job");
    struct outcome outcome = {0};
    bool was_held = true;

    pawl_hold *witness = lock_now(client, "witness");
    TAP_CHECK(pawl_client_start_dispatch(client, NULL) == PAWL_OK);
    TAP_CHECK(pawl_acquire_start(client, request, 1000, block_long, &outcome, NULL, NULL) ==
              PAWL_OK);
    int64_t end = now_ms() + 10000;
    while (!was_called(&outcome) && now_ms() < end) {
        was_held = was_held && pawl_hold_state(witness) == PAWL_HOLD_HELD;
        sleep_ms(10);
    }
    TAP_CHECK(was_called(&outcome));
    TAP_CHECK(was_held);
    TAP_CHECK(pawl_hold_state(outcome.hold) == PAWL_HOLD_HELD);
    pawl_hold_free(outcome.hold);
    pawl_hold_free(witness);
    pawl_request_free(request);
    TAP_CHECK(close_client(client));
}

/* ---- Changes of a hold
 * ---------------------------------------------------------------------------- */

struct changes {
    _Atomic int calls;
    _Atomic int last;
};

static void note_change(void *user, pawl_hold *hold, pawl_hold_state_value state)
{
    struct changes *changes = user;

    (void)hold;
    atomic_store(&changes->last, (int)state);
    atomic_fetch_add(&changes->calls, 1);
}

static bool is_told_lost(void *ctx)
{
    return atomic_load(&((struct changes *)ctx)->last) == PAWL_HOLD_LOST;
}

/* LOST reaches the callback although nobody asks for the state; nothing comes after the hold is
 * freed. */
static void lost_reaches_the_callback(void)
{
    pawl_client *client = open_fake("2s");
    pawl_hold *hold = lock_now(client, "job");
    struct changes changes = {0};
    struct changes late = {0};

    TAP_CHECK(pawl_client_start_dispatch(client, NULL) == PAWL_OK);
    TAP_CHECK(pawl_hold_on_change(hold, note_change, &changes, NULL) == PAWL_OK);
    fake_expire_sessions();
    TAP_CHECK(wait_until(is_told_lost, &changes, 5000));
    /* Set after the change: it comes at once. */
    TAP_CHECK(pawl_hold_on_change(hold, note_change, &late, NULL) == PAWL_OK);
    sleep_ms(20);
    pawl_hold_free(hold);
    int calls = changes.calls;
    hold = lock_now(client, "job");
    TAP_CHECK(pawl_hold_on_change(hold, note_change, &changes, NULL) == PAWL_OK);
    pawl_hold_free(hold);
    sleep_ms(100);
    TAP_CHECK(changes.calls == calls);
    TAP_CHECK(close_client(client));
}

/* A callback that is set after the change hears of it at once. */
static void late_callback_hears_at_once(void)
{
    pawl_client *client = open_fake("2s");
    pawl_hold *hold = lock_now(client, "job");
    struct changes changes = {0};
    int count = 0;

    TAP_CHECK(pawl_hold_release(hold, 1000, NULL) == PAWL_OK);
    TAP_CHECK(pawl_hold_on_change(hold, note_change, &changes, NULL) == PAWL_OK);
    TAP_CHECK(pawl_dispatch(client, &count) == PAWL_OK);
    TAP_CHECK(count == 1);
    TAP_CHECK(changes.last == PAWL_HOLD_RELEASED);
    TAP_CHECK(pawl_dispatch(client, &count) == PAWL_OK);
    TAP_CHECK(count == 0);
    pawl_hold_free(hold);
    TAP_CHECK(close_client(client));
}

/* ---- Signals
 * -------------------------------------------------------------------------------------- */

/* Threads of the library take no signals: those of the process reach the host's threads only. */
static int count_blocked_threads(int *ret_threads)
{
    char path[64];
    char line[256];
    int blocked = 0;

    *ret_threads = 0;
    for (int tid = (int)getpid(); tid < (int)getpid() + 4000; tid++) {
        snprintf(path, sizeof path, "/proc/self/task/%d/status", tid);
        FILE *file = fopen(path, "r");
        if (file == NULL) {
            continue;
        }
        bool is_ours = false;
        while (fgets(line, sizeof line, file) != NULL) {
            is_ours = is_ours || strncmp(line, "Name:\tpawl-", 11) == 0;
            if (is_ours && strncmp(line, "SigBlk:", 7) == 0) {
                (*ret_threads)++;
                /* SIGTERM is number 15: bit 14. */
                unsigned long long mask = strtoull(line + 7, NULL, 16);
                blocked += (mask >> 14 & 1) != 0 ? 1 : 0;
            }
        }
        fclose(file);
    }
    return blocked;
}

static void threads_block_signals(void)
{
    pawl_client *client = open_fake("30s");
    int threads = 0;

    TAP_CHECK(pawl_client_start_dispatch(client, NULL) == PAWL_OK);
    int blocked = count_blocked_threads(&threads);
    TAP_CHECK(threads == 2);
    TAP_CHECK(blocked == threads);
    TAP_CHECK(close_client(client));
}

int main(void)
{
    fake_install();
    runs_in_dispatch_and_fd_tells();
    freed_pending_is_not_told();
    may_call_everything();
    blocking_callback_delays_no_renewal();
    lost_reaches_the_callback();
    late_callback_hears_at_once();
    threads_block_signals();
    return tap_done();
}
