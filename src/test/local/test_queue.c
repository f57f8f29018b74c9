/* The local backend with one process: queues, watches, marks, lists. */
#include <criterion/criterion.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
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

/* The blocker that (session 1, attempt) has in the queue of `name`. */
static uint64_t blocker_of(uint64_t attempt, const char *name)
{
    struct pawl__backend_event *event = host_look(&host, 1, attempt, name);

    cr_assert_eq(event->status, PAWL_OK);
    cr_assert(event->views[0].own_present);
    uint64_t blocker = event->views[0].blocker;
    pawl__backend_event_free(event);
    return blocker;
}

static size_t count_entries(const char *name)
{
    struct pawl__backend_event *event = host_list(&host, name);

    cr_assert_eq(event->status, PAWL_OK);
    size_t count = event->entry_count;
    pawl__backend_event_free(event);
    return count;
}

TestSuite(local_queue, .init = setup, .fini = teardown, .timeout = 60);

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
    cr_assert_eq(blocker_of(12, "job"), 0);
}

/* Who is in the way is the nearest conflicting entry, who is named is the first one. */
Test(local_queue, nearest_blocks_and_first_is_named)
{
    uint64_t first = host_number(&host, 1, 11, "job");
    uint64_t second = host_number(&host, 1, 12, "job");
    (void)host_number(&host, 1, 13, "job");

    struct pawl__backend_event *event = host_look(&host, 1, 13, "job");
    cr_assert_eq(event->views[0].blocker, second);
    cr_assert_eq(event->views[0].holder, first);
    cr_assert_eq(event->views[0].position, 2);
    pawl__backend_event_free(event);
}

/* Readers stand beside each other, a writer waits for the last of them, and a reader behind a
 * waiting writer does not pass it. */
Test(local_queue, modes_decide_who_waits)
{
    struct pawl__want shared = {"doc", PAWL__MODE_S};
    struct pawl__backend_event *a = host_enqueue_all(&host, 1, 1, &shared, 1, false);
    struct pawl__backend_event *b = host_enqueue_all(&host, 1, 2, &shared, 1, false);
    struct pawl__backend_event *c = host_enqueue(&host, 1, 3, "doc", false);
    struct pawl__backend_event *d = host_enqueue_all(&host, 1, 4, &shared, 1, false);

    cr_assert_eq(a->views[0].blocker, 0);
    cr_assert_eq(b->views[0].blocker, 0);
    cr_assert_eq(c->views[0].blocker, b->views[0].own_number);
    cr_assert_eq(c->views[0].holder, a->views[0].own_number);
    cr_assert_eq(d->views[0].blocker, c->views[0].own_number);
    pawl__backend_event_free(a);
    pawl__backend_event_free(b);
    pawl__backend_event_free(c);
    pawl__backend_event_free(d);
}

/* All names of a request get one number in one transaction. */
Test(local_queue, names_of_a_request_share_a_number)
{
    struct pawl__want wants[] = {{"a", PAWL__MODE_X}, {"b", PAWL__MODE_S}, {"c", PAWL__MODE_IX}};
    uint64_t before = host_number(&host, 1, 11, "b");
    struct pawl__backend_event *event = host_enqueue_all(&host, 1, 12, wants, 3, false);

    cr_assert_eq(event->status, PAWL_OK);
    uint64_t number = event->views[0].own_number;
    cr_assert_eq(event->views[1].own_number, number);
    cr_assert_eq(event->views[2].own_number, number);
    cr_assert_eq(event->views[0].blocker, 0);
    cr_assert_eq(event->views[1].blocker, before);
    pawl__backend_event_free(event);
    cr_assert_eq(host_status(host_remove_all(&host, 1, 12, number, wants, 3)), PAWL_OK);
    cr_assert_eq(count_entries(NULL), 1);
}

/* The same attempt enqueued twice, as after a lost answer, has one entry and one number. */
Test(local_queue, enqueue_twice_is_once)
{
    uint64_t first = host_number(&host, 1, 11, "job");

    cr_assert_eq(host_number(&host, 1, 11, "job"), first);
    cr_assert_eq(count_entries("job"), 1);
    cr_assert_gt(host_number(&host, 1, 12, "job"), first);
}

/* A try on a taken name writes nothing and names who is in the way; on a free one it acquires. */
Test(local_queue, try_leaves_nothing)
{
    struct pawl__want wants[] = {{"free", PAWL__MODE_X}, {"job", PAWL__MODE_X}};
    uint64_t first = host_number(&host, 1, 11, "job");
    struct pawl__backend_event *event = host_enqueue_all(&host, 1, 12, wants, 2, true);

    cr_assert_eq(event->status, PAWL_E_TIMEOUT);
    cr_assert_eq(event->views[1].blocker, first);
    cr_assert_eq(event->entry_count, 1);
    pawl__backend_event_free(event);
    cr_assert_eq(count_entries("free"), 0);
    cr_assert_eq(count_entries("job"), 1);

    cr_assert_eq(host_status(host_remove(&host, 1, 11, first, "job")), PAWL_OK);
    cr_assert_eq(host_status(host_enqueue_all(&host, 1, 13, wants, 2, true)), PAWL_OK);
    cr_assert_eq(count_entries(NULL), 2);
}

/* Only the entry of this number, session and attempt is removed; what is not there is fine. */
Test(local_queue, remove_compares_number_and_owner)
{
    uint64_t first = host_number(&host, 1, 11, "job");
    cr_assert_eq(host_status(host_session(&host, 2, 30000)), PAWL_OK);

    cr_assert_eq(host_status(host_remove(&host, 1, 12, first, "job")), PAWL_OK);
    cr_assert_eq(host_status(host_remove(&host, 2, 11, first, "job")), PAWL_OK);
    cr_assert_eq(host_status(host_remove(&host, 1, 11, first + 1, "job")), PAWL_OK);
    cr_assert_eq(count_entries("job"), 1);
    cr_assert_eq(host_status(host_remove(&host, 1, 11, first, "job")), PAWL_OK);
    cr_assert_eq(count_entries("job"), 0);
    cr_assert_eq(host_status(host_remove(&host, 1, 11, first, "job")), PAWL_OK);
}

/* A look without an entry sees the queue as one who would come last, and says that it is not there.
 */
Test(local_queue, look_without_entry)
{
    uint64_t first = host_number(&host, 1, 11, "job");
    struct pawl__backend_event *event = host_look(&host, 1, 99, "job");

    cr_assert_eq(event->status, PAWL_OK);
    cr_assert_not(event->views[0].own_present);
    cr_assert_eq(event->views[0].own_number, 0);
    cr_assert_eq(event->views[0].blocker, first);
    cr_assert_eq(event->views[0].position, 1);
    pawl__backend_event_free(event);
}

/* Names that differ in one byte, or look like paths, patterns or SQL, are queues of their own. */
Test(local_queue, names_do_not_meet)
{
    static const char *const names[] = {"job",   "job/",     "job/1", "Job",      "..", "a%b",
                                        "a%25b", "\xC3\xA9", "j_b",   "x'; DROP", "j*"};

    for (uint64_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct pawl__backend_event *event = host_enqueue(&host, 1, 100 + i, names[i], false);
        cr_assert_eq(event->status, PAWL_OK);
        cr_assert_eq(event->views[0].blocker, 0, "%s", names[i]);
        pawl__backend_event_free(event);
        cr_assert_eq(count_entries(names[i]), 1);
    }
}

/* A name of 512 bytes with a payload of 2 KiB is kept whole. */
Test(local_queue, longest_name_and_payload)
{
    char name[PAWL__NAME_MAX + 1], payload[PAWL__PAYLOAD_MAX + 1];
    struct pawl__want want = {name, PAWL__MODE_X};
    struct pawl__enqueue enqueue = {1, 11, &want, 1, payload, false};

    memset(name, 'n', PAWL__NAME_MAX);
    name[PAWL__NAME_MAX] = '\0';
    memset(payload, 'p', PAWL__PAYLOAD_MAX);
    payload[PAWL__PAYLOAD_MAX] = '\0';
    uint64_t op = host_op(&host);
    cr_assert_eq(pawl__backend_enqueue(host.backend, op, &enqueue), PAWL_OK);
    cr_assert_eq(host_status(host_answer(&host, op, HOST_WAIT_MS)), PAWL_OK);
    struct pawl__backend_event *event = host_list(&host, name);
    cr_assert_eq(event->entry_count, 1);
    cr_assert_str_eq(event->entries[0].name, name);
    cr_assert_str_eq(event->entries[0].payload, payload);
    pawl__backend_event_free(event);
}

/* A list is sorted by name and number and shows mode, session and what is left of the ttl. */
Test(local_queue, list_shows_all)
{
    struct pawl__want shared = {"b", PAWL__MODE_S};
    pawl__backend_event_free(host_enqueue_all(&host, 1, 11, &shared, 1, false));
    uint64_t second = host_number(&host, 1, 12, "a");
    uint64_t third = host_number(&host, 1, 13, "b");
    struct pawl__backend_event *event = host_list(&host, NULL);

    cr_assert_eq(event->entry_count, 3);
    cr_assert_str_eq(event->entries[0].name, "a");
    cr_assert_eq(event->entries[0].number, second);
    cr_assert_eq(event->entries[1].mode, PAWL__MODE_S);
    cr_assert_eq(event->entries[2].number, third);
    cr_assert_eq(event->entries[2].attempt, 13);
    cr_assert_str_eq(event->entries[2].session, "0000000000000001");
    cr_assert_gt(event->entries[2].ttl_left_ms, 20000);
    cr_assert_leq(event->entries[2].ttl_left_ms, 30000);
    pawl__backend_event_free(event);
}

/* More entries than a list may have are refused, one name of them is shown. */
Test(local_queue, list_has_a_limit)
{
    char name[16];

    for (uint64_t i = 0; i <= PAWL__QUEUE_ENTRIES_MAX; i++) {
        (void)snprintf(name, sizeof(name), "n%u", (unsigned)(i % 7));
        struct pawl__want want = {name, PAWL__MODE_X};
        struct pawl__enqueue enqueue = {1, 1000 + i, &want, 1, "{}", false};
        cr_assert_eq(pawl__backend_enqueue(host.backend, host_op(&host), &enqueue), PAWL_OK);
    }
    /* An answer to this one means that all before it are done. */
    cr_assert_eq(host_status(host_renew(&host, 1, NULL, 0)), PAWL_OK);
    cr_assert_gt(host_number(&host, 1, 7, "last"), PAWL__QUEUE_ENTRIES_MAX);
    cr_assert_eq(host_status(host_list(&host, NULL)), PAWL_E_LIMIT);
    cr_assert_eq(count_entries("n3"), PAWL__QUEUE_ENTRIES_MAX / 7 + 1);
}

/* ---- Watches ---- */

/* A watch of an entry that is not there any more hints at once. */
Test(local_queue, watch_of_gone_entry)
{
    cr_assert_eq(pawl__backend_watch(host.backend, 5, "job", 12345), PAWL_OK);
    struct pawl__backend_event *event = host_hint(&host, PAWL__BEV_WATCH, HOST_WAIT_MS);
    cr_assert_not_null(event);
    cr_assert_eq(event->watch, 5);
    pawl__backend_event_free(event);
}

/* Several watches of one entry are hinted each, a forgotten one is not. */
Test(local_queue, unwatch_is_silent)
{
    uint64_t first = host_number(&host, 1, 11, "job");

    for (uint64_t watch = 1; watch <= 4; watch++) {
        cr_assert_eq(pawl__backend_watch(host.backend, watch, "job", first), PAWL_OK);
    }
    pawl__backend_unwatch(host.backend, 2);
    pawl__backend_unwatch(host.backend, 4);
    cr_assert_eq(host_status(host_remove(&host, 1, 11, first, "job")), PAWL_OK);
    uint64_t sum = 0;
    for (int i = 0; i < 2; i++) {
        struct pawl__backend_event *event = host_hint(&host, PAWL__BEV_WATCH, HOST_WAIT_MS);
        cr_assert_not_null(event);
        sum += event->watch;
        pawl__backend_event_free(event);
    }
    cr_assert_eq(sum, 1 + 3);
    cr_assert_null(host_hint(&host, PAWL__BEV_WATCH, 50));
}

/* ---- Marks ---- */

static int64_t read_store(const char *sql)
{
    char path[128];
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;

    (void)snprintf(path, sizeof(path), "%s/pawl.db", dir);
    cr_assert_eq(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    cr_assert_eq(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
    cr_assert_eq(sqlite3_step(stmt), SQLITE_ROW);
    int64_t value = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    return value;
}

/* A mark rings its owner, comes back at each renewal until the entry is removed, and is recorded.
 */
Test(local_queue, mark_is_told_until_removed)
{
    uint64_t number = host_number(&host, 1, 11, "job");
    struct pawl__backend_event *event = host_mark(&host, "job", number, false);
    cr_assert_eq(event->status, PAWL_OK);
    cr_assert_eq(event->ttl_ms, 30000);
    pawl__backend_event_free(event);

    event = host_hint(&host, PAWL__BEV_SESSION, HOST_WAIT_MS);
    cr_assert_not_null(event);
    cr_assert_eq(event->session, 1);
    pawl__backend_event_free(event);
    for (int i = 0; i < 2; i++) {
        event = host_renew(&host, 1, &number, 1);
        cr_assert_eq(event->mark_count, 1);
        cr_assert_eq(event->marks[0].number, number);
        cr_assert_str_eq(event->marks[0].by, "os:boss@here");
        cr_assert_str_eq(event->marks[0].reason, "stuck");
        cr_assert_eq(event->gone_count, 0);
        pawl__backend_event_free(event);
    }
    event = host_list(&host, "job");
    cr_assert(event->entries[0].marked);
    pawl__backend_event_free(event);

    cr_assert_eq(host_status(host_remove(&host, 1, 11, number, "job")), PAWL_OK);
    event = host_renew(&host, 1, NULL, 0);
    cr_assert_eq(event->mark_count, 0);
    pawl__backend_event_free(event);
    cr_assert_eq(read_store("SELECT count(*) FROM broken WHERE now = 0 AND reason = 'stuck'"), 1);
}

/* With `now` every entry of the number goes at once, the owner is hinted, waiters are woken. */
Test(local_queue, mark_now_removes_all_names)
{
    struct pawl__want wants[] = {{"a", PAWL__MODE_X}, {"b", PAWL__MODE_X}};
    struct pawl__backend_event *event = host_enqueue_all(&host, 1, 11, wants, 2, false);
    uint64_t number = event->views[0].own_number;
    pawl__backend_event_free(event);
    (void)host_number(&host, 1, 12, "b");
    cr_assert_eq(pawl__backend_watch(host.backend, 5, "b", number), PAWL_OK);

    cr_assert_eq(host_status(host_mark(&host, "a", number, true)), PAWL_OK);
    event = host_hint(&host, PAWL__BEV_OWN, HOST_WAIT_MS);
    cr_assert_not_null(event);
    cr_assert_eq(event->number, number);
    pawl__backend_event_free(event);
    event = host_hint(&host, PAWL__BEV_WATCH, HOST_WAIT_MS);
    cr_assert_not_null(event);
    pawl__backend_event_free(event);
    event = host_renew(&host, 1, &number, 1);
    cr_assert_eq(event->gone_count, 1);
    cr_assert_eq(event->gone[0], number);
    pawl__backend_event_free(event);
    cr_assert_eq(count_entries("a"), 0);
    cr_assert_eq(blocker_of(12, "b"), 0);
    cr_assert_eq(read_store("SELECT count(*) FROM broken WHERE now = 1"), 1);
}

/* A number that is not in that queue is refused, and nothing is recorded. */
Test(local_queue, mark_compares_the_token)
{
    uint64_t number = host_number(&host, 1, 11, "job");

    cr_assert_eq(host_status(host_mark(&host, "job", number + 1, false)), PAWL_E_FENCED);
    cr_assert_eq(host_status(host_mark(&host, "other", number, true)), PAWL_E_FENCED);
    cr_assert_eq(count_entries("job"), 1);
    cr_assert_eq(read_store("SELECT count(*) FROM broken"), 0);
}

/* The record of breaks keeps the last 1000. */
Test(local_queue, record_of_breaks_is_bounded)
{
    uint64_t number = host_number(&host, 1, 11, "job");

    for (int i = 0; i < 1010; i++) {
        struct pawl__mark_request mark = {"job", number, "os:boss@here", "again", false};
        cr_assert_eq(pawl__backend_mark(host.backend, host_op(&host), &mark), PAWL_OK);
    }
    cr_assert_eq(host_status(host_mark(&host, "job", number, true)), PAWL_OK);
    cr_assert_eq(read_store("SELECT count(*) FROM broken"), 1000);
    cr_assert_eq(read_store("SELECT count(*) FROM broken WHERE now = 1"), 1);
}
