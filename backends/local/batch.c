/* A batch: many ops in one transaction. README.md has its states. */
#include "backends/local/local.h"

#include <string.h>

#include "backends/local/fault.h"
#include "base/alloc.h"
#include "base/assert.h"

/* ---- Notes ------------------------------------------------------------------------------------
 */

/* Room for one more element; false = no memory. */
static bool grow(void **array, size_t count, size_t *cap, size_t size)
{
    if (count < *cap) {
        return true;
    }
    size_t bigger = *cap == 0 ? 32 : 2 * *cap;
    void *grown = pawl__realloc(*array, bigger * size);
    if (grown == NULL) {
        return false;
    }
    *array = grown;
    *cap = bigger;
    return true;
}

int pawl__local_note_gone(struct pawl__local *local, uint64_t number)
{
    struct pawl__local_batch *batch = &local->batch;
    void *array = batch->gone;

    if (!grow(&array, batch->gone_count, &batch->gone_cap, sizeof(*batch->gone))) {
        return SQLITE_NOMEM;
    }
    batch->gone = array;
    batch->gone[batch->gone_count++] = number;
    return SQLITE_OK;
}

int pawl__local_note_ring(struct pawl__local *local, uint64_t session, uint64_t number,
                          enum pawl__local_ring_reason reason)
{
    struct pawl__local_batch *batch = &local->batch;
    void *array = batch->rings;

    for (size_t i = batch->ring_count; i-- > 0 && batch->ring_count - i <= 8;) {
        const struct pawl__local_ring *ring = &batch->rings[i];
        if (ring->session == session && ring->number == number && ring->reason == reason) {
            return SQLITE_OK;
        }
    }
    if (!grow(&array, batch->ring_count, &batch->ring_cap, sizeof(*batch->rings))) {
        return SQLITE_NOMEM;
    }
    batch->rings = array;
    batch->rings[batch->ring_count++] = (struct pawl__local_ring){session, number, reason};
    return SQLITE_OK;
}

int pawl__local_note_ended(struct pawl__local *local, uint64_t session, enum pawl__local_end how)
{
    struct pawl__local_batch *batch = &local->batch;
    void *array = batch->ended;

    if (!grow(&array, batch->ended_count, &batch->ended_cap, sizeof(*batch->ended))) {
        return SQLITE_NOMEM;
    }
    batch->ended = array;
    batch->ended[batch->ended_count++] = (struct pawl__local_ended){session, how};
    return SQLITE_OK;
}

void pawl__local_batch_reset(struct pawl__local_batch *batch, bool writes)
{
    batch->writes = writes;
    batch->next = 0;
    batch->used_number = false;
    batch->any_marks = -1;
    batch->fact_count = 0;
    batch->gone_count = 0;
    batch->ring_count = 0;
    batch->ended_count = 0;
}

void pawl__local_batch_release(struct pawl__local_batch *batch)
{
    pawl__free(batch->facts);
    pawl__free(batch->gone);
    pawl__free(batch->rings);
    pawl__free(batch->ended);
    memset(batch, 0, sizeof(*batch));
}

/* ---- Running ----------------------------------------------------------------------------------
 */

static int run_op(struct pawl__local *local, struct pawl__local_op *op)
{
    switch (op->kind) {
    case PAWL__LOCAL_OP_OPEN:
        return pawl__local_run_open(local, op);
    case PAWL__LOCAL_OP_RENEW:
        return pawl__local_run_renew(local, op);
    case PAWL__LOCAL_OP_CLOSE:
        return pawl__local_run_close(local, op);
    case PAWL__LOCAL_OP_ENQUEUE:
        return pawl__local_run_enqueue(local, op);
    case PAWL__LOCAL_OP_LOOK:
        return pawl__local_run_look(local, op);
    case PAWL__LOCAL_OP_REMOVE:
        return pawl__local_run_remove(local, op);
    case PAWL__LOCAL_OP_MARK:
        return pawl__local_run_mark(local, op);
    case PAWL__LOCAL_OP_WATCH:
        return pawl__local_run_watch(local, op);
    case PAWL__LOCAL_OP_UNWATCH:
        pawl__local_run_unwatch(local, op);
        return SQLITE_OK;
    case PAWL__LOCAL_OP_REAP:
        return pawl__local_run_reap(local, op);
    case PAWL__LOCAL_OP_LIST:
        break;
    }
    PAWL_INVARIANT(false); /* LIST is the reader's. */
    return SQLITE_ERROR;
}

int pawl__local_run_ops(struct pawl__local *local, const struct pawl__local_queue *chunk)
{
    int rc = SQLITE_OK;

    for (struct pawl__local_op *op = chunk->first; op != NULL && rc == SQLITE_OK; op = op->next) {
        pawl__local_op_rewind(op);
        rc = run_op(local, op);
    }
    return rc;
}

/* ---- Answers ----------------------------------------------------------------------------------
 */

static void tell_own(struct pawl__local *local, const struct pawl__local_ring *ring)
{
    bool is_own = ring->reason == PAWL__LOCAL_RING_OWN;

    if (ring->reason == PAWL__LOCAL_RING_GONE) {
        return; /* Its watch fires. */
    }
    struct pawl__backend_event *hint =
        pawl__backend_event_new(is_own ? PAWL__BEV_OWN : PAWL__BEV_SESSION, 0);
    if (hint == NULL) {
        return; /* Hints may be lost. */
    }
    hint->session = ring->session;
    hint->number = is_own ? ring->number : 0;
    pawl__local_post(local, hint);
}

/* Bells before answers: others wait for them. Files before answers: who hears of the end of a
 * session finds nothing of it. */
static void apply(struct pawl__local *local)
{
    struct pawl__local_batch *batch = &local->batch;

    pawl__fault_point("local.apply");
    for (size_t i = 0; i < batch->ring_count; i++) {
        if (pawl__local_find_session(local, batch->rings[i].session) != NULL) {
            tell_own(local, &batch->rings[i]);
        } else {
            pawl__local_bell_ring(&local->dir, &batch->rings[i]);
        }
    }
    for (size_t i = 0; i < batch->ended_count; i++) {
        pawl__local_end_session(local, &batch->ended[i]);
    }
}

static void answer(struct pawl__local *local, struct pawl__local_queue *chunk)
{
    struct pawl__local_op *op = NULL;

    while ((op = pawl__local_queue_pop(chunk)) != NULL) {
        if (op->event != NULL) {
            pawl__local_post(local, op->event);
            op->event = NULL;
        }
        if (op->kind == PAWL__LOCAL_OP_REAP) {
            pawl__local_reap_done(local, op->session);
        }
        pawl__local_op_free(op);
    }
}

static void fire_gone(struct pawl__local *local)
{
    struct pawl__local_batch *batch = &local->batch;

    for (size_t i = 0; i < batch->gone_count; i++) {
        pawl__local_fire(local, batch->gone[i]);
    }
}

static void drop(struct pawl__local_queue *chunk)
{
    struct pawl__local_op *op = NULL;

    while ((op = pawl__local_queue_pop(chunk)) != NULL) {
        pawl__local_op_free(op);
    }
}

/* The store that our sessions were in is gone, and they with it. */
static void note_replaced(struct pawl__local *local)
{
    if (local->is_replaced) {
        return;
    }
    local->is_replaced = true;
    for (size_t i = 0; i < PAWL__LOCAL_SESSIONS_MAX; i++) {
        if (local->sessions[i].id != 0) {
            struct pawl__local_ring ring = {local->sessions[i].id, 0, PAWL__LOCAL_RING_SESSION};
            tell_own(local, &ring);
        }
    }
}

static void fail_replaced(struct pawl__local *local, struct pawl__local_op *op)
{
    /* What was in the old file is not in the store any more. */
    bool is_lost = op->kind == PAWL__LOCAL_OP_RENEW || op->kind == PAWL__LOCAL_OP_REMOVE ||
                   op->kind == PAWL__LOCAL_OP_CLOSE;

    pawl__local_op_fail(op, is_lost ? PAWL_E_LOST : PAWL_E_STORE, 0,
                        "the database %s was removed or replaced while it was in use",
                        local->dir.db);
}

static void fail_op(struct pawl__local *local, struct pawl__local_op *op,
                    const struct pawl__local_outcome *outcome)
{
    int primary = outcome->rc & 0xff;

    if (outcome->rc == PAWL__LOCAL_REPLACED) {
        fail_replaced(local, op);
    } else if (outcome->rc == PAWL__LOCAL_NO_GATE) {
        pawl__local_op_fail(op, PAWL_E_UNAVAILABLE, 0, "cannot lock %s", local->dir.gate);
    } else if (outcome->at_commit) {
        pawl__local_op_fail(op, PAWL_E_UNKNOWN, outcome->rc,
                            "the commit failed: %s (SQLite code %d)", sqlite3_errstr(outcome->rc),
                            outcome->rc);
    } else if (primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB) {
        pawl__local_op_fail(op, PAWL_E_STORE, outcome->rc, "%s is damaged: %s (SQLite code %d)",
                            local->dir.db, sqlite3_errstr(outcome->rc), outcome->rc);
    } else {
        pawl__local_op_fail(op, PAWL_E_UNAVAILABLE, outcome->rc, "%s: %s (SQLite code %d)",
                            local->dir.db, sqlite3_errstr(outcome->rc), outcome->rc);
    }
}

static void finish(struct pawl__local *local, struct pawl__local_queue *chunk,
                   const struct pawl__local_outcome *outcome)
{
    if (outcome->rc == PAWL__LOCAL_CLOSING) {
        drop(chunk);
        return;
    }
    if (outcome->rc == SQLITE_OK) {
        apply(local);
        answer(local, chunk);
        fire_gone(local);
        return;
    }
    if (outcome->rc == PAWL__LOCAL_REPLACED) {
        note_replaced(local);
    }
    for (struct pawl__local_op *op = chunk->first; op != NULL; op = op->next) {
        fail_op(local, op, outcome);
        pawl__local_watch_failed(local, op);
    }
    answer(local, chunk);
    if (outcome->rc == PAWL__LOCAL_REPLACED) {
        pawl__local_fire_all(local);
    }
}

/* ---- A chunk ----------------------------------------------------------------------------------
 */

/* Takes at most BATCH_MAX ops; renewals first, because they are what runs out of time. No op that
 * was called before one of them can matter to it: see backend.h, session_renew. */
static void take_chunk(struct pawl__local_queue *queue, struct pawl__local_queue *chunk)
{
    struct pawl__local_queue renewals = {NULL, NULL}, others = {NULL, NULL};

    for (int i = 0; i < PAWL__LOCAL_BATCH_MAX; i++) {
        struct pawl__local_op *op = pawl__local_queue_pop(queue);
        if (op == NULL) {
            break;
        }
        pawl__local_queue_push(op->kind == PAWL__LOCAL_OP_RENEW ? &renewals : &others, op);
    }
    if (renewals.first == NULL) {
        *chunk = others;
        return;
    }
    *chunk = renewals;
    chunk->last->next = others.first;
    chunk->last = others.first != NULL ? others.last : chunk->last;
}

static enum pawl__local_need find_need(const struct pawl__local *local,
                                       const struct pawl__local_queue *chunk, size_t *ret_numbers)
{
    enum pawl__local_need need = PAWL__LOCAL_NEEDS_NOTHING;

    *ret_numbers = 0;
    for (const struct pawl__local_op *op = chunk->first; op != NULL; op = op->next) {
        enum pawl__local_need one = pawl__local_op_need(op);
        if (op->kind == PAWL__LOCAL_OP_LOOK && op->flag && local->is_unsettled) {
            one = PAWL__LOCAL_NEEDS_WRITE;
        }
        need = one > need ? one : need;
        *ret_numbers += op->kind == PAWL__LOCAL_OP_ENQUEUE ? 1 : 0;
    }
    return need;
}

/* Leaves in `chunk` what takes nothing from the disk for long; returns whether that is anything. */
static bool refuse_growth(struct pawl__local *local, struct pawl__local_queue *chunk,
                          const struct pawl__local_outcome *outcome)
{
    struct pawl__local_queue kept = {NULL, NULL}, refused = {NULL, NULL};
    struct pawl__local_op *op = NULL;

    while ((op = pawl__local_queue_pop(chunk)) != NULL) {
        bool grows = op->kind == PAWL__LOCAL_OP_OPEN || op->kind == PAWL__LOCAL_OP_ENQUEUE ||
                     op->kind == PAWL__LOCAL_OP_MARK;
        if (grows) {
            fail_op(local, op, outcome);
        }
        pawl__local_queue_push(grows ? &refused : &kept, op);
    }
    answer(local, &refused);
    *chunk = kept;
    return kept.first != NULL;
}

static void run_chunk(struct pawl__local *local, struct pawl__local_queue *chunk)
{
    struct pawl__local_outcome outcome = {SQLITE_OK, false};
    size_t numbers = 0;

    enum pawl__local_need need = find_need(local, chunk, &numbers);
    if (need == PAWL__LOCAL_NEEDS_NOTHING) {
        pawl__local_batch_reset(&local->batch, false);
        outcome.rc = pawl__local_run_ops(local, chunk);
    } else if (need == PAWL__LOCAL_NEEDS_READ) {
        outcome = pawl__local_run_read(local, chunk);
    } else {
        outcome = pawl__local_run_write(local, chunk, numbers, false);
    }
    if (outcome.rc == PAWL__LOCAL_NEED_WRITE) {
        outcome = pawl__local_run_write(local, chunk, numbers, false);
    }
    if (outcome.rc > 0 && (outcome.rc & 0xff) == SQLITE_FULL) {
        if (!refuse_growth(local, chunk, &outcome)) {
            return;
        }
        outcome = pawl__local_run_write(local, chunk, 0, true);
    }
    finish(local, chunk, &outcome);
}

void pawl__local_batch_run(struct pawl__local *local, struct pawl__local_queue *queue)
{
    while (queue->first != NULL) {
        struct pawl__local_queue chunk = {NULL, NULL};
        take_chunk(queue, &chunk);
        run_chunk(local, &chunk);
        pawl__local_housekeep(local, queue);
    }
}
