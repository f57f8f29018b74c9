/* Sessions, watches and queues of the simulated store; what it answers is in answer.c. */
#include "backends/sim/store.h"

#include <string.h>

#include "backends/sim/answer.h"
#include "base/alloc.h"
#include "base/assert.h"

void *pawl__sim_alloc(size_t size)
{
    void *block = pawl__alloc(size);

    PAWL_INVARIANT(block != NULL);
    return block;
}

/* Room for one more behind `count` elements; grows at powers of two. */
void *pawl__sim_grow(void *block, size_t count, size_t size)
{
    if (count > 0 && (count & (count - 1)) != 0) {
        return block;
    }
    void *grown = pawl__realloc(block, (count == 0 ? 1 : 2 * count) * size);
    PAWL_INVARIANT(grown != NULL);
    return grown;
}

static char *copy_text(const char *text)
{
    char *copy = pawl__strdup(text);

    PAWL_INVARIANT(copy != NULL);
    return copy;
}

void pawl__sim_store_init(struct pawl__sim_store *store)
{
    memset(store, 0, sizeof(*store));
    store->number = 100; /* Not 0, and no small number that a test could mistake for another. */
}

static void release_session(struct pawl__sim_session *session)
{
    for (size_t i = 0; i < session->mark_count; i++) {
        pawl__free(session->marks[i].by);
        pawl__free(session->marks[i].reason);
    }
    pawl__free(session->marks);
    pawl__free(session->removed);
}

static void release_queue(struct pawl__sim_queue *queue)
{
    for (size_t i = 0; i < queue->count; i++) {
        pawl__free(queue->entries[i].payload);
    }
    pawl__free(queue->entries);
    pawl__free(queue->name);
}

void pawl__sim_store_release(struct pawl__sim_store *store)
{
    for (size_t i = 0; i < store->session_count; i++) {
        release_session(&store->sessions[i]);
    }
    for (size_t i = 0; i < store->queue_count; i++) {
        release_queue(&store->queues[i]);
    }
    for (size_t i = 0; i < store->watch_count; i++) {
        pawl__free(store->watches[i].name);
    }
    pawl__free(store->sessions);
    pawl__free(store->ended);
    pawl__free(store->queues);
    pawl__free(store->watches);
}

/* ---- Copy -------------------------------------------------------------------------------------
 */

static void *copy_array(const void *from, size_t count, size_t size)
{
    /* The same rounding as pawl__sim_grow(), so that the copy can grow. */
    size_t cap = 1;
    while (cap < count) {
        cap *= 2;
    }
    void *to = pawl__sim_alloc(cap * size);
    if (count > 0) {
        memcpy(to, from, count * size);
    }
    return to;
}

static void copy_session(struct pawl__sim_session *session)
{
    session->removed =
        copy_array(session->removed, session->removed_count, sizeof(session->removed[0]));
    session->marks = copy_array(session->marks, session->mark_count, sizeof(session->marks[0]));
    for (size_t i = 0; i < session->mark_count; i++) {
        session->marks[i].by = copy_text(session->marks[i].by);
        session->marks[i].reason = copy_text(session->marks[i].reason);
    }
}

static void copy_queue(struct pawl__sim_queue *queue)
{
    queue->name = copy_text(queue->name);
    queue->entries = copy_array(queue->entries, queue->count, sizeof(queue->entries[0]));
    for (size_t i = 0; i < queue->count; i++) {
        queue->entries[i].payload = copy_text(queue->entries[i].payload);
    }
}

void pawl__sim_store_copy(struct pawl__sim_store *to, const struct pawl__sim_store *from)
{
    *to = *from;
    to->sessions = copy_array(from->sessions, from->session_count, sizeof(to->sessions[0]));
    for (size_t i = 0; i < to->session_count; i++) {
        copy_session(&to->sessions[i]);
    }
    to->ended = copy_array(from->ended, from->ended_count, sizeof(to->ended[0]));
    to->queues = copy_array(from->queues, from->queue_count, sizeof(to->queues[0]));
    for (size_t i = 0; i < to->queue_count; i++) {
        copy_queue(&to->queues[i]);
    }
    to->watches = NULL;
    to->watch_count = 0;
}

/* ---- Lookup -----------------------------------------------------------------------------------
 */

struct pawl__sim_session *pawl__sim_store_session(const struct pawl__sim_store *store,
                                                  uint64_t session)
{
    for (size_t i = 0; i < store->session_count; i++) {
        if (store->sessions[i].id == session) {
            return &store->sessions[i];
        }
    }
    return NULL;
}

static struct pawl__sim_queue *find_queue(const struct pawl__sim_store *store, const char *name)
{
    for (size_t i = 0; i < store->queue_count; i++) {
        if (strcmp(store->queues[i].name, name) == 0) {
            return &store->queues[i];
        }
    }
    return NULL;
}

const struct pawl__sim_queue *pawl__sim_store_queue(const struct pawl__sim_store *store,
                                                    const char *name)
{
    return find_queue(store, name);
}

size_t pawl__sim_store_entry_count(const struct pawl__sim_store *store)
{
    size_t count = 0;

    for (size_t i = 0; i < store->queue_count; i++) {
        count += store->queues[i].count;
    }
    return count;
}

/* ---- Entries ----------------------------------------------------------------------------------
 */

static void send_hint(struct pawl__sim_store *store, unsigned client,
                      enum pawl__backend_event_kind kind, uint64_t session, uint64_t detail)
{
    struct pawl__backend_event *event = pawl__backend_event_new(kind, 0);

    PAWL_INVARIANT(event != NULL);
    event->session = session;
    if (kind == PAWL__BEV_WATCH) {
        event->watch = detail;
    } else if (kind == PAWL__BEV_OWN) {
        event->number = detail;
    }
    if (store->observer.hint != NULL) {
        store->observer.hint(store->observer.hint_ctx, client, event);
    } else {
        pawl__backend_event_free(event);
    }
}

void pawl__sim_store_hint_session(struct pawl__sim_store *store,
                                  const struct pawl__sim_session *session)
{
    send_hint(store, session->client, PAWL__BEV_SESSION, session->id, 0);
}

static void fire_watches(struct pawl__sim_store *store, const char *name, uint64_t number)
{
    size_t kept = 0;

    for (size_t i = 0; i < store->watch_count; i++) {
        struct pawl__sim_watch *watch = &store->watches[i];
        if (watch->number == number && strcmp(watch->name, name) == 0) {
            send_hint(store, watch->client, PAWL__BEV_WATCH, 0, watch->watch);
            pawl__free(watch->name);
            continue;
        }
        store->watches[kept++] = *watch;
    }
    store->watch_count = kept;
}

void pawl__sim_store_end_attempt(struct pawl__sim_session *session, uint64_t attempt,
                                 uint64_t floor)
{
    session->removed =
        pawl__sim_grow(session->removed, session->removed_count, sizeof(session->removed[0]));
    session->removed[session->removed_count++] = (struct pawl__sim_removed){attempt, floor};
}

static void drop_mark(struct pawl__sim_session *session, uint64_t number)
{
    for (size_t i = 0; i < session->mark_count; i++) {
        if (session->marks[i].number == number) {
            pawl__free(session->marks[i].by);
            pawl__free(session->marks[i].reason);
            session->marks[i] = session->marks[--session->mark_count];
            return;
        }
    }
}

void pawl__sim_store_add_entry(struct pawl__sim_store *store, const char *name,
                               const struct pawl__sim_entry *entry)
{
    struct pawl__sim_queue *queue = find_queue(store, name);

    if (queue == NULL) {
        store->queues = pawl__sim_grow(store->queues, store->queue_count, sizeof(store->queues[0]));
        queue = &store->queues[store->queue_count++];
        memset(queue, 0, sizeof(*queue));
        queue->name = copy_text(name);
    }
    queue->entries = pawl__sim_grow(queue->entries, queue->count, sizeof(queue->entries[0]));
    struct pawl__sim_entry *slot = &queue->entries[queue->count++];
    *slot = *entry;
    slot->payload = copy_text(entry->payload);
    if (store->observer.added != NULL) {
        store->observer.added(store->observer.ctx, name, slot);
    }
}

void pawl__sim_store_remove_entry(struct pawl__sim_store *store, struct pawl__sim_queue *queue,
                                  size_t index, enum pawl__sim_cause cause)
{
    struct pawl__sim_entry entry = queue->entries[index];
    struct pawl__sim_session *owner = pawl__sim_store_session(store, entry.session);

    memmove(&queue->entries[index], &queue->entries[index + 1],
            (queue->count - index - 1) * sizeof(entry));
    queue->count--;
    if (owner != NULL) {
        pawl__sim_store_end_attempt(owner, entry.attempt, entry.floor);
        drop_mark(owner, entry.number);
        if (cause != PAWL__SIM_REMOVED) {
            send_hint(store, owner->client, PAWL__BEV_OWN, owner->id, entry.number);
        }
    }
    if (store->observer.removed != NULL) {
        store->observer.removed(store->observer.ctx, queue->name, &entry, cause);
    }
    fire_watches(store, queue->name, entry.number);
    pawl__free(entry.payload);
}

/* ---- Sessions and watches -----------------------------------------------------------------------
 */

void pawl__sim_store_end_session(struct pawl__sim_store *store, uint64_t session,
                                 enum pawl__sim_cause cause)
{
    PAWL_INVARIANT(pawl__sim_store_session(store, session) != NULL);
    for (size_t i = 0; i < store->queue_count; i++) {
        struct pawl__sim_queue *queue = &store->queues[i];
        for (size_t j = queue->count; j-- > 0;) {
            if (queue->entries[j].session == session) {
                pawl__sim_store_remove_entry(store, queue, j, cause);
            }
        }
    }
    struct pawl__sim_session *found = pawl__sim_store_session(store, session);
    if (cause != PAWL__SIM_CLOSED) {
        pawl__sim_store_hint_session(store, found);
    }
    if (store->observer.session_ended != NULL) {
        store->observer.session_ended(store->observer.ctx, found, cause);
    }
    release_session(found);
    *found = store->sessions[--store->session_count];
    store->number++;
    pawl__sim_store_forbid_session(store, session);
}

bool pawl__sim_store_session_is_over(const struct pawl__sim_store *store, uint64_t session)
{
    for (size_t i = 0; i < store->ended_count; i++) {
        if (store->ended[i] == session) {
            return true;
        }
    }
    return false;
}

void pawl__sim_store_forbid_session(struct pawl__sim_store *store, uint64_t session)
{
    if (!pawl__sim_store_session_is_over(store, session)) {
        store->ended = pawl__sim_grow(store->ended, store->ended_count, sizeof(store->ended[0]));
        store->ended[store->ended_count++] = session;
    }
}

void pawl__sim_store_watch(struct pawl__sim_store *store, unsigned client, uint64_t watch,
                           const char *name, uint64_t number)
{
    const struct pawl__sim_queue *queue = find_queue(store, name);

    for (size_t i = 0; queue != NULL && i < queue->count; i++) {
        if (queue->entries[i].number == number) {
            store->watches =
                pawl__sim_grow(store->watches, store->watch_count, sizeof(store->watches[0]));
            store->watches[store->watch_count++] =
                (struct pawl__sim_watch){client, watch, number, copy_text(name)};
            return;
        }
    }
    send_hint(store, client, PAWL__BEV_WATCH, 0, watch);
}

void pawl__sim_store_unwatch(struct pawl__sim_store *store, unsigned client, uint64_t watch)
{
    for (size_t i = 0; i < store->watch_count; i++) {
        if (store->watches[i].client == client && store->watches[i].watch == watch) {
            pawl__free(store->watches[i].name);
            store->watches[i] = store->watches[--store->watch_count];
            return;
        }
    }
}
