/* The checked wrappers of backend.h: the only way to call a backend. What a caller must not do is
 * asserted; what a backend must not answer ends the process also in release builds, because a
 * backend that lies could make us grant twice. */
#include "backends/backend.h"

#include <pthread.h>
#include <string.h>

#include "backends/check.h"
#include "backends/module.h"
#include "base/alloc.h"
#include "base/assert.h"
#include "base/limits.h"
#include "base/table.h"
#include "core/error.h"
#include "core/url.h"

struct pawl__backend {
    /* Immutable after open. */
    const struct pawl__backend_ops *ops;   /* borrowed, static */
    const struct pawl__backend_host *host; /* borrowed from the core; gets what passed the checks */
    struct pawl__backend_host own_host;    /* what the backend sees */
    void *state;                           /* owned by ops */

    pthread_mutex_t mu;
    /* Guarded by mu. */
    struct pawl__table ops_under_way; /* op -> struct pawl__op_check, owned */
    bool in_member;                   /* `member_thread` is inside a member */
    bool is_closed;
    pthread_t member_thread;
};

/* ---- What comes back --------------------------------------------------------------------------
 */

static _Noreturn void fail_contract(const struct pawl__backend *backend, const char *broken)
{
    /* The scheme is the most useful word of the report. */
    pawl__invariant_failed(backend->ops->scheme, 0, broken);
}

/* mu held on entry. */
static const char *check_post(struct pawl__backend *backend,
                              const struct pawl__backend_event *event, struct pawl__boot now)
{
    if (backend->is_closed) {
        return "an event after close";
    }
    if (backend->in_member && pthread_equal(backend->member_thread, pthread_self())) {
        return "an event from inside a member";
    }
    if (event->op == 0) {
        return pawl__check_hint(event);
    }
    struct pawl__op_check *check = pawl__table_remove(&backend->ops_under_way, event->op);
    if (check == NULL) {
        return "an answer to an op that is not under way, or a second one";
    }
    const char *broken = pawl__check_answer(check, event, now);
    pawl__free(check);
    return broken;
}

static void post(void *ctx, struct pawl__backend_event *event)
{
    struct pawl__backend *backend = ctx;
    struct pawl__boot now = backend->host->now(backend->host->ctx);

    PAWL_INVARIANT(event != NULL);
    pthread_mutex_lock(&backend->mu);
    const char *broken = check_post(backend, event, now);
    pthread_mutex_unlock(&backend->mu);
    if (broken != NULL) {
        fail_contract(backend, broken);
    }
    backend->host->post(backend->host->ctx, event);
}

static struct pawl__boot read_clock(void *ctx)
{
    struct pawl__backend *backend = ctx;

    return backend->host->now(backend->host->ctx);
}

/* ---- Opening and closing ----------------------------------------------------------------------
 */

static void check_table(const struct pawl__backend_ops *ops)
{
    PAWL_INVARIANT(ops != NULL);
    PAWL_INVARIANT(ops->version == PAWL__BACKEND_VERSION);
    PAWL_INVARIANT(ops->scheme != NULL);
    PAWL_INVARIANT(ops->open != NULL && ops->close != NULL && ops->fork_child != NULL);
    PAWL_INVARIANT(ops->session_open != NULL && ops->session_renew != NULL);
    PAWL_INVARIANT(ops->session_close != NULL && ops->enqueue != NULL && ops->look != NULL);
    PAWL_INVARIANT(ops->remove != NULL && ops->mark != NULL && ops->list != NULL);
    PAWL_INVARIANT(ops->watch != NULL && ops->unwatch != NULL);
}

static void free_backend(struct pawl__backend *backend)
{
    size_t cursor = 0;
    void *check = NULL;

    while (pawl__table_next(&backend->ops_under_way, &cursor, NULL, &check)) {
        pawl__free(check);
    }
    pawl__table_release(&backend->ops_under_way);
    (void)pthread_mutex_destroy(&backend->mu);
    pawl__free(backend);
}

pawl_status pawl__backend_open_with(const struct pawl__backend_ops *ops,
                                    const struct pawl__backend_settings *settings,
                                    const struct pawl__backend_host *host,
                                    struct pawl__backend **ret_backend,
                                    struct pawl__backend_info *ret_info, pawl_error *err)
{
    struct pawl__backend_info info;

    check_table(ops);
    pawl__assert(settings != NULL && settings->request_timeout_ms > 0);
    pawl__assert(settings->connect_timeout_ms > 0);
    pawl__assert(host != NULL && host->post != NULL && host->now != NULL);
    struct pawl__backend *backend = pawl__alloc(sizeof(*backend));
    if (backend == NULL) {
        return pawl__error_set(err, PAWL_E_NOMEM, 0, "no memory to open the store");
    }
    backend->ops = ops;
    backend->host = host;
    backend->own_host = (struct pawl__backend_host){post, read_clock, backend};
    (void)pthread_mutex_init(&backend->mu, NULL); /* Cannot fail on Linux. */

    memset(&info, 0, sizeof(info));
    pawl_status status = ops->open(settings, &backend->own_host, &backend->state, &info, err);
    if (status != PAWL_OK) {
        free_backend(backend);
        return status;
    }
    PAWL_INVARIANT(strnlen(info.store_id, sizeof(info.store_id)) == sizeof(info.store_id) - 1);
    PAWL_INVARIANT(memchr(info.warning, '\0', sizeof(info.warning)) != NULL);
    *ret_backend = backend;
    if (ret_info != NULL) {
        *ret_info = info;
    }
    return PAWL_OK;
}

pawl_status pawl__backend_open(const struct pawl__backend_settings *settings,
                               const struct pawl__backend_host *host,
                               struct pawl__backend **ret_backend,
                               struct pawl__backend_info *ret_info, pawl_error *err)
{
    const struct pawl__backend_ops *ops = NULL;
    struct pawl__backend_settings own = *settings;
    void *context = NULL;

    pawl__assert(settings->url != NULL);
    pawl_status status = pawl__backend_find(settings->url->scheme, &ops, &context, err);
    if (status != PAWL_OK) {
        return status;
    }
    own.context = context != NULL ? context : settings->context;
    return pawl__backend_open_with(ops, &own, host, ret_backend, ret_info, err);
}

void pawl__backend_close(struct pawl__backend *backend, int64_t timeout_ms)
{
    if (backend == NULL) {
        return;
    }
    pawl__assert(timeout_ms >= 0);
    backend->ops->close(backend->state, timeout_ms);
    pthread_mutex_lock(&backend->mu);
    backend->is_closed = true; /* A post that comes now is caught, later ones by ASan. */
    pthread_mutex_unlock(&backend->mu);
    free_backend(backend);
}

void pawl__backend_fork_child(struct pawl__backend *backend)
{
    /* No mu: the thread that held it may not exist in the child. */
    backend->ops->fork_child(backend->state);
}

/* ---- Ops --------------------------------------------------------------------------------------
 */

/* Notes op before the member is called: the answer may come before the member returns. False: no
 * memory. */
static bool begin_op(struct pawl__backend *backend, uint64_t op, const struct pawl__op_check *want)
{
    struct pawl__op_check *check = pawl__memdup(want, sizeof(*want));

    PAWL_INVARIANT(op != 0);
    if (check == NULL) {
        return false;
    }
    pthread_mutex_lock(&backend->mu);
    PAWL_INVARIANT(!backend->in_member);
    PAWL_INVARIANT(pawl__table_get(&backend->ops_under_way, op) == NULL);
    bool done = pawl__table_put(&backend->ops_under_way, op, check);
    if (done) {
        backend->in_member = true;
        backend->member_thread = pthread_self();
    }
    pthread_mutex_unlock(&backend->mu);
    if (!done) {
        pawl__free(check);
    }
    return done;
}

/* Takes the op back when the member could not start it. */
static pawl_status end_op(struct pawl__backend *backend, uint64_t op, pawl_status status)
{
    struct pawl__op_check *check = NULL;

    pthread_mutex_lock(&backend->mu);
    backend->in_member = false;
    if (status != PAWL_OK) {
        check = pawl__table_remove(&backend->ops_under_way, op);
    }
    pthread_mutex_unlock(&backend->mu);
    if (status != PAWL_OK && check == NULL) {
        fail_contract(backend, "an op was answered and refused");
    }
    if (status == PAWL_E_UNKNOWN || status == PAWL_E_LOST) {
        fail_contract(backend, "a member returned what only an event may say");
    }
    pawl__free(check);
    return status;
}

pawl_status pawl__backend_session_open(struct pawl__backend *backend, uint64_t op, uint64_t session,
                                       int64_t ttl_ms)
{
    struct pawl__op_check check = {
        .kind = PAWL__BEV_SESSION_OPENED, .session = session, .ttl_ms = ttl_ms};

    pawl__assert(session != 0 && session < UINT64_C(1) << 63);
    pawl__assert(ttl_ms >= 0);
    pawl__assert(ttl_ms <= PAWL__TTL_MAX_MS);
    if (!begin_op(backend, op, &check)) {
        return PAWL_E_NOMEM;
    }
    return end_op(backend, op, backend->ops->session_open(backend->state, op, session, ttl_ms));
}

pawl_status pawl__backend_session_renew(struct pawl__backend *backend, uint64_t op,
                                        uint64_t session, const uint64_t *held, size_t held_count)
{
    struct pawl__op_check check = {
        .kind = PAWL__BEV_RENEWED, .session = session, .count = held_count};

    pawl__assert(session != 0);
    pawl__assert(held_count <= PAWL__TXN_OPS_MAX);
    pawl__assert(held_count == 0 || held != NULL);
    if (!begin_op(backend, op, &check)) {
        return PAWL_E_NOMEM;
    }
    return end_op(backend, op,
                  backend->ops->session_renew(backend->state, op, session, held, held_count));
}

pawl_status pawl__backend_session_close(struct pawl__backend *backend, uint64_t op,
                                        uint64_t session, bool bequeath)
{
    struct pawl__op_check check = {.kind = PAWL__BEV_SESSION_CLOSED, .session = session};

    pawl__assert(session != 0);
    if (!begin_op(backend, op, &check)) {
        return PAWL_E_NOMEM;
    }
    return end_op(backend, op, backend->ops->session_close(backend->state, op, session, bequeath));
}

pawl_status pawl__backend_enqueue(struct pawl__backend *backend, uint64_t op,
                                  const struct pawl__enqueue *enqueue)
{
    struct pawl__op_check check = {.kind = PAWL__BEV_ENQUEUED,
                                   .session = enqueue->session,
                                   .count = enqueue->count,
                                   .only_if_free = enqueue->only_if_free};

    pawl__assert(enqueue->session != 0);
    pawl__assert(enqueue->attempt != 0);
    pawl__assert(pawl__wants_are_valid(enqueue->wants, enqueue->count));
    pawl__assert(enqueue->payload != NULL);
    pawl__assert(strlen(enqueue->payload) <= PAWL__PAYLOAD_MAX);
    if (!begin_op(backend, op, &check)) {
        return PAWL_E_NOMEM;
    }
    return end_op(backend, op, backend->ops->enqueue(backend->state, op, enqueue));
}

pawl_status pawl__backend_look(struct pawl__backend *backend, uint64_t op,
                               const struct pawl__look *look)
{
    struct pawl__op_check check = {.kind = PAWL__BEV_LOOKED,
                                   .session = look->session,
                                   .count = look->count,
                                   .position = look->position};

    pawl__assert(look->session != 0);
    pawl__assert(look->attempt != 0);
    pawl__assert(pawl__wants_are_valid(look->wants, look->count));
    if (!begin_op(backend, op, &check)) {
        return PAWL_E_NOMEM;
    }
    return end_op(backend, op, backend->ops->look(backend->state, op, look));
}

pawl_status pawl__backend_remove(struct pawl__backend *backend, uint64_t op,
                                 const struct pawl__remove *remove)
{
    struct pawl__op_check check = {.kind = PAWL__BEV_REMOVED, .session = remove->session};

    pawl__assert(remove->session != 0);
    pawl__assert(remove->attempt != 0);
    pawl__assert(remove->number != 0);
    pawl__assert(pawl__wants_are_valid(remove->wants, remove->count));
    if (!begin_op(backend, op, &check)) {
        return PAWL_E_NOMEM;
    }
    return end_op(backend, op, backend->ops->remove(backend->state, op, remove));
}

pawl_status pawl__backend_mark(struct pawl__backend *backend, uint64_t op,
                               const struct pawl__mark_request *mark)
{
    struct pawl__op_check check = {.kind = PAWL__BEV_MARKED};

    pawl__assert(pawl__name_is_sane(mark->name));
    pawl__assert(mark->number != 0);
    pawl__assert(mark->by != NULL && strlen(mark->by) <= PAWL__OWNER_MAX);
    pawl__assert(mark->reason != NULL && strlen(mark->reason) <= PAWL__REASON_MAX);
    if (!begin_op(backend, op, &check)) {
        return PAWL_E_NOMEM;
    }
    return end_op(backend, op, backend->ops->mark(backend->state, op, mark));
}

pawl_status pawl__backend_list(struct pawl__backend *backend, uint64_t op, const char *name)
{
    struct pawl__op_check check = {.kind = PAWL__BEV_LISTED};

    pawl__assert(name == NULL || pawl__name_is_sane(name));
    if (!begin_op(backend, op, &check)) {
        return PAWL_E_NOMEM;
    }
    return end_op(backend, op, backend->ops->list(backend->state, op, name));
}

/* Watches are no ops: they have no answer, only hints, which may come at any time after. */
static void set_in_member(struct pawl__backend *backend, bool in_member)
{
    pthread_mutex_lock(&backend->mu);
    PAWL_INVARIANT(backend->in_member != in_member);
    backend->in_member = in_member;
    backend->member_thread = pthread_self();
    pthread_mutex_unlock(&backend->mu);
}

pawl_status pawl__backend_watch(struct pawl__backend *backend, uint64_t watch, const char *name,
                                uint64_t number)
{
    pawl__assert(watch != 0);
    pawl__assert(pawl__name_is_sane(name));
    pawl__assert(number != 0);
    set_in_member(backend, true);
    pawl_status status = backend->ops->watch(backend->state, watch, name, number);
    set_in_member(backend, false);
    return status;
}

void pawl__backend_unwatch(struct pawl__backend *backend, uint64_t watch)
{
    pawl__assert(watch != 0);
    set_in_member(backend, true);
    backend->ops->unwatch(backend->state, watch);
    set_in_member(backend, false);
}
