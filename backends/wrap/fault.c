/* Makes a good backend fail by script: see fault.h. */
#include "backends/wrap/fault.h"

#include <pthread.h>
#include <string.h>

#include "backends/wrap/request.h"
#include "base/alloc.h"
#include "base/assert.h"
#include "base/list.h"
#include "base/table.h"
#include "core/error.h"

#define KINDS (PAWL__BEV_SESSION + 1)

/* A call of the inner backend under way. */
struct fault_call {
    uint64_t op; /* of the caller; 0 = nobody waits for this answer */
    enum pawl__backend_event_kind kind;
    bool loses_reply;
    int64_t delay_ms;
};

/* A request that lands later. */
struct late_request {
    struct pawl__list link;
    struct pawl__wrap_request request; /* owned copy */
    unsigned calls_left;
};

struct fault_state {
    /* Immutable after open. */
    struct pawl__fault *fault;             /* borrowed */
    struct pawl__backend *inner;           /* owned */
    const struct pawl__backend_host *host; /* borrowed: the one above */
    struct pawl__backend_host own_host;    /* what the inner one sees */
    pthread_t poster;

    /* Owner thread only. */
    struct pawl__list late; /* struct late_request */

    pthread_mutex_t mu;
    pthread_cond_t wake;
    /* Guarded by mu. */
    struct pawl__table calls; /* inner op -> struct fault_call, owned */
    uint64_t last_inner_op;
    unsigned seen[KINDS]; /* calls and hints so far */
    unsigned hits;
    struct pawl__list posts; /* struct waiting_post, by due time */
    bool stops;
};

/* An event that the poster hands on when it is due. */
struct waiting_post {
    struct pawl__list link;
    struct pawl__boot due; /* real time, whatever the host's clock says */
    struct pawl__backend_event *event;
};

/* ---- Rules ----------------------------------------------------------------------------------- */

/* mu held on entry. Counts one more of `kind` and returns the rule that hits it, or NULL. */
static const struct pawl__fault_rule *match(struct fault_state *state,
                                            enum pawl__backend_event_kind kind)
{
    unsigned nth = ++state->seen[kind];

    for (size_t i = 0; i < state->fault->rule_count; i++) {
        const struct pawl__fault_rule *rule = &state->fault->rules[i];
        if (rule->kind == kind && (rule->nth == 0 || rule->nth == nth)) {
            state->hits++;
            return rule;
        }
    }
    return NULL;
}

static bool only_reads(enum pawl__backend_event_kind kind)
{
    return kind == PAWL__BEV_LOOKED || kind == PAWL__BEV_LISTED;
}

static struct pawl__backend_event *new_failure(enum pawl__backend_event_kind kind, uint64_t op,
                                               uint64_t session, enum pawl__fault_kind fault)
{
    struct pawl__backend_event *event = pawl__backend_event_new(kind, op);

    if (event == NULL) {
        return NULL;
    }
    event->session = session;
    bool is_certain = fault == PAWL__FAULT_REFUSE || only_reads(kind);
    pawl__backend_event_fail(event, is_certain ? PAWL_E_UNAVAILABLE : PAWL_E_UNKNOWN, 0,
                             "by script");
    return event;
}

/* ---- The poster ------------------------------------------------------------------------------ */

/* Takes ownership of `event`; false without memory, and then it is still the caller's. */
static bool post_later(struct fault_state *state, struct pawl__backend_event *event,
                       int64_t delay_ms)
{
    struct waiting_post *post = event == NULL ? NULL : pawl__alloc(sizeof(*post));

    if (post == NULL) {
        return false;
    }
    post->due = pawl__boot_add(pawl__boot_now(), delay_ms);
    post->event = event;
    pthread_mutex_lock(&state->mu);
    struct pawl__list *before = &state->posts;
    PAWL_LIST_FOREACH (it, &state->posts) {
        if (pawl__boot_before(post->due, PAWL_LIST_ENTRY(it, struct waiting_post, link)->due)) {
            before = it;
            break;
        }
    }
    pawl__list_insert_between(&post->link, before->prev, before);
    pthread_cond_signal(&state->wake);
    pthread_mutex_unlock(&state->mu);
    return true;
}

/* mu held on entry. The event that is due, or NULL and how long until there is one. */
static struct pawl__backend_event *take_due(struct fault_state *state, int64_t *ret_wait_ms)
{
    struct pawl__list *first = pawl__list_first(&state->posts);

    *ret_wait_ms = PAWL__WAIT_FOREVER;
    if (first == NULL) {
        return NULL;
    }
    struct waiting_post *post = PAWL_LIST_ENTRY(first, struct waiting_post, link);
    *ret_wait_ms = pawl__boot_diff(post->due, pawl__boot_now());
    if (*ret_wait_ms > 0) {
        return NULL;
    }
    struct pawl__backend_event *event = post->event;
    pawl__list_remove(&post->link);
    pawl__free(post);
    return event;
}

static void *run_poster(void *ctx)
{
    struct fault_state *state = ctx;
    int64_t wait_ms = 0;

    pthread_mutex_lock(&state->mu);
    while (!state->stops) {
        struct pawl__backend_event *event = take_due(state, &wait_ms);
        if (event == NULL) {
            (void)pawl__cond_wait_ms(&state->wake, &state->mu, wait_ms); /* The loop looks again. */
            continue;
        }
        pthread_mutex_unlock(&state->mu);
        state->host->post(state->host->ctx, event);
        pthread_mutex_lock(&state->mu);
    }
    pthread_mutex_unlock(&state->mu);
    return NULL;
}

/* ---- What comes back ------------------------------------------------------------------------- */

static void post_hint(struct fault_state *state, struct pawl__backend_event *event)
{
    pthread_mutex_lock(&state->mu);
    const struct pawl__fault_rule *rule = match(state, event->kind);
    pthread_mutex_unlock(&state->mu);

    if (rule != NULL && rule->fault == PAWL__FAULT_DROP_HINT) {
        pawl__backend_event_free(event);
        return;
    }
    if (rule != NULL && rule->fault == PAWL__FAULT_REPEAT_HINT) {
        /* Hints own nothing but themselves, so a flat copy is whole. */
        struct pawl__backend_event *copy = pawl__memdup(event, sizeof(*event));
        if (copy != NULL) {
            copy->next = NULL;
            state->host->post(state->host->ctx, copy);
        }
    }
    state->host->post(state->host->ctx, event);
}

static void post_answer(struct fault_state *state, struct pawl__backend_event *event)
{
    pthread_mutex_lock(&state->mu);
    struct fault_call *found = pawl__table_remove(&state->calls, event->op);
    pthread_mutex_unlock(&state->mu);
    PAWL_INVARIANT(found != NULL);

    struct fault_call call = *found;
    pawl__free(found);
    if (call.op == 0) {
        pawl__backend_event_free(event);
        return;
    }
    if (call.loses_reply) {
        struct pawl__backend_event *failure =
            new_failure(call.kind, call.op, event->session, PAWL__FAULT_LOSE_REPLY);
        if (failure != NULL) {
            pawl__backend_event_free(event);
            state->host->post(state->host->ctx, failure);
            return;
        }
    }
    event->op = call.op;
    if (call.delay_ms == 0 || !post_later(state, event, call.delay_ms)) {
        state->host->post(state->host->ctx, event);
    }
}

static void fault_post(void *ctx, struct pawl__backend_event *event)
{
    if (event->op == 0) {
        post_hint(ctx, event);
    } else {
        post_answer(ctx, event);
    }
}

static struct pawl__boot fault_now(void *ctx)
{
    struct fault_state *state = ctx;

    return state->host->now(state->host->ctx);
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static pawl_status forward(struct fault_state *state, const struct pawl__wrap_request *request,
                           const struct fault_call *call)
{
    struct fault_call *noted = pawl__memdup(call, sizeof(*call));

    if (noted == NULL) {
        return PAWL_E_NOMEM;
    }
    pthread_mutex_lock(&state->mu);
    uint64_t inner_op = ++state->last_inner_op;
    bool is_noted = pawl__table_put(&state->calls, inner_op, noted);
    pthread_mutex_unlock(&state->mu);
    pawl_status status =
        is_noted ? pawl__wrap_request_start(state->inner, inner_op, request) : PAWL_E_NOMEM;
    if (status != PAWL_OK) {
        pthread_mutex_lock(&state->mu);
        (void)pawl__table_remove(&state->calls, inner_op); /* `noted`, or nothing. */
        pthread_mutex_unlock(&state->mu);
        pawl__free(noted);
    }
    return status;
}

static void free_late(struct late_request *late)
{
    pawl__list_remove(&late->link);
    pawl__wrap_request_release(&late->request);
    pawl__free(late);
}

/* What was kept lands when its time has come; what `request` settles never lands. */
static void land_late(struct fault_state *state, const struct pawl__wrap_request *request)
{
    static const struct fault_call nobody = {0};
    bool settles = request->kind == PAWL__BEV_SESSION_CLOSED ||
                   (request->kind == PAWL__BEV_LOOKED && request->flag);

    PAWL_LIST_FOREACH_SAFE (it, next, &state->late) {
        struct late_request *late = PAWL_LIST_ENTRY(it, struct late_request, link);
        if (settles && late->request.session == request->session) {
            free_late(late);
        } else if (--late->calls_left == 0) {
            (void)forward(state, &late->request, &nobody); /* It may get lost after all. */
            free_late(late);
        }
    }
}

static bool keep_late(struct fault_state *state, const struct pawl__wrap_request *request,
                      unsigned calls)
{
    struct late_request *late = pawl__alloc(sizeof(*late));

    if (late == NULL || !pawl__wrap_request_copy(&late->request, request)) {
        pawl__free(late);
        return false;
    }
    late->calls_left = calls == 0 ? 1 : calls;
    pawl__list_init(&late->link);
    pawl__list_push_back(&state->late, &late->link);
    return true;
}

static pawl_status answer_failure(struct fault_state *state, uint64_t op,
                                  const struct pawl__wrap_request *request,
                                  enum pawl__fault_kind fault)
{
    /* Marks and lists name no session in their events. */
    struct pawl__backend_event *failure = new_failure(request->kind, op, request->session, fault);

    if (!post_later(state, failure, 0)) {
        pawl__backend_event_free(failure);
        return PAWL_E_NOMEM;
    }
    return PAWL_OK;
}

static pawl_status call_by_rule(struct fault_state *state, uint64_t op,
                                const struct pawl__wrap_request *request,
                                const struct pawl__fault_rule *rule)
{
    struct fault_call call = {.op = op, .kind = request->kind};
    const struct fault_call nobody = {.kind = request->kind};
    pawl_status status = PAWL_OK;

    switch (rule->fault) {
    case PAWL__FAULT_REFUSE:
    case PAWL__FAULT_LOSE_REQUEST:
        return answer_failure(state, op, request, rule->fault);
    case PAWL__FAULT_LOSE_REPLY:
        call.loses_reply = true;
        break;
    case PAWL__FAULT_LATE:
        PAWL_INVARIANT(!only_reads(request->kind) && request->kind != PAWL__BEV_SESSION_CLOSED);
        if (!keep_late(state, request, rule->amount)) {
            return PAWL_E_NOMEM;
        }
        return answer_failure(state, op, request, rule->fault);
    case PAWL__FAULT_DUPLICATE:
        status = forward(state, request, &call);
        if (status == PAWL_OK) {
            (void)forward(state, request, &nobody); /* The second one may fail on its own. */
        }
        return status;
    case PAWL__FAULT_DELAY:
        call.delay_ms = rule->amount;
        break;
    case PAWL__FAULT_DROP_HINT:
    case PAWL__FAULT_REPEAT_HINT:
        PAWL_INVARIANT(rule->fault < PAWL__FAULT_DROP_HINT); /* Those are for hints. */
        break;
    }
    return forward(state, request, &call);
}

static pawl_status call_inner(struct fault_state *state, uint64_t op,
                              const struct pawl__wrap_request *request)
{
    struct fault_call call = {.op = op, .kind = request->kind};

    land_late(state, request);
    pthread_mutex_lock(&state->mu);
    const struct pawl__fault_rule *rule = match(state, request->kind);
    pthread_mutex_unlock(&state->mu);
    return rule == NULL ? forward(state, request, &call) : call_by_rule(state, op, request, rule);
}

/* ---- Open and close -------------------------------------------------------------------------- */

static void free_state(struct fault_state *state)
{
    size_t cursor = 0;
    void *call = NULL;

    PAWL_LIST_FOREACH_SAFE (it, next, &state->late) {
        free_late(PAWL_LIST_ENTRY(it, struct late_request, link));
    }
    PAWL_LIST_FOREACH_SAFE (it, next, &state->posts) {
        struct waiting_post *post = PAWL_LIST_ENTRY(it, struct waiting_post, link);
        pawl__list_remove(it);
        pawl__backend_event_free(post->event);
        pawl__free(post);
    }
    while (pawl__table_next(&state->calls, &cursor, NULL, &call)) {
        pawl__free(call);
    }
    pawl__table_release(&state->calls);
    (void)pthread_cond_destroy(&state->wake);
    (void)pthread_mutex_destroy(&state->mu);
    pawl__free(state);
}

static struct fault_state *new_state(struct pawl__fault *fault,
                                     const struct pawl__backend_host *host)
{
    struct fault_state *state = pawl__alloc(sizeof(*state));

    if (state == NULL) {
        return NULL;
    }
    state->fault = fault;
    state->host = host;
    state->own_host = (struct pawl__backend_host){fault_post, fault_now, state};
    pawl__list_init(&state->late);
    pawl__list_init(&state->posts);
    (void)pthread_mutex_init(&state->mu, NULL); /* Cannot fail on Linux. */
    pawl__cond_init_monotonic(&state->wake);
    return state;
}

static pawl_status fault_open(const struct pawl__backend_settings *settings,
                              const struct pawl__backend_host *host, void **ret_state,
                              struct pawl__backend_info *ret_info, pawl_error *err)
{
    struct pawl__fault *fault = settings->context;
    struct pawl__backend_settings inner = *settings;

    PAWL_INVARIANT(fault != NULL && fault->inner != NULL);
    struct fault_state *state = new_state(fault, host);
    if (state == NULL) {
        return pawl__error_set(err, PAWL_E_NOMEM, 0, "no memory for faults");
    }
    inner.context = fault->inner_context;
    pawl_status status = pawl__backend_open_with(fault->inner, &inner, &state->own_host,
                                                 &state->inner, ret_info, err);
    if (status == PAWL_OK && pthread_create(&state->poster, NULL, run_poster, state) != 0) {
        pawl__backend_close(state->inner, 0);
        status = pawl__error_set(err, PAWL_E_NOMEM, 0, "no thread for faults");
    }
    if (status != PAWL_OK) {
        free_state(state);
        return status;
    }
    *ret_state = state;
    return PAWL_OK;
}

static void fault_close(void *ctx, int64_t timeout_ms)
{
    struct fault_state *state = ctx;

    pawl__backend_close(state->inner, timeout_ms);
    pthread_mutex_lock(&state->mu);
    state->stops = true;
    pthread_cond_signal(&state->wake);
    pthread_mutex_unlock(&state->mu);
    (void)pthread_join(state->poster, NULL); /* Made by us, joined once. */
    state->fault->hits = state->hits;
    free_state(state);
}

static void fault_fork_child(void *ctx)
{
    struct fault_state *state = ctx;

    pawl__backend_fork_child(state->inner);
}

/* ---- Members --------------------------------------------------------------------------------- */

static pawl_status fault_session_open(void *ctx, uint64_t op, uint64_t session, int64_t ttl_ms)
{
    struct pawl__wrap_request request = {
        .kind = PAWL__BEV_SESSION_OPENED, .session = session, .ttl_ms = ttl_ms};

    return call_inner(ctx, op, &request);
}

static pawl_status fault_session_renew(void *ctx, uint64_t op, uint64_t session,
                                       const uint64_t *held, size_t held_count)
{
    struct pawl__wrap_request request = {
        .kind = PAWL__BEV_RENEWED, .session = session, .held = held, .held_count = held_count};

    return call_inner(ctx, op, &request);
}

static pawl_status fault_session_close(void *ctx, uint64_t op, uint64_t session, bool bequeath)
{
    struct pawl__wrap_request request = {
        .kind = PAWL__BEV_SESSION_CLOSED, .session = session, .flag = bequeath};

    return call_inner(ctx, op, &request);
}

static pawl_status fault_enqueue(void *ctx, uint64_t op, const struct pawl__enqueue *enqueue)
{
    struct pawl__wrap_request request = {.kind = PAWL__BEV_ENQUEUED,
                                         .session = enqueue->session,
                                         .attempt = enqueue->attempt,
                                         .wants = enqueue->wants,
                                         .count = enqueue->count,
                                         .text = enqueue->payload,
                                         .flag = enqueue->only_if_free};

    return call_inner(ctx, op, &request);
}

static pawl_status fault_look(void *ctx, uint64_t op, const struct pawl__look *look)
{
    struct pawl__wrap_request request = {.kind = PAWL__BEV_LOOKED,
                                         .session = look->session,
                                         .attempt = look->attempt,
                                         .wants = look->wants,
                                         .count = look->count,
                                         .flag = look->settle,
                                         .position = look->position};

    return call_inner(ctx, op, &request);
}

static pawl_status fault_remove(void *ctx, uint64_t op, const struct pawl__remove *removal)
{
    struct pawl__wrap_request request = {.kind = PAWL__BEV_REMOVED,
                                         .session = removal->session,
                                         .attempt = removal->attempt,
                                         .number = removal->number,
                                         .wants = removal->wants,
                                         .count = removal->count};

    return call_inner(ctx, op, &request);
}

static pawl_status fault_mark(void *ctx, uint64_t op, const struct pawl__mark_request *mark)
{
    struct pawl__wrap_request request = {.kind = PAWL__BEV_MARKED,
                                         .number = mark->number,
                                         .name = mark->name,
                                         .text = mark->reason,
                                         .by = mark->by,
                                         .flag = mark->now};

    return call_inner(ctx, op, &request);
}

static pawl_status fault_list(void *ctx, uint64_t op, const char *name)
{
    struct pawl__wrap_request request = {.kind = PAWL__BEV_LISTED, .name = name};

    return call_inner(ctx, op, &request);
}

static pawl_status fault_watch(void *ctx, uint64_t watch, const char *name, uint64_t number)
{
    struct fault_state *state = ctx;

    return pawl__backend_watch(state->inner, watch, name, number);
}

static void fault_unwatch(void *ctx, uint64_t watch)
{
    struct fault_state *state = ctx;

    pawl__backend_unwatch(state->inner, watch);
}

const struct pawl__backend_ops pawl__fault_ops = {
    .version = PAWL__BACKEND_VERSION,
    .scheme = "fault",
    .open = fault_open,
    .close = fault_close,
    .fork_child = fault_fork_child,
    .session_open = fault_session_open,
    .session_renew = fault_session_renew,
    .session_close = fault_session_close,
    .enqueue = fault_enqueue,
    .look = fault_look,
    .remove = fault_remove,
    .mark = fault_mark,
    .list = fault_list,
    .watch = fault_watch,
    .unwatch = fault_unwatch,
};
