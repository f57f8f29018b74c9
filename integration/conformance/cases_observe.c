/* Conformance: what inspect shows of holders and waiters. */
#include <string.h>
#include <unistd.h>

#include "suite.h"
#include "tap.h"

static bool text_is(const pawl_snapshot *snapshot, size_t index, pawl_entry_text_field field,
                    const char *expected)
{
    const char *text = pawl_snapshot_text(snapshot, index, field);
    return text != NULL && strcmp(text, expected) == 0;
}

static void check_holder(const pawl_snapshot *snapshot, pawl_hold *hold)
{
    TAP_CHECK(text_is(snapshot, 0, PAWL_ENTRY_LOCK, "seen"));
    TAP_CHECK(text_is(snapshot, 0, PAWL_ENTRY_STATE, "held"));
    TAP_CHECK(text_is(snapshot, 0, PAWL_ENTRY_MODE, "x"));
    TAP_CHECK(text_is(snapshot, 0, PAWL_ENTRY_REASON, "nightly \"build\""));
    TAP_CHECK(text_is(snapshot, 0, PAWL_ENTRY_RUN, "run-1"));
    TAP_CHECK(text_is(snapshot, 0, PAWL_ENTRY_TRACE, "trace-1"));
    TAP_CHECK(text_is(snapshot, 0, PAWL_ENTRY_SESSION, pawl_hold_session(hold)));
    TAP_CHECK(strlen(pawl_snapshot_text(snapshot, 0, PAWL_ENTRY_OWNER)) > 0);
    TAP_CHECK(pawl_snapshot_number(snapshot, 0, PAWL_ENTRY_TOKEN) ==
              (int64_t)pawl_hold_token(hold));
    TAP_CHECK(pawl_snapshot_number(snapshot, 0, PAWL_ENTRY_PID) == getpid());
    TAP_CHECK(pawl_snapshot_number(snapshot, 0, PAWL_ENTRY_POSITION) == 0);
    TAP_CHECK(pawl_snapshot_number(snapshot, 0, PAWL_ENTRY_AGE) >= 0);
    TAP_CHECK(pawl_snapshot_number(snapshot, 0, PAWL_ENTRY_TTL_LEFT) != 0);
}

/* Holder and waiters are shown in order, with what they said of themselves; a waiter's token is
 * not, since it would pass a guard once it is granted. */
static void entries_say_who_and_why(struct suite *suite)
{
    pawl_client *client = suite_open(suite, NULL, NULL);
    pawl_client *other = suite_open(suite, NULL, NULL);
    pawl_request *request = suite_request(suite, "seen", NULL);
    pawl_hold *hold = NULL;
    pawl_snapshot *snapshot = NULL;

    TAP_CHECK(pawl_request_set_reason(request, "nightly \"build\"", suite->err) == PAWL_OK);
    TAP_CHECK(pawl_request_set_run(request, "run-1", "trace-1", suite->err) == PAWL_OK);
    TAP_CHECK(pawl_acquire(client, request, PATIENCE_MS, &hold, suite->err) == PAWL_OK);
    pawl_pending *pending[2] = {suite_start(suite, other, "seen", PAWL_WAIT_FOREVER), NULL};
    TAP_CHECK(suite_await_count(suite, client, "seen", 2));
    pending[1] = suite_start(suite, client, "seen", PAWL_WAIT_FOREVER);
    TAP_CHECK(suite_await_count(suite, client, "seen", 3));
    TAP_CHECK(pawl_inspect(other, "seen", PATIENCE_MS, &snapshot, suite->err) == PAWL_OK);
    check_holder(snapshot, hold);
    for (size_t i = 1; i <= 2; i++) {
        TAP_CHECK(text_is(snapshot, i, PAWL_ENTRY_STATE, "waiting"));
        TAP_CHECK(text_is(snapshot, i, PAWL_ENTRY_REASON, ""));
        TAP_CHECK(pawl_snapshot_number(snapshot, i, PAWL_ENTRY_TOKEN) == 0);
        TAP_CHECK(pawl_snapshot_number(snapshot, i, PAWL_ENTRY_POSITION) == (int64_t)i);
    }
    TAP_CHECK(text_is(snapshot, 2, PAWL_ENTRY_SESSION, pawl_hold_session(hold)));
    TAP_CHECK(!text_is(snapshot, 1, PAWL_ENTRY_SESSION, pawl_hold_session(hold)));
    TAP_CHECK(pawl_snapshot_text(snapshot, 3, PAWL_ENTRY_LOCK) == NULL);
    TAP_CHECK(pawl_snapshot_number(snapshot, 3, PAWL_ENTRY_PID) == -1);
    TAP_CHECK(suite_give_back(suite, hold));
    TAP_CHECK(suite_give_back(suite, suite_take(suite, pending[0])));
    TAP_CHECK(suite_give_back(suite, suite_take(suite, pending[1])));
    /* What was read stays as it was. */
    TAP_CHECK(pawl_snapshot_count(snapshot) == 3);
    TAP_CHECK(text_is(snapshot, 0, PAWL_ENTRY_STATE, "held"));
    pawl_snapshot_free(snapshot);
    pawl_request_free(request);
    TAP_CHECK(suite_close(other));
    TAP_CHECK(suite_close(client));
}

/* All queues at once come sorted by name, then by place. */
static void a_list_of_all_is_sorted(struct suite *suite)
{
    pawl_client *client = suite_open(suite, NULL, NULL);
    pawl_hold *second = suite_lock(suite, client, "sorted/b");
    pawl_hold *first = suite_lock(suite, client, "sorted/a");
    pawl_pending *pending = suite_start(suite, client, "sorted/a", PAWL_WAIT_FOREVER);
    pawl_snapshot *snapshot = NULL;

    TAP_CHECK(suite_await_count(suite, client, NULL, 3));
    TAP_CHECK(pawl_inspect(client, NULL, PATIENCE_MS, &snapshot, suite->err) == PAWL_OK);
    TAP_CHECK(text_is(snapshot, 0, PAWL_ENTRY_LOCK, "sorted/a"));
    TAP_CHECK(text_is(snapshot, 0, PAWL_ENTRY_STATE, "held"));
    TAP_CHECK(text_is(snapshot, 1, PAWL_ENTRY_LOCK, "sorted/a"));
    TAP_CHECK(text_is(snapshot, 1, PAWL_ENTRY_STATE, "waiting"));
    TAP_CHECK(text_is(snapshot, 2, PAWL_ENTRY_LOCK, "sorted/b"));
    pawl_snapshot_free(snapshot);
    pawl_pending_free(pending);
    TAP_CHECK(suite_give_back(suite, first));
    TAP_CHECK(suite_give_back(suite, second));
    TAP_CHECK(suite_await_count(suite, client, NULL, 0));
    TAP_CHECK(suite_close(client));
}

void suite_observe_cases(struct suite *suite)
{
    entries_say_who_and_why(suite);
    a_list_of_all_is_sorted(suite);
}
