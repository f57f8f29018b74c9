/* Plays a plan: moves virtual time from one thing to the next, applies the plan's items, repairs
 * everything at the end and waits for rest. */
#include "run.h"

#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"

#define STEPS_MAX 2000000 /* of one run; a run that needs more does not end */

void run_fail(struct run *run, const char *format, ...)
{
    va_list args;

    if (run->failure[0] != '\0') {
        return;
    }
    va_start(args, format);
    (void)vsnprintf(run->failure, sizeof(run->failure), format, args);
    va_end(args);
    run_trace(run, "FAILED %s", run->failure);
}

void run_trace(struct run *run, const char *format, ...)
{
    va_list args;

    if (run->trace == NULL) {
        return;
    }
    fprintf(run->trace, "%8" PRId64 " ", run_now(run));
    va_start(args, format);
    vfprintf(run->trace, format, args);
    va_end(args);
    fputc('\n', run->trace);
}

int64_t run_now(const struct run *run)
{
    return pawl__sim_now(run->world);
}

const char *run_name(unsigned name)
{
    static const char *const names[PLAN_NAMES_MAX] = {"l0", "l1", "l2", "l3", "l4", "l5"};

    PAWL_INVARIANT(name < PLAN_NAMES_MAX);
    return names[name];
}

struct call *run_new_call(struct run *run, unsigned client, enum pawl__core_event_kind kind)
{
    run->calls = pawl__sim_grow(run->calls, run->call_count, sizeof(run->calls[0]));
    struct call *call = &run->calls[run->call_count++];
    memset(call, 0, sizeof(*call));
    call->id = run->call_count;
    call->client = client;
    call->life = run->clients[client].life;
    call->kind = kind;
    call->state = CALL_PENDING;
    call->release_ms = NEVER;
    call->deadline_ms = NEVER;
    run->stats.calls++;
    return call;
}

/* ---- The network
 * ---------------------------------------------------------------------------------- */

static void set_net(struct client *client)
{
    static const struct pawl__sim_net nets[PLAN_NET_COUNT] = {
        [PLAN_NET_CALM] = {.delay_min_ms = 1, .delay_max_ms = 5},
        [PLAN_NET_SLOW] = {.delay_min_ms = 1, .delay_max_ms = 200, .slow_max_ms = 3000, .slow = 20},
        [PLAN_NET_LOSSY] = {.delay_min_ms = 1,
                            .delay_max_ms = 20,
                            .lose_request = 10,
                            .lose_reply = 15,
                            .refuse = 5,
                            .lose_hint = 50},
        [PLAN_NET_ODD] = {.delay_min_ms = 1,
                          .delay_max_ms = 100,
                          .slow_max_ms = 1500,
                          .slow = 10,
                          .duplicate = 20,
                          .late = 15,
                          .repeat_hint = 30},
        [PLAN_NET_BAD] = {.delay_min_ms = 1,
                          .delay_max_ms = 300,
                          .slow_max_ms = 4000,
                          .slow = 10,
                          .lose_request = 10,
                          .lose_reply = 10,
                          .late = 10,
                          .duplicate = 10,
                          .refuse = 5,
                          .lose_hint = 30,
                          .repeat_hint = 20},
    };

    struct pawl__sim_net net = nets[client->net];
    if (client->mute_ms != NEVER) {
        net.lose_hint = 100;
    }
    if (client->core != NULL) {
        pawl__sim_set_net(client->endpoint, &net);
    }
}

static void start_client(struct run *run, unsigned index)
{
    struct client *client = &run->clients[index];

    client_start(run, index);
    if (client->cut_ms != NEVER) {
        pawl__sim_partition(client->endpoint, true);
    }
    set_net(client);
}

/* ---- Items of the plan
 * ---------------------------------------------------------------------------- */

/* The n-th open acquire of a client in a state, counted around; NULL if there is none. */
static struct call *pick_call(struct run *run, const struct client *client, enum call_state state,
                              int64_t n)
{
    int64_t count = 0;

    for (size_t i = run->calls_open; i < run->call_count; i++) {
        const struct call *call = &run->calls[i];
        count += call->client == client->index && call->life == client->life &&
                         call->state == state && call->kind == PAWL__EV_ACQUIRE && !call->released
                     ? 1
                     : 0;
    }
    for (size_t i = run->calls_open; count > 0 && i < run->call_count; i++) {
        struct call *call = &run->calls[i];
        if (call->client == client->index && call->life == client->life && call->state == state &&
            call->kind == PAWL__EV_ACQUIRE && !call->released && n-- % count == 0) {
            return call;
        }
    }
    return NULL;
}

static void break_entry(struct run *run, struct client *client, const struct plan_item *item)
{
    unsigned name = (unsigned)item->a % run->plan->names;
    const struct pawl__sim_queue *queue =
        pawl__sim_store_queue(pawl__sim_store(run->world), run_name(name));

    if (queue != NULL && queue->count > 0) {
        client_break(client, name, queue->entries[(size_t)item->b % queue->count].number,
                     item->kind == PLAN_BREAK_NOW);
    }
}

static void kill_session(struct run *run, const struct client *client)
{
    const struct pawl__sim_store *store = pawl__sim_store(run->world);

    for (size_t i = 0; i < store->session_count; i++) {
        if (store->sessions[i].client == pawl__sim_endpoint_index(client->endpoint)) {
            pawl__sim_kill_session(run->world, store->sessions[i].id);
            return;
        }
    }
}

/* What a caller in the process does; nothing happens while it does not run. */
static void apply_call(struct run *run, struct client *client, const struct plan_item *item)
{
    struct call *call = NULL;

    if (!client_runs(client) || client->closing) {
        return;
    }
    switch ((int)item->kind) {
    case PLAN_ACQUIRE:
    case PLAN_ACQUIRE_S:
        client_acquire(client, item);
        break;
    case PLAN_CANCEL:
        call = pick_call(run, client, CALL_PENDING, item->a);
        if (call != NULL) {
            client_cancel(client, call);
        }
        break;
    case PLAN_RELEASE:
        call = pick_call(run, client, CALL_HELD, item->a);
        if (call != NULL) {
            client_release(client, call);
        }
        break;
    case PLAN_BREAK:
    case PLAN_BREAK_NOW:
        break_entry(run, client, item);
        break;
    case PLAN_INSPECT:
        client_inspect(client, item->a < 0 ? -1 : item->a % run->plan->names);
        break;
    case PLAN_CLOSE:
        client->restart_ms = run_now(run) + item->a + item->b;
        client_close(client, item->a);
        break;
    case PLAN_CRASH:
        client_crash(client);
        client->restart_ms = run_now(run) + item->a;
        break;
    default:
        client->paused_ms = run_now(run) + item->a;
        break;
    }
}

static void apply_item(struct run *run, const struct plan_item *item)
{
    struct client *client = &run->clients[item->client];

    switch (item->kind) {
    case PLAN_CUT:
        client->cut_ms = run_now(run) + item->a;
        if (client->core != NULL) {
            pawl__sim_partition(client->endpoint, true);
        }
        break;
    case PLAN_MUTE:
        client->mute_ms = run_now(run) + item->a;
        set_net(client);
        break;
    case PLAN_NET:
        client->net = (enum plan_net)(item->b % PLAN_NET_COUNT);
        client->net_ms = run_now(run) + item->a;
        set_net(client);
        break;
    case PLAN_KILL:
        kill_session(run, client);
        break;
    case PLAN_DOWN:
        run->down_ms = run_now(run) + item->a;
        pawl__sim_store_down(run->world);
        break;
    case PLAN_SAVE:
        pawl__sim_store_save(run->world);
        break;
    case PLAN_RESTORE:
        run->oracle.restored = true;
        pawl__sim_store_restore(run->world);
        break;
    case PLAN_ACQUIRE:
    case PLAN_ACQUIRE_S:
    case PLAN_CANCEL:
    case PLAN_RELEASE:
    case PLAN_BREAK:
    case PLAN_BREAK_NOW:
    case PLAN_INSPECT:
    case PLAN_CLOSE:
    case PLAN_PAUSE:
    case PLAN_CRASH:
    case PLAN_KIND_COUNT:
        apply_call(run, client, item);
        break;
    }
}

/* ---- What ends by itself
 * -------------------------------------------------------------------------- */

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t next_of_client(const struct client *client)
{
    int64_t next = client_next(client);

    next = earlier(next, client->paused_ms);
    next = earlier(next, client->cut_ms);
    next = earlier(next, client->mute_ms);
    next = earlier(next, client->net_ms);
    return client->core == NULL ? earlier(next, client->restart_ms) : next;
}

static void end_faults(struct run *run, struct client *client, int64_t now)
{
    if (client->paused_ms <= now) {
        client->paused_ms = NEVER;
        client->resumed_ms = now;
    }
    if (client->cut_ms <= now) {
        client->cut_ms = NEVER;
        if (client->core != NULL) {
            pawl__sim_partition(client->endpoint, false);
        }
    }
    if (client->mute_ms <= now || client->net_ms <= now) {
        client->mute_ms = client->mute_ms <= now ? NEVER : client->mute_ms;
        if (client->net_ms <= now) {
            client->net_ms = NEVER;
            client->net = run->healing ? PLAN_NET_CALM : run->plan->net;
        }
        set_net(client);
    }
    if (client->core == NULL && client->restart_ms <= now) {
        start_client(run, client->index);
    }
}

static int64_t next_release(const struct run *run)
{
    int64_t next = NEVER;

    for (size_t i = run->calls_open; i < run->call_count; i++) {
        const struct call *call = &run->calls[i];
        const struct client *client = &run->clients[call->client];
        if (call->state == CALL_HELD && client_runs(client) && !client->closing) {
            next = earlier(next, call->release_ms);
        }
    }
    return next;
}

static void release_due(struct run *run, int64_t now)
{
    for (size_t i = run->calls_open; i < run->call_count; i++) {
        struct call *call = &run->calls[i];
        struct client *client = &run->clients[call->client];
        if (call->state == CALL_HELD && client_runs(client) && !client->closing &&
            call->release_ms <= now) {
            client_release(client, call);
        }
    }
}

static int64_t next_write(const struct run *run)
{
    int64_t next = NEVER;

    for (size_t i = 0; i < run->write_count; i++) {
        next = earlier(next, run->writes[i].at_ms);
    }
    return next;
}

static void deliver_writes(struct run *run, int64_t now)
{
    for (size_t i = 0; i < run->write_count;) {
        if (run->writes[i].at_ms > now) {
            i++;
            continue;
        }
        struct fenced_write write = run->writes[i];
        run->writes[i] = run->writes[--run->write_count];
        oracle_write_arrives(run, &write);
    }
}

/* ---- Time
 * ----------------------------------------------------------------------------------------- */

static int64_t next_item_time(const struct run *run)
{
    /* Plans count from 0, the world from a little later. */
    return run->next_item < run->plan->count ? run->plan->items[run->next_item].at_ms + 1000
                                             : NEVER;
}

static int64_t next_time(const struct run *run)
{
    int64_t next = earlier(pawl__sim_next(run->world), next_item_time(run));

    next = earlier(next, run->down_ms);
    next = earlier(next, next_release(run));
    next = earlier(next, next_write(run));
    for (unsigned i = 0; i < run->plan->clients; i++) {
        next = earlier(next, next_of_client(&run->clients[i]));
    }
    return next;
}

static bool goes_on(const struct run *run)
{
    return run->failure[0] == '\0';
}

/* Everything that is due at `now` but what the world itself does. */
static void do_what_is_due(struct run *run, int64_t now)
{
    if (run->down_ms <= now) {
        run->down_ms = NEVER;
        pawl__sim_store_up(run->world);
    }
    for (unsigned i = 0; i < run->plan->clients; i++) {
        end_faults(run, &run->clients[i], now);
    }
    while (goes_on(run) && next_item_time(run) <= now) {
        apply_item(run, &run->plan->items[run->next_item++]);
    }
    deliver_writes(run, now);
    release_due(run, now);
}

static void step_clients(struct run *run)
{
    for (unsigned i = 0; i < run->plan->clients; i++) {
        client_step(&run->clients[i]);
    }
}

/* Moves to the next thing that happens, at most to `until`; false when nothing is left before. */
static bool move(struct run *run, int64_t until)
{
    int64_t next = next_time(run);

    if (!goes_on(run) || next > until) {
        return false;
    }
    if (next > run_now(run)) {
        pawl__sim_advance(run->world, next);
        run->steps_now = 0;
    }
    if (pawl__sim_next(run->world) <= run_now(run)) {
        (void)pawl__sim_step(run->world);
        run->stats.steps++;
        oracle_check(run);
        step_clients(run);
    }
    do_what_is_due(run, run_now(run));
    step_clients(run);
    oracle_check(run);
    if (run->stats.steps > STEPS_MAX) {
        run_fail(run, "P5: the run does not come to an end");
    }
    return true;
}

/* ---- The end
 * -------------------------------------------------------------------------------------- */

static void heal(struct run *run)
{
    int64_t now = run_now(run);

    run_trace(run, "heal");
    run->healing = true;
    run->down_ms = run->down_ms == NEVER ? NEVER : now;
    for (unsigned i = 0; i < run->plan->clients; i++) {
        struct client *client = &run->clients[i];
        client->paused_ms = client->paused_ms == NEVER ? NEVER : now;
        client->cut_ms = client->cut_ms == NEVER ? NEVER : now;
        client->mute_ms = client->mute_ms == NEVER ? NEVER : now;
        client->net_ms = now;
    }
    do_what_is_due(run, now);
    step_clients(run);
}

/* Who still wants something, in words; NULL = nobody. */
static const char *what_is_open(const struct run *run)
{
    for (size_t i = run->calls_open; i < run->call_count; i++) {
        if (run->calls[i].state == CALL_PENDING) {
            return "P5: a waiter starves after everything was healed";
        }
        if (run->calls[i].state == CALL_HELD) {
            return "P6: a released hold does not end after everything was healed";
        }
    }
    for (unsigned i = 0; i < run->plan->clients; i++) {
        const struct client *client = &run->clients[i];
        if (client->core != NULL && pawl__core_count(client->core).requests > 0) {
            return "P6: a debt is not paid after everything was healed";
        }
    }
    if (!run->oracle.restored && pawl__sim_store_entry_count(pawl__sim_store(run->world)) > 0) {
        return "P6: an entry that nobody wants stays in the store";
    }
    return NULL;
}

static void await_rest(struct run *run)
{
    int64_t bound = run_now(run) + 30000 + 6 * run->plan->ttl_ms;

    for (size_t i = run->calls_open; i < run->call_count; i++) {
        bound += run->calls[i].state == CALL_OVER ? 0 : run->calls[i].hold_ms + 5000;
    }
    while (what_is_open(run) != NULL && move(run, bound)) {
    }
    /* A store that went back may show entries that their owner has removed already. */
    if (goes_on(run) && !run->oracle.restored && what_is_open(run) != NULL) {
        run_fail(run, "%s", what_is_open(run));
    }
}

static void close_all(struct run *run)
{
    for (unsigned i = 0; i < run->plan->clients; i++) {
        struct client *client = &run->clients[i];
        client->restart_ms = NEVER;
        if (goes_on(run) && client->core != NULL && !client->closing) {
            client_close(client, run->plan->ttl_ms);
        }
    }
    /* Long enough for what was sent late, and for the sessions of killed clients, to be over. */
    int64_t bound = run_now(run) + 5 * run->plan->ttl_ms;
    while (move(run, bound)) {
    }
}

static void play(struct run *run)
{
    for (unsigned i = 0; i < run->plan->clients; i++) {
        struct client *client = &run->clients[i];
        client->run = run;
        client->paused_ms = client->cut_ms = client->mute_ms = client->net_ms = NEVER;
        client->net = run->plan->net;
        start_client(run, i);
    }
    while (run->next_item < run->plan->count && move(run, next_item_time(run))) {
    }
    if (goes_on(run)) {
        heal(run);
        await_rest(run);
    }
    if (goes_on(run)) {
        close_all(run);
    }
    if (goes_on(run)) {
        oracle_check_rest(run);
    }
}

/* ---- A broken invariant is a failure like others
 * --------------------------------------------------- */

static sigjmp_buf on_abort;

static void jump_out(int signal_number)
{
    (void)signal_number;
    siglongjmp(on_abort, 1);
}

static void release(struct run *run)
{
    for (unsigned i = 0; i < run->plan->clients; i++) {
        client_free(&run->clients[i]);
    }
    pawl__sim_world_free(run->world);
    oracle_release(run);
    pawl__free(run->calls);
    pawl__free(run->writes);
}

bool run_plan(const struct plan *plan, FILE *trace, struct run_stats *stats, char *ret_failure)
{
    struct run *run = pawl__sim_alloc(sizeof(*run));
    struct sigaction action = {.sa_handler = jump_out, .sa_flags = SA_NODEFER};
    struct sigaction before;

    run->plan = plan;
    run->trace = trace;
    run->down_ms = NEVER;
    pawl__rand_init(&run->rand, plan->seed ^ UINT64_C(0x5eed));
    oracle_init(run);
    struct pawl__sim_observer observer = oracle_observer(run);
    run->world = pawl__sim_world_new(plan->seed, &observer);
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGABRT, &action, &before);
    if (sigsetjmp(on_abort, 1) == 0) {
        play(run);
        release(run);
    } else {
        /* What the run owned is left behind: its state is not to be trusted. */
        run_fail(run, "INVARIANT: the library ended the process, see stderr");
    }
    (void)sigaction(SIGABRT, &before, NULL);
    stats->steps += run->stats.steps;
    stats->calls += run->stats.calls;
    stats->grants += run->stats.grants;
    stats->lost += run->stats.lost;
    stats->went_back += run->stats.went_back;
    memcpy(ret_failure, run->failure, sizeof(run->failure));
    bool passed = run->failure[0] == '\0';
    pawl__free(run);
    return passed;
}
