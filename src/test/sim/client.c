/* A simulated process: one core, driven as the owner thread of a real client drives it. */
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "core/driver.h"
#include "run.h"

#define STEPS_AT_ONCE_MAX 20000 /* a core that steps more at one moment runs in circles */

struct pawl__boot client_clock(const struct client *client)
{
    return (struct pawl__boot){pawl__sim_now(client->run->world) + client->clock_offset_ms};
}

static int64_t to_world(const struct client *client, struct pawl__boot boot)
{
    return pawl__boot_is_never(boot) ? NEVER : boot.ms - client->clock_offset_ms;
}

static struct pawl__boot from_world(const struct client *client, int64_t ms)
{
    return ms == NEVER ? PAWL__BOOT_NEVER : (struct pawl__boot){ms + client->clock_offset_ms};
}

bool client_runs(const struct client *client)
{
    return client->core != NULL && client->paused_ms == NEVER;
}

int64_t client_next(const struct client *client)
{
    if (!client_runs(client)) {
        return NEVER;
    }
    return to_world(client, pawl__core_next_deadline(client->core));
}

/* ---- What the core tells ------------------------------------------------------------------------
 */

static struct call *find_call(struct client *client, uint64_t id)
{
    struct run *run = client->run;

    for (size_t i = run->calls_open; i < run->call_count; i++) {
        struct call *call = &run->calls[i];
        if (call->client == client->index && call->life == client->life && call->id == id) {
            return call;
        }
    }
    return NULL;
}

static void tell_lease(struct client *client, const struct pawl__core_action *action)
{
    for (size_t i = 0; i < client->lease_count; i++) {
        struct lease *lease = &client->leases[i];
        if (lease->session != action->session) {
            continue;
        }
        if (pawl__boot_is_none(lease->deadline) && !pawl__boot_is_none(action->deadline)) {
            run_fail(client->run, "P3: the lease of a dead session came back to life");
        }
        if (pawl__boot_is_none(action->deadline)) {
            oracle_lease_dead(client->run, client, lease);
        }
        lease->deadline = action->deadline;
        return;
    }
    if (client->lease_count == LEASES_MAX) {
        memmove(&client->leases[0], &client->leases[1], (LEASES_MAX - 1) * sizeof(struct lease));
        client->lease_count--;
    }
    client->leases[client->lease_count++] = (struct lease){action->session, action->deadline};
}

static void tell_granted(struct client *client, const struct pawl__core_action *action)
{
    struct call *call = find_call(client, action->id);
    struct run *run = client->run;

    if (call == NULL || call->state != CALL_PENDING || call->kind != PAWL__EV_ACQUIRE) {
        run_fail(run, "API: granted what is not pending, id %" PRIu64, action->id);
        return;
    }
    call->state = CALL_HELD;
    call->hold = PAWL_HOLD_HELD;
    call->number = action->number;
    call->session = action->session;
    call->release_ms = run_now(run) + call->hold_ms;
    run->stats.grants++;
    oracle_granted(run, call);
}

static void tell_failed(struct client *client, const struct pawl__core_action *action)
{
    struct call *call = find_call(client, action->id);

    if (call == NULL || call->state != CALL_PENDING) {
        run_fail(client->run, "API: an answer to what is not pending, id %" PRIu64, action->id);
        return;
    }
    client->run->stats.went_back += action->status == PAWL_E_STORE ? 1 : 0;
    if (action->kind == PAWL__ACT_FAILED) {
        oracle_failed(client->run, call, action->status);
    }
    call->state = CALL_OVER;
}

/* The moves that lock.h promises. */
static bool hold_may_move(pawl_hold_state_value from, pawl_hold_state_value to)
{
    switch (from) {
    case PAWL_HOLD_HELD:
        return to != PAWL_HOLD_HELD;
    case PAWL_HOLD_SUSPECT:
        return to != PAWL_HOLD_SUSPECT;
    case PAWL_HOLD_RELEASING:
        return to == PAWL_HOLD_RELEASED || to == PAWL_HOLD_LOST;
    case PAWL_HOLD_RELEASED:
    case PAWL_HOLD_LOST:
        break;
    }
    return false;
}

static void tell_hold(struct client *client, const struct pawl__core_action *action)
{
    struct call *call = find_call(client, action->id);
    struct run *run = client->run;

    if (call == NULL || call->state != CALL_HELD) {
        run_fail(run, "API: news of a hold that is over, id %" PRIu64, action->id);
        return;
    }
    if (!hold_may_move(call->hold, action->hold)) {
        run_fail(run, "API: a hold went from %d to %d", (int)call->hold, (int)action->hold);
        return;
    }
    if (action->hold == PAWL_HOLD_LOST) {
        run->stats.lost++;
        if (!call->released) {
            oracle_lost(run, call);
        }
    }
    if (action->hold == PAWL_HOLD_RELEASING && !call->released && !client->closing) {
        run_fail(run, "API: RELEASING, though nobody released");
    }
    call->hold = action->hold;
    if (action->hold == PAWL_HOLD_LOST || action->hold == PAWL_HOLD_RELEASED) {
        call->state = CALL_OVER;
    }
}

static void trace_action(struct client *client, const struct pawl__core_action *action)
{
    static const char *const words[] = {"lease",     "GRANTED", "failed",     "hold",   "waiting",
                                        "inspected", "broken",  "session-up", "closed", "event"};

    run_trace(client->run,
              "c%u > %s id=%" PRIu64 " number=%" PRIu64 " status=%s hold=%d deadline=%" PRId64
              " %s",
              client->index, words[action->kind - PAWL__ACT_LEASE], action->id, action->number,
              pawl_status_name(action->status), (int)action->hold,
              action->kind == PAWL__ACT_LEASE ? to_world(client, action->deadline) : 0,
              action->text == NULL ? "" : action->text);
}

static void take_action(void *ctx, const struct pawl__core_action *action)
{
    struct client *client = ctx;

    if (client->run->trace != NULL) {
        trace_action(client, action);
    }
    switch (action->kind) {
    case PAWL__ACT_LEASE:
        tell_lease(client, action);
        break;
    case PAWL__ACT_GRANTED:
        tell_granted(client, action);
        break;
    case PAWL__ACT_FAILED:
    case PAWL__ACT_INSPECTED:
    case PAWL__ACT_BROKEN:
        tell_failed(client, action);
        break;
    case PAWL__ACT_HOLD:
        tell_hold(client, action);
        break;
    case PAWL__ACT_CLOSED:
        client->closed = true;
        oracle_closed(client->run, client, action->status);
        break;
    case PAWL__ACT_WAITING:
    case PAWL__ACT_SESSION_UP:
    case PAWL__ACT_EVENT:
        break;
    case PAWL__ACT_SESSION_OPEN:
    case PAWL__ACT_SESSION_RENEW:
    case PAWL__ACT_SESSION_CLOSE:
    case PAWL__ACT_ENQUEUE:
    case PAWL__ACT_LOOK:
    case PAWL__ACT_REMOVE:
    case PAWL__ACT_MARK:
    case PAWL__ACT_LIST:
    case PAWL__ACT_WATCH:
    case PAWL__ACT_UNWATCH:
        run_fail(client->run, "API: an action of the backend at the sink");
        break;
    }
}

/* ---- Steps --------------------------------------------------------------------------------------
 */

static void step(struct client *client, struct pawl__core_event *event)
{
    struct pawl__boot now = client_clock(client);

    client->run->stats.steps++;
    if (++client->run->steps_now > STEPS_AT_ONCE_MAX) {
        run_fail(client->run, "P5: client %u steps in circles", client->index);
        return;
    }
    pawl__core_step(client->core, now, event);
    pawl__driver_run(client->core, now, client->backend, take_action, client);
    oracle_check(client->run);
}

static bool step_inbox(struct client *client)
{
    struct pawl__backend_event *event = client->inbox;

    if (event == NULL) {
        return false;
    }
    client->inbox = event->next;
    if (client->inbox == NULL) {
        client->inbox_end = &client->inbox;
    }
    event->next = NULL;
    run_trace(client->run, "c%u < event %d op=%" PRIx64 " status=%s number=%" PRIu64 " %s",
              client->index, (int)event->kind, event->op, pawl_status_name(event->status),
              event->view_count > 0 ? event->views[0].own_number : event->number, event->text);
    struct pawl__core_event step_event = {.kind = PAWL__EV_BACKEND, .backend = event};
    step(client, &step_event);
    pawl__backend_event_free(event);
    return true;
}

static bool step_tick(struct client *client)
{
    if (client_next(client) > run_now(client->run)) {
        return false;
    }
    struct pawl__core_event tick = {.kind = PAWL__EV_TICK};
    step(client, &tick);
    return true;
}

static void take_down(struct client *client)
{
    run_trace(client->run, "c%u is closed", client->index);
    client_free(client);
}

/* A thread of the caller may be the first to see that a deadline is over, and says so. */
static void tell_dead_lease(struct client *client)
{
    if (!client_runs(client) || pawl__rand_below(&client->run->rand, 2) == 0) {
        return;
    }
    for (size_t i = 0; i < client->lease_count; i++) {
        const struct lease *lease = &client->leases[i];
        if (!pawl__boot_is_none(lease->deadline) &&
            !pawl__boot_before(client_clock(client), lease->deadline)) {
            struct pawl__core_event event = {.kind = PAWL__EV_LEASE_DEAD,
                                             .session = lease->session};
            step(client, &event);
            return;
        }
    }
}

/* Time first or events first: a thread that wakes finds both, in no order. */
void client_step(struct client *client)
{
    tell_dead_lease(client);
    bool time_first = pawl__rand_below(&client->run->rand, 2) == 0;
    bool moved = true;

    while (moved && client_runs(client) && client->run->failure[0] == '\0') {
        moved = time_first ? step_tick(client) : step_inbox(client);
        if (!moved) {
            moved = time_first ? step_inbox(client) : step_tick(client);
        }
        if (client->closed) {
            take_down(client);
        }
    }
}

/* ---- Life ---------------------------------------------------------------------------------------
 */

static void post(void *ctx, struct pawl__backend_event *event)
{
    struct client *client = ctx;

    event->next = NULL;
    *client->inbox_end = event;
    client->inbox_end = &event->next;
}

static struct pawl__boot host_now(void *ctx)
{
    return client_clock(ctx);
}

static uint64_t host_random(void *ctx)
{
    struct client *client = ctx;

    return pawl__rand_u64(&client->rand);
}

static int64_t request_timeout(const struct plan *plan)
{
    return plan->ttl_ms / 3 < 5000 ? plan->ttl_ms / 3 : 5000;
}

static struct pawl__core *new_core(struct client *client)
{
    const struct plan *plan = client->run->plan;
    struct pawl__core_config config = {
        .ttl_ms = plan->ttl_ms,
        .margin_ms = plan->ttl_ms / 10 > 200 ? plan->ttl_ms / 10 : 200,
        .renew_ms = plan->ttl_ms / 4,
        .request_timeout_ms = request_timeout(plan),
        .retry_base_ms = 200,
        .retry_cap_ms = 5000,
        .principal = "os:sim@sim",
        .random = host_random,
        .random_ctx = client,
    };

    return pawl__core_new(&config);
}

void client_start(struct run *run, unsigned index)
{
    struct client *client = &run->clients[index];
    static const struct pawl__sim_net calm = {.delay_min_ms = 1, .delay_max_ms = 5};

    client->run = run;
    client->index = index;
    client->life++;
    client->inbox_end = &client->inbox;
    client->lease_count = 0;
    client->closing = client->closed = false;
    client->restart_ms = NEVER;
    client->clock_offset_ms = INT64_C(1000000) * (index + 1);
    pawl__rand_init(&client->rand, run->plan->seed * 64 + (uint64_t)index * 8 + client->life);
    client->host = (struct pawl__backend_host){post, host_now, client};
    client->endpoint = pawl__sim_join(run->world, &calm);
    struct pawl__backend_settings settings = {
        .request_timeout_ms = request_timeout(run->plan),
        .connect_timeout_ms = 1000,
        .context = client->endpoint,
    };
    pawl_status status = pawl__backend_open_with(&pawl__sim_ops, &settings, &client->host,
                                                 &client->backend, NULL, NULL);
    PAWL_INVARIANT(status == PAWL_OK);
    client->core = new_core(client);
    PAWL_INVARIANT(client->core != NULL);
    run_trace(run, "c%u starts, life %u", index, client->life);
}

/* What the process asked for dies with it. */
static void forget_calls(struct client *client)
{
    struct run *run = client->run;

    for (size_t i = run->calls_open; i < run->call_count; i++) {
        if (run->calls[i].client == client->index && run->calls[i].life == client->life) {
            run->calls[i].state = CALL_OVER;
        }
    }
}

void client_free(struct client *client)
{
    if (client->core == NULL) {
        return;
    }
    forget_calls(client);
    pawl__backend_close(client->backend, 0);
    pawl__core_free(client->core);
    while (client->inbox != NULL) {
        struct pawl__backend_event *event = client->inbox;
        client->inbox = event->next;
        pawl__backend_event_free(event);
    }
    client->core = NULL;
    client->backend = NULL;
}

void client_crash(struct client *client)
{
    run_trace(client->run, "c%u is killed", client->index);
    client_free(client);
}

/* ---- Calls --------------------------------------------------------------------------------------
 */

static uint64_t draw_id(struct client *client)
{
    uint64_t id = 0;

    while (id == 0) {
        id = pawl__rand_u64(&client->rand) >> 1;
    }
    return id;
}

static struct pawl__want *make_wants(uint64_t names, enum pawl__mode mode, size_t *ret_count)
{
    struct pawl__want *wants = pawl__sim_alloc(PLAN_NAMES_MAX * sizeof(wants[0]));

    *ret_count = 0;
    for (unsigned i = 0; i < PLAN_NAMES_MAX; i++) {
        if ((names >> i & 1) != 0) {
            wants[*ret_count].name = pawl__strdup(run_name(i));
            wants[*ret_count].mode = mode;
            (*ret_count)++;
        }
    }
    return wants;
}

void client_acquire(struct client *client, const struct plan_item *item)
{
    struct run *run = client->run;
    struct call *call = run_new_call(run, client->index, PAWL__EV_ACQUIRE);
    int64_t wait = item->b == 0 ? request_timeout(run->plan) : item->b;

    call->names = (uint64_t)item->a;
    call->mode = item->kind == PLAN_ACQUIRE_S ? PAWL__MODE_S : PAWL__MODE_X;
    call->attempt = draw_id(client);
    call->is_forever = item->b < 0;
    call->is_try = item->b == 0;
    call->deadline_ms = call->is_forever ? NEVER : run_now(run) + wait;
    call->hold_ms = item->c;
    struct pawl__core_event event = {
        .kind = PAWL__EV_ACQUIRE,
        .id = call->id,
        .acquire = {.payload = pawl__strdup("{\"v\":1}"),
                    .attempt = call->attempt,
                    .only_if_free = item->b == 0,
                    .deadline = from_world(client, call->deadline_ms)},
    };
    event.acquire.wants = make_wants(call->names, call->mode, &event.acquire.count);
    run_trace(run, "c%u acquire id=%" PRIu64 " names=%" PRIx64 " wait=%" PRId64, client->index,
              call->id, call->names, item->b);
    step(client, &event);
}

void client_cancel(struct client *client, struct call *call)
{
    struct pawl__core_event event = {.kind = PAWL__EV_CANCEL, .id = call->id};
    size_t index = (size_t)(call - client->run->calls);

    run_trace(client->run, "c%u cancel id=%" PRIu64, client->index, call->id);
    call->canceled = true;
    step(client, &event);
    call = &client->run->calls[index];
    if (call->state == CALL_PENDING) {
        run_fail(client->run, "P5: canceled, but not answered at once");
    }
}

void client_release(struct client *client, struct call *call)
{
    struct pawl__core_event event = {.kind = PAWL__EV_RELEASE, .id = call->id};

    run_trace(client->run, "c%u release id=%" PRIu64, client->index, call->id);
    call->released = true;
    call->release_ms = NEVER;
    step(client, &event);
    if (call->state == CALL_HELD && call->hold != PAWL_HOLD_RELEASING) {
        run_fail(client->run, "API: released, but the hold is in state %d", (int)call->hold);
    }
}

void client_break(struct client *client, unsigned name, uint64_t number, bool now)
{
    struct run *run = client->run;
    struct call *call = run_new_call(run, client->index, PAWL__EV_BREAK);

    oracle_note(now ? &run->oracle.broken_now : &run->oracle.broken, number);
    call->deadline_ms = run_now(run) + 3 * run->plan->ttl_ms;
    struct pawl__core_event event = {
        .kind = PAWL__EV_BREAK,
        .id = call->id,
        .deadline = from_world(client, call->deadline_ms),
        .break_ = {.name = run_name(name), .number = number, .reason = "sim", .now = now},
    };
    run_trace(run, "c%u break %s number=%" PRIu64 " now=%d", client->index, run_name(name), number,
              (int)now);
    step(client, &event);
}

void client_inspect(struct client *client, int64_t name)
{
    struct run *run = client->run;
    struct call *call = run_new_call(run, client->index, PAWL__EV_INSPECT);

    call->deadline_ms = run_now(run) + request_timeout(run->plan);
    struct pawl__core_event event = {.kind = PAWL__EV_INSPECT,
                                     .id = call->id,
                                     .deadline = from_world(client, call->deadline_ms),
                                     .name = name < 0 ? NULL : run_name((unsigned)name)};
    step(client, &event);
}

void client_close(struct client *client, int64_t timeout_ms)
{
    struct run *run = client->run;
    struct pawl__core_event event = {.kind = PAWL__EV_CLOSE};

    client->closing = true;
    client->close_deadline_ms = run_now(run) + timeout_ms;
    event.deadline = from_world(client, client->close_deadline_ms);
    run_trace(run, "c%u close timeout=%" PRId64, client->index, timeout_ms);
    step(client, &event);
    if (client->closed) {
        take_down(client);
    }
}

/* ---- What the caller knows ----------------------------------------------------------------------
 */

bool client_believes(const struct run *run, const struct call *call)
{
    const struct client *client = &run->clients[call->client];

    if (call->state != CALL_HELD || call->life != client->life ||
        (call->hold != PAWL_HOLD_HELD && call->hold != PAWL_HOLD_SUSPECT)) {
        return false;
    }
    for (size_t i = 0; i < client->lease_count; i++) {
        if (client->leases[i].session == call->session) {
            return pawl__boot_before(client_clock(client), client->leases[i].deadline);
        }
    }
    return false;
}
