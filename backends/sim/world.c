/* Virtual time, the network, and what happens to the store from outside: see sim.h. */
#include "backends/sim/world.h"

#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"

#define START_MS 1000 /* 0 means "no time" */

/* ---- What happens when --------------------------------------------------------------------------
 */

static bool comes_before(const struct pawl__sim_message *a, const struct pawl__sim_message *b)
{
    return a->at_ms != b->at_ms ? a->at_ms < b->at_ms : a->seq < b->seq;
}

static void swap(struct pawl__sim_message **a, struct pawl__sim_message **b)
{
    struct pawl__sim_message *held = *a;

    *a = *b;
    *b = held;
}

void pawl__sim_schedule(struct pawl__sim_world *world, struct pawl__sim_message *message,
                        int64_t delay_ms)
{
    PAWL_INVARIANT(delay_ms >= 0);
    message->at_ms = world->now_ms + delay_ms;
    message->seq = ++world->seq;
    world->heap = pawl__sim_grow(world->heap, world->heap_len, sizeof(void *));
    size_t i = world->heap_len++;
    world->heap[i] = message;
    while (i > 0 && comes_before(world->heap[i], world->heap[(i - 1) / 2])) {
        swap(&world->heap[i], &world->heap[(i - 1) / 2]);
        i = (i - 1) / 2;
    }
}

static struct pawl__sim_message *pop(struct pawl__sim_world *world)
{
    struct pawl__sim_message *first = world->heap[0];
    size_t i = 0;

    world->heap[0] = world->heap[--world->heap_len];
    for (;;) {
        size_t least = i;
        for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < world->heap_len; child++) {
            if (comes_before(world->heap[child], world->heap[least])) {
                least = child;
            }
        }
        if (least == i) {
            return first;
        }
        swap(&world->heap[i], &world->heap[least]);
        i = least;
    }
}

struct pawl__sim_message *pawl__sim_message_new(enum pawl__sim_message_kind kind, unsigned client)
{
    struct pawl__sim_message *message = pawl__sim_alloc(sizeof(*message));

    message->kind = kind;
    message->client = client;
    return message;
}

void pawl__sim_message_free(struct pawl__sim_message *message)
{
    if (message != NULL) {
        pawl__sim_request_release(&message->request);
        pawl__backend_event_free(message->result.event);
        pawl__free(message);
    }
}

/* ---- The world ----------------------------------------------------------------------------------
 */

static void post_hint(void *ctx, unsigned client, struct pawl__backend_event *event)
{
    struct pawl__sim_world *world = ctx;
    struct pawl__sim_endpoint *endpoint = world->endpoints[client];

    if (pawl__sim_draw(endpoint, endpoint->net.lose_hint)) {
        pawl__backend_event_free(event);
        return;
    }
    int copies = pawl__sim_draw(endpoint, endpoint->net.repeat_hint) ? 2 : 1;
    for (int i = 0; i < copies; i++) {
        struct pawl__sim_message *hint = pawl__sim_message_new(PAWL__SIM_HINT, client);
        hint->era = world->era;
        hint->result.event = event;
        if (i > 0) {
            hint->result.event = pawl__sim_alloc(sizeof(*event));
            *hint->result.event = *event; /* Hints own nothing but themselves. */
        }
        pawl__sim_schedule(world, hint, pawl__sim_draw_delay(endpoint));
    }
}

struct pawl__sim_world *pawl__sim_world_new(uint64_t seed,
                                            const struct pawl__sim_observer *observer)
{
    struct pawl__sim_world *world = pawl__sim_alloc(sizeof(*world));

    world->now_ms = START_MS;
    pawl__rand_init(&world->rand, seed);
    pawl__sim_store_init(&world->store);
    if (observer != NULL) {
        world->store.observer = *observer;
    }
    world->store.observer.hint = post_hint;
    world->store.observer.hint_ctx = world;
    return world;
}

void pawl__sim_world_free(struct pawl__sim_world *world)
{
    if (world == NULL) {
        return;
    }
    for (size_t i = 0; i < world->endpoint_count; i++) {
        struct pawl__sim_endpoint *endpoint = world->endpoints[i];
        PAWL_INVARIANT(endpoint->host == NULL);
        for (size_t j = 0; j < endpoint->held_count; j++) {
            pawl__sim_message_free(endpoint->held[j]);
        }
        pawl__free(endpoint->held);
        pawl__table_release(&endpoint->ops);
        pawl__free(endpoint);
    }
    for (size_t i = 0; i < world->heap_len; i++) {
        pawl__sim_message_free(world->heap[i]);
    }
    pawl__sim_store_release(&world->store);
    if (world->has_saved) {
        pawl__sim_store_release(&world->saved);
    }
    pawl__free(world->endpoints);
    pawl__free(world->heap);
    pawl__free(world);
}

int64_t pawl__sim_now(const struct pawl__sim_world *world)
{
    return world->now_ms;
}

int64_t pawl__sim_next(const struct pawl__sim_world *world)
{
    return world->heap_len == 0 ? INT64_MAX : world->heap[0]->at_ms;
}

void pawl__sim_advance(struct pawl__sim_world *world, int64_t to_ms)
{
    PAWL_INVARIANT(to_ms >= world->now_ms);
    PAWL_INVARIANT(to_ms <= pawl__sim_next(world));
    world->now_ms = to_ms;
}

const struct pawl__sim_store *pawl__sim_store(const struct pawl__sim_world *world)
{
    return &world->store;
}

struct pawl__sim_endpoint *pawl__sim_join(struct pawl__sim_world *world,
                                          const struct pawl__sim_net *net)
{
    struct pawl__sim_endpoint *endpoint = pawl__sim_alloc(sizeof(*endpoint));

    endpoint->world = world;
    endpoint->index = (unsigned)world->endpoint_count;
    endpoint->net = *net;
    pawl__rand_init(&endpoint->rand, pawl__rand_u64(&world->rand));
    world->endpoints = pawl__sim_grow(world->endpoints, world->endpoint_count, sizeof(void *));
    world->endpoints[world->endpoint_count++] = endpoint;
    return endpoint;
}

/* ---- At the store -------------------------------------------------------------------------------
 */

/* Never before the proof of life + ttl, often later. One expiry a session is under way. */
static void touch(struct pawl__sim_world *world, struct pawl__sim_session *session)
{
    if (session->ttl_ms == 0) {
        return;
    }
    bool is_first = session->expires_ms == INT64_MAX;
    /* At once half of the time: the hardest store that is still honest. */
    uint64_t most = pawl__rand_below(&world->rand, 2) * (uint64_t)session->ttl_ms / 8;
    int64_t slack = (int64_t)pawl__rand_below(&world->rand, most + 1);
    int64_t expires = world->now_ms + session->ttl_ms + slack;
    if (is_first || expires > session->expires_ms) {
        session->expires_ms = expires;
    }
    if (is_first) {
        struct pawl__sim_message *expiry = pawl__sim_message_new(PAWL__SIM_EXPIRY, session->client);
        expiry->detail = session->id;
        pawl__sim_schedule(world, expiry, session->expires_ms - world->now_ms);
    }
}

static void expire(struct pawl__sim_world *world, struct pawl__sim_message *expiry)
{
    struct pawl__sim_session *session = pawl__sim_store_session(&world->store, expiry->detail);

    if (session == NULL) {
        pawl__sim_message_free(expiry);
        return;
    }
    if (world->is_down || world->now_ms < session->expires_ms) {
        int64_t wait = session->expires_ms - world->now_ms;
        pawl__sim_schedule(world, expiry, wait > 0 ? wait : session->ttl_ms);
        return;
    }
    pawl__sim_store_end_session(&world->store, session->id, PAWL__SIM_EXPIRED);
    pawl__sim_message_free(expiry);
}

static void execute(struct pawl__sim_world *world, struct pawl__sim_message *message)
{
    struct pawl__sim_endpoint *endpoint = world->endpoints[message->client];
    uint64_t session = message->request.session;

    struct pawl__sim_result result =
        pawl__sim_store_execute(&world->store, &message->request, world->now_ms);
    struct pawl__sim_session *touched =
        result.touched ? pawl__sim_store_session(&world->store, session) : NULL;
    if (touched != NULL) {
        touch(world, touched);
    }
    struct pawl__sim_message *reply = pawl__sim_message_new(PAWL__SIM_REPLY, message->client);
    reply->era = world->era;
    reply->sent = message->sent;
    reply->number_seen = message->number_seen;
    reply->store_number = world->store.number;
    reply->result = result;
    if (result.below_floor) {
        reply->request = message->request;
        memset(&message->request, 0, sizeof(message->request));
    }
    if (pawl__sim_draw(endpoint, endpoint->net.lose_reply)) {
        pawl__sim_message_free(reply);
        return;
    }
    pawl__sim_schedule(world, reply, pawl__sim_draw_delay(endpoint));
}

static void arrive_at_store(struct pawl__sim_world *world, struct pawl__sim_message *message)
{
    if (!world->is_down && message->era == world->era) {
        if (message->kind == PAWL__SIM_REQUEST) {
            execute(world, message);
        } else if (message->request.name != NULL) {
            pawl__sim_store_watch(&world->store, message->client, message->request.op,
                                  message->request.name, message->detail);
        } else {
            pawl__sim_store_unwatch(&world->store, message->client, message->request.op);
        }
    }
    pawl__sim_message_free(message);
}

/* ---- One thing happens --------------------------------------------------------------------------
 */

static void arrive_at_endpoint(struct pawl__sim_world *world, struct pawl__sim_message *message)
{
    struct pawl__sim_endpoint *endpoint = world->endpoints[message->client];

    if (message->era == world->era && endpoint->host != NULL) {
        if (message->kind == PAWL__SIM_REPLY) {
            pawl__sim_endpoint_reply(endpoint, message);
        } else {
            pawl__sim_endpoint_hint(endpoint, message);
        }
    }
    pawl__sim_message_free(message);
}

static bool is_held(struct pawl__sim_world *world, struct pawl__sim_message *message)
{
    struct pawl__sim_endpoint *endpoint = world->endpoints[message->client];

    if (!endpoint->is_cut || message->kind >= PAWL__SIM_TIMEOUT) {
        return false;
    }
    endpoint->held = pawl__sim_grow(endpoint->held, endpoint->held_count, sizeof(void *));
    endpoint->held[endpoint->held_count++] = message;
    return true;
}

bool pawl__sim_step(struct pawl__sim_world *world)
{
    if (world->heap_len == 0) {
        return false;
    }
    struct pawl__sim_message *message = pop(world);
    world->now_ms = message->at_ms;
    if (is_held(world, message)) {
        return true;
    }
    switch (message->kind) {
    case PAWL__SIM_REQUEST:
    case PAWL__SIM_WATCH:
        arrive_at_store(world, message);
        break;
    case PAWL__SIM_REPLY:
    case PAWL__SIM_HINT:
        arrive_at_endpoint(world, message);
        break;
    case PAWL__SIM_TIMEOUT:
    case PAWL__SIM_REFUSAL:
        pawl__sim_endpoint_give_up(world->endpoints[message->client], message->request.op,
                                   message->kind == PAWL__SIM_TIMEOUT ? PAWL_E_UNKNOWN
                                                                      : PAWL_E_UNAVAILABLE);
        pawl__sim_message_free(message);
        break;
    case PAWL__SIM_EXPIRY:
        expire(world, message);
        break;
    }
    return true;
}

/* ---- Faults -------------------------------------------------------------------------------------
 */

void pawl__sim_partition(struct pawl__sim_endpoint *endpoint, bool cut)
{
    endpoint->is_cut = cut;
    if (cut) {
        return;
    }
    for (size_t i = 0; i < endpoint->held_count; i++) {
        pawl__sim_schedule(endpoint->world, endpoint->held[i], pawl__sim_draw_delay(endpoint));
    }
    endpoint->held_count = 0;
}

void pawl__sim_kill_session(struct pawl__sim_world *world, uint64_t session)
{
    if (pawl__sim_store_session(&world->store, session) != NULL) {
        pawl__sim_store_end_session(&world->store, session, PAWL__SIM_KILLED);
    }
}

static void forget_watches(struct pawl__sim_store *store)
{
    for (size_t i = 0; i < store->watch_count; i++) {
        pawl__free(store->watches[i].name);
    }
    store->watch_count = 0;
}

/* Every session has its whole ttl before it: what a store does that did not see the renewals. */
static void restart_sessions(struct pawl__sim_world *world)
{
    for (size_t i = 0; i < world->store.session_count; i++) {
        struct pawl__sim_session *session = &world->store.sessions[i];
        if (session->ttl_ms > 0 && session->expires_ms < world->now_ms + session->ttl_ms) {
            session->expires_ms = world->now_ms + session->ttl_ms;
        }
    }
}

void pawl__sim_store_down(struct pawl__sim_world *world)
{
    world->is_down = true;
    world->era++;
    forget_watches(&world->store);
}

void pawl__sim_store_up(struct pawl__sim_world *world)
{
    world->is_down = false;
    restart_sessions(world);
}

void pawl__sim_store_save(struct pawl__sim_world *world)
{
    if (world->has_saved) {
        pawl__sim_store_release(&world->saved);
    }
    pawl__sim_store_copy(&world->saved, &world->store);
    world->has_saved = true;
}

void pawl__sim_store_restore(struct pawl__sim_world *world)
{
    if (!world->has_saved) {
        return;
    }
    pawl__sim_store_release(&world->store);
    pawl__sim_store_copy(&world->store, &world->saved);
    world->era++;
    restart_sessions(world);
    for (size_t i = 0; i < world->store.session_count; i++) {
        struct pawl__sim_session *session = &world->store.sessions[i];
        struct pawl__sim_message *expiry = pawl__sim_message_new(PAWL__SIM_EXPIRY, session->client);
        /* It may have one already, which then finds the session gone. */
        expiry->detail = session->id;
        pawl__sim_schedule(world, expiry, session->ttl_ms);
    }
}
