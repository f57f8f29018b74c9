/* Every allocation fails in turn while a client is opened, locks, releases, looks and closes: no
 * crash, no leak, an honest status, and nothing left in the store. */
#include <stdio.h>
#include <string.h>

#include "tap.h"
#include "test/heap.h"
#include "test/runtime/fake.h"
#include "test/runtime/support.h"

/* More allocations than any of the walks makes: ends the search if one never ends. */
#define WALKS_MAX 3000

/* A failed allocation may make a try fail for a reason that memory explains, and no other. */
static bool is_honest(pawl_status status)
{
    return status == PAWL_OK || status == PAWL_E_NOMEM || status == PAWL_E_UNAVAILABLE ||
           status == PAWL_E_TIMEOUT || status == PAWL_E_UNKNOWN || status == PAWL_E_LOST;
}

static pawl_status lock_and_release(pawl_client *client)
{
    pawl_request *request = pawl_request_new();
    pawl_hold *hold = NULL;

    if (request == NULL) {
        return PAWL_E_NOMEM;
    }
    pawl_status status = pawl_request_add(request, "one", PAWL_MODE_X, NULL);
    if (status == PAWL_OK) {
        status = pawl_request_add(request, "two", PAWL_MODE_X, NULL);
    }
    if (status == PAWL_OK) {
        status = pawl_request_set_reason(request, "why", NULL);
    }
    if (status == PAWL_OK) {
        status = pawl_acquire(client, request, 1000, &hold, NULL);
    }
    if (status == PAWL_OK) {
        status = pawl_hold_release(hold, 1000, NULL);
    }
    pawl_hold_free(hold);
    pawl_request_free(request);
    return status;
}

static pawl_status look(pawl_client *client)
{
    pawl_snapshot *snapshot = NULL;

    pawl_status status = pawl_inspect(client, NULL, 1000, &snapshot, NULL);
    pawl_snapshot_free(snapshot);
    return status;
}

static void ignore_event(void *user, const pawl_event *event)
{
    (void)user;
    (void)event;
}

/* One walk with allocation number `n` failing. Returns whether it came to that. */
static bool walk(size_t n, int *dishonest, int *leaks, int *left)
{
    pawl_client *client = NULL;
    pawl_options *options = NULL;

    pawl__heap_install();
    pawl__heap_fail_after(n);
    options = pawl_options_new();
    pawl_status status = options == NULL ? PAWL_E_NOMEM : PAWL_OK;
    if (status == PAWL_OK) {
        status = pawl_options_set(options, "retry_base", "10ms", NULL);
    }
    if (status == PAWL_OK) {
        status = pawl_client_open("fake:", options, &client, NULL);
    }
    pawl_options_free(options);
    *dishonest += status == PAWL_OK || status == PAWL_E_NOMEM ? 0 : 1;
    if (status == PAWL_OK) {
        (void)pawl_client_on_event(client, ignore_event, NULL, NULL);
        *dishonest += is_honest(lock_and_release(client)) ? 0 : 1;
        *dishonest += is_honest(look(client)) ? 0 : 1;
        (void)pawl_dispatch(client, NULL);
        status = pawl_client_close(client, 2000, NULL);
        *dishonest += status == PAWL_OK || status == PAWL_E_UNKNOWN ? 0 : 1;
    }
    bool has_failed = pawl__heap_has_failed();
    if (pawl__heap_live() != 0) {
        tap_note("walk %zu leaks %zu blocks", n, pawl__heap_live());
        (*leaks)++;
    }
    *left += fake_entries() != 0 || fake_sessions() != 0 ? 1 : 0;
    pawl__heap_uninstall();
    return has_failed;
}

int main(void)
{
    int dishonest = 0;
    int leaks = 0;
    int left = 0;
    size_t n = 1;

    fake_install();
    while (n < WALKS_MAX && walk(n, &dishonest, &leaks, &left)) {
        n++;
    }
    tap_note("%zu allocations failed in turn", n - 1);
    TAP_CHECK(n > 50 && n < WALKS_MAX);
    TAP_CHECK(dishonest == 0);
    TAP_CHECK(leaks == 0);
    TAP_CHECK(left == 0);
    return tap_done();
}
