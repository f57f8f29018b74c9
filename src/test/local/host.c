/* See host.h. */
#include "host.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/local/ops.h"
#include "core/url.h"

void host_make_dir(char out[64])
{
    const char *tmp = getenv("TMPDIR");

    (void)snprintf(out, 64, "%s/pawl-local.XXXXXX", tmp != NULL && strlen(tmp) < 40 ? tmp : "/tmp");
    if (mkdtemp(out) == NULL) {
        abort();
    }
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *walk)
{
    (void)st;
    (void)type;
    (void)walk;
    return remove(path);
}

void host_remove_dir(const char *dir)
{
    (void)nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

/* ---- The host ---------------------------------------------------------------------------------
 */

static void post(void *ctx, struct pawl__backend_event *event)
{
    struct host *host = ctx;

    pthread_mutex_lock(&host->mu);
    event->next = NULL;
    *host->tail = event;
    host->tail = &event->next;
    pthread_cond_broadcast(&host->cond);
    pthread_mutex_unlock(&host->mu);
}

static struct pawl__boot now(void *ctx)
{
    struct host *host = ctx;

    return pawl__boot_add(pawl__boot_now(), atomic_load(&host->shift_ms));
}

static struct pawl__backend_event *take(struct host *host, uint64_t op,
                                        enum pawl__backend_event_kind kind)
{
    for (struct pawl__backend_event **at = &host->first; *at != NULL; at = &(*at)->next) {
        struct pawl__backend_event *event = *at;
        if (op != 0 ? event->op == op : event->op == 0 && event->kind == kind) {
            *at = event->next;
            if (host->tail == &event->next) {
                host->tail = at;
            }
            event->next = NULL;
            return event;
        }
    }
    return NULL;
}

static struct pawl__backend_event *await(struct host *host, uint64_t op,
                                         enum pawl__backend_event_kind kind, int64_t timeout_ms)
{
    struct pawl__boot end = pawl__boot_add(pawl__boot_now(), timeout_ms);
    struct pawl__backend_event *event = NULL;

    pthread_mutex_lock(&host->mu);
    while ((event = take(host, op, kind)) == NULL) {
        int64_t left = pawl__boot_diff(end, pawl__boot_now());
        if (left <= 0) {
            break;
        }
        (void)pawl__cond_wait_ms(&host->cond, &host->mu, left);
    }
    pthread_mutex_unlock(&host->mu);
    return event;
}

struct pawl__backend_event *host_answer(struct host *host, uint64_t op, int64_t timeout_ms)
{
    return await(host, op, PAWL__BEV_WATCH, timeout_ms);
}

struct pawl__backend_event *host_hint(struct host *host, enum pawl__backend_event_kind kind,
                                      int64_t timeout_ms)
{
    return await(host, 0, kind, timeout_ms);
}

uint64_t host_op(struct host *host)
{
    return atomic_fetch_add(&host->next_op, 1) + 1;
}

pawl_status host_open_with(struct host *host, const char *dir, const char *store_id,
                           const char *root, pawl_error *err)
{
    struct pawl__url url;

    memset(host, 0, sizeof(*host));
    memset(&url, 0, sizeof(url));
    pthread_mutex_init(&host->mu, NULL);
    pthread_mutex_init(&host->call_mu, NULL);
    pawl__cond_init_monotonic(&host->cond);
    host->tail = &host->first;
    host->table = (struct pawl__backend_host){post, now, host};
    strcpy(url.scheme, "local");
    url.path = (char *)(uintptr_t)dir;
    struct pawl__backend_settings settings = {
        .url = &url,
        .store_id = store_id,
        .root = root,
        .principal = "os:test@here",
        .request_timeout_ms = 5000,
        .connect_timeout_ms = 2000,
    };
    return pawl__backend_open_with(&pawl__backend_local, &settings, &host->table, &host->backend,
                                   &host->info, err);
}

pawl_status host_open(struct host *host, const char *dir, pawl_error *err)
{
    return host_open_with(host, dir, NULL, "pawl", err);
}

void host_close(struct host *host, int64_t timeout_ms)
{
    pawl__backend_close(host->backend, timeout_ms);
    while (host->first != NULL) {
        struct pawl__backend_event *event = host->first;
        host->first = event->next;
        pawl__backend_event_free(event);
    }
    pthread_cond_destroy(&host->cond);
    pthread_mutex_destroy(&host->call_mu);
    pthread_mutex_destroy(&host->mu);
}

/* Members are called by one thread at a time, which in a client is its owner thread. */
#define STARTED(host, call) (pthread_mutex_lock(&(host)->call_mu), unlock_after((host), (call)))

static pawl_status unlock_after(struct host *host, pawl_status status)
{
    pthread_mutex_unlock(&host->call_mu);
    return status;
}

pawl_status host_watch(struct host *host, uint64_t watch, const char *name, uint64_t number)
{
    return STARTED(host, pawl__backend_watch(host->backend, watch, name, number));
}

/* ---- Ops --------------------------------------------------------------------------------------
 */

struct pawl__backend_event *host_session(struct host *host, uint64_t session, int64_t ttl_ms)
{
    uint64_t op = host_op(host);

    if (STARTED(host, pawl__backend_session_open(host->backend, op, session, ttl_ms)) != PAWL_OK) {
        return NULL;
    }
    return host_answer(host, op, HOST_WAIT_MS);
}

struct pawl__backend_event *host_renew(struct host *host, uint64_t session, const uint64_t *held,
                                       size_t held_count)
{
    uint64_t op = host_op(host);

    if (STARTED(host, pawl__backend_session_renew(host->backend, op, session, held, held_count)) !=
        PAWL_OK) {
        return NULL;
    }
    return host_answer(host, op, HOST_WAIT_MS);
}

struct pawl__backend_event *host_session_close(struct host *host, uint64_t session, bool bequeath)
{
    uint64_t op = host_op(host);

    if (STARTED(host, pawl__backend_session_close(host->backend, op, session, bequeath)) !=
        PAWL_OK) {
        return NULL;
    }
    return host_answer(host, op, HOST_WAIT_MS);
}

struct pawl__backend_event *host_enqueue_all(struct host *host, uint64_t session, uint64_t attempt,
                                             const struct pawl__want *wants, size_t count,
                                             bool only_if_free)
{
    uint64_t op = host_op(host);
    struct pawl__enqueue enqueue = {session, attempt, wants, count, "{\"v\":1}", only_if_free};

    if (STARTED(host, pawl__backend_enqueue(host->backend, op, &enqueue)) != PAWL_OK) {
        return NULL;
    }
    return host_answer(host, op, HOST_WAIT_MS);
}

struct pawl__backend_event *host_enqueue(struct host *host, uint64_t session, uint64_t attempt,
                                         const char *name, bool only_if_free)
{
    struct pawl__want want = {name, PAWL__MODE_X};

    return host_enqueue_all(host, session, attempt, &want, 1, only_if_free);
}

struct pawl__backend_event *host_look_all(struct host *host, uint64_t session, uint64_t attempt,
                                          const struct pawl__want *wants, size_t count)
{
    uint64_t op = host_op(host);
    struct pawl__look look = {session, attempt, wants, count, true, true};

    if (STARTED(host, pawl__backend_look(host->backend, op, &look)) != PAWL_OK) {
        return NULL;
    }
    return host_answer(host, op, HOST_WAIT_MS);
}

struct pawl__backend_event *host_look(struct host *host, uint64_t session, uint64_t attempt,
                                      const char *name)
{
    struct pawl__want want = {name, PAWL__MODE_X};

    return host_look_all(host, session, attempt, &want, 1);
}

struct pawl__backend_event *host_remove_all(struct host *host, uint64_t session, uint64_t attempt,
                                            uint64_t number, const struct pawl__want *wants,
                                            size_t count)
{
    uint64_t op = host_op(host);
    struct pawl__remove remove = {session, attempt, number, wants, count};

    if (STARTED(host, pawl__backend_remove(host->backend, op, &remove)) != PAWL_OK) {
        return NULL;
    }
    return host_answer(host, op, HOST_WAIT_MS);
}

struct pawl__backend_event *host_remove(struct host *host, uint64_t session, uint64_t attempt,
                                        uint64_t number, const char *name)
{
    struct pawl__want want = {name, PAWL__MODE_X};

    return host_remove_all(host, session, attempt, number, &want, 1);
}

struct pawl__backend_event *host_mark(struct host *host, const char *name, uint64_t number,
                                      bool now)
{
    uint64_t op = host_op(host);
    struct pawl__mark_request mark = {name, number, "os:boss@here", "stuck", now};

    if (STARTED(host, pawl__backend_mark(host->backend, op, &mark)) != PAWL_OK) {
        return NULL;
    }
    return host_answer(host, op, HOST_WAIT_MS);
}

struct pawl__backend_event *host_list(struct host *host, const char *name)
{
    uint64_t op = host_op(host);

    if (STARTED(host, pawl__backend_list(host->backend, op, name)) != PAWL_OK) {
        return NULL;
    }
    return host_answer(host, op, HOST_WAIT_MS);
}

pawl_status host_status(struct pawl__backend_event *event)
{
    pawl_status status = event != NULL ? event->status : PAWL_E_TIMEOUT;

    pawl__backend_event_free(event);
    return status;
}

uint64_t host_number(struct host *host, uint64_t session, uint64_t attempt, const char *name)
{
    struct pawl__backend_event *event = host_enqueue(host, session, attempt, name, false);
    uint64_t number = 0;

    if (event != NULL && event->status == PAWL_OK) {
        number = event->views[0].own_number;
    }
    pawl__backend_event_free(event);
    return number;
}
