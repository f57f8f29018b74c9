/* The client end of the simulated store, as a backend: requests become messages, replies events,
 * and what stays without a reply is answered by its own clock. */
#include <string.h>

#include "backends/sim/world.h"
#include "base/alloc.h"
#include "base/assert.h"
#include "core/error.h"

#define STORE_ID "51a1000000000051"

/* ---- Messages -----------------------------------------------------------------------------------
 */

static char *copy_text(const char *text)
{
    char *copy = pawl__strdup(text);

    PAWL_INVARIANT(text == NULL || copy != NULL);
    return copy;
}

struct pawl__sim_request pawl__sim_request_copy(const struct pawl__sim_request *request)
{
    struct pawl__sim_request copy = *request;

    copy.text = copy_text(request->text);
    copy.by = copy_text(request->by);
    copy.name = copy_text(request->name);
    copy.wants = NULL;
    copy.held = NULL; /* A caller's pointer may come with a count of 0. */
    if (request->count > 0) {
        struct pawl__want *wants = pawl__sim_alloc(request->count * sizeof(wants[0]));
        for (size_t i = 0; i < request->count; i++) {
            wants[i].name = copy_text(request->wants[i].name);
            wants[i].mode = request->wants[i].mode;
        }
        copy.wants = wants;
    }
    if (request->held_count > 0) {
        size_t size = request->held_count * sizeof(request->held[0]);
        uint64_t *held = pawl__sim_alloc(size);
        memcpy(held, request->held, size);
        copy.held = held;
    }
    return copy;
}

void pawl__sim_request_release(struct pawl__sim_request *request)
{
    for (size_t i = 0; request->wants != NULL && i < request->count; i++) {
        pawl__free((char *)request->wants[i].name);
    }
    pawl__free((struct pawl__want *)request->wants);
    pawl__free((uint64_t *)request->held);
    pawl__free((char *)request->text);
    pawl__free((char *)request->by);
    pawl__free((char *)request->name);
}

bool pawl__sim_draw(struct pawl__sim_endpoint *endpoint, unsigned percent)
{
    return percent > 0 && pawl__rand_below(&endpoint->rand, 100) < percent;
}

static int64_t draw_between(struct pawl__sim_endpoint *endpoint, int64_t min, int64_t max)
{
    PAWL_INVARIANT(min <= max);
    return min + (int64_t)pawl__rand_below(&endpoint->rand, (uint64_t)(max - min) + 1);
}

int64_t pawl__sim_draw_delay(struct pawl__sim_endpoint *endpoint)
{
    const struct pawl__sim_net *net = &endpoint->net;
    int64_t max = net->delay_max_ms;

    if (net->slow_max_ms > max && pawl__sim_draw(endpoint, net->slow)) {
        max = net->slow_max_ms;
    }
    return draw_between(endpoint, net->delay_min_ms, max);
}

unsigned pawl__sim_endpoint_index(const struct pawl__sim_endpoint *endpoint)
{
    return endpoint->index;
}

void pawl__sim_set_net(struct pawl__sim_endpoint *endpoint, const struct pawl__sim_net *net)
{
    endpoint->net = *net;
}

/* ---- Out ----------------------------------------------------------------------------------------
 */

/* Takes ownership of what `request` points to. */
static void send_message(struct pawl__sim_endpoint *endpoint, struct pawl__sim_request request,
                         int64_t delay_ms)
{
    struct pawl__sim_message *message = pawl__sim_message_new(PAWL__SIM_REQUEST, endpoint->index);

    message->era = endpoint->world->era;
    message->sent = endpoint->host->now(endpoint->host->ctx);
    message->number_seen = endpoint->number_seen;
    message->request = request;
    pawl__sim_schedule(endpoint->world, message, delay_ms);
}

static void schedule_end(struct pawl__sim_endpoint *endpoint, enum pawl__sim_message_kind kind,
                         uint64_t op, int64_t delay_ms)
{
    struct pawl__sim_message *end = pawl__sim_message_new(kind, endpoint->index);

    end->request.op = op;
    pawl__sim_schedule(endpoint->world, end, delay_ms);
}

/* One way or another an answer will come, at the latest after request_timeout. */
static void transmit(struct pawl__sim_endpoint *endpoint, const struct pawl__sim_request *request)
{
    const struct pawl__sim_net *net = &endpoint->net;
    int64_t delay = pawl__sim_draw_delay(endpoint);

    if (pawl__sim_draw(endpoint, net->refuse)) {
        schedule_end(endpoint, PAWL__SIM_REFUSAL, request->op, 1);
        return;
    }
    schedule_end(endpoint, PAWL__SIM_TIMEOUT, request->op, endpoint->request_timeout_ms);
    if (pawl__sim_draw(endpoint, net->lose_request)) {
        return;
    }
    if (pawl__sim_draw(endpoint, net->late)) {
        delay =
            draw_between(endpoint, endpoint->request_timeout_ms, 3 * endpoint->request_timeout_ms);
    }
    if (pawl__sim_draw(endpoint, net->duplicate)) {
        send_message(endpoint, pawl__sim_request_copy(request),
                     draw_between(endpoint, net->delay_min_ms, 2 * endpoint->request_timeout_ms));
    }
    send_message(endpoint, pawl__sim_request_copy(request), delay);
}

static pawl_status start(struct pawl__sim_endpoint *endpoint, struct pawl__sim_request *request)
{
    struct pawl__sim_op *op = pawl__sim_alloc(sizeof(*op));

    op->kind = request->kind;
    op->session = request->session;
    bool is_noted = pawl__table_put(&endpoint->ops, request->op, op);
    PAWL_INVARIANT(is_noted);
    request->client = endpoint->index;
    request->floor = endpoint->floor;
    transmit(endpoint, request);
    return PAWL_OK;
}

/* ---- In -----------------------------------------------------------------------------------------
 */

/* The op, no longer under way; false if it was answered before. */
static bool take_op(struct pawl__sim_endpoint *endpoint, uint64_t number,
                    struct pawl__sim_op *ret_op)
{
    struct pawl__sim_op *op = pawl__table_remove(&endpoint->ops, number);

    if (op == NULL) {
        return false;
    }
    *ret_op = *op;
    pawl__free(op);
    return true;
}

static void fail_op(struct pawl__sim_endpoint *endpoint, uint64_t number, pawl_status status,
                    const char *text)
{
    struct pawl__sim_op op;

    if (endpoint->host == NULL || !take_op(endpoint, number, &op)) {
        return;
    }
    bool only_reads = op.kind == PAWL__BEV_LOOKED || op.kind == PAWL__BEV_LISTED;
    if (only_reads && status == PAWL_E_UNKNOWN) {
        status = PAWL_E_UNAVAILABLE;
    }
    struct pawl__backend_event *event = pawl__backend_event_new(op.kind, number);
    PAWL_INVARIANT(event != NULL);
    event->session = op.session;
    pawl__backend_event_fail(event, status, 0, "%s", text);
    endpoint->host->post(endpoint->host->ctx, event);
}

void pawl__sim_endpoint_give_up(struct pawl__sim_endpoint *endpoint, uint64_t op,
                                pawl_status status)
{
    fail_op(endpoint, op, status,
            status == PAWL_E_UNKNOWN ? "no answer in time" : "the store cannot be reached");
}

void pawl__sim_endpoint_reply(struct pawl__sim_endpoint *endpoint,
                              struct pawl__sim_message *message)
{
    struct pawl__backend_event *event = message->result.event;
    struct pawl__sim_op op;

    /* Compared with what was known when the request went out: replies may overtake each other. */
    if (message->store_number < message->number_seen) {
        fail_op(endpoint, event->op, PAWL_E_STORE, "the store has gone back to an older state");
        return;
    }
    if (message->store_number > endpoint->number_seen) {
        endpoint->number_seen = message->store_number;
    }
    if (pawl__table_get(&endpoint->ops, event->op) == NULL) {
        return;
    }
    if (message->result.below_floor) {
        /* Another request of this session raised the floor: this one was certainly not done. */
        struct pawl__sim_request again = pawl__sim_request_copy(&message->request);
        again.floor = endpoint->floor;
        send_message(endpoint, again, pawl__sim_draw_delay(endpoint));
        return;
    }
    if (take_op(endpoint, event->op, &op)) {
        event->evidence = message->result.touched ? message->sent : PAWL__BOOT_NONE;
        message->result.event = NULL;
        endpoint->host->post(endpoint->host->ctx, event);
    }
}

void pawl__sim_endpoint_hint(struct pawl__sim_endpoint *endpoint, struct pawl__sim_message *message)
{
    struct pawl__backend_event *event = message->result.event;

    message->result.event = NULL;
    endpoint->host->post(endpoint->host->ctx, event);
}

void pawl__sim_endpoint_forget_ops(struct pawl__sim_endpoint *endpoint)
{
    size_t cursor = 0;
    void *op = NULL;

    while (pawl__table_next(&endpoint->ops, &cursor, NULL, &op)) {
        pawl__free(op);
    }
    pawl__table_release(&endpoint->ops);
}

/* ---- Members ------------------------------------------------------------------------------------
 */

static pawl_status sim_open(const struct pawl__backend_settings *settings,
                            const struct pawl__backend_host *host, void **ret_state,
                            struct pawl__backend_info *ret_info, pawl_error *err)
{
    struct pawl__sim_endpoint *endpoint = settings->context;

    PAWL_INVARIANT(endpoint != NULL);
    PAWL_INVARIANT(endpoint->host == NULL);
    if (settings->store_id != NULL && strcmp(settings->store_id, STORE_ID) != 0) {
        return pawl__error_set(err, PAWL_E_STORE, 0, "this is store %s, not %s", STORE_ID,
                               settings->store_id);
    }
    endpoint->host = host;
    endpoint->request_timeout_ms = settings->request_timeout_ms;
    memcpy(ret_info->store_id, STORE_ID, sizeof(STORE_ID));
    ret_info->epoch = 1;
    ret_info->capabilities = PAWL_CAP_LINEARIZABLE | PAWL_CAP_HONEST_EXPIRY |
                             PAWL_CAP_ATOMIC_MULTI | PAWL_CAP_SNAPSHOT_LIST;
    *ret_state = endpoint;
    return PAWL_OK;
}

static void sim_close(void *state, int64_t timeout_ms)
{
    struct pawl__sim_endpoint *endpoint = state;

    (void)timeout_ms; /* Nothing blocks. */
    pawl__sim_endpoint_forget_ops(endpoint);
    endpoint->host = NULL;
}

static void sim_fork_child(void *state)
{
    (void)state; /* No descriptors. */
}

static pawl_status sim_session_open(void *state, uint64_t op, uint64_t session, int64_t ttl_ms)
{
    struct pawl__sim_request request = {
        .kind = PAWL__BEV_SESSION_OPENED, .op = op, .session = session, .ttl_ms = ttl_ms};

    return start(state, &request);
}

static pawl_status sim_session_renew(void *state, uint64_t op, uint64_t session,
                                     const uint64_t *held, size_t held_count)
{
    struct pawl__sim_request request = {.kind = PAWL__BEV_RENEWED,
                                        .op = op,
                                        .session = session,
                                        .held = held,
                                        .held_count = held_count};

    return start(state, &request);
}

static pawl_status sim_session_close(void *state, uint64_t op, uint64_t session, bool bequeath)
{
    struct pawl__sim_request request = {
        .kind = PAWL__BEV_SESSION_CLOSED, .op = op, .session = session};

    (void)bequeath; /* Sessions are not bound to descriptors here. */
    return start(state, &request);
}

static pawl_status sim_enqueue(void *state, uint64_t op, const struct pawl__enqueue *enqueue)
{
    struct pawl__sim_request request = {.kind = PAWL__BEV_ENQUEUED,
                                        .op = op,
                                        .session = enqueue->session,
                                        .attempt = enqueue->attempt,
                                        .wants = enqueue->wants,
                                        .count = enqueue->count,
                                        .text = enqueue->payload,
                                        .flag = enqueue->only_if_free};

    return start(state, &request);
}

static pawl_status sim_look(void *state, uint64_t op, const struct pawl__look *look)
{
    struct pawl__sim_endpoint *endpoint = state;
    struct pawl__sim_request request = {.kind = PAWL__BEV_LOOKED,
                                        .op = op,
                                        .session = look->session,
                                        .attempt = look->attempt,
                                        .wants = look->wants,
                                        .count = look->count,
                                        .flag = look->settle,
                                        .position = look->position};

    if (look->settle) {
        endpoint->floor++; /* Everything sent before this look is below it from now on. */
    }
    return start(endpoint, &request);
}

static pawl_status sim_remove(void *state, uint64_t op, const struct pawl__remove *remove)
{
    struct pawl__sim_request request = {.kind = PAWL__BEV_REMOVED,
                                        .op = op,
                                        .session = remove->session,
                                        .attempt = remove->attempt,
                                        .number = remove->number,
                                        .wants = remove->wants,
                                        .count = remove->count};

    return start(state, &request);
}

static pawl_status sim_mark(void *state, uint64_t op, const struct pawl__mark_request *mark)
{
    struct pawl__sim_request request = {.kind = PAWL__BEV_MARKED,
                                        .op = op,
                                        .number = mark->number,
                                        .name = mark->name,
                                        .text = mark->reason,
                                        .by = mark->by,
                                        .flag = mark->now};

    return start(state, &request);
}

static pawl_status sim_list(void *state, uint64_t op, const char *name)
{
    struct pawl__sim_request request = {.kind = PAWL__BEV_LISTED, .op = op, .name = name};

    return start(state, &request);
}

/* Watches are lost as hints are. */
static void send_watch(struct pawl__sim_endpoint *endpoint, uint64_t watch, const char *name,
                       uint64_t number)
{
    if (pawl__sim_draw(endpoint, endpoint->net.lose_hint)) {
        return;
    }
    struct pawl__sim_message *message = pawl__sim_message_new(PAWL__SIM_WATCH, endpoint->index);
    message->era = endpoint->world->era;
    message->request.op = watch;
    message->request.name = copy_text(name);
    message->detail = number;
    pawl__sim_schedule(endpoint->world, message, pawl__sim_draw_delay(endpoint));
}

static pawl_status sim_watch(void *state, uint64_t watch, const char *name, uint64_t number)
{
    send_watch(state, watch, name, number);
    return PAWL_OK;
}

static void sim_unwatch(void *state, uint64_t watch)
{
    send_watch(state, watch, NULL, 0);
}

const struct pawl__backend_ops pawl__sim_ops = {
    .version = PAWL__BACKEND_VERSION,
    .scheme = "sim",
    .open = sim_open,
    .close = sim_close,
    .fork_child = sim_fork_child,
    .session_open = sim_session_open,
    .session_renew = sim_session_renew,
    .session_close = sim_session_close,
    .enqueue = sim_enqueue,
    .look = sim_look,
    .remove = sim_remove,
    .mark = sim_mark,
    .list = sim_list,
    .watch = sim_watch,
    .unwatch = sim_unwatch,
};
