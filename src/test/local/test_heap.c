/* Every allocation of the local backend fails once: each call ends, nothing leaks, nothing is
 * granted that is not there. */
#include <criterion/criterion.h>

#include "heap.h"
#include "host.h"

static char dir[64];

static void setup(void)
{
    host_make_dir(dir);
}

static void teardown(void)
{
    host_remove_dir(dir);
}

TestSuite(local_heap, .init = setup, .fini = teardown, .timeout = 120);

/* All members once. Whatever fails is refused with a status that says so. */
static void use_everything(uint64_t session)
{
    struct host host;
    uint64_t held[1] = {0};

    if (host_open(&host, dir, NULL) != PAWL_OK) {
        return;
    }
    (void)host_status(host_session(&host, session, 30000));
    held[0] = host_number(&host, session, 1, "job");
    struct pawl__backend_event *event = host_enqueue(&host, session, 2, "job", false);
    if (event != NULL && event->status == PAWL_OK) {
        cr_assert_gt(event->views[0].own_number, held[0]);
        cr_assert(held[0] == 0 || event->views[0].blocker == held[0]);
    }
    pawl__backend_event_free(event);
    if (held[0] != 0) {
        (void)host_watch(&host, 5, "job", held[0]);
        (void)host_status(host_mark(&host, "job", held[0], false));
    }
    (void)host_status(host_renew(&host, session, held, held[0] != 0 ? 1 : 0));
    (void)host_status(host_look(&host, session, 2, "job"));
    (void)host_status(host_list(&host, NULL));
    if (held[0] != 0) {
        (void)host_status(host_remove(&host, session, 1, held[0], "job"));
    }
    (void)host_status(host_session_close(&host, session, false));
    host_close(&host, 5000);
}

/* The n-th allocation fails, for every n that there is. */
Test(local_heap, every_allocation_fails_once)
{
    size_t n = 0;
    bool has_failed = true;

    use_everything(1);
    while (has_failed) {
        n++;
        pawl__heap_install();
        pawl__heap_fail_after(n);
        use_everything(1000 + n);
        has_failed = pawl__heap_has_failed();
        cr_assert_eq(pawl__heap_live(), 0, "after failure %zu", n);
        pawl__heap_uninstall();
    }
    cr_assert_gt(n, 20);
    use_everything(2);
}
