/* Sessions of the local backend: who is alive, who is removed, what is left. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/local/local.h"
#include "host.h"
#include "peer.h"

static char dir[64];
static struct host host;

static void setup(void)
{
    host_make_dir(dir);
    cr_assert_eq(host_open(&host, dir, NULL), PAWL_OK);
}

static void teardown(void)
{
    host_close(&host, 5000);
    host_remove_dir(dir);
}

static size_t count_entries(struct host *of)
{
    struct pawl__backend_event *event = host_list(of, NULL);

    cr_assert_eq(event->status, PAWL_OK);
    size_t count = event->entry_count;
    pawl__backend_event_free(event);
    return count;
}

static bool has_file(const char *folder, uint64_t session)
{
    char path[128];
    struct stat st;

    (void)snprintf(path, sizeof(path), "%s/%s/%016llx", dir, folder, (unsigned long long)session);
    return lstat(path, &st) == 0;
}

TestSuite(local_session, .init = setup, .fini = teardown, .timeout = 60);

/* The rule of liveness, every row. */
Test(local_session, rule_of_liveness)
{
    struct pawl__boot now = {1000};

    cr_assert(pawl__local_is_alive(true, 1001, now, PAWL__LOCAL_FILE_LOCKED));
    cr_assert(pawl__local_is_alive(true, 0, now, PAWL__LOCAL_FILE_LOCKED));
    cr_assert_not(pawl__local_is_alive(true, 1000, now, PAWL__LOCAL_FILE_LOCKED));
    cr_assert_not(pawl__local_is_alive(false, 1001, now, PAWL__LOCAL_FILE_LOCKED));
    cr_assert_not(pawl__local_is_alive(true, 1001, now, PAWL__LOCAL_FILE_FREE));
    cr_assert(pawl__local_is_alive(true, 1001, now, PAWL__LOCAL_FILE_MISSING));
    cr_assert_not(pawl__local_is_alive(true, 1000, now, PAWL__LOCAL_FILE_MISSING));
    cr_assert_not(pawl__local_is_alive(true, 0, now, PAWL__LOCAL_FILE_MISSING));
}

/* A session is granted the ttl asked for, with evidence; a repeat adopts it. */
Test(local_session, open_and_adopt)
{
    struct pawl__boot before = pawl__boot_now();
    struct pawl__backend_event *event = host_session(&host, 7, 30000);

    cr_assert_eq(event->status, PAWL_OK);
    cr_assert_eq(event->ttl_ms, 30000);
    cr_assert_geq(event->evidence.ms, before.ms);
    cr_assert_str_eq(event->session_name, "0000000000000007");
    cr_assert_neq(fcntl(event->session_fd, F_GETFD) & FD_CLOEXEC, 0);
    int fd = event->session_fd;
    pawl__backend_event_free(event);

    uint64_t number = host_number(&host, 7, 1, "job");
    event = host_session(&host, 7, 30000);
    cr_assert_eq(event->status, PAWL_OK);
    cr_assert_eq(event->session_fd, fd);
    pawl__backend_event_free(event);
    event = host_renew(&host, 7, &number, 1);
    cr_assert_eq(event->status, PAWL_OK);
    cr_assert_eq(event->gone_count, 0);
    pawl__backend_event_free(event);
}

/* Closing removes entries, row and files; what comes later for the session is refused. */
Test(local_session, close_leaves_nothing)
{
    cr_assert_eq(host_status(host_session(&host, 7, 30000)), PAWL_OK);
    (void)host_number(&host, 7, 1, "job");
    cr_assert(has_file("sessions", 7));
    cr_assert(has_file("bells", 7));

    cr_assert_eq(host_status(host_session_close(&host, 7, false)), PAWL_OK);
    cr_assert_eq(count_entries(&host), 0);
    cr_assert_not(has_file("sessions", 7));
    cr_assert_not(has_file("bells", 7));
    cr_assert_eq(host_status(host_enqueue(&host, 7, 2, "job", false)), PAWL_E_LOST);
    cr_assert_eq(host_status(host_renew(&host, 7, NULL, 0)), PAWL_E_LOST);
    cr_assert_eq(host_status(host_session_close(&host, 7, false)), PAWL_OK);
}

/* A session that nobody opened is lost. */
Test(local_session, unknown_session_is_lost)
{
    cr_assert_eq(host_status(host_enqueue(&host, 9, 1, "job", false)), PAWL_E_LOST);
    cr_assert_eq(host_status(host_look(&host, 9, 1, "job")), PAWL_E_LOST);
    cr_assert_eq(host_status(host_renew(&host, 9, NULL, 0)), PAWL_E_LOST);
    cr_assert_eq(host_status(host_remove(&host, 9, 1, 5, "job")), PAWL_OK);
}

/* A session whose deadline passed is lost to its owner, even if nobody else came. */
Test(local_session, late_renewal_is_lost)
{
    cr_assert_eq(host_status(host_session(&host, 7, 2000)), PAWL_OK);
    (void)host_number(&host, 7, 1, "job");
    atomic_store(&host.shift_ms, 1500);
    cr_assert_eq(host_status(host_renew(&host, 7, NULL, 0)), PAWL_OK);
    atomic_store(&host.shift_ms, 3400);
    cr_assert_eq(host_status(host_renew(&host, 7, NULL, 0)), PAWL_OK);
    atomic_store(&host.shift_ms, 5500);
    cr_assert_eq(host_status(host_renew(&host, 7, NULL, 0)), PAWL_E_LOST);
    cr_assert_eq(count_entries(&host), 0);
    cr_assert_not(has_file("sessions", 7));
}

/* Whoever waits removes an entry whose deadline passed, and its owner is told. */
Test(local_session, waiter_removes_expired)
{
    struct peer peer;
    cr_assert_eq(peer_start(&peer, dir, NULL).status, PAWL_OK);
    cr_assert_eq(peer_say(&peer, 5000, "session 7 2000").status, PAWL_OK);
    struct said held = peer_say(&peer, 5000, "enqueue 7 1 job");
    cr_assert_eq(held.status, PAWL_OK);

    cr_assert_eq(host_status(host_session(&host, 8, 0)), PAWL_OK);
    struct pawl__backend_event *event = host_enqueue(&host, 8, 1, "job", false);
    cr_assert_eq(event->views[0].blocker, held.number);
    pawl__backend_event_free(event);
    cr_assert_eq(pawl__backend_watch(host.backend, 5, "job", held.number), PAWL_OK);
    cr_assert_null(host_hint(&host, PAWL__BEV_WATCH, 100));
    /* The peer lives, but does not renew. */
    struct pawl__boot start = pawl__boot_now();
    event = host_hint(&host, PAWL__BEV_WATCH, HOST_WAIT_MS);
    cr_assert_not_null(event);
    cr_assert_geq(pawl__boot_diff(pawl__boot_now(), start), 1500);
    pawl__backend_event_free(event);
    event = host_look(&host, 8, 1, "job");
    cr_assert_eq(event->views[0].blocker, 0);
    pawl__backend_event_free(event);
    struct said told = peer_say(&peer, 5000, "hint %d 3000", PAWL__BEV_SESSION);
    cr_assert_eq(told.status, PAWL_OK);
    cr_assert_eq(peer_say(&peer, 5000, "renew 7").status, PAWL_E_LOST);
    peer_kill(&peer);
}

/* A look finds the dead in its way by itself, and shows the next one that lives. */
Test(local_session, look_reaps_and_goes_on)
{
    struct peer alive, dead;
    cr_assert_eq(peer_start(&alive, dir, NULL).status, PAWL_OK);
    cr_assert_eq(peer_start(&dead, dir, NULL).status, PAWL_OK);
    cr_assert_eq(peer_say(&alive, 5000, "session 5 30000").status, PAWL_OK);
    cr_assert_eq(peer_say(&dead, 5000, "session 6 30000").status, PAWL_OK);
    unsigned long long first = peer_say(&alive, 5000, "enqueue 5 1 job").number;
    cr_assert_gt(peer_say(&dead, 5000, "enqueue 6 1 job").number, first);
    cr_assert_eq(host_status(host_session(&host, 8, 30000)), PAWL_OK);
    (void)host_number(&host, 8, 1, "job");
    peer_kill(&dead);

    struct pawl__backend_event *event = host_look(&host, 8, 1, "job");
    cr_assert_eq(event->views[0].blocker, first);
    cr_assert_eq(event->views[0].position, 1);
    pawl__backend_event_free(event);
    cr_assert_eq(count_entries(&host), 2);
    cr_assert_not(has_file("sessions", 6));
    cr_assert_not(has_file("bells", 6));
    peer_kill(&alive);
}

/* A list shows the entry of a killed process with no ttl left, and removes nothing. */
Test(local_session, list_shows_the_dead)
{
    struct peer peer;
    cr_assert_eq(peer_start(&peer, dir, NULL).status, PAWL_OK);
    cr_assert_eq(peer_say(&peer, 5000, "session 6 0").status, PAWL_OK);
    cr_assert_eq(peer_say(&peer, 5000, "enqueue 6 1 job").status, PAWL_OK);
    struct pawl__backend_event *event = host_list(&host, "job");
    cr_assert_eq(event->entries[0].ttl_left_ms, -1);
    pawl__backend_event_free(event);

    peer_kill(&peer);
    event = host_list(&host, "job");
    cr_assert_eq(event->entry_count, 1);
    cr_assert_eq(event->entries[0].ttl_left_ms, 0);
    pawl__backend_event_free(event);
}

/* kill -9 of the owner wakes a waiter at once, long before the poll and the ttl. */
Test(local_session, kill_wakes_at_once)
{
    cr_assert_eq(host_status(host_session(&host, 8, 30000)), PAWL_OK);
    for (uint64_t i = 0; i < 20; i++) {
        struct peer peer;
        cr_assert_eq(peer_start(&peer, dir, NULL).status, PAWL_OK);
        cr_assert_eq(peer_say(&peer, 5000, "session %llu 60000", 100ULL + i).status, PAWL_OK);
        struct said held = peer_say(&peer, 5000, "enqueue %llu 1 job", 100ULL + i);
        uint64_t own = host_number(&host, 8, 1 + i, "job");
        cr_assert_gt(own, held.number);
        cr_assert_eq(pawl__backend_watch(host.backend, 50 + i, "job", held.number), PAWL_OK);
        cr_assert_null(host_hint(&host, PAWL__BEV_WATCH, 20));
        struct pawl__boot start = pawl__boot_now();
        peer_kill(&peer);
        struct pawl__backend_event *event = host_hint(&host, PAWL__BEV_WATCH, HOST_WAIT_MS);
        cr_assert_not_null(event);
        int64_t took = pawl__boot_diff(pawl__boot_now(), start);
        cr_assert_lt(took, 500, "%lld ms", (long long)took);
        pawl__backend_event_free(event);
        cr_assert_eq(host_status(host_remove(&host, 8, 1 + i, own, "job")), PAWL_OK);
    }
    cr_assert_eq(count_entries(&host), 0);
}

/* Without inotify the poll finds the death of an owner within its second. */
Test(local_session, poll_is_behind_inotify)
{
    struct peer peer, waiter;
    cr_assert_eq(peer_start(&peer, dir, NULL).status, PAWL_OK);
    cr_assert_eq(peer_start(&waiter, dir, "local.inotify.add=error").status, PAWL_OK);
    cr_assert_eq(peer_say(&peer, 5000, "session 5 60000").status, PAWL_OK);
    cr_assert_eq(peer_say(&peer, 5000, "enqueue 5 1 job").status, PAWL_OK);
    cr_assert_eq(peer_say(&waiter, 5000, "session 6 60000").status, PAWL_OK);
    cr_assert_eq(peer_say(&waiter, 5000, "enqueue 6 1 job").status, PAWL_OK);
    peer_tell(&waiter, "wait 6 1 job");
    cr_assert_not(peer_hear(&waiter, 200).came);
    peer_kill(&peer);
    struct said said = peer_hear(&waiter, 3000);
    cr_assert(said.came);
    cr_assert_eq(said.blocker, 0);
    peer_kill(&waiter);
}

/* inotify may tell of the end before the lock is free, and it tells once: the lock is tested again.
 */
Test(local_session, early_wake_tests_again)
{
    struct peer peer, waiter;
    cr_assert_eq(peer_start(&peer, dir, NULL).status, PAWL_OK);
    cr_assert_eq(peer_start(&waiter, dir, "local.watch.early=error:1").status, PAWL_OK);
    cr_assert_eq(peer_say(&peer, 5000, "session 5 60000").status, PAWL_OK);
    cr_assert_eq(peer_say(&peer, 5000, "enqueue 5 1 job").status, PAWL_OK);
    cr_assert_eq(peer_say(&waiter, 5000, "session 6 60000").status, PAWL_OK);
    cr_assert_eq(peer_say(&waiter, 5000, "enqueue 6 1 job").status, PAWL_OK);
    peer_tell(&waiter, "wait 6 1 job");
    /* Long enough for the poll to have been: the next one is almost a second away. */
    cr_assert_not(peer_hear(&waiter, 1100).came);
    struct pawl__boot start = pawl__boot_now();
    peer_kill(&peer);
    struct said said = peer_hear(&waiter, 5000);
    cr_assert(said.came);
    cr_assert_eq(said.blocker, 0);
    cr_assert_lt(pawl__boot_diff(pawl__boot_now(), start), 500);
    peer_kill(&waiter);
}

/* A release rings the next process: hand-over without the poll. */
Test(local_session, release_rings_the_next)
{
    struct peer peer;
    cr_assert_eq(peer_start(&peer, dir, NULL).status, PAWL_OK);
    cr_assert_eq(peer_say(&peer, 5000, "session 5 60000").status, PAWL_OK);
    cr_assert_eq(host_status(host_session(&host, 8, 30000)), PAWL_OK);
    uint64_t number = host_number(&host, 8, 1, "job");
    cr_assert_eq(peer_say(&peer, 5000, "enqueue 5 1 job").blocker, number);
    peer_tell(&peer, "wait 5 1 job");
    cr_assert_not(peer_hear(&peer, 100).came);
    struct pawl__boot start = pawl__boot_now();
    cr_assert_eq(host_status(host_remove(&host, 8, 1, number, "job")), PAWL_OK);
    struct said said = peer_hear(&peer, 5000);
    cr_assert(said.came);
    cr_assert_eq(said.blocker, 0);
    cr_assert_lt(pawl__boot_diff(pawl__boot_now(), start), 500);
    peer_kill(&peer);
}

/* The session file removed by hand: the owner learns it at its next renewal, and nobody passes it
 * before its deadline. */
Test(local_session, removed_file_is_lost)
{
    struct peer peer;
    char path[128];
    cr_assert_eq(peer_start(&peer, dir, NULL).status, PAWL_OK);
    cr_assert_eq(peer_say(&peer, 5000, "session 5 60000").status, PAWL_OK);
    struct said held = peer_say(&peer, 5000, "enqueue 5 1 job");
    (void)snprintf(path, sizeof(path), "%s/sessions/0000000000000005", dir);
    cr_assert_eq(unlink(path), 0);

    cr_assert_eq(host_status(host_session(&host, 8, 0)), PAWL_OK);
    struct pawl__backend_event *event = host_enqueue(&host, 8, 1, "job", false);
    cr_assert_eq(event->views[0].blocker, held.number);
    pawl__backend_event_free(event);
    cr_assert_eq(peer_say(&peer, 5000, "renew 5").status, PAWL_E_LOST);
    event = host_look(&host, 8, 1, "job");
    cr_assert_eq(event->views[0].blocker, 0);
    pawl__backend_event_free(event);
    peer_kill(&peer);
}

/* A child with a copy of the descriptor keeps the session after kill -9 of the owner; it goes with
 * the child. */
Test(local_session, copy_keeps_it_after_kill)
{
    struct peer peer;
    cr_assert_eq(peer_start(&peer, dir, NULL).status, PAWL_OK);
    cr_assert_eq(peer_say(&peer, 5000, "session 5 60000").status, PAWL_OK);
    struct said held = peer_say(&peer, 5000, "enqueue 5 1 job");
    pid_t child = (pid_t)peer_say(&peer, 5000, "copy").number;
    cr_assert_gt(child, 0);
    peer_kill(&peer);

    cr_assert_eq(host_status(host_session(&host, 8, 60000)), PAWL_OK);
    struct pawl__backend_event *event = host_enqueue(&host, 8, 1, "job", false);
    cr_assert_eq(event->views[0].blocker, held.number);
    pawl__backend_event_free(event);
    cr_assert_eq(pawl__backend_watch(host.backend, 5, "job", held.number), PAWL_OK);
    cr_assert_null(host_hint(&host, PAWL__BEV_WATCH, 1500));
    cr_assert_eq(kill(child, SIGKILL), 0);
    event = host_hint(&host, PAWL__BEV_WATCH, 3000);
    cr_assert_not_null(event);
    pawl__backend_event_free(event);
}

/* Bequeathed with a copy elsewhere: the entries stay, without a deadline, until the copy closes. */
Test(local_session, heirs_keep_the_entries)
{
    struct peer peer;
    cr_assert_eq(peer_start(&peer, dir, NULL).status, PAWL_OK);
    cr_assert_eq(peer_say(&peer, 5000, "session 5 2000").status, PAWL_OK);
    struct said held = peer_say(&peer, 5000, "enqueue 5 1 job");
    pid_t child = (pid_t)peer_say(&peer, 5000, "copy").number;
    cr_assert_eq(peer_say(&peer, 5000, "bequeath 5").status, PAWL_OK);
    cr_assert_eq(peer_say(&peer, 5000, "bequeath 5").status, PAWL_OK);
    peer_tell(&peer, "quit");
    (void)peer_wait(&peer);

    atomic_store(&host.shift_ms, 600000);
    cr_assert_eq(host_status(host_session(&host, 8, 60000)), PAWL_OK);
    struct pawl__backend_event *event = host_enqueue(&host, 8, 1, "job", false);
    cr_assert_eq(event->views[0].blocker, held.number);
    cr_assert_eq(event->entries[0].ttl_left_ms, -1);
    pawl__backend_event_free(event);
    cr_assert_eq(pawl__backend_watch(host.backend, 5, "job", held.number), PAWL_OK);
    cr_assert_null(host_hint(&host, PAWL__BEV_WATCH, 200));
    cr_assert_eq(kill(child, SIGKILL), 0);
    event = host_hint(&host, PAWL__BEV_WATCH, 3000);
    cr_assert_not_null(event);
    pawl__backend_event_free(event);
    cr_assert_eq(count_entries(&host), 1);
}

/* Bequeathed without any copy: nothing is left. */
Test(local_session, no_heirs_no_entries)
{
    cr_assert_eq(host_status(host_session(&host, 7, 30000)), PAWL_OK);
    (void)host_number(&host, 7, 1, "job");
    cr_assert_eq(host_status(host_session_close(&host, 7, true)), PAWL_OK);
    cr_assert_eq(count_entries(&host), 0);
    cr_assert_not(has_file("sessions", 7));
}

/* A fork without exec does not keep the session, once its child handler has run. */
Test(local_session, fork_without_exec_lets_go)
{
    struct host second;
    int ready[2], hold[2];
    char byte = 0;
    cr_assert_eq(host_open(&second, dir, NULL), PAWL_OK);
    cr_assert_eq(host_status(host_session(&second, 8, 60000)), PAWL_OK);
    cr_assert_eq(host_status(host_session(&host, 7, 60000)), PAWL_OK);
    uint64_t number = host_number(&host, 7, 1, "job");
    cr_assert_eq(pipe(ready), 0);
    cr_assert_eq(pipe(hold), 0);

    pid_t child = fork();
    if (child == 0) {
        pawl__backend_fork_child(host.backend);
        pawl__backend_fork_child(second.backend);
        close(hold[1]);
        ssize_t sent = write(ready[1], &byte, 1);
        ssize_t len = read(hold[0], &byte, 1);
        _exit(sent == 1 && len == 0 ? 0 : 1);
    }
    cr_assert_eq(read(ready[0], &byte, 1), 1);
    struct pawl__backend_event *event = host_enqueue(&second, 8, 1, "job", false);
    cr_assert_eq(event->views[0].blocker, number);
    pawl__backend_event_free(event);
    host_close(&host, 5000);
    event = host_look(&second, 8, 1, "job");
    cr_assert_eq(event->views[0].blocker, 0);
    pawl__backend_event_free(event);
    close(hold[1]);
    (void)waitpid(child, NULL, 0);
    host_close(&second, 5000);
    cr_assert_eq(host_open(&host, dir, NULL), PAWL_OK);
}

/* What killed processes leave without anybody waiting for it goes with the sessions that come. */
Test(local_session, the_dead_do_not_pile_up)
{
    for (uint64_t i = 0; i < 10; i++) {
        struct peer peer;
        cr_assert_eq(peer_start(&peer, dir, NULL).status, PAWL_OK);
        cr_assert_eq(peer_say(&peer, 5000, "session %llu 60000", 1000ULL + i).status, PAWL_OK);
        cr_assert_eq(peer_say(&peer, 5000, "enqueue %llu 1 n%llu", 1000ULL + i, i + 0ULL).status,
                     PAWL_OK);
        peer_kill(&peer);
    }
    for (uint64_t i = 0; i < 10; i++) {
        cr_assert_eq(host_status(host_session(&host, i % 2 == 0 ? 5 + i : 5000 + i, 60000)),
                     PAWL_OK);
    }
    cr_assert_eq(count_entries(&host), 0);
    for (uint64_t i = 0; i < 10; i++) {
        cr_assert_not(has_file("sessions", 1000 + i));
        cr_assert_not(has_file("bells", 1000 + i));
    }
}

/* Two clients of one process exclude each other like two processes. */
Test(local_session, two_clients_of_a_process)
{
    struct host second;
    cr_assert_eq(host_open(&second, dir, NULL), PAWL_OK);
    cr_assert_eq(host_status(host_session(&host, 7, 30000)), PAWL_OK);
    cr_assert_eq(host_status(host_session(&second, 8, 30000)), PAWL_OK);
    uint64_t number = host_number(&host, 7, 1, "job");
    struct pawl__backend_event *event = host_enqueue(&second, 8, 1, "job", false);
    cr_assert_eq(event->views[0].blocker, number);
    pawl__backend_event_free(event);
    cr_assert_eq(pawl__backend_watch(second.backend, 5, "job", number), PAWL_OK);
    cr_assert_null(host_hint(&second, PAWL__BEV_WATCH, 50));
    cr_assert_eq(host_status(host_session_close(&host, 7, false)), PAWL_OK);
    event = host_hint(&second, PAWL__BEV_WATCH, 900);
    cr_assert_not_null(event);
    pawl__backend_event_free(event);
    host_close(&second, 5000);
}

/* More sessions than a client may have are refused, not mixed up. */
Test(local_session, sessions_have_a_limit)
{
    for (uint64_t i = 1; i <= PAWL__LOCAL_SESSIONS_MAX; i++) {
        cr_assert_eq(host_status(host_session(&host, i, 30000)), PAWL_OK);
    }
    cr_assert_eq(host_status(host_session(&host, 99, 30000)), PAWL_E_LIMIT);
    cr_assert_eq(host_status(host_session_close(&host, 3, false)), PAWL_OK);
    cr_assert_eq(host_status(host_session(&host, 99, 30000)), PAWL_OK);
}

/* A full bell says nothing of what was lost, so everything is looked after. */
Test(local_session, full_bell_wakes_all)
{
    struct host second;
    cr_assert_eq(host_open(&second, dir, NULL), PAWL_OK);
    cr_assert_eq(host_status(host_session(&host, 7, 30000)), PAWL_OK);
    cr_assert_eq(host_status(host_session(&second, 8, 30000)), PAWL_OK);
    uint64_t number = host_number(&second, 8, 1, "job");
    cr_assert_eq(pawl__backend_watch(host.backend, 5, "job", number), PAWL_OK);
    cr_assert_null(host_hint(&host, PAWL__BEV_WATCH, 50));
    char path[128];
    (void)snprintf(path, sizeof(path), "%s/bells/0000000000000007", dir);
    int fd = open(path, O_WRONLY);
    cr_assert_geq(fd, 0);
    char junk[64 * 1024] = {0};
    cr_assert_eq(write(fd, junk, sizeof(junk)), (ssize_t)sizeof(junk));
    close(fd);
    struct pawl__backend_event *event = host_hint(&host, PAWL__BEV_WATCH, 900);
    cr_assert_not_null(event);
    pawl__backend_event_free(event);
    host_close(&second, 5000);
}
