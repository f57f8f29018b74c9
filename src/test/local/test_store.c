/* The store of the local backend: its making, its identity, numbers that never go back. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/local/fault.h"
#include "backends/local/store.h"
#include "backends/local/vfs_test.h"
#include "host.h"
#include "peer.h"

static char dir[64];
static char db[128];

static void setup(void)
{
    host_make_dir(dir);
    (void)snprintf(db, sizeof(db), "%s/pawl.db", dir);
}

static void teardown(void)
{
    pawl__fault_set(NULL);
    host_remove_dir(dir);
}

TestSuite(local_store, .init = setup, .fini = teardown, .timeout = 120);

static void run_sql(const char *sql)
{
    sqlite3 *raw = NULL;

    cr_assert_eq(sqlite3_open_v2(db, &raw, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(raw, sql, NULL, NULL, NULL), SQLITE_OK, "%s", sqlite3_errmsg(raw));
    cr_assert_eq(sqlite3_close(raw), SQLITE_OK);
}

static int64_t read_sql(const char *sql)
{
    sqlite3 *raw = NULL;
    sqlite3_stmt *stmt = NULL;

    cr_assert_eq(sqlite3_open_v2(db, &raw, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    /* Else this connection, as the last one, would move the WAL into the file. */
    (void)sqlite3_db_config(raw, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)NULL);
    cr_assert_eq(sqlite3_prepare_v2(raw, sql, -1, &stmt, NULL), SQLITE_OK);
    cr_assert_eq(sqlite3_step(stmt), SQLITE_ROW);
    int64_t value = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    cr_assert_eq(sqlite3_close(raw), SQLITE_OK);
    return value;
}

/* The number of one entry that is made and removed by a client of its own. */
static uint64_t one_number(uint64_t session)
{
    struct host host;

    cr_assert_eq(host_open(&host, dir, NULL), PAWL_OK);
    cr_assert_eq(host_status(host_session(&host, session, 30000)), PAWL_OK);
    uint64_t number = host_number(&host, session, 1, "job");
    cr_assert_gt(number, 0);
    cr_assert_eq(host_status(host_session_close(&host, session, false)), PAWL_OK);
    host_close(&host, 5000);
    return number;
}

/* ---- Identity ---- */

/* The store id is made once and is what every later open finds; another one is refused. */
Test(local_store, identity_is_kept_and_compared)
{
    struct host first, second;
    pawl_error *err = pawl_error_new();
    cr_assert_eq(host_open(&first, dir, NULL), PAWL_OK);
    cr_assert_eq(strlen(first.info.store_id), 16);
    cr_assert_eq(first.info.epoch, 1);
    cr_assert_eq(host_open_with(&second, dir, first.info.store_id, NULL, NULL), PAWL_OK);
    cr_assert_str_eq(second.info.store_id, first.info.store_id);
    host_close(&second, 1000);
    cr_assert_eq(host_open_with(&second, dir, "0123456789abcdef", NULL, err), PAWL_E_STORE);
    cr_assert_not_null(strstr(pawl_error_message(err), first.info.store_id));
    cr_assert_eq(host_open_with(&second, dir, NULL, "team", err), PAWL_E_CONFIG);
    host_close(&first, 1000);
    pawl_error_free(err);
}

/* Eight processes that open a new store at once find one store. */
Test(local_store, made_once_by_many)
{
    struct peer peers[8];

    for (int i = 0; i < 8; i++) {
        cr_assert_eq(peer_start(&peers[i], dir, NULL).status, PAWL_OK);
    }
    for (unsigned i = 0; i < 8; i++) {
        cr_assert_eq(peer_say(&peers[i], 5000, "session %u 30000", i + 1).status, PAWL_OK);
        struct said said = peer_say(&peers[i], 5000, "enqueue %u 1 job", i + 1);
        cr_assert_eq(said.number, i + 1);
        cr_assert_eq(said.blocker, i);
    }
    for (int i = 0; i < 8; i++) {
        peer_kill(&peers[i]);
    }
}

/* Killed before the new database got its name: the next open makes it. */
Test(local_store, killed_while_made)
{
    struct peer peer;
    cr_assert_not(peer_start(&peer, dir, "local.make.rename=kill").came);
    cr_assert(WIFSIGNALED(peer_wait(&peer)));
    cr_assert_neq(access(db, F_OK), 0);
    cr_assert_eq(one_number(1), 1);
}

/* A file that is no database, a database of others, and one of a newer pawl are refused by name. */
Test(local_store, strangers_are_refused)
{
    struct host host;
    pawl_error *err = pawl_error_new();

    FILE *file = fopen(db, "w");
    for (int i = 0; i < 1000; i++) {
        (void)fputs("this is no database\n", file);
    }
    (void)fclose(file);
    cr_assert_eq(host_open(&host, dir, err), PAWL_E_STORE);
    cr_assert_not_null(strstr(pawl_error_message(err), db));

    (void)unlink(db);
    sqlite3 *raw = NULL;
    cr_assert_eq(sqlite3_open(db, &raw), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(raw, "CREATE TABLE t(x)", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(raw);
    cr_assert_eq(host_open(&host, dir, err), PAWL_E_STORE);
    cr_assert_not_null(strstr(pawl_error_message(err), "not a store of pawl"));

    (void)unlink(db);
    (void)one_number(1);
    run_sql("PRAGMA user_version=2");
    cr_assert_eq(host_open(&host, dir, err), PAWL_E_STORE);
    cr_assert_not_null(strstr(pawl_error_message(err), "upgrade"));
    pawl_error_free(err);
}

/* ---- The directory ---- */

/* A directory that is missing is made for its owner alone, with all that is in it. */
Test(local_store, new_directory_is_private)
{
    struct host host;
    struct stat st;
    char inner[128], path[160];

    (void)snprintf(inner, sizeof(inner), "%s/new", dir);
    cr_assert_eq(host_open(&host, inner, NULL), PAWL_OK);
    host_close(&host, 1000);
    cr_assert_eq(stat(inner, &st), 0);
    cr_assert_eq(st.st_mode & 0777, 0700);
    (void)snprintf(path, sizeof(path), "%s/pawl.db", inner);
    cr_assert_eq(stat(path, &st), 0);
    cr_assert_eq(st.st_mode & 0777, 0600);
}

/* A shared directory gives files to its group whatever the umask; one for everybody is refused. */
Test(local_store, shared_directory)
{
    struct host host;
    struct stat st;
    char path[128];
    pawl_error *err = pawl_error_new();

    (void)umask(077);
    cr_assert_eq(chmod(dir, 02770), 0);
    cr_assert_eq(host_open(&host, dir, err), PAWL_OK);
    cr_assert_eq(host_status(host_session(&host, 1, 30000)), PAWL_OK);
    cr_assert_gt(host_number(&host, 1, 1, "job"), 0);
    static const char *const files[] = {"pawl.db",
                                        "pawl.db-wal",
                                        "pawl.db-shm",
                                        "gate",
                                        "sessions/0000000000000001",
                                        "bells/0000000000000001"};
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        (void)snprintf(path, sizeof(path), "%s/%s", dir, files[i]);
        cr_assert_eq(stat(path, &st), 0, "%s", path);
        cr_assert_eq(st.st_mode & 0777, 0660, "%s", path);
    }
    host_close(&host, 1000);

    cr_assert_eq(chmod(dir, 0777), 0);
    cr_assert_eq(host_open(&host, dir, err), PAWL_E_PERMISSION);
    cr_assert_not_null(strstr(pawl_error_message(err), "chmod"));
    cr_assert_eq(chmod(dir, 0770), 0);
    cr_assert_eq(chown(dir, (uid_t)-1, 12345), 0);
    cr_assert_eq(host_open(&host, dir, err), PAWL_E_PERMISSION);
    cr_assert_not_null(strstr(pawl_error_message(err), "chmod g+s"));
    pawl_error_free(err);
}

/* Paths that cannot be a store are refused with the reason. */
Test(local_store, bad_paths)
{
    struct host host;
    char path[600];

    memset(path, 'x', sizeof(path) - 1);
    path[0] = '/';
    path[sizeof(path) - 1] = '\0';
    cr_assert_eq(host_open(&host, path, NULL), PAWL_E_CONFIG);
    cr_assert_eq(host_open(&host, "relative", NULL), PAWL_E_CONFIG);
    cr_assert_eq(host_open(&host, "/nowhere/at/all", NULL), PAWL_E_UNAVAILABLE);
    (void)snprintf(path, sizeof(path), "%s/file", dir);
    int fd = creat(path, 0600);
    close(fd);
    cr_assert_eq(host_open(&host, path, NULL), PAWL_E_CONFIG);
}

/* Without a path the store is in XDG_STATE_HOME, with parents made. */
Test(local_store, default_directory)
{
    struct host host;
    char state[128], path[160];

    (void)snprintf(state, sizeof(state), "%s/a/b", dir);
    (void)setenv("XDG_STATE_HOME", state, 1);
    cr_assert_eq(host_open(&host, NULL, NULL), PAWL_OK);
    host_close(&host, 1000);
    (void)snprintf(path, sizeof(path), "%s/pawl/pawl.db", state);
    cr_assert_eq(access(path, F_OK), 0);
}

/* ---- Numbers ---- */

/* Numbers go on through closing, empty queues, and the death of every process. */
Test(local_store, numbers_go_on)
{
    struct peer peer;
    uint64_t last = 0;

    for (uint64_t i = 1; i <= 5; i++) {
        uint64_t number = one_number(i);
        cr_assert_gt(number, last);
        last = number;
    }
    cr_assert_eq(peer_start(&peer, dir, NULL).status, PAWL_OK);
    cr_assert_eq(peer_say(&peer, 5000, "session 9 30000").status, PAWL_OK);
    struct said said = peer_say(&peer, 5000, "enqueue 9 1 job");
    cr_assert_gt(said.number, last);
    peer_kill(&peer);
    cr_assert_gt(one_number(10), said.number);
}

/* A new block is reserved before a number of it is used. */
Test(local_store, blocks_are_reserved_ahead)
{
    cr_assert_eq(one_number(1), 1);
    run_sql("UPDATE meta SET next = reserved - 1");
    int64_t reserved = read_sql("SELECT reserved FROM meta");
    cr_assert_eq(one_number(2), (uint64_t)reserved - 1);
    cr_assert_eq(one_number(3), (uint64_t)reserved);
    cr_assert_eq(read_sql("SELECT reserved FROM meta"), reserved + (int64_t)PAWL__LOCAL_BLOCK);
}

/* Numbers that make no sense are damage, not a reason to begin anew. */
Test(local_store, damaged_numbers_are_refused)
{
    struct host host;

    (void)one_number(1);
    run_sql("UPDATE meta SET next = reserved + 1");
    cr_assert_eq(host_open(&host, dir, NULL), PAWL_OK);
    cr_assert_eq(host_status(host_session(&host, 2, 30000)), PAWL_E_STORE);
    host_close(&host, 1000);
}

/* Another boot: entries and files of the old one are gone, numbers go on behind the block. */
Test(local_store, another_boot)
{
    struct host host;
    char path[128];

    cr_assert_eq(host_open(&host, dir, NULL), PAWL_OK);
    cr_assert_eq(host_status(host_session(&host, 7, 0)), PAWL_OK);
    uint64_t number = host_number(&host, 7, 1, "old");
    host_close(&host, 1000);

    (void)setenv("PAWL_TEST_BOOT_ID", "another", 1);
    uint64_t later = one_number(8);
    cr_assert_gt(later, number);
    cr_assert_eq(later, PAWL__LOCAL_BLOCK);
    cr_assert_eq(read_sql("SELECT count(*) FROM entry"), 0);
    (void)snprintf(path, sizeof(path), "%s/sessions/0000000000000007", dir);
    cr_assert_neq(access(path, F_OK), 0);
    (void)snprintf(path, sizeof(path), "%s/bells/0000000000000007", dir);
    cr_assert_neq(access(path, F_OK), 0);
}

/* A list in another boot shows what the old one left as over, before anybody writes. */
Test(local_store, list_after_boot)
{
    struct host host;

    cr_assert_eq(host_open(&host, dir, NULL), PAWL_OK);
    cr_assert_eq(host_status(host_session(&host, 7, 0)), PAWL_OK);
    (void)host_number(&host, 7, 1, "job");
    (void)setenv("PAWL_TEST_BOOT_ID", "another", 1);
    struct host later;
    cr_assert_eq(host_open(&later, dir, NULL), PAWL_OK);
    struct pawl__backend_event *event = host_list(&later, NULL);
    cr_assert_eq(event->entry_count, 1);
    cr_assert_eq(event->entries[0].ttl_left_ms, 0);
    pawl__backend_event_free(event);
    host_close(&later, 1000);
    host_close(&host, 1000);
}

/* Makes numbers, loses power, and compares; *ret_lost tells whether the store itself went back. */
static void lose_power(uint64_t seed, bool *ret_lost)
{
    struct host host;
    uint64_t last = 0;
    char boot_id[32];

    cr_assert_eq(host_open(&host, dir, NULL), PAWL_OK);
    cr_assert_eq(host_status(host_session(&host, 7 + 2 * seed, 30000)), PAWL_OK);
    for (uint64_t i = 1; i <= 9; i++) {
        uint64_t number = host_number(&host, 7 + 2 * seed, i, "job");
        cr_assert_gt(number, last);
        last = number;
    }
    host_close(&host, 5000);
    unsigned lost = pawl__vfs_test_power_loss(seed);
    cr_assert(lost > 0 || seed != 0);
    *ret_lost = (uint64_t)read_sql("SELECT next FROM meta") <= last;

    (void)snprintf(boot_id, sizeof(boot_id), "boot-%llu", (unsigned long long)seed + 1);
    (void)setenv("PAWL_TEST_BOOT_ID", boot_id, 1);
    cr_assert_gt(one_number(8 + 2 * seed), last);
}

/* The un-synced tail lost in a power loss takes no number back, although the store went back. */
Test(local_store, power_loss_takes_no_number_back)
{
    bool is_lost = false;

    (void)setenv("PAWL_TEST_BOOT_ID", "boot-0", 1);
    cr_assert(pawl__vfs_test_install());
    lose_power(0, &is_lost);
    cr_assert(is_lost);
}

/* The same with writes lost in any order: the store opens, and no number comes twice. */
Test(local_store, power_loss_in_any_order)
{
    int lost_count = 0;

    (void)setenv("PAWL_TEST_BOOT_ID", "boot-0", 1);
    cr_assert(pawl__vfs_test_install());
    for (uint64_t seed = 1; seed <= 40; seed++) {
        bool is_lost = false;
        lose_power(seed, &is_lost);
        lost_count += is_lost ? 1 : 0;
    }
    cr_assert_gt(lost_count, 10);
}

/* ---- A store that is taken away ---- */

/* Removed while in use: sessions are lost, nothing is granted, a new open makes a new store. */
Test(local_store, removed_store_is_an_error)
{
    struct host host, later;

    cr_assert_eq(host_open(&host, dir, NULL), PAWL_OK);
    cr_assert_eq(host_status(host_session(&host, 7, 30000)), PAWL_OK);
    uint64_t number = host_number(&host, 7, 1, "job");
    (void)host_number(&host, 7, 2, "job");
    cr_assert_eq(pawl__backend_watch(host.backend, 5, "job", number), PAWL_OK);
    cr_assert_eq(unlink(db), 0);
    /* The first list is no reason to make another one. */
    cr_assert_eq(host_status(host_list(&host, NULL)), PAWL_E_STORE);
    cr_assert_neq(access(db, F_OK), 0);

    struct pawl__backend_event *event = host_hint(&host, PAWL__BEV_WATCH, 3000);
    cr_assert_not_null(event);
    pawl__backend_event_free(event);
    cr_assert_eq(host_status(host_look(&host, 7, 2, "job")), PAWL_E_STORE);
    event = host_hint(&host, PAWL__BEV_SESSION, 1000);
    cr_assert_not_null(event);
    pawl__backend_event_free(event);
    cr_assert_eq(host_status(host_renew(&host, 7, NULL, 0)), PAWL_E_LOST);
    cr_assert_eq(host_status(host_enqueue(&host, 7, 3, "job", false)), PAWL_E_STORE);
    cr_assert_eq(host_status(host_list(&host, NULL)), PAWL_E_STORE);

    cr_assert_eq(host_open(&later, dir, NULL), PAWL_OK);
    cr_assert_str_neq(later.info.store_id, host.info.store_id);
    cr_assert_eq(host_status(host_session(&later, 8, 30000)), PAWL_OK);
    cr_assert_eq(host_number(&later, 8, 1, "job"), 1);
    /* Nor does the old one come back to life beside it. */
    cr_assert_eq(host_status(host_enqueue(&host, 7, 4, "job", false)), PAWL_E_STORE);
    host_close(&host, 1000);
    cr_assert_eq(host_status(host_look(&later, 8, 1, "job")), PAWL_OK);
    host_close(&later, 1000);
}

/* Another database under its name: found by the file, also before anybody else is there. */
Test(local_store, replaced_store_is_an_error)
{
    struct host host;
    char other[64], other_db[128];

    (void)one_number(1);
    host_make_dir(other);
    (void)snprintf(other_db, sizeof(other_db), "%s/pawl.db", other);
    struct host second;
    cr_assert_eq(host_open(&second, other, NULL), PAWL_OK);
    host_close(&second, 1000);
    cr_assert_eq(host_open(&host, dir, NULL), PAWL_OK);
    cr_assert_eq(host_status(host_session(&host, 7, 30000)), PAWL_OK);
    cr_assert_eq(host_status(host_list(&host, NULL)), PAWL_OK);
    cr_assert_eq(rename(other_db, db), 0);
    cr_assert_eq(host_status(host_enqueue(&host, 7, 1, "job", false)), PAWL_E_STORE);
    cr_assert_eq(host_status(host_list(&host, NULL)), PAWL_E_STORE);
    cr_assert_eq(host_status(host_renew(&host, 7, NULL, 0)), PAWL_E_LOST);
    host_close(&host, 1000);
    host_remove_dir(other);
}

/* The gate file replaced: both processes meet at the new one. */
Test(local_store, replaced_gate_is_found)
{
    struct host host;
    struct peer peer;
    char gate[128];

    cr_assert_eq(host_open(&host, dir, NULL), PAWL_OK);
    cr_assert_eq(host_status(host_session(&host, 7, 30000)), PAWL_OK);
    (void)snprintf(gate, sizeof(gate), "%s/gate", dir);
    cr_assert_eq(unlink(gate), 0);
    cr_assert_eq(peer_start(&peer, dir, "local.gate.entered=stop").status, PAWL_OK);
    peer_tell(&peer, "session 8 30000");
    cr_assert(peer_wait_stopped(&peer));
    /* Ours waits for the peer at the new file. */
    struct pawl__want want = {"job", PAWL__MODE_X};
    struct pawl__enqueue enqueue = {7, 1, &want, 1, "{}", false};
    uint64_t op = host_op(&host);
    cr_assert_eq(pawl__backend_enqueue(host.backend, op, &enqueue), PAWL_OK);
    struct pawl__backend_event *event = host_answer(&host, op, 300);
    cr_assert_null(event, "%d %s", event->status, event->text);
    cr_assert_eq(kill(peer.pid, SIGCONT), 0);
    cr_assert_eq(host_status(host_answer(&host, op, 5000)), PAWL_OK);
    cr_assert_eq(peer_hear(&peer, 5000).status, PAWL_OK);
    peer_kill(&peer);
    host_close(&host, 1000);
}

/* A WAL left of a store that was removed is not taken for the new one's. */
Test(local_store, old_wal_is_not_taken)
{
    struct host host;

    cr_assert_eq(host_open(&host, dir, NULL), PAWL_OK);
    cr_assert_eq(host_status(host_session(&host, 7, 0)), PAWL_OK);
    (void)host_number(&host, 7, 1, "job");
    host_close(&host, 1000);
    cr_assert_eq(unlink(db), 0);
    cr_assert_eq(one_number(8), 1);
    cr_assert_eq(read_sql("SELECT count(*) FROM entry"), 0);
}

/* ---- Failures ---- */

/* Changes when another connection commits. */
static int data_version(sqlite3 *raw)
{
    sqlite3_stmt *stmt = NULL;

    cr_assert_eq(sqlite3_prepare_v2(raw, "PRAGMA data_version", -1, &stmt, NULL), SQLITE_OK);
    cr_assert_eq(sqlite3_step(stmt), SQLITE_ROW);
    int version = sqlite3_column_int(stmt, 0);
    sqlite3_finalize(stmt);
    return version;
}

/* A commit that failed half-way is UNKNOWN. The next look tells which it was, and writes: what lies
 * half-written in the WAL must not count after a crash. */
Test(local_store, failed_commit_is_unknown)
{
    struct host host;
    sqlite3 *raw = NULL;

    cr_assert_eq(host_open(&host, dir, NULL), PAWL_OK);
    cr_assert_eq(host_status(host_session(&host, 7, 30000)), PAWL_OK);
    cr_assert_eq(sqlite3_open_v2(db, &raw, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    pawl__fault_set("local.commit.before=error:1");
    cr_assert_eq(host_status(host_enqueue(&host, 7, 1, "job", false)), PAWL_E_UNKNOWN);
    int before = data_version(raw);
    struct pawl__backend_event *event = host_look(&host, 7, 1, "job");
    cr_assert_eq(event->status, PAWL_OK);
    cr_assert_not(event->views[0].own_present);
    pawl__backend_event_free(event);
    int after = data_version(raw);
    cr_assert_neq(after, before);
    /* Once is enough. */
    cr_assert_eq(host_status(host_look(&host, 7, 1, "job")), PAWL_OK);
    cr_assert_eq(data_version(raw), after);

    pawl__fault_set("local.commit.after=error:1");
    cr_assert_eq(host_status(host_enqueue(&host, 7, 2, "job", false)), PAWL_E_UNKNOWN);
    event = host_look(&host, 7, 2, "job");
    cr_assert_eq(event->status, PAWL_OK);
    cr_assert(event->views[0].own_present);
    pawl__backend_event_free(event);
    sqlite3_close(raw);
    host_close(&host, 1000);
}

/* A failure before the commit is certainly not done. */
Test(local_store, failure_before_commit_is_not_done)
{
    struct host host;

    cr_assert_eq(host_open(&host, dir, NULL), PAWL_OK);
    cr_assert_eq(host_status(host_session(&host, 7, 30000)), PAWL_OK);
    pawl__fault_set("local.begin=error:1");
    cr_assert_eq(host_status(host_enqueue(&host, 7, 1, "job", false)), PAWL_E_UNAVAILABLE);
    struct pawl__backend_event *event = host_look(&host, 7, 1, "job");
    cr_assert_not(event->views[0].own_present);
    pawl__backend_event_free(event);
    host_close(&host, 1000);
}

/* Writes until nothing more fits; the descriptor of the file. */
static int fill_disk(char junk[128])
{
    static char zero[65536];
    size_t chunk = sizeof(zero);

    (void)snprintf(junk, 128, "%s/junk", dir);
    int fd = open(junk, O_WRONLY | O_CREAT, 0600);
    cr_assert_geq(fd, 0);
    while (chunk > 0) {
        ssize_t len = write(fd, zero, chunk);
        chunk = len == (ssize_t)chunk ? chunk : chunk / 2;
    }
    return fd;
}

static void mount_small(void)
{
    if (mount("tmpfs", dir, "tmpfs", 0, "size=2m,mode=0700") != 0) {
        cr_skip_test("missing: the right to mount");
    }
}

/* A disk that is full refuses new entries; those that are held are released, and it goes on. */
Test(local_store, full_disk_can_release)
{
    struct host host;
    char junk[128];
    struct pawl__want wants[40];
    static char names[40][16];

    mount_small();
    cr_assert_eq(host_open(&host, dir, NULL), PAWL_OK);
    cr_assert_eq(host_status(host_session(&host, 7, 30000)), PAWL_OK);
    for (int i = 0; i < 40; i++) {
        (void)snprintf(names[i], sizeof(names[i]), "name-%d", i);
        wants[i] = (struct pawl__want){names[i], PAWL__MODE_X};
    }
    struct pawl__backend_event *event = host_enqueue_all(&host, 7, 1, wants, 40, false);
    cr_assert_eq(event->status, PAWL_OK);
    uint64_t number = event->views[0].own_number;
    pawl__backend_event_free(event);

    int fd = fill_disk(junk);
    pawl_status status = PAWL_OK;
    for (uint64_t i = 2; i < 2000 && status == PAWL_OK; i++) {
        status = host_status(host_enqueue_all(&host, 7, i, wants, 40, false));
    }
    cr_assert_eq(status, PAWL_E_UNAVAILABLE);
    cr_assert_eq(host_status(host_renew(&host, 7, &number, 1)), PAWL_OK);
    cr_assert_eq(host_status(host_remove_all(&host, 7, 1, number, wants, 40)), PAWL_OK);
    cr_assert_eq(host_status(host_session_close(&host, 7, false)), PAWL_OK);

    (void)unlink(junk);
    close(fd);
    cr_assert_eq(host_status(host_session(&host, 8, 30000)), PAWL_OK);
    cr_assert_gt(host_number(&host, 8, 1, "job"), number);
    host_close(&host, 1000);
    (void)umount2(dir, MNT_DETACH);
}

/* The same when the WAL is empty, so that there is no room in it: the ballast makes some. */
Test(local_store, full_disk_with_empty_wal)
{
    struct host host;
    char junk[128];

    mount_small();
    cr_assert_eq(host_open(&host, dir, NULL), PAWL_OK);
    cr_assert_eq(host_status(host_session(&host, 7, 30000)), PAWL_OK);
    uint64_t number = host_number(&host, 7, 1, "job");
    run_sql("PRAGMA wal_checkpoint(TRUNCATE)");
    int fd = fill_disk(junk);

    cr_assert_eq(host_status(host_remove(&host, 7, 1, number, "job")), PAWL_OK);
    struct pawl__backend_event *event = host_list(&host, NULL);
    cr_assert_eq(event->status, PAWL_OK);
    cr_assert_eq(event->entry_count, 0);
    pawl__backend_event_free(event);
    cr_assert_eq(host_status(host_session_close(&host, 7, false)), PAWL_OK);
    host_close(&host, 1000);
    close(fd);
    (void)umount2(dir, MNT_DETACH);
}
