/* What is true in the store, and what therefore must be true of every answer: P1 to P6 of design.md
 * section 1. It reads the store directly, never through a client. */
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "run.h"

void oracle_note(struct numbers *set, uint64_t number)
{
    if (!oracle_has(set, number)) {
        set->items = pawl__sim_grow(set->items, set->count, sizeof(set->items[0]));
        set->items[set->count++] = number;
    }
}

bool oracle_has(const struct numbers *set, uint64_t number)
{
    for (size_t i = 0; i < set->count; i++) {
        if (set->items[i] == number) {
            return true;
        }
    }
    return false;
}

void oracle_init(struct run *run)
{
    memset(&run->oracle, 0, sizeof(run->oracle));
}

void oracle_release(struct run *run)
{
    pawl__free(run->oracle.grants);
    pawl__free(run->oracle.broken_now.items);
    pawl__free(run->oracle.broken.items);
    pawl__free(run->oracle.killed.items);
}

/* ---- The store's own order: P1, P2
 * --------------------------------------------------------------- */

static const struct pawl__sim_queue *queue_of(const struct run *run, unsigned name)
{
    return pawl__sim_store_queue(pawl__sim_store(run->world), run_name(name));
}

/* Nothing before it is in its way. */
static bool is_first(const struct pawl__sim_queue *queue, size_t index)
{
    for (size_t i = 0; i < index; i++) {
        if (pawl__mode_conflicts(queue->entries[i].mode, queue->entries[index].mode)) {
            return false;
        }
    }
    return true;
}

static const struct grant *find_grant(const struct oracle *oracle, unsigned name, uint64_t number)
{
    for (size_t i = oracle->grant_count; i-- > 0;) {
        if (oracle->grants[i].name == name && oracle->grants[i].number == number) {
            return &oracle->grants[i];
        }
    }
    return NULL;
}

/* The highest number in `numbers` that belongs to a mode in the way of `mode`. */
static uint64_t highest_in_the_way(const uint64_t *numbers, enum pawl__mode mode)
{
    uint64_t highest = 0;

    for (int m = PAWL__MODE_X; m < PAWL__MODE_COUNT; m++) {
        if (pawl__mode_conflicts((enum pawl__mode)m, mode) && numbers[m] > highest) {
            highest = numbers[m];
        }
    }
    return highest;
}

static void note_grant(struct run *run, unsigned name, const struct pawl__sim_entry *entry)
{
    struct oracle *oracle = &run->oracle;
    struct lock_truth *lock = &oracle->locks[name];

    if (find_grant(oracle, name, entry->number) != NULL) {
        return;
    }
    if (!oracle->restored && entry->number <= highest_in_the_way(lock->granted, entry->mode)) {
        run_fail(run, "P2: the store grants %s to %" PRIu64 " after a later one", run_name(name),
                 entry->number);
    }
    lock->granted[entry->mode] = entry->number;
    oracle->grants = pawl__sim_grow(oracle->grants, oracle->grant_count, sizeof(struct grant));
    oracle->grants[oracle->grant_count] =
        (struct grant){name, entry->number, entry->mode, oracle->grant_count + 1};
    oracle->grant_count++;
}

static void look_at_queue(struct run *run, const char *text)
{
    unsigned name = (unsigned)(text[1] - '0');
    const struct pawl__sim_queue *queue = queue_of(run, name);

    for (size_t i = 0; queue != NULL && i < queue->count; i++) {
        if (i > 0 && queue->entries[i - 1].number >= queue->entries[i].number) {
            run_fail(run, "P1: the queue of %s is out of order", text);
        }
        if (is_first(queue, i)) {
            note_grant(run, name, &queue->entries[i]);
        }
    }
}

static void see_added(void *ctx, const char *name, const struct pawl__sim_entry *entry)
{
    struct run *run = ctx;

    run_trace(run, "store + %s %" PRIu64 " attempt=%" PRIx64, name, entry->number, entry->attempt);
    look_at_queue(run, name);
}

static void see_removed(void *ctx, const char *name, const struct pawl__sim_entry *entry,
                        enum pawl__sim_cause cause)
{
    struct run *run = ctx;

    run_trace(run, "store - %s %" PRIu64 " cause=%d", name, entry->number, (int)cause);
    look_at_queue(run, name);
}

static void see_session_ended(void *ctx, const struct pawl__sim_session *session,
                              enum pawl__sim_cause cause)
{
    struct run *run = ctx;

    run_trace(run, "store - session %" PRIx64 " cause=%d", session->id, (int)cause);
    if (cause == PAWL__SIM_KILLED) {
        oracle_note(&run->oracle.killed, session->id);
    }
}

struct pawl__sim_observer oracle_observer(struct run *run)
{
    return (struct pawl__sim_observer){
        .ctx = run, .added = see_added, .removed = see_removed, .session_ended = see_session_ended};
}

/* ---- Answers against the truth: P2, P3
 * ------------------------------------------------------------ */

/* P3 is not promised for a session that an operator ended, nor for `break --now`. */
static bool is_excused(const struct run *run, const struct call *call)
{
    const struct oracle *oracle = &run->oracle;

    return oracle->restored || oracle_has(&oracle->broken_now, call->number) ||
           oracle_has(&oracle->killed, call->session);
}

/* What is wrong with the entry of `call` in the queue of `name`; NULL = it holds the lock there. */
static const char *find_flaw(const struct run *run, const struct call *call, unsigned name)
{
    const struct pawl__sim_queue *queue = queue_of(run, name);

    for (size_t i = 0; queue != NULL && i < queue->count; i++) {
        const struct pawl__sim_entry *entry = &queue->entries[i];
        if (entry->number != call->number) {
            continue;
        }
        if (entry->session != call->session || entry->attempt != call->attempt) {
            return "belongs to another attempt";
        }
        return is_first(queue, i) ? NULL : "is not the first in line";
    }
    return "is not in the store";
}

static void check_entries(struct run *run, const struct call *call, const char *when)
{
    for (unsigned name = 0; name < PLAN_NAMES_MAX; name++) {
        if ((call->names >> name & 1) == 0) {
            continue;
        }
        const char *flaw = find_flaw(run, call, name);
        if (flaw != NULL) {
            run_fail(run, "P3: %s by c%u, id %" PRIu64 ", but entry %" PRIu64 " of %s %s", when,
                     call->client, call->id, call->number, run_name(name), flaw);
        }
    }
}

static void check_told_order(struct run *run, const struct call *call)
{
    for (unsigned name = 0; name < PLAN_NAMES_MAX; name++) {
        struct lock_truth *lock = &run->oracle.locks[name];
        if ((call->names >> name & 1) == 0) {
            continue;
        }
        if (call->number <= highest_in_the_way(lock->told, call->mode)) {
            run_fail(run, "P2: %s granted with token %" PRIu64 " after a greater one",
                     run_name(name), call->number);
        }
        lock->told[call->mode] =
            call->number > lock->told[call->mode] ? call->number : lock->told[call->mode];
    }
}

/* A write that was decided while the lock was held, and arrives whenever it does. */
static void send_writes(struct run *run, const struct call *call)
{
    int64_t latest = 2 * run->plan->ttl_ms;

    for (unsigned name = 0; name < PLAN_NAMES_MAX; name++) {
        if ((call->names >> name & 1) == 0 || call->mode != PAWL__MODE_X) {
            continue;
        }
        run->writes = pawl__sim_grow(run->writes, run->write_count, sizeof(run->writes[0]));
        run->writes[run->write_count++] = (struct fenced_write){
            run_now(run) + (int64_t)pawl__rand_below(&run->rand, (uint64_t)latest), name,
            call->number};
    }
}

void oracle_granted(struct run *run, struct call *call)
{
    if (call->canceled) {
        run_fail(run, "API: granted after it was canceled");
    }
    if (run_now(run) > call->deadline_ms && run_now(run) != run->clients[call->client].resumed_ms) {
        run_fail(run, "P5: granted after its deadline");
    }
    if (!client_believes(run, call)) {
        run_fail(run, "P3: granted to c%u, id %" PRIu64 ", though its lease is over", call->client,
                 call->id);
    }
    if (is_excused(run, call)) {
        return;
    }
    check_entries(run, call, "granted");
    check_told_order(run, call);
    send_writes(run, call);
}

/* ---- P4
 * ------------------------------------------------------------------------------------------- */

/* The resource keeps the greatest token; the truth is the order of grants in the store. */
void oracle_write_arrives(struct run *run, const struct fenced_write *write)
{
    struct lock_truth *lock = &run->oracle.locks[write->name];
    const struct grant *grant = find_grant(&run->oracle, write->name, write->token);

    if (run->oracle.restored || write->token < lock->mark) {
        return;
    }
    lock->mark = write->token;
    if (grant == NULL) {
        run_fail(run, "P4: %s written with token %" PRIu64 ", which was never granted",
                 run_name(write->name), write->token);
    } else if (grant->place < lock->last_writer) {
        run_fail(run, "P4: %s written by an earlier holder after a later one",
                 run_name(write->name));
    } else {
        lock->last_writer = grant->place;
    }
}

/* ---- Refusals and losses must have a reason
 * -------------------------------------------------------- */

static bool may_fail(const struct run *run, const struct call *call, pawl_status status)
{
    const struct client *client = &run->clients[call->client];

    if (run->oracle.restored && (status == PAWL_E_LOST || status == PAWL_E_STORE)) {
        return true;
    }
    if (status == PAWL_E_TIMEOUT) {
        return call->is_try || (!call->is_forever && run_now(run) >= call->deadline_ms);
    }
    if (status == PAWL_E_UNAVAILABLE) {
        return call->is_try;
    }
    if (status == PAWL_E_CANCELED) {
        return call->canceled;
    }
    if (status == PAWL_E_CLOSED) {
        return client->closing;
    }
    return status == PAWL_E_LOST && run->oracle.broken.count + run->oracle.broken_now.count > 0;
}

void oracle_failed(struct run *run, const struct call *call, pawl_status status)
{
    if (!may_fail(run, call, status)) {
        run_fail(run, "API: acquire of c%u, id %" PRIu64 ", failed with %s for no reason",
                 call->client, call->id, pawl_status_name(status));
    }
}

void oracle_lost(struct run *run, const struct call *call)
{
    if (is_excused(run, call) || oracle_has(&run->oracle.broken, call->number) ||
        run->clients[call->client].closing || !client_believes(run, call)) {
        return;
    }
    for (unsigned name = 0; name < PLAN_NAMES_MAX; name++) {
        if ((call->names >> name & 1) != 0 && find_flaw(run, call, name) != NULL) {
            return;
        }
    }
    run_fail(run, "API: a hold of c%u, id %" PRIu64 ", is LOST for no reason", call->client,
             call->id);
}

void oracle_lease_dead(struct run *run, const struct client *client, const struct lease *lease)
{
    bool is_over = !pawl__boot_before(client_clock(client), lease->deadline);
    bool is_gone = pawl__sim_store_session(pawl__sim_store(run->world), lease->session) == NULL;

    if (!is_over && !is_gone && !client->closing && !run->oracle.restored) {
        run_fail(run, "API: the session of c%u is given up for no reason", client->index);
    }
}

/* ---- P5
 * ------------------------------------------------------------------------------------------- */

static void check_deadline(struct run *run, const struct call *call)
{
    const struct client *client = &run->clients[call->client];

    /* Who has just been woken is given this moment. */
    if (client_runs(client) && run_now(run) > call->deadline_ms &&
        run_now(run) != client->resumed_ms) {
        run_fail(run, "P5: call %" PRIu64 " of c%u has no answer at its deadline", call->id,
                 call->client);
    }
}

void oracle_check(struct run *run)
{
    for (size_t i = run->calls_open; i < run->call_count; i++) {
        const struct call *call = &run->calls[i];
        if (call->state == CALL_PENDING) {
            check_deadline(run, call);
        } else if (client_believes(run, call) && !is_excused(run, call)) {
            check_entries(run, call, "believed");
        }
    }
    for (unsigned i = 0; i < run->plan->clients; i++) {
        const struct client *client = &run->clients[i];
        if (client_runs(client) && client->closing && !client->closed &&
            run_now(run) > client->close_deadline_ms && run_now(run) != client->resumed_ms) {
            run_fail(run, "P5: c%u is not closed at its deadline", i);
        }
    }
    while (run->calls_open < run->call_count && run->calls[run->calls_open].state == CALL_OVER) {
        run->calls_open++;
    }
}

/* ---- P6
 * ------------------------------------------------------------------------------------------- */

void oracle_closed(struct run *run, const struct client *client, pawl_status status)
{
    const struct pawl__sim_store *store = pawl__sim_store(run->world);

    for (size_t i = run->calls_open; i < run->call_count; i++) {
        const struct call *call = &run->calls[i];
        if (call->client == client->index && call->life == client->life &&
            call->state != CALL_OVER) {
            run_fail(run, "P5: c%u is closed, but call %" PRIu64 " has no end", client->index,
                     call->id);
        }
    }
    for (size_t i = 0; status == PAWL_OK && i < store->session_count; i++) {
        if (store->sessions[i].client == pawl__sim_endpoint_index(client->endpoint) &&
            !run->oracle.restored) {
            run_fail(run, "P6: c%u closed and confirmed, but its session is in the store",
                     client->index);
        }
    }
}

void oracle_check_rest(struct run *run)
{
    const struct pawl__sim_store *store = pawl__sim_store(run->world);

    if (run->oracle.restored) {
        return;
    }
    if (pawl__sim_store_entry_count(store) > 0) {
        run_fail(run, "P6: %zu entries are left in the store", pawl__sim_store_entry_count(store));
    } else if (store->session_count > 0) {
        run_fail(run, "P6: %zu sessions are left in the store", store->session_count);
    }
}
