/* Tests of the simulated network and time, backends/sim/world.c and endpoint.c, through the checked
 * wrappers. */
#include <criterion/criterion.h>
#include <string.h>

#include "backends/sim/sim.h"

#define SESSION    UINT64_C(7)
#define TIMEOUT_MS INT64_C(1000)
#define TTL_MS     INT64_C(3000)

static const struct pawl__want wants[1] = {{"job", PAWL__MODE_X}};

/* A client end that keeps its last event. */
struct end {
    struct pawl__sim_world *world;
    struct pawl__sim_endpoint *endpoint;
    struct pawl__backend_host host;
    struct pawl__backend *backend;
    struct pawl__backend_event *last; /* owned */
    unsigned count;
};

static void post(void *ctx, struct pawl__backend_event *event)
{
    struct end *end = ctx;

    pawl__backend_event_free(end->last);
    end->last = event;
    end->count++;
}

static struct pawl__boot now(void *ctx)
{
    struct end *end = ctx;

    return (struct pawl__boot){pawl__sim_now(end->world)};
}

static void open_end(struct end *end, struct pawl__sim_world *world, struct pawl__sim_net net)
{
    struct pawl__backend_settings settings = {.request_timeout_ms = TIMEOUT_MS,
                                              .connect_timeout_ms = TIMEOUT_MS};

    memset(end, 0, sizeof(*end));
    end->world = world;
    end->host = (struct pawl__backend_host){post, now, end};
    end->endpoint = pawl__sim_join(world, &net);
    settings.context = end->endpoint;
    cr_assert_eq(
        pawl__backend_open_with(&pawl__sim_ops, &settings, &end->host, &end->backend, NULL, NULL),
        PAWL_OK);
}

static void close_end(struct end *end)
{
    pawl__backend_close(end->backend, 0);
    pawl__backend_event_free(end->last);
}

static void pass(struct pawl__sim_world *world, int64_t ms)
{
    int64_t until = pawl__sim_now(world) + ms;

    while (pawl__sim_next(world) <= until) {
        (void)pawl__sim_step(world);
    }
    pawl__sim_advance(world, until);
}

static pawl_status await(struct end *end, unsigned count)
{
    while (end->count < count && pawl__sim_step(end->world)) {
    }
    return end->count < count ? PAWL_E_INTERNAL : end->last->status;
}

static void open_session(struct end *end)
{
    cr_assert_eq(pawl__backend_session_open(end->backend, 1, SESSION, TTL_MS), PAWL_OK);
    cr_assert_eq(await(end, 1), PAWL_OK);
}

static void enqueue(struct end *end, uint64_t op)
{
    struct pawl__enqueue enqueue = {
        .session = SESSION, .attempt = 5, .wants = wants, .count = 1, .payload = "{}"};

    cr_assert_eq(pawl__backend_enqueue(end->backend, op, &enqueue), PAWL_OK);
}

static void look(struct end *end, uint64_t op, bool settle)
{
    struct pawl__look look = {
        .session = SESSION, .attempt = 5, .wants = wants, .count = 1, .settle = settle};

    cr_assert_eq(pawl__backend_look(end->backend, op, &look), PAWL_OK);
}

static size_t entries(const struct pawl__sim_world *world)
{
    return pawl__sim_store_entry_count(pawl__sim_store(world));
}

static const struct pawl__sim_net calm = {.delay_min_ms = 10, .delay_max_ms = 10};

/* Evidence is the time of sending, not of the answer. */
Test(sim_world, ProvesLifeFromTheSending)
{
    struct pawl__sim_world *world = pawl__sim_world_new(1, NULL);
    struct end end;

    open_end(&end, world, calm);
    int64_t sent = pawl__sim_now(world);
    open_session(&end);
    cr_assert_eq(pawl__sim_now(world), sent + 20);
    cr_assert_eq(end.last->evidence.ms, sent);
    close_end(&end);
    pawl__sim_world_free(world);
}

/* A session never ends before its proof of life + ttl, and soon after that. */
Test(sim_world, ExpiresNotBeforeTheTtl)
{
    for (uint64_t seed = 1; seed < 50; seed++) {
        struct pawl__sim_world *world = pawl__sim_world_new(seed, NULL);
        struct end end;
        open_end(&end, world, calm);
        open_session(&end);
        int64_t proof = end.last->evidence.ms;
        while (pawl__sim_store(world)->session_count > 0 && pawl__sim_step(world)) {
        }
        cr_assert_geq(pawl__sim_now(world), proof + TTL_MS);
        cr_assert_leq(pawl__sim_now(world), proof + 2 * TTL_MS);
        close_end(&end);
        pawl__sim_world_free(world);
    }
}

/* A lost request is not executed and answered E_UNKNOWN at its timeout. */
Test(sim_world, LosesRequests)
{
    struct pawl__sim_world *world = pawl__sim_world_new(1, NULL);
    struct pawl__sim_net net = calm;
    struct end end;

    open_end(&end, world, calm);
    open_session(&end);
    net.lose_request = 100;
    pawl__sim_set_net(end.endpoint, &net);
    int64_t sent = pawl__sim_now(world);
    enqueue(&end, 2);
    cr_assert_eq(await(&end, 2), PAWL_E_UNKNOWN);
    cr_assert_eq(pawl__sim_now(world), sent + TIMEOUT_MS);
    cr_assert_eq(entries(world), 0);
    close_end(&end);
    pawl__sim_world_free(world);
}

/* A lost reply: executed, and answered E_UNKNOWN. */
Test(sim_world, LosesReplies)
{
    struct pawl__sim_world *world = pawl__sim_world_new(1, NULL);
    struct pawl__sim_net net = calm;
    struct end end;

    open_end(&end, world, calm);
    open_session(&end);
    net.lose_reply = 100;
    pawl__sim_set_net(end.endpoint, &net);
    enqueue(&end, 2);
    cr_assert_eq(await(&end, 2), PAWL_E_UNKNOWN);
    cr_assert_eq(entries(world), 1);
    close_end(&end);
    pawl__sim_world_free(world);
}

/* A late request lands after it was answered E_UNKNOWN, if nobody settles. */
Test(sim_world, LandsLate)
{
    struct pawl__sim_world *world = pawl__sim_world_new(1, NULL);
    struct pawl__sim_net net = calm;
    struct end end;

    open_end(&end, world, calm);
    open_session(&end);
    net.late = 100;
    pawl__sim_set_net(end.endpoint, &net);
    enqueue(&end, 2);
    cr_assert_eq(await(&end, 2), PAWL_E_UNKNOWN);
    cr_assert_eq(entries(world), 0);
    pass(world, 2 * TIMEOUT_MS);
    cr_assert_eq(entries(world), 1);
    close_end(&end);
    pawl__sim_world_free(world);
}

/* After a settling look that shows it absent, it never lands. */
Test(sim_world, NeverLandsAfterSettle)
{
    for (uint64_t seed = 1; seed < 50; seed++) {
        struct pawl__sim_world *world = pawl__sim_world_new(seed, NULL);
        struct pawl__sim_net net = calm;
        struct end end;
        open_end(&end, world, calm);
        open_session(&end);
        net.late = 100;
        pawl__sim_set_net(end.endpoint, &net);
        enqueue(&end, 2);
        cr_assert_eq(await(&end, 2), PAWL_E_UNKNOWN);
        pawl__sim_set_net(end.endpoint, &calm);
        look(&end, 3, true);
        cr_assert_eq(await(&end, 3), PAWL_OK);
        bool present = end.last->views[0].own_present;
        pass(world, 3 * TIMEOUT_MS);
        cr_assert(present || entries(world) == 0);
        close_end(&end);
        pawl__sim_world_free(world);
    }
}

/* Messages of a client that is cut off wait for the end of the partition. */
Test(sim_world, HoldsMessagesOfAPartition)
{
    struct pawl__sim_world *world = pawl__sim_world_new(1, NULL);
    struct end end;

    open_end(&end, world, calm);
    open_session(&end);
    pawl__sim_partition(end.endpoint, true);
    enqueue(&end, 2);
    cr_assert_eq(await(&end, 2), PAWL_E_UNKNOWN);
    cr_assert_eq(entries(world), 0);
    pawl__sim_partition(end.endpoint, false);
    pass(world, 100);
    cr_assert_eq(entries(world), 1);
    close_end(&end);
    pawl__sim_world_free(world);
}

/* What was under way when the store stopped is lost; sessions get their ttl anew. */
Test(sim_world, LosesMessagesWithTheStore)
{
    struct pawl__sim_world *world = pawl__sim_world_new(1, NULL);
    struct end end;

    open_end(&end, world, calm);
    open_session(&end);
    enqueue(&end, 2);
    pawl__sim_store_down(world);
    pass(world, 2 * TTL_MS);
    cr_assert_eq(end.last->status, PAWL_E_UNKNOWN);
    int64_t up = pawl__sim_now(world);
    pawl__sim_store_up(world);
    cr_assert_eq(pawl__sim_store(world)->session_count, 1);
    cr_assert_eq(entries(world), 0);
    while (pawl__sim_store(world)->session_count > 0 && pawl__sim_step(world)) {
    }
    cr_assert_geq(pawl__sim_now(world), up + TTL_MS);
    close_end(&end);
    pawl__sim_world_free(world);
}

/* A client that has seen a later state than the store's is told so. */
Test(sim_world, ReportsAStoreThatWentBack)
{
    struct pawl__sim_world *world = pawl__sim_world_new(1, NULL);
    struct end end;

    open_end(&end, world, calm);
    open_session(&end);
    pawl__sim_store_save(world);
    enqueue(&end, 2);
    cr_assert_eq(await(&end, 2), PAWL_OK);
    pawl__sim_store_restore(world);
    look(&end, 3, false);
    cr_assert_eq(await(&end, 3), PAWL_E_STORE);
    close_end(&end);
    pawl__sim_world_free(world);
}

/* A session that was killed is reported by a hint. */
Test(sim_world, HintsAKilledSession)
{
    struct pawl__sim_world *world = pawl__sim_world_new(1, NULL);
    struct end end;

    open_end(&end, world, calm);
    open_session(&end);
    pawl__sim_kill_session(world, SESSION);
    cr_assert_eq(await(&end, 2), PAWL_OK);
    cr_assert_eq(end.last->kind, PAWL__BEV_SESSION);
    cr_assert_eq(end.last->session, SESSION);
    close_end(&end);
    pawl__sim_world_free(world);
}
