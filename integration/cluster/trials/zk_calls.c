/* See zk_calls.h. */
#include "zk_calls.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

int zk_failed;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

void step(const char *title)
{
    printf("\n== %s\n", title);
}

void check(bool condition, const char *format, ...)
{
    va_list args;
    printf("%s - ", condition ? "pass" : "FAIL");
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
    if (!condition) {
        zk_failed++;
    }
}

/* ---- Completions and watchers: copy and wake, nothing else (faults.md H07) ---- */

static void finish(struct reply *r, int rc)
{
    r->rc = rc;
    r->done = true;
    pthread_cond_broadcast(&cond);
    pthread_mutex_unlock(&mutex);
}

static void on_void(int rc, const void *data)
{
    pthread_mutex_lock(&mutex);
    finish((struct reply *)data, rc);
}

static void on_string(int rc, const char *value, const struct Stat *stat, const void *data)
{
    struct reply *r = (struct reply *)data;
    pthread_mutex_lock(&mutex);
    if (rc == ZOK) {
        snprintf(r->text, sizeof(r->text), "%s", value);
        r->stat = *stat;
    }
    finish(r, rc);
}

static void on_stat(int rc, const struct Stat *stat, const void *data)
{
    struct reply *r = (struct reply *)data;
    pthread_mutex_lock(&mutex);
    if (rc == ZOK) {
        r->stat = *stat;
    }
    finish(r, rc);
}

static void on_data(int rc, const char *value, int len, const struct Stat *stat, const void *data)
{
    struct reply *r = (struct reply *)data;
    pthread_mutex_lock(&mutex);
    if (rc == ZOK) {
        snprintf(r->text, sizeof(r->text), "%.*s", len < 0 ? 0 : len, value == NULL ? "" : value);
        r->stat = *stat;
    }
    finish(r, rc);
}

static void on_children(int rc, const struct String_vector *names, const struct Stat *stat,
                        const void *data)
{
    struct reply *r = (struct reply *)data;
    pthread_mutex_lock(&mutex);
    if (rc == ZOK) {
        r->count = names->count < ZK_NAMES_MAX ? names->count : ZK_NAMES_MAX;
        for (int i = 0; i < r->count; i++) {
            snprintf(r->names[i], sizeof(r->names[i]), "%s", names->data[i]);
        }
        r->stat = *stat;
    }
    finish(r, rc);
}

static void on_watch(zhandle_t *zh, int type, int state, const char *path, void *ctx)
{
    struct seen *seen = ctx;
    (void)zh;
    pthread_mutex_lock(&mutex);
    printf("watch  type %d state %d %s\n", type, state, path == NULL ? "" : path);
    seen->type = type == ZOO_SESSION_EVENT ? state : type;
    seen->calls++;
    pthread_cond_broadcast(&cond);
    pthread_mutex_unlock(&mutex);
}

static bool wait_once(const struct timespec *until)
{
    return pthread_cond_timedwait(&cond, &mutex, until) == 0;
}

static struct timespec in_seconds(int seconds)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += seconds;
    return until;
}

bool await_watch(const struct seen *watch, int calls)
{
    struct timespec until = in_seconds(3);
    pthread_mutex_lock(&mutex);
    while (watch->calls < calls && wait_once(&until)) {
    }
    bool called = watch->calls >= calls;
    pthread_mutex_unlock(&mutex);
    return called;
}

static void print_reply(const struct reply *r, const char *what)
{
    printf("reply  %s: rc %d", what, r->rc);
    if (r->text[0] != '\0') {
        printf(" \"%s\"", r->text);
    }
    if (r->stat.czxid != 0) {
        printf(" czxid 0x%llx mzxid 0x%llx version %d owner 0x%llx", (long long)r->stat.czxid,
               (long long)r->stat.mzxid, r->stat.version, (long long)r->stat.ephemeralOwner);
    }
    for (int i = 0; i < r->count; i++) {
        printf("\n       child %s", r->names[i]);
    }
    printf("\n");
}

int await(struct reply *r, const char *what)
{
    struct timespec until = in_seconds(10);
    pthread_mutex_lock(&mutex);
    while (!r->done && wait_once(&until)) {
    }
    if (!r->done) {
        r->rc = ZOPERATIONTIMEOUT;
    }
    print_reply(r, what);
    pthread_mutex_unlock(&mutex);
    return r->rc;
}

zhandle_t *connect_to(const char *hosts, int timeout_ms, const clientid_t *id, struct seen *session)
{
    printf("call   zookeeper_init2(\"...\", watcher, %d, %s, ctx, ZOO_NO_LOG_CLIENTENV, log)\n",
           timeout_ms, id == NULL ? "NULL" : "&id");
    *session = (struct seen){0};
    zhandle_t *zh =
        zookeeper_init2(hosts, on_watch, timeout_ms, id, session, ZOO_NO_LOG_CLIENTENV, NULL);
    struct timespec until = in_seconds(15);
    pthread_mutex_lock(&mutex);
    while (session->type != ZOO_CONNECTED_STATE && session->type != ZOO_EXPIRED_SESSION_STATE &&
           wait_once(&until)) {
    }
    bool connected = session->type == ZOO_CONNECTED_STATE;
    pthread_mutex_unlock(&mutex);
    if (!connected) {
        zookeeper_close(zh);
        return NULL;
    }
    printf("       session 0x%llx, granted %d ms\n", (long long)zoo_client_id(zh)->client_id,
           zoo_recv_timeout(zh));
    return zh;
}

/* ---- Single calls ---- */

static void begin(struct reply *r)
{
    memset(r, 0, sizeof(*r));
}

static void began(struct reply *r, int rc)
{
    if (rc != ZOK) { /* not sent: no completion will come */
        r->rc = rc;
        r->done = true;
    }
}

void start_create(zhandle_t *zh, const char *path, const char *data, int flags, struct reply *r)
{
    begin(r);
    printf("call   zoo_acreate2(%s, \"%s\", flags %d)\n", path, data, flags);
    began(r, zoo_acreate2(zh, path, data, (int)strlen(data), &ZOO_OPEN_ACL_UNSAFE, flags, on_string,
                          r));
}

void start_set(zhandle_t *zh, const char *path, const char *data, int version, struct reply *r)
{
    begin(r);
    printf("call   zoo_aset(%s, \"%s\", %d)\n", path, data, version);
    began(r, zoo_aset(zh, path, data, (int)strlen(data), version, on_stat, r));
}

void start_children(zhandle_t *zh, const char *path, struct reply *r)
{
    begin(r);
    printf("call   zoo_aget_children2(%s)\n", path);
    began(r, zoo_aget_children2(zh, path, 0, on_children, r));
}

void start_get(zhandle_t *zh, const char *path, struct seen *watch, struct reply *r)
{
    begin(r);
    printf("call   zoo_awget(%s, %s)\n", path, watch == NULL ? "no watch" : "watch");
    began(r, zoo_awget(zh, path, watch == NULL ? NULL : on_watch, watch, on_data, r));
}

void start_exists(zhandle_t *zh, const char *path, struct seen *watch, struct reply *r)
{
    begin(r);
    printf("call   zoo_awexists(%s, %s)\n", path, watch == NULL ? "no watch" : "watch");
    began(r, zoo_awexists(zh, path, watch == NULL ? NULL : on_watch, watch, on_stat, r));
}

void start_delete(zhandle_t *zh, const char *path, struct reply *r)
{
    begin(r);
    printf("call   zoo_adelete(%s, -1)\n", path);
    began(r, zoo_adelete(zh, path, -1, on_void, r));
}

static void on_path(int rc, const char *value, const void *data)
{
    struct reply *r = (struct reply *)data;
    pthread_mutex_lock(&mutex);
    if (rc == ZOK) {
        snprintf(r->text, sizeof(r->text), "%s", value);
    }
    finish(r, rc);
}

void start_sync(zhandle_t *zh, const char *path, struct reply *r)
{
    begin(r);
    printf("call   zoo_async(%s)\n", path);
    began(r, zoo_async(zh, path, on_path, r));
}

/* ---- Multi ---- */

static void describe(struct batch *b, const char *kind, const char *path, const char *data, int num)
{
    size_t used = strlen(b->line);
    snprintf(b->line + used, sizeof(b->line) - used, "\n         %s(%s, \"%s\", %d)", kind, path,
             data, num);
}

void add_create(struct batch *b, const char *path, const char *data, int flags)
{
    describe(b, "create", path, data, flags);
    zoo_create_op_init(&b->ops[b->count], path, data, (int)strlen(data), &ZOO_OPEN_ACL_UNSAFE,
                       flags, b->paths[b->count], (int)sizeof(b->paths[0]));
    b->count++;
}

void add_set(struct batch *b, const char *path, const char *data, int version)
{
    describe(b, "set", path, data, version);
    zoo_set_op_init(&b->ops[b->count], path, data, (int)strlen(data), version, &b->stats[b->count]);
    b->count++;
}

void add_check(struct batch *b, const char *path, int version)
{
    describe(b, "check", path, "", version);
    zoo_check_op_init(&b->ops[b->count], path, version);
    b->count++;
}

void add_delete(struct batch *b, const char *path)
{
    describe(b, "delete", path, "", -1);
    zoo_delete_op_init(&b->ops[b->count], path, -1);
    b->count++;
}

void start_multi(zhandle_t *zh, struct batch *b, struct reply *r)
{
    begin(r);
    printf("call   zoo_amulti(%d):%s\n", b->count, b->line);
    began(r, zoo_amulti(zh, b->count, b->ops, b->results, on_void, r));
}

int do_multi(zhandle_t *zh, struct batch *b, struct reply *r)
{
    start_multi(zh, b, r);
    int rc = await(r, "multi");
    for (int i = 0; i < b->count; i++) {
        printf("       [%d] err %d", i, b->results[i].err);
        if (rc == ZOK && b->paths[i][0] != '\0') {
            printf(" %s", b->paths[i]);
        }
        if (rc == ZOK && b->stats[i].mzxid != 0) {
            printf(" mzxid 0x%llx version %d", (long long)b->stats[i].mzxid, b->stats[i].version);
        }
        printf("\n");
    }
    return rc;
}

/* ---- Start and await ---- */

int do_create(zhandle_t *zh, const char *path, const char *data, int flags, struct reply *r)
{
    start_create(zh, path, data, flags, r);
    return await(r, "create");
}

int do_set(zhandle_t *zh, const char *path, const char *data, int version, struct reply *r)
{
    start_set(zh, path, data, version, r);
    return await(r, "set");
}

int do_children(zhandle_t *zh, const char *path, struct reply *r)
{
    start_children(zh, path, r);
    return await(r, "children");
}

int do_get(zhandle_t *zh, const char *path, struct seen *watch, struct reply *r)
{
    start_get(zh, path, watch, r);
    return await(r, "get");
}

int do_exists(zhandle_t *zh, const char *path, struct seen *watch, struct reply *r)
{
    start_exists(zh, path, watch, r);
    return await(r, "exists");
}

int do_delete(zhandle_t *zh, const char *path, struct reply *r)
{
    start_delete(zh, path, r);
    return await(r, "delete");
}

/* The header of 3.8.0 wants a pointer to the pointer and then uses it as the pointer itself. */
int do_unwatch(zhandle_t *zh, const char *path, struct seen *watch, struct reply *r)
{
    begin(r);
    printf("call   zoo_aremove_watches(%s, ZWATCHTYPE_DATA, watcher, ctx, 0)\n", path);
    began(r, zoo_aremove_watches(zh, path, ZWATCHTYPE_DATA, on_watch, watch, 0,
                                 (void_completion_t *)(uintptr_t)on_void, r));
    return await(r, "remove watch");
}
