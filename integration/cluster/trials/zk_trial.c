/* Tries every ZooKeeper call of backends/README.md once, by hand: zk_trial HOST:PORT.
 *
 * Prints each call with its reply, and "pass - ..." or "FAIL - ..." for what the page rests on.
 * Exit 1 when a fact does not hold. The server is started by the script zk_trial. */
#include "zk_calls.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define TTL     6000
#define SESSION "/pawl/session/1122334455667788"
#define OTHER   "/pawl/session/0badcafe0badcafe"
#define META    "/pawl/meta/store"
/* Sent with every renewal: a set replaces the data, so the record goes along each time. */
#define RECORD      "{\"v\":1,\"ttl_ms\":6000}"
#define ENTRY_FLAGS (ZOO_EPHEMERAL | ZOO_SEQUENCE)

static const char *hosts;
static zhandle_t *zh;    /* the session of the trial */
static zhandle_t *other; /* another contender */
static struct seen own_events, other_events;
static int meta_version;

/* ".../_c_<session><attempt>-lock-": the server appends the sequence. */
static const char *entry(char *buf, size_t size, const char *name, const char *session,
                         unsigned attempt)
{
    snprintf(buf, size, "/pawl/lock/%s/_c_%s%016x-lock-", name, session, attempt);
    return buf;
}

static void add_head(struct batch *b, const char *session)
{
    add_check(b, META, meta_version); /* the epoch */
    add_set(b, session, RECORD, -1);  /* renewal; its mzxid is the number of the entries */
}

/* Enqueues one entry quietly enough; returns its path in `path`. */
static int enqueue(zhandle_t *handle, const char *session, const char *name, unsigned attempt,
                   char *path, int64_t *number)
{
    bool mine = handle == zh;
    char prefix[200];
    struct batch b = {0};
    struct reply r;
    add_head(&b, session);
    add_create(&b,
               entry(prefix, sizeof(prefix), name, mine ? "1122334455667788" : "0badcafe0badcafe",
                     attempt),
               "{\"v\":1}", ENTRY_FLAGS);
    int rc = do_multi(handle, &b, &r);
    if (rc == ZOK) {
        snprintf(path, 256, "%s", b.paths[2]);
        *number = b.stats[1].mzxid;
    }
    return rc;
}

static void container(const char *name)
{
    char path[200];
    struct reply r;
    snprintf(path, sizeof(path), "/pawl/lock/%s", name);
    do_create(zh, path, "", ZOO_CONTAINER, &r);
}

/* ---- open ---- */

static void try_open(void)
{
    struct reply r;
    step("open: connect; roots on demand; identity made once");
    zh = connect_to(hosts, TTL, NULL, &own_events);
    check(zh != NULL && zoo_recv_timeout(zh) == TTL, "connected, granted timeout read");
    const char *roots[] = {"/pawl",         "/pawl/meta", "/pawl/lock",
                           "/pawl/session", "/pawl/kv",   "/pawl/kv/t"};
    for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
        do_create(zh, roots[i], "", 0, &r);
    }
    do_create(zh, META, "{\"v\":1,\"epoch\":\"1\"}", 0, &r);
    check(do_create(zh, META, "{}", 0, &r) == ZNODEEXISTS, "the second create: -110");
    check(do_get(zh, META, NULL, &r) == ZOK, "it is read");
    meta_version = r.stat.version;
    do_children(zh, "/pawl", &r);
    check(r.count == 4, "no foreign root inside ours: the children are our key spaces");
    step("open: ttl is given when the handle is made, before session_open");
    struct seen events;
    zhandle_t *brief = connect_to(hosts, 100, NULL, &events);
    check(zoo_recv_timeout(brief) == 1000, "asked 100 ms, granted 2 ticks");
    zookeeper_close(brief);
    brief = connect_to(hosts, 60000, NULL, &events);
    check(zoo_recv_timeout(brief) == 10000, "asked 60 s, granted 20 ticks: the granted one counts");
    zookeeper_close(brief);
}

/* ---- session_open, session_renew ---- */

static int make_session(zhandle_t *handle, const char *session)
{
    char marks[100];
    struct batch b = {0};
    struct reply r;
    snprintf(marks, sizeof(marks), "%s-marks", session);
    add_create(&b, session, RECORD, ZOO_EPHEMERAL);
    add_create(&b, marks, "[]", ZOO_EPHEMERAL);
    return do_multi(handle, &b, &r);
}

static void try_session_open(void)
{
    struct reply r;
    step("session_open: the node of the session and the box for marks");
    check(make_session(zh, SESSION) == ZOK, "both made in one multi");
    step("session_open: repeated after a lost reply");
    check(make_session(zh, SESSION) == ZNODEEXISTS, "-110");
    do_exists(zh, SESSION, NULL, &r);
    check(r.stat.ephemeralOwner == zoo_client_id(zh)->client_id,
          "owner is the own session id: adopted");
    other = connect_to(hosts, TTL, NULL, &other_events);
    make_session(other, OTHER);
    check(do_create(zh, SESSION "/m", "", 0, &r) == ZNOCHILDRENFOREPHEMERALS,
          "a mark cannot be a child of the session's node: -108");
}

static void try_session_renew(void)
{
    char path[256], gone[] = "/pawl/lock/renew/_c_gone-lock-0000000009";
    int64_t number = 0;
    struct reply set[3], held[2], marks;
    container("renew");
    enqueue(zh, SESSION, "renew", 1, path, &number);
    step("session_renew: one write, sweep and marks pipelined behind it (R1; R2, R3 are the same)");
    start_set(zh, SESSION, RECORD, -1, &set[0]);
    start_exists(zh, path, NULL, &held[0]);
    start_exists(zh, gone, NULL, &held[1]);
    start_get(zh, SESSION "-marks", NULL, &marks);
    check(await(&set[0], "R1") == ZOK, "R1 confirmed");
    check(await(&held[0], "held") == ZOK && held[0].stat.czxid == number, "held entry is there");
    check(await(&held[1], "held") == ZNONODE, "the other is gone: -101");
    check(await(&marks, "marks") == ZOK && strcmp(marks.text, "[]") == 0, "no mark");
    do_set(zh, SESSION, RECORD, -1, &set[1]);
    do_set(zh, SESSION, RECORD, -1, &set[2]);
    check(set[2].rc == ZOK && set[2].stat.mzxid > set[1].stat.mzxid,
          "R2, R3 on the same connection complete the evidence");
    check(zoo_recv_timeout(zh) == TTL, "the granted timeout is read again after each reconnect");
}

/* ---- enqueue ---- */

static void try_enqueue_new_queue(void)
{
    char prefix[200], path[256];
    int64_t number = 0;
    struct batch b = {0};
    struct reply made, multi, list, r;
    step("enqueue: queue not there, no container made");
    check(enqueue(zh, SESSION, "job%2F1", 1, path, &number) == ZNONODE, "-101, nothing written");
    step("enqueue: container, multi and list sent together, one round trip");
    start_create(zh, "/pawl/lock/job%2F1", "", ZOO_CONTAINER, &made);
    add_head(&b, SESSION);
    add_create(&b, entry(prefix, sizeof(prefix), "job%2F1", "1122334455667788", 2), "{\"v\":1}",
               ENTRY_FLAGS);
    start_multi(zh, &b, &multi);
    start_children(zh, "/pawl/lock/job%2F1", &list);
    check(await(&made, "container") == ZOK, "container made");
    check(await(&multi, "multi") == ZOK, "enqueued");
    printf("       created %s, session mzxid 0x%llx\n", b.paths[2], (long long)b.stats[1].mzxid);
    check(await(&list, "list") == ZOK && list.count == 1, "the list shows us alone: first in line");
    do_exists(zh, b.paths[2], NULL, &r);
    check(r.stat.czxid == b.stats[1].mzxid, "number: the session's mzxid is the entry's czxid");
    check(r.stat.ephemeralOwner == zoo_client_id(zh)->client_id, "owner: ephemeralOwner");
    check(do_create(zh, "/pawl/lock/job%2F1", "", ZOO_CONTAINER, &made) == ZNODEEXISTS,
          "the container of a known queue: -110, ignored");
}

static void try_enqueue_behind(void)
{
    char first[256], second[256];
    int64_t n1 = 0, n2 = 0;
    struct seen watch = {0};
    struct reply r;
    container("behind");
    enqueue(other, OTHER, "behind", 1, first, &n1);
    step("enqueue: behind another; the blocker's number costs a second round trip");
    enqueue(zh, SESSION, "behind", 1, second, &n2);
    do_children(zh, "/pawl/lock/behind", &r);
    check(r.count == 2, "STRAIN: the list gives names and sequences, no czxid, no payload");
    do_get(zh, first, &watch, &r);
    check(r.stat.czxid == n1 && n1 < n2, "zoo_awget on the predecessor: number, payload and watch");
    step("watch: the predecessor goes");
    do_delete(other, first, &r);
    check(await_watch(&watch, 1) && watch.type == ZOO_DELETED_EVENT, "DELETED comes, once");
    watch = (struct seen){0};
    check(do_get(zh, first, &watch, &r) == ZNONODE,
          "gone already: -101, no watch left: hint at once");
    step("unwatch");
    struct seen own = {0};
    do_get(zh, second, &own, &r);
    check(do_unwatch(zh, second, &own, &r) == ZOK, "the watch is taken back");
    int before = own.calls;
    do_delete(zh, second, &r);
    do_set(zh, SESSION, RECORD, -1, &r);
    check(own.type != ZOO_DELETED_EVENT && own.calls == before, "its node goes: no call");
}

static void try_enqueue_several(void)
{
    char prefix[200];
    struct batch b = {0};
    struct reply r, first, second;
    container("m1");
    container("m2");
    step("enqueue: several names, all or none, one number");
    add_head(&b, SESSION);
    add_create(&b, entry(prefix, sizeof(prefix), "m1", "1122334455667788", 3), "{}", ENTRY_FLAGS);
    char again[200];
    add_create(&b, entry(again, sizeof(again), "m2", "1122334455667788", 3), "{}", ENTRY_FLAGS);
    check(do_multi(zh, &b, &r) == ZOK, "one multi");
    do_exists(zh, b.paths[2], NULL, &first);
    do_exists(zh, b.paths[3], NULL, &second);
    check(first.stat.czxid == second.stat.czxid && first.stat.czxid == b.stats[1].mzxid,
          "both have the multi's zxid (so have two requests of one group commit: STRAIN)");
    struct batch failing = {0};
    add_head(&failing, SESSION);
    add_create(&failing, prefix, "{}", ENTRY_FLAGS);
    add_create(&failing, "/pawl/lock/none/_c_x-lock-", "{}", ENTRY_FLAGS);
    check(do_multi(zh, &failing, &r) == ZNONODE, "one queue missing: -101 for all");
    do_children(zh, "/pawl/lock/m1", &r);
    check(r.count == 1, "nothing written in the other queue");
    step("remove: several names");
    struct batch gone = {0};
    do_delete(zh, b.paths[2], &r);
    add_delete(&gone, b.paths[2]);
    add_delete(&gone, b.paths[3]);
    check(do_multi(zh, &gone, &r) == ZNONODE,
          "STRAIN: a multi of deletes fails whole when one is gone");
    start_delete(zh, b.paths[2], &first);
    start_delete(zh, b.paths[3], &second);
    check(await(&first, "delete") == ZNONODE, "single deletes, pipelined: -101 is OK");
    check(await(&second, "delete") == ZOK, "the other is deleted");
}

static void try_only_if_free(void)
{
    char path[256], prefix[200];
    int64_t number = 0;
    struct reply list, r;
    container("try");
    step("enqueue, only_if_free: look first; taken: nothing is written");
    enqueue(other, OTHER, "try", 1, path, &number);
    do_children(zh, "/pawl/lock/try", &list);
    check(list.count == 1, "somebody is there: E_TIMEOUT");
    do_delete(other, path, &r);
    step("enqueue, only_if_free: free, guarded by the queue's version");
    do_children(zh, "/pawl/lock/try", &list);
    struct batch b = {0};
    add_head(&b, SESSION);
    add_set(&b, "/pawl/lock/try", "", list.stat.version);
    add_create(&b, entry(prefix, sizeof(prefix), "try", "1122334455667788", 4), "{}", ENTRY_FLAGS);
    struct batch race = {0};
    add_head(&race, OTHER);
    add_set(&race, "/pawl/lock/try", "", -1);
    add_create(&race, "/pawl/lock/try/_c_race-lock-", "{}", ENTRY_FLAGS);
    do_multi(other, &race, &r);
    check(do_multi(zh, &b, &r) == ZBADVERSION,
          "another came between: -103, nothing written (if every enqueue sets the queue's node)");
    do_delete(other, race.paths[3], &r);
    step("enqueue, only_if_free: free, without that guard: enqueue, list, take back");
    struct reply multi;
    struct batch plain = {0};
    add_head(&plain, SESSION);
    add_create(&plain, prefix, "{}", ENTRY_FLAGS);
    start_multi(zh, &plain, &multi);
    start_children(zh, "/pawl/lock/try", &list);
    check(await(&multi, "multi") == ZOK && await(&list, "list") == ZOK && list.count == 1,
          "alone: granted in one round trip");
    do_delete(zh, plain.paths[2], &r);
}

static void try_refused(void)
{
    char prefix[200];
    struct reply r;
    struct batch epoch = {0};
    container("refused");
    entry(prefix, sizeof(prefix), "refused", "1122334455667788", 12);
    step("enqueue: the epoch was raised");
    add_check(&epoch, META, meta_version + 1);
    add_set(&epoch, SESSION, RECORD, -1);
    add_create(&epoch, prefix, "{}", ENTRY_FLAGS);
    check(do_multi(zh, &epoch, &r) == ZBADVERSION && epoch.results[0].err == ZBADVERSION,
          "-103 at the first op: E_STORE");
    step("enqueue: the session's node is gone");
    struct batch lost = {0};
    add_head(&lost, "/pawl/session/00000000000000ff");
    add_create(&lost, prefix, "{}", ENTRY_FLAGS);
    check(do_multi(zh, &lost, &r) == ZNONODE && lost.results[1].err == ZNONODE,
          "-101 at the second op: E_LOST");
}

static void try_sixty_four(void)
{
    static struct batch b;
    static char prefix[64][200];
    static char payload[2049];
    char name[32];
    struct reply r, first, last;
    step("enqueue: 64 names, payload 2 KiB");
    memset(payload, 'p', sizeof(payload) - 1);
    add_head(&b, SESSION);
    for (int i = 0; i < 64; i++) {
        snprintf(name, sizeof(name), "many%02d", i);
        container(name);
        entry(prefix[i], sizeof(prefix[i]), name, "1122334455667788", 13);
        add_create(&b, prefix[i], payload, ENTRY_FLAGS);
    }
    check(do_multi(zh, &b, &r) == ZOK, "66 ops pass");
    do_exists(zh, b.paths[2], NULL, &first);
    do_exists(zh, b.paths[65], NULL, &last);
    check(first.stat.czxid == b.stats[1].mzxid && last.stat.czxid == b.stats[1].mzxid,
          "first and last have the czxid of the multi");
    for (int i = 0; i < 64; i++) {
        do_delete(zh, b.paths[2 + i], &r);
    }
}

/* ---- look, remove ---- */

static void try_look(void)
{
    char path[256];
    int64_t number = 0;
    struct reply set, list, r;
    container("look");
    enqueue(zh, SESSION, "look", 5, path, &number);
    step("look, also with settle: a write on the present connection, then the list behind it");
    start_set(zh, SESSION, RECORD, -1, &set);
    start_children(zh, "/pawl/lock/look", &list);
    check(await(&set, "set") == ZOK && await(&list, "list") == ZOK, "one round trip");
    check(list.count == 1 && strstr(list.names[0], "11223344556677880000000000000005") != NULL,
          "session and attempt are in the name: the own entry is found without a number");
    char found[256];
    snprintf(found, sizeof(found), "/pawl/lock/look/%s", list.names[0]);
    do_exists(zh, found, NULL, &r);
    check(r.stat.czxid == number, "adopted after a lost reply: number by zoo_aexists");
    step("remove: by unique path");
    check(do_delete(zh, path, &r) == ZOK, "deleted");
    check(do_delete(zh, path, &r) == ZNONODE, "again: -101, OK");
    check(do_delete(zh, "/pawl/lock/look", &r) == ZOK, "last one: the container goes too");
    container("look");
    char again[256];
    int64_t newer = 0;
    enqueue(zh, SESSION, "look", 6, again, &newer);
    check(strcmp(path + strlen(path) - 10, again + strlen(again) - 10) == 0 && newer > number,
          "a new container counts from 0 again: the sequence repeats, guid and czxid do not");
    check(do_delete(zh, "/pawl/lock/look", &r) == ZNOTEMPTY, "not empty: -111, ignored");
    do_delete(zh, again, &r);
}

/* ---- mark, list ---- */

static void try_mark(void)
{
    char victim[256], waiter[256];
    int64_t n1 = 0, n2 = 0;
    struct reply list, r;
    struct seen watch = {0};
    container("brk");
    enqueue(other, OTHER, "brk", 7, victim, &n1);
    enqueue(zh, SESSION, "brk", 7, waiter, &n2);
    do_get(other, OTHER "-marks", &watch, &r);
    step("mark: the path of a number: binary search by sequence, zoo_aexists each");
    do_children(zh, "/pawl/lock/brk", &list);
    bool found = false;
    for (int i = 0; i < list.count && !found; i++) {
        char path[256];
        snprintf(path, sizeof(path), "/pawl/lock/brk/%s", list.names[i]);
        found =
            do_exists(zh, path, NULL, &r) == ZOK && r.stat.czxid == n1 && strcmp(path, victim) == 0;
    }
    check(found, "czxid leads to the path; its first 16 hex digits name the session");
    step("mark: entry there, mark put into the victim's box");
    do_get(zh, OTHER, NULL, &r);
    do_get(zh, OTHER "-marks", NULL, &r);
    struct batch b = {0};
    add_check(&b, victim, -1);
    add_set(&b, OTHER "-marks", "[{\"attempt\":\"7\",\"by\":\"os:ann@host\"}]", r.stat.version);
    check(do_multi(zh, &b, &r) == ZOK, "marked; check with version -1 is 'exists'");
    check(await_watch(&watch, 1) && watch.type == ZOO_CHANGED_EVENT, "the victim is woken at once");
    do_get(other, OTHER "-marks", &watch, &r);
    check(strstr(r.text, "\"attempt\":\"7\"") != NULL, "and reads it with the renewal");
    step("mark: a box that changed in between");
    check(do_multi(zh, &b, &r) == ZBADVERSION && b.results[1].err == ZBADVERSION,
          "-103: read the box again");
    step("mark, now: entry deleted, record put, one multi");
    do_get(zh, OTHER "-marks", NULL, &r);
    struct batch now = {0};
    add_delete(&now, victim);
    add_set(&now, OTHER "-marks", "[{\"attempt\":\"7\",\"now\":true}]", r.stat.version);
    check(do_multi(zh, &now, &r) == ZOK, "removed");
    check(do_multi(zh, &now, &r) == ZNONODE, "again: -101: E_FENCED");
    do_delete(zh, waiter, &r);
}

static void try_list(void)
{
    char path[256];
    int64_t number = 0;
    struct reply names, list, r, box;
    container("list");
    enqueue(other, OTHER, "list", 8, path, &number);
    step("list: flush, then names, then each queue, then each entry, pipelined");
    struct reply flush;
    memset(&flush, 0, sizeof(flush));
    start_set(zh, SESSION, RECORD, -1, &flush);
    start_children(zh, "/pawl/lock", &names);
    start_children(zh, "/pawl/lock/list", &list);
    await(&flush, "set");
    await(&names, "names");
    await(&list, "queue");
    check(names.count > 1 && list.count == 1, "a queue at one point; several at several: STRAIN");
    do_get(zh, path, NULL, &r);
    check(r.stat.czxid == number, "number and payload by zoo_aget of each entry");
    do_get(zh, OTHER "-marks", NULL, &box);
    check(box.rc == ZOK, "'marked' from the session's box; how long it lives nobody tells: STRAIN");
    start_sync(zh, "/pawl/lock", &flush);
    start_children(zh, "/pawl/lock/list", &list);
    check(await(&flush, "sync") == ZOK && await(&list, "queue") == ZOK,
          "without a session node: zoo_async before it");
    do_delete(other, path, &r);
    check(do_get(zh, path, NULL, &r) == ZNONODE, "an entry that went in between is left out");
}

/* ---- Store API ---- */

static void add_transaction(struct batch *b, const char *hold, int version)
{
    add_head(b, SESSION);
    add_create(b, SESSION "-op-a1", "", ZOO_EPHEMERAL);         /* the attempt */
    add_check(b, hold, -1);                                     /* hold is there */
    add_set(b, "/pawl/kv/t/one", "{\"v\":1}\n2", version);      /* record at revision + put */
    add_create(b, "/pawl/kv/t/two", "{\"v\":1}\nnew", 0);       /* absent + put */
    add_set(b, "/pawl/kv/t/three", "{\"v\":1,\"dead\":1}", -1); /* delete = tombstone */
    add_set(b, "/pawl/kv/t", "", -1);                           /* the table's bell */
}

static void try_store(void)
{
    char hold[256];
    int64_t number = 0;
    struct seen record = {0}, table = {0};
    struct reply r;
    container("tx");
    enqueue(zh, SESSION, "tx", 9, hold, &number);
    do_create(zh, "/pawl/kv/t/one", "{\"v\":1}\n1", 0, &r);
    do_create(zh, "/pawl/kv/t/three", "{\"v\":1}\n3", 0, &r);
    step("store get: one record, fresh by a write before it");
    do_set(zh, SESSION, RECORD, -1, &r);
    do_get(zh, "/pawl/kv/t/one", &record, &r);
    check(r.stat.version == 0, "version is the record revision");
    int version = r.stat.version;
    check(do_get(zh, "/pawl/kv/t/none", NULL, &r) == ZNONODE, "absent: -101");
    do_get(zh, "/pawl/kv/t", &table, &r);
    step("store transact: hold there, record at revision, record absent; put, delete; attempt");
    struct batch b = {0};
    add_transaction(&b, hold, version);
    check(do_multi(zh, &b, &r) == ZOK, "committed");
    check(b.stats[4].version == version + 1, "new revision from the set's Stat");
    check(await_watch(&record, 1) && record.type == ZOO_CHANGED_EVENT, "watch of a record");
    check(await_watch(&table, 1) && table.type == ZOO_CHANGED_EVENT, "watch of a table: its node");
    check(do_multi(zh, &b, &r) == ZNODEEXISTS && b.results[2].err == ZNODEEXISTS,
          "again: -110 at the attempt: done before");
    check(b.results[0].err == 0 && b.results[3].err == ZRUNTIMEINCONSISTENCY,
          "results before the failing one read 0, after it -2");
    step("store transact: settle, then forget the attempt");
    struct reply set, op;
    start_set(zh, SESSION, RECORD, -1, &set);
    start_exists(zh, SESSION "-op-a1", NULL, &op);
    check(await(&set, "set") == ZOK && await(&op, "attempt") == ZOK, "there = done");
    do_delete(zh, SESSION "-op-a1", &r);
    step("store transact: refused");
    struct batch stale = {0};
    add_head(&stale, SESSION);
    add_check(&stale, hold, -1);
    add_set(&stale, "/pawl/kv/t/one", "x", version);
    check(do_multi(zh, &stale, &r) == ZBADVERSION, "record moved: -103: E_CONFLICT");
    do_delete(zh, hold, &r);
    check(do_multi(zh, &stale, &r) == ZNONODE && stale.results[2].err == ZNONODE,
          "hold gone: -101 at its check: E_FENCED");
    struct batch absent = {0};
    add_create(&absent, "/pawl/kv/t/four", "", 0);
    add_delete(&absent, "/pawl/kv/t/four");
    check(do_multi(zh, &absent, &r) == ZOK, "absent as a guard alone: create and delete");
    step("store list: a table");
    do_children(zh, "/pawl/kv/t", &r);
    check(r.count == 3, "names; then zoo_aget of each; not_snapshot; tombstones left out");
}

/* ---- fork, close, end of a session ---- */

/* The descriptor of the handle: the socket whose peer is the connected server. */
static int find_socket(void)
{
    struct sockaddr_in peer = {0}, have = {0};
    socklen_t size = sizeof(peer);
    int best = -1;
    if (zookeeper_get_connected_host(zh, (struct sockaddr *)&peer, &size) == NULL) {
        return -1;
    }
    for (int fd = 3; fd < 256 && best < 0; fd++) {
        size = sizeof(have);
        if (getpeername(fd, (struct sockaddr *)&have, &size) == 0 && have.sin_family == AF_INET &&
            have.sin_port == peer.sin_port) {
            best = fd;
        }
    }
    return best;
}

static void try_fork_child(void)
{
    step("fork_child: the library does not give its descriptors");
    int fd = find_socket();
    int flags = fd < 0 ? 0 : fcntl(fd, F_GETFD);
    printf("       socket %s, FD_CLOEXEC %s\n", fd < 0 ? "not found" : "found by its peer",
           (flags & FD_CLOEXEC) != 0 ? "set" : "not set");
    check(fd >= 0, "STRAIN: found only by comparing peers after each CONNECTED");
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Mode "leave": opens a session, enqueues, and ends without a word, as after kill -9. */
static int leave_session(const char *session)
{
    char path[256];
    int64_t number = 0;
    other = connect_to(hosts, TTL, NULL, &other_events);
    if (other == NULL || make_session(other, session) != ZOK ||
        enqueue(other, session, "close", 11, path, &number) != ZOK) {
        return 1;
    }
    const unsigned char *raw = (const unsigned char *)zoo_client_id(other);
    printf("id %s ", path);
    for (size_t i = 0; i < sizeof(clientid_t); i++) {
        printf("%02x", raw[i]);
    }
    printf("\n");
    fflush(stdout);
    _exit(0);
}

/* Runs this program in mode "leave"; what it left is named by `path` and `id`. */
static bool read_orphan(char *path, clientid_t *id)
{
    char command[4300], self[4096] = "", line[4200], hex[80] = "";
    if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0) {
        return false;
    }
    snprintf(command, sizeof(command), "'%s' %s leave", self, hosts);
    FILE *child = popen(command, "r"); /* NOLINT(cert-env33-c): own program, own arguments */
    if (child == NULL) {
        return false;
    }
    bool found = false;
    while (fgets(line, (int)sizeof(line), child) != NULL) {
        printf("  %s", line);
        found = sscanf(line, "id %255s %79s", path, hex) == 2 || found;
    }
    unsigned char *raw = (unsigned char *)id;
    for (size_t i = 0; i < sizeof(*id) && found; i++) {
        char byte[3] = {hex[2 * i], hex[2 * i + 1], '\0'};
        raw[i] = (unsigned char)strtoul(byte, NULL, 16);
    }
    return pclose(child) == 0 && found;
}

static void try_orphan(void)
{
    char path[256] = "";
    clientid_t id;
    struct seen events;
    struct reply r;
    step("session_close after a CLOSE that was not sent: attach by id and password, close");
    check(read_orphan(path, &id), "a process leaves its session behind");
    check(do_exists(zh, path, NULL, &r) == ZOK, "its entry is still there");
    zhandle_t *heir = connect_to(hosts, TTL, &id, &events);
    check(heir != NULL && zookeeper_close(heir) == ZOK, "attached and closed");
    check(do_exists(zh, path, NULL, &r) == ZNONODE, "entries are gone, no ttl waited for");
}

static void try_expired(void)
{
    struct seen events;
    struct reply r;
    int rc = ZOK;
    step("any op after the end of the session");
    other = connect_to(hosts, TTL, NULL, &other_events);
    clientid_t id = *zoo_client_id(other);
    /* Two handles of one session throw each other out, so one close may not get through. */
    for (int i = 0; i < 20 && other_events.type != ZOO_EXPIRED_SESSION_STATE; i++) {
        zhandle_t *second = connect_to(hosts, TTL, &id, &events);
        if (second != NULL) {
            zookeeper_close(second);
        }
        await_watch(&other_events, other_events.calls + 1);
    }
    rc = do_set(other, META, "", -1, &r);
    check(rc == ZSESSIONEXPIRED || rc == ZINVALIDSTATE, "refused, -112 or -9: E_LOST");
    check(other_events.type == ZOO_EXPIRED_SESSION_STATE, "the watcher is told state -112");
    zookeeper_close(other);
}

static void try_session_close(void)
{
    char path[256];
    int64_t number = 0;
    struct reply r;
    container("close");
    enqueue(other, OTHER, "close", 10, path, &number);
    clientid_t id = *zoo_client_id(other);
    step("session_close: zookeeper_close");
    double start = seconds_now();
    check(zookeeper_close(other) == ZOK, "closed");
    printf("       %.0f ms\n", (seconds_now() - start) * 1000);
    check(do_exists(zh, path, NULL, &r) == ZNONODE, "entries are gone");
    check(do_exists(zh, OTHER, NULL, &r) == ZNONODE, "record is gone");
    step("session_close repeated: the session by id and password on a new handle");
    struct seen events;
    check(connect_to(hosts, TTL, &id, &events) == NULL && events.type == ZOO_EXPIRED_SESSION_STATE,
          "expired: nothing of it is left: OK");
    try_orphan();
    try_expired();
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "zk_trial: use: zk_trial HOST:PORT\n");
        return 64;
    }
    hosts = argv[1];
    setvbuf(stdout, NULL, _IOLBF, 0);
    zoo_set_debug_level((ZooLogLevel)0);
    if (argc > 2 && strcmp(argv[2], "leave") == 0) {
        return leave_session("/pawl/session/00000000000000aa");
    }
    try_open();
    try_session_open();
    try_session_renew();
    try_enqueue_new_queue();
    try_enqueue_behind();
    try_enqueue_several();
    try_only_if_free();
    try_refused();
    try_look();
    try_mark();
    try_list();
    try_store();
    try_sixty_four();
    try_fork_child();
    try_session_close();
    zookeeper_close(zh);
    printf("\n%d facts failed\n", zk_failed);
    return zk_failed == 0 ? 0 : 1;
}
