/* Inspect, break, events and the session's descriptor, against the fake store. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tap.h"
#include "test/runtime/fake.h"
#include "test/runtime/support.h"

static pawl_error *err;

static bool store_is_empty(void *ctx)
{
    (void)ctx;
    return fake_entries() == 0;
}

static int64_t wall_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- Inspect
 * -------------------------------------------------------------------------------------- */

/* Holder and waiters with places, ages and words; a waiter's token is not shown. */
static void inspect_shows_holder_and_waiters(void)
{
    pawl_client *client = open_fake("30s");
    pawl_request *request = request_of("b");
    pawl_snapshot *snapshot = NULL;
    pawl_pending *pending = NULL;

    uint64_t stranger = fake_add_stranger("b", "os:ann@h", wall_ms() - 12000);
    TAP_CHECK(pawl_request_set_reason(request, "deploy", err) == PAWL_OK);
    TAP_CHECK(pawl_request_set_run(request, "run-7", "trace-9", err) == PAWL_OK);
    TAP_CHECK(pawl_acquire_start(client, request, PAWL_WAIT_FOREVER, NULL, NULL, &pending, err) ==
              PAWL_OK);
    fake_wait_for_ops(PAWL__BEV_ENQUEUED, 1);
    uint64_t future = fake_add_stranger("a", "os:bob@h", wall_ms() + 60000);
    TAP_CHECK(pawl_inspect(client, NULL, 2000, &snapshot, err) == PAWL_OK);
    TAP_CHECK(pawl_snapshot_count(snapshot) == 3);
    TAP_CHECK(strcmp(pawl_snapshot_text(snapshot, 0, PAWL_ENTRY_LOCK), "a") == 0);
    TAP_CHECK(pawl_snapshot_number(snapshot, 0, PAWL_ENTRY_AGE) == 0); /* never negative */
    TAP_CHECK(pawl_snapshot_number(snapshot, 0, PAWL_ENTRY_POSITION) == 0);
    TAP_CHECK(strcmp(pawl_snapshot_text(snapshot, 1, PAWL_ENTRY_OWNER), "os:ann@h") == 0);
    TAP_CHECK(strcmp(pawl_snapshot_text(snapshot, 1, PAWL_ENTRY_STATE), "held") == 0);
    TAP_CHECK(pawl_snapshot_number(snapshot, 1, PAWL_ENTRY_TOKEN) == (int64_t)stranger);
    TAP_CHECK(pawl_snapshot_number(snapshot, 1, PAWL_ENTRY_PID) == 811);
    TAP_CHECK(pawl_snapshot_number(snapshot, 1, PAWL_ENTRY_AGE) >= 12000);
    TAP_CHECK(pawl_snapshot_number(snapshot, 1, PAWL_ENTRY_AGE) < 20000);
    TAP_CHECK(pawl_snapshot_number(snapshot, 1, PAWL_ENTRY_TTL_LEFT) == -1);
    TAP_CHECK(strcmp(pawl_snapshot_text(snapshot, 2, PAWL_ENTRY_STATE), "waiting") == 0);
    TAP_CHECK(pawl_snapshot_number(snapshot, 2, PAWL_ENTRY_TOKEN) == 0);
    TAP_CHECK(pawl_snapshot_number(snapshot, 2, PAWL_ENTRY_POSITION) == 1);
    TAP_CHECK(pawl_snapshot_number(snapshot, 2, PAWL_ENTRY_PID) == (int64_t)getpid());
    TAP_CHECK(strcmp(pawl_snapshot_text(snapshot, 2, PAWL_ENTRY_REASON), "deploy") == 0);
    TAP_CHECK(strcmp(pawl_snapshot_text(snapshot, 2, PAWL_ENTRY_RUN), "run-7") == 0);
    TAP_CHECK(strcmp(pawl_snapshot_text(snapshot, 2, PAWL_ENTRY_TRACE), "trace-9") == 0);
    TAP_CHECK(strcmp(pawl_snapshot_text(snapshot, 2, PAWL_ENTRY_MODE), "x") == 0);
    TAP_CHECK(strncmp(pawl_snapshot_text(snapshot, 2, PAWL_ENTRY_SESSION), "fake-", 5) == 0);
    TAP_CHECK(pawl_snapshot_text(snapshot, 3, PAWL_ENTRY_LOCK) == NULL);
    TAP_CHECK(pawl_snapshot_text(snapshot, 0, (pawl_entry_text_field)99) == NULL);
    TAP_CHECK(pawl_snapshot_number(snapshot, 3, PAWL_ENTRY_PID) == -1);
    pawl_snapshot_free(snapshot);
    TAP_CHECK(pawl_inspect(client, "a", 2000, &snapshot, err) == PAWL_OK);
    TAP_CHECK(pawl_snapshot_count(snapshot) == 1);
    pawl_snapshot_free(snapshot);
    TAP_CHECK(pawl_inspect(client, "", 2000, &snapshot, err) == PAWL_E_DATA);
    TAP_CHECK(pawl_inspect(client, "a", -1, &snapshot, err) == PAWL_E_INVALID);
    pawl_pending_free(pending);
    fake_remove_stranger(stranger);
    fake_remove_stranger(future);
    TAP_CHECK(wait_until(store_is_empty, NULL, 3000));
    pawl_request_free(request);
    TAP_CHECK(close_client(client));
}

/* ---- Break
 * ---------------------------------------------------------------------------------------- */

/* The victim hears who broke it and why, turns LOST, and its entry is gone when break returns. */
static void break_loses_the_hold_and_says_why(void)
{
    pawl_client *victim = open_fake("30s");
    pawl_client *client = open_fake("30s");
    pawl_hold *hold = lock_now(victim, "job");

    TAP_CHECK(pawl_break(client, "job", pawl_hold_token(hold), "stuck deploy", 0, 5000, err) ==
              PAWL_OK);
    TAP_CHECK(pawl_hold_state(hold) == PAWL_HOLD_LOST);
    TAP_CHECK(strstr(pawl_hold_lost_reason(hold), "broken by os:") != NULL);
    TAP_CHECK(strstr(pawl_hold_lost_reason(hold), "stuck deploy") != NULL);
    TAP_CHECK(fake_entries() == 0);
    pawl_hold_free(hold);
    TAP_CHECK(close_client(client));
    TAP_CHECK(close_client(victim));
}

/* A wrong token changes nothing and the message names the present holder. */
static void break_refuses_a_wrong_token(void)
{
    pawl_client *client = open_fake("30s");
    char token[32];

    TAP_CHECK(pawl_break(client, "job", 5, "why", 0, 2000, err) == PAWL_E_FENCED);
    TAP_CHECK(strstr(pawl_error_message(err), "it is free") != NULL);
    uint64_t stranger = fake_add_stranger("job", "os:ann@h", 1000);
    TAP_CHECK(pawl_break(client, "job", stranger + 7, "why", 0, 2000, err) == PAWL_E_FENCED);
    snprintf(token, sizeof token, "token %" PRIu64, stranger);
    TAP_CHECK(strstr(pawl_error_message(err), "os:ann@h (pid 811)") != NULL);
    TAP_CHECK(strstr(pawl_error_message(err), token) != NULL);
    TAP_CHECK(fake_entries() == 1);
    TAP_CHECK(pawl_break(client, "job", stranger, "", 0, 2000, err) == PAWL_E_DATA);
    TAP_CHECK(pawl_break(client, "job", 0, "why", 0, 2000, err) == PAWL_E_INVALID);
    TAP_CHECK(pawl_break(client, "job", stranger, "why", 2, 2000, err) == PAWL_E_INVALID);
    TAP_CHECK(pawl_break(client, "job", stranger, "why", PAWL_BREAK_NOW, 2000, err) == PAWL_OK);
    TAP_CHECK(fake_entries() == 0);
    TAP_CHECK(close_client(client));
}

/* ---- Events
 * --------------------------------------------------------------------------------------- */

#define KINDS 16

struct heard {
    int counts[KINDS];
    char waiting[256];
    char granted_lock[64];
    uint64_t granted_token;
    char changed[256];
    char dropped[128];
    int first_kind;
};

static void hear(void *user, const pawl_event *event)
{
    struct heard *heard = user;
    pawl_event_kind kind = pawl_event_get_kind(event);

    heard->first_kind = heard->first_kind == 0 ? (int)kind : heard->first_kind;
    if ((int)kind < KINDS) {
        heard->counts[kind]++;
    }
    if (kind == PAWL_EVENT_WAITING) {
        snprintf(heard->waiting, sizeof heard->waiting, "%s", pawl_event_text(event));
    } else if (kind == PAWL_EVENT_GRANTED) {
        snprintf(heard->granted_lock, sizeof heard->granted_lock, "%s", pawl_event_lock(event));
        heard->granted_token = pawl_event_token(event);
    } else if (kind == PAWL_EVENT_HOLD_CHANGED) {
        snprintf(heard->changed, sizeof heard->changed, "%s", pawl_event_text(event));
    } else if (kind == PAWL_EVENT_DROPPED) {
        snprintf(heard->dropped, sizeof heard->dropped, "%s", pawl_event_text(event));
    }
}

/* A whole life in events: session, waiting with holder and place, grant, release. */
static void events_tell_a_life(void)
{
    pawl_client *client = open_fake("30s");
    pawl_hold *hold = NULL;
    struct heard heard = {0};
    int count = 0;

    uint64_t stranger = fake_add_stranger("job", "os:ann@h", wall_ms() - 12000);
    TAP_CHECK(pawl_client_on_event(client, hear, &heard, err) == PAWL_OK);
    TAP_CHECK(pawl_lock(client, "job", 300, &hold, err) == PAWL_E_TIMEOUT);
    fake_remove_stranger(stranger);
    hold = lock_now(client, "job");
    uint64_t token = pawl_hold_token(hold);
    TAP_CHECK(pawl_hold_release(hold, 2000, err) == PAWL_OK);
    TAP_CHECK(pawl_dispatch(client, &count) == PAWL_OK);
    TAP_CHECK(count > 4);
    TAP_CHECK(heard.counts[PAWL_EVENT_SESSION_OPENED] == 1);
    TAP_CHECK(heard.counts[PAWL_EVENT_WAITING] >= 1);
    TAP_CHECK(strncmp(heard.waiting, "waiting for job: held by os:ann@h (pid 811) for 1", 49) == 0);
    TAP_CHECK(strstr(heard.waiting, ", you are 1st") != NULL);
    TAP_CHECK(heard.counts[PAWL_EVENT_GRANTED] == 1);
    TAP_CHECK(strcmp(heard.granted_lock, "job") == 0);
    TAP_CHECK(heard.granted_token == token);
    TAP_CHECK(heard.counts[PAWL_EVENT_HOLD_CHANGED] == 2);
    TAP_CHECK(strcmp(heard.changed, "job: RELEASED") == 0);
    pawl_hold_free(hold);
    /* Removed: nothing is kept any more. */
    TAP_CHECK(pawl_client_on_event(client, NULL, NULL, err) == PAWL_OK);
    pawl_hold_free(lock_now(client, "job"));
    TAP_CHECK(pawl_dispatch(client, &count) == PAWL_OK);
    TAP_CHECK(count == 0);
    TAP_CHECK(close_client(client));
}

/* Nobody dispatches: the oldest are dropped, and one DROPPED with their number comes first. */
static void too_many_events_are_counted(void)
{
    pawl_client *client = open_fake("30s");
    struct heard heard = {0};
    int count = 0;

    TAP_CHECK(pawl_client_on_event(client, hear, &heard, err) == PAWL_OK);
    for (int i = 0; i < 500; i++) {
        pawl_hold *hold = lock_now(client, "job");
        (void)pawl_hold_release(hold, 2000, NULL);
        pawl_hold_free(hold);
    }
    TAP_CHECK(pawl_dispatch(client, &count) == PAWL_OK);
    TAP_CHECK(count == 1025);
    TAP_CHECK(heard.first_kind == PAWL_EVENT_DROPPED);
    TAP_CHECK(heard.counts[PAWL_EVENT_DROPPED] == 1);
    /* 1 session, and 3 a round: granted, releasing, released. */
    TAP_CHECK(strncmp(heard.dropped, "477 events", 10) == 0);
    TAP_CHECK(close_client(client));
}

/* ---- Session descriptor
 * --------------------------------------------------------------------------- */

/* The descriptor is a copy of the caller's own, closed on exec; with it out, close leaves the
 * entries to whoever has it. */
static void session_fd_is_a_copy(void)
{
    pawl_client *client = open_fake("30s");
    int first = -1;
    int second = -1;

    TAP_CHECK(pawl_client_session_fd(client, &first, err) == PAWL_OK);
    TAP_CHECK(pawl_client_session_fd(client, &second, err) == PAWL_OK);
    TAP_CHECK(first >= 0 && second >= 0 && first != second);
    TAP_CHECK((fcntl(first, F_GETFD) & FD_CLOEXEC) != 0);
    TAP_CHECK(fake_sessions() == 1);
    close(first);
    close(second);
    TAP_CHECK(pawl_client_session_fd(client, NULL, err) == PAWL_E_INVALID);
    TAP_CHECK(close_client(client));
}

int main(void)
{
    fake_install();
    err = pawl_error_new();
    inspect_shows_holder_and_waiters();
    break_loses_the_hold_and_says_why();
    break_refuses_a_wrong_token();
    events_tell_a_life();
    too_many_events_are_counted();
    session_fd_is_a_copy();
    pawl_error_free(err);
    return tap_done();
}
