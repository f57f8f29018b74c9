/* The local backend with one process: sessions, queues, marks, lists. */
#include <criterion/criterion.h>

#include "host.h"

static char dir[64];
static struct host host;

static void setup(void)
{
    host_make_dir(dir);
    cr_assert_eq(host_open(&host, dir, NULL), PAWL_OK);
    cr_assert_eq(host_status(host_session(&host, 1, 30000)), PAWL_OK);
}

static void teardown(void)
{
    host_close(&host, 5000);
    host_remove_dir(dir);
}

TestSuite(local_queue, .init = setup, .fini = teardown, .timeout = 30);

/* Two entries of one name: the second waits for the first, and its hint comes with the removal. */
Test(local_queue, second_waits_for_first)
{
    uint64_t first = host_number(&host, 1, 11, "job");
    cr_assert_gt(first, 0);

    struct pawl__backend_event *event = host_enqueue(&host, 1, 12, "job", false);
    cr_assert_eq(event->status, PAWL_OK);
    cr_assert_gt(event->views[0].own_number, first);
    cr_assert_eq(event->views[0].blocker, first);
    cr_assert_eq(event->views[0].holder, first);
    cr_assert_eq(event->entry_count, 1);
    cr_assert_eq(event->entries[0].number, first);
    cr_assert_str_eq(event->entries[0].payload, "{\"v\":1}");
    pawl__backend_event_free(event);

    cr_assert_eq(pawl__backend_watch(host.backend, 77, "job", first), PAWL_OK);
    cr_assert_null(host_hint(&host, PAWL__BEV_WATCH, 50));
    cr_assert_eq(host_status(host_remove(&host, 1, 11, first, "job")), PAWL_OK);
    event = host_hint(&host, PAWL__BEV_WATCH, HOST_WAIT_MS);
    cr_assert_eq(event->watch, 77);
    pawl__backend_event_free(event);

    event = host_look(&host, 1, 12, "job");
    cr_assert_eq(event->views[0].blocker, 0);
    cr_assert(event->views[0].own_present);
    cr_assert_eq(event->views[0].position, 0);
    pawl__backend_event_free(event);
}
