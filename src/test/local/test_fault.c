/* Processes that are stopped or killed at the worst places of the local backend. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host.h"
#include "peer.h"

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

TestSuite(local_fault, .init = setup, .fini = teardown, .timeout = 120);

static size_t count_entries(void)
{
    struct pawl__backend_event *event = host_list(&host, NULL);

    cr_assert_eq(event->status, PAWL_OK);
    size_t count = event->entry_count;
    pawl__backend_event_free(event);
    return count;
}

/* A process stopped inside its transaction, or in the gate, blocks writers, not readers; those go
 * on with it when it goes on. */
Test(local_fault, stopped_inside)
{
    static const char *const points[] = {"local.gate.turnstile=stop:2", "local.gate.entered=stop:2",
                                         "local.begin=stop:2", "local.commit.before=stop:2"};
    struct pawl__want want = {"other", PAWL__MODE_X};

    for (uint64_t i = 0; i < sizeof(points) / sizeof(points[0]); i++) {
        struct peer peer;
        cr_assert_eq(peer_start(&peer, dir, points[i]).status, PAWL_OK);
        cr_assert_eq(peer_say(&peer, 5000, "session %llu 30000", 100ULL + i).status, PAWL_OK);
        peer_tell(&peer, "enqueue %llu 1 job", 100ULL + i);
        cr_assert(peer_wait_stopped(&peer), "%s", points[i]);

        struct pawl__boot start = pawl__boot_now();
        struct pawl__enqueue enqueue = {1, 10 + i, &want, 1, "{}", false};
        uint64_t op = host_op(&host);
        cr_assert_eq(pawl__backend_enqueue(host.backend, op, &enqueue), PAWL_OK);
        /* Ours of the rounds before: what the last peer left went when this one came. */
        cr_assert_eq(count_entries(), i, "%s", points[i]);
        cr_assert_lt(pawl__boot_diff(pawl__boot_now(), start), 1000);
        cr_assert_null(host_answer(&host, op, 200), "%s", points[i]);

        cr_assert_eq(kill(peer.pid, SIGCONT), 0);
        cr_assert_eq(host_status(host_answer(&host, op, 5000)), PAWL_OK);
        cr_assert_eq(peer_hear(&peer, 5000).status, PAWL_OK);
        cr_assert_eq(count_entries(), i + 2);
        peer_kill(&peer);
    }
}

/* Closing behind a process that is stopped in the gate ends in time; what the thread left behind
 * holds is freed when it gets through. */
Test(local_fault, close_is_bounded)
{
    struct host second;
    struct peer peer;
    struct pawl__want want = {"job", PAWL__MODE_X};
    struct pawl__enqueue enqueue = {2, 1, &want, 1, "{}", false};
    cr_assert_eq(host_open(&second, dir, NULL), PAWL_OK);
    cr_assert_eq(host_status(host_session(&second, 2, 30000)), PAWL_OK);
    cr_assert_eq(peer_start(&peer, dir, "local.commit.before=stop").status, PAWL_OK);
    peer_tell(&peer, "session 3 30000");
    cr_assert(peer_wait_stopped(&peer));

    cr_assert_eq(pawl__backend_enqueue(second.backend, host_op(&second), &enqueue), PAWL_OK);
    cr_assert_null(host_hint(&second, PAWL__BEV_OWN, 100));
    struct pawl__boot start = pawl__boot_now();
    host_close(&second, 300);
    int64_t took = pawl__boot_diff(pawl__boot_now(), start);
    cr_assert_geq(took, 300);
    cr_assert_lt(took, 1000);

    /* The dropped enqueue does not land, and the session goes with the thread. */
    cr_assert_eq(kill(peer.pid, SIGCONT), 0);
    cr_assert_eq(peer_hear(&peer, 5000).status, PAWL_OK);
    for (uint64_t i = 0; i < 100; i++) {
        struct pawl__backend_event *event = host_enqueue(&host, 1, 10 + i, "job", true);
        cr_assert_eq(event->status, PAWL_OK);
        uint64_t number = event->views[0].own_number;
        pawl__backend_event_free(event);
        cr_assert_eq(host_status(host_remove(&host, 1, 10 + i, number, "job")), PAWL_OK);
    }
    peer_kill(&peer);
}

/* Killed at any of the named places of an enqueue: it is there as a whole or not at all, the gate
 * is free, and the dead one is out of the way. */
Test(local_fault, killed_anywhere)
{
    static const char *const points[] = {
        "local.gate.turnstile=kill:3", "local.gate.entered=kill:3",  "local.begin=kill:3",
        "local.commit.before=kill:3",  "local.commit.after=kill:3",  "local.apply=kill:3",
        "local.session.locked=kill",   "local.session.renamed=kill", "local.checkpoint.after=kill"};

    for (uint64_t i = 0; i < sizeof(points) / sizeof(points[0]); i++) {
        struct peer peer;
        unsigned long long session = 100ULL + i;
        cr_assert_eq(peer_start(&peer, dir, points[i]).status, PAWL_OK);
        peer_tell(&peer, "session %llu 60000", session);
        peer_tell(&peer, "enqueue %llu 1 job", session);
        peer_tell(&peer, "enqueue %llu 2 job", session);
        peer_tell(&peer, "quit");
        (void)peer_wait(&peer);
        struct pawl__backend_event *event = host_enqueue(&host, 1, 10 + i, "job", true);
        cr_assert_eq(event->status, PAWL_OK, "%s: %s", points[i], event->text);
        uint64_t number = event->views[0].own_number;
        pawl__backend_event_free(event);
        cr_assert_eq(host_status(host_remove(&host, 1, 10 + i, number, "job")), PAWL_OK);
        cr_assert_eq(count_entries(), 0, "%s", points[i]);
    }
}

/* A holder stopped for longer than its ttl: the next is granted, and on waking it is told that it
 * is lost before anything else. */
Test(local_fault, stopped_holder_is_passed)
{
    struct peer peer;
    cr_assert_eq(peer_start(&peer, dir, NULL).status, PAWL_OK);
    cr_assert_eq(peer_say(&peer, 5000, "session 5 2000").status, PAWL_OK);
    struct said held = peer_say(&peer, 5000, "enqueue 5 1 job");
    cr_assert_eq(kill(peer.pid, SIGSTOP), 0);
    cr_assert(peer_wait_stopped(&peer));
    uint64_t own = host_number(&host, 1, 11, "job");
    cr_assert_gt(own, held.number);
    cr_assert_eq(pawl__backend_watch(host.backend, 5, "job", held.number), PAWL_OK);
    struct pawl__backend_event *event = host_hint(&host, PAWL__BEV_WATCH, 4000);
    cr_assert_not_null(event);
    pawl__backend_event_free(event);

    cr_assert_eq(kill(peer.pid, SIGCONT), 0);
    cr_assert_eq(peer_say(&peer, 5000, "hint %d 2000", PAWL__BEV_SESSION).status, PAWL_OK);
    cr_assert_eq(peer_say(&peer, 5000, "renew 5").status, PAWL_E_LOST);
    peer_kill(&peer);
}
