/* See fake.h. Lists under one mutex; one worker thread a client executes its ops in order and
 * posts. */
#include "test/runtime/fake.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "backends/module.h"
#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/list.h"
#include "core/payload.h"
#include "core/queue.h"

#define KINDS     (PAWL__BEV_SESSION + 1)
#define NAMES_MAX 64
#define TEXT_MAX  600
#define STRANGER  UINT64_C(7)

struct entry {
    struct pawl__list link; /* store.entries, by rising number */
    char name[TEXT_MAX];
    char payload[2100];
    uint64_t session;
    uint64_t attempt;
    uint64_t number;
    enum pawl__mode mode;
    bool marked;
    char by[TEXT_MAX];
    char reason[TEXT_MAX];
};

struct session {
    struct pawl__list link;
    struct state *state;
    uint64_t id;
    int64_t ttl_ms;
    int fd;
};

struct watch {
    struct pawl__list link;
    struct state *state;
    uint64_t id;
    uint64_t number;
};

struct job {
    struct job *next;
    struct pawl__backend_event *event; /* made beforehand: an answer never fails for memory */
    uint64_t attempt;
    uint64_t number;
    int64_t ttl_ms;
    struct pawl__boot sent;
    bool flag;
    size_t count;
    char names[NAMES_MAX][TEXT_MAX]; /* MARKED: name, by, reason */
    enum pawl__mode modes[NAMES_MAX];
    char payload[2100];
};

struct state {
    struct pawl__list link;
    const struct pawl__backend_host *host;
    pthread_t worker;
    struct job *first_job;
    struct job **last_job; /* where the next one is linked */
    bool is_closing;
};

static struct {
    pthread_mutex_t mu;
    pthread_cond_t cond;
    struct pawl__list states;
    struct pawl__list entries;
    struct pawl__list sessions;
    struct pawl__list watches;
    uint64_t last_number;
    pawl_status failures[KINDS];
    size_t taken[KINDS];
    bool is_paused;
    bool is_stalled;
    size_t stalled_count;
} store;

static void lock(void)
{
    pthread_mutex_lock(&store.mu);
}

static void unlock(void)
{
    pthread_cond_broadcast(&store.cond);
    pthread_mutex_unlock(&store.mu);
}

/* ---- The store; store.mu held on entry ---------------------------------------------------------
 */

static struct session *find_session(uint64_t id)
{
    PAWL_LIST_FOREACH (it, &store.sessions) {
        struct session *session = PAWL_LIST_ENTRY(it, struct session, link);
        if (session->id == id) {
            return session;
        }
    }
    return NULL;
}

static bool number_exists(uint64_t number)
{
    PAWL_LIST_FOREACH (it, &store.entries) {
        if (PAWL_LIST_ENTRY(it, struct entry, link)->number == number) {
            return true;
        }
    }
    return false;
}

static void fire_watches(uint64_t number)
{
    PAWL_LIST_FOREACH_SAFE (it, tmp, &store.watches) {
        struct watch *watch = PAWL_LIST_ENTRY(it, struct watch, link);
        if (watch->number != number) {
            continue;
        }
        struct pawl__backend_event *event = pawl__backend_event_new(PAWL__BEV_WATCH, 0);
        if (event != NULL) {
            event->watch = watch->id;
            watch->state->host->post(watch->state->host->ctx, event);
        }
        pawl__list_remove(&watch->link);
        free(watch);
    }
}

static void drop_entries(uint64_t session, uint64_t attempt, uint64_t number)
{
    PAWL_LIST_FOREACH_SAFE (it, tmp, &store.entries) {
        struct entry *entry = PAWL_LIST_ENTRY(it, struct entry, link);
        if ((session != 0 && entry->session != session) ||
            (attempt != 0 && entry->attempt != attempt) ||
            (number != 0 && entry->number != number)) {
            continue;
        }
        uint64_t gone = entry->number;
        pawl__list_remove(&entry->link);
        free(entry);
        fire_watches(gone);
    }
}

static void drop_session(struct session *session)
{
    uint64_t id = session->id;

    pawl__list_remove(&session->link);
    if (session->fd >= 0) {
        close(session->fd);
    }
    free(session);
    drop_entries(id, 0, 0);
}

static size_t list_queue(const char *name, struct pawl__queue_entry *queue, size_t max)
{
    size_t len = 0;

    PAWL_LIST_FOREACH (it, &store.entries) {
        struct entry *entry = PAWL_LIST_ENTRY(it, struct entry, link);
        if (strcmp(entry->name, name) == 0 && len < max) {
            queue[len++] = (struct pawl__queue_entry){.number = entry->number,
                                                      .session = entry->session,
                                                      .attempt = entry->attempt,
                                                      .mode = entry->mode};
        }
    }
    return len;
}

static bool fill_info(struct pawl__entry_info *info, const struct entry *entry)
{
    char name[32];
    const struct session *session = find_session(entry->session);

    snprintf(name, sizeof name, "fake-%llx", (unsigned long long)entry->session);
    *info = (struct pawl__entry_info){.name = pawl__strdup(entry->name),
                                      .payload = pawl__strdup(entry->payload),
                                      .session = pawl__strdup(name),
                                      .mode = entry->mode,
                                      .number = entry->number,
                                      .attempt = entry->attempt,
                                      .ttl_left_ms = session == NULL        ? 0
                                                     : session->ttl_ms == 0 ? -1
                                                                            : session->ttl_ms,
                                      .marked = entry->marked};
    if (entry->session == STRANGER) {
        info->ttl_left_ms = -1;
    }
    return info->name != NULL && info->payload != NULL && info->session != NULL;
}

static void add_holder(struct pawl__backend_event *event, uint64_t number)
{
    PAWL_LIST_FOREACH (it, &store.entries) {
        struct entry *entry = PAWL_LIST_ENTRY(it, struct entry, link);
        if (entry->number != number) {
            continue;
        }
        event->entries = pawl__alloc(sizeof *event->entries);
        if (event->entries != NULL) {
            event->entry_count = 1;
            if (!fill_info(event->entries, entry)) {
                event->entry_count = 0;
                pawl__free(event->entries[0].name);
                pawl__free(event->entries[0].payload);
                pawl__free(event->entries[0].session);
                pawl__free(event->entries);
                event->entries = NULL;
            }
        }
        return;
    }
}

/* False: something is in the way. */
static bool fill_views(struct job *job, bool with_position)
{
    static struct pawl__queue_entry queue[20000];
    struct pawl__backend_event *event = job->event;
    uint64_t holder = 0;

    event->view_count = job->count;
    for (size_t i = 0; i < job->count; i++) {
        size_t len = list_queue(job->names[i], queue, 20000);
        pawl__queue_look(queue, len, event->session, job->attempt, job->modes[i], &event->views[i]);
        holder = holder == 0 ? event->views[i].holder : holder;
        if (!with_position && event->views[i].position > 0) {
            event->views[i].position = -1;
        }
    }
    if (holder != 0) {
        add_holder(event, holder);
    }
    return holder == 0;
}

/* ---- Ops; store.mu held on entry, on the worker ------------------------------------------------
 */

static void do_open(struct state *state, struct job *job)
{
    struct session *session = find_session(job->event->session);

    if (session == NULL) {
        session = calloc(1, sizeof *session);
        session->state = state;
        session->id = job->event->session;
        session->ttl_ms = job->ttl_ms;
        session->fd = eventfd(0, EFD_CLOEXEC);
        pawl__list_push_back(&store.sessions, &session->link);
    }
    job->event->ttl_ms = job->ttl_ms;
    job->event->evidence = job->sent;
    job->event->session_fd = session->fd;
    snprintf(job->event->session_name, sizeof job->event->session_name, "fake-%llx",
             (unsigned long long)session->id);
}

static void do_renew(struct job *job)
{
    size_t marks = 0;

    if (find_session(job->event->session) == NULL) {
        pawl__backend_event_fail(job->event, PAWL_E_LOST, 0, "the session is not in the store");
        return;
    }
    job->event->evidence = job->sent;
    PAWL_LIST_FOREACH (it, &store.entries) {
        struct entry *entry = PAWL_LIST_ENTRY(it, struct entry, link);
        marks += entry->session == job->event->session && entry->marked ? 1 : 0;
    }
    if (marks == 0) {
        return;
    }
    job->event->marks = pawl__alloc_array(marks, sizeof *job->event->marks);
    PAWL_LIST_FOREACH (it, &store.entries) {
        struct entry *entry = PAWL_LIST_ENTRY(it, struct entry, link);
        if (entry->session == job->event->session && entry->marked) {
            struct pawl__mark *mark = &job->event->marks[job->event->mark_count++];
            mark->number = entry->number;
            mark->by = pawl__strdup(entry->by);
            mark->reason = pawl__strdup(entry->reason);
        }
    }
}

static void do_enqueue(struct job *job)
{
    if (find_session(job->event->session) == NULL) {
        job->event->view_count = 0;
        pawl__backend_event_fail(job->event, PAWL_E_LOST, 0, "the session is not in the store");
        return;
    }
    job->event->evidence = job->sent;
    bool is_free = fill_views(job, false);
    if (job->flag && !is_free) {
        pawl__backend_event_fail(job->event, PAWL_E_TIMEOUT, 0, "held by another");
        return;
    }
    if (job->event->entries != NULL) {
        struct pawl__backend_event *event = job->event;
        pawl__free(event->entries[0].name);
        pawl__free(event->entries[0].payload);
        pawl__free(event->entries[0].session);
        pawl__free(event->entries);
        event->entries = NULL;
        event->entry_count = 0;
    }
    uint64_t number = ++store.last_number;
    for (size_t i = 0; i < job->count; i++) {
        struct entry *entry = calloc(1, sizeof *entry);
        snprintf(entry->name, sizeof entry->name, "%s", job->names[i]);
        snprintf(entry->payload, sizeof entry->payload, "%s", job->payload);
        entry->session = job->event->session;
        entry->attempt = job->attempt;
        entry->number = number;
        entry->mode = job->modes[i];
        pawl__list_push_back(&store.entries, &entry->link);
    }
    (void)fill_views(job, false);
}

static void do_mark(struct job *job)
{
    struct entry *found = NULL;

    PAWL_LIST_FOREACH (it, &store.entries) {
        struct entry *entry = PAWL_LIST_ENTRY(it, struct entry, link);
        if (entry->number == job->number && strcmp(entry->name, job->names[0]) == 0) {
            found = entry;
        }
    }
    if (found == NULL) {
        pawl__backend_event_fail(job->event, PAWL_E_FENCED, 0, "no entry has that token");
        return;
    }
    struct session *session = find_session(found->session);
    job->event->ttl_ms = session != NULL ? session->ttl_ms : 0;
    if (job->flag) {
        drop_entries(0, 0, job->number);
        return;
    }
    found->marked = true;
    snprintf(found->by, sizeof found->by, "%s", job->names[1]);
    snprintf(found->reason, sizeof found->reason, "%s", job->names[2]);
    struct pawl__backend_event *hint = pawl__backend_event_new(PAWL__BEV_SESSION, 0);
    if (session != NULL && hint != NULL) {
        hint->session = session->id;
        session->state->host->post(session->state->host->ctx, hint);
    } else {
        pawl__backend_event_free(hint);
    }
}

static int compare_infos(const void *a, const void *b)
{
    const struct pawl__entry_info *left = a;
    const struct pawl__entry_info *right = b;
    int order = strcmp(left->name, right->name);

    return order != 0 ? order : (left->number < right->number ? -1 : 1);
}

static void do_list(struct job *job)
{
    size_t count = pawl__list_len(&store.entries);

    job->event->entries = pawl__alloc_array(count, sizeof *job->event->entries);
    PAWL_LIST_FOREACH (it, &store.entries) {
        struct entry *entry = PAWL_LIST_ENTRY(it, struct entry, link);
        if (job->count == 0 || strcmp(entry->name, job->names[0]) == 0) {
            fill_info(&job->event->entries[job->event->entry_count++], entry);
        }
    }
    if (job->event->entry_count > 0) {
        qsort(job->event->entries, job->event->entry_count, sizeof *job->event->entries,
              compare_infos);
    }
}

static void execute(struct state *state, struct job *job)
{
    pawl_status failure = store.failures[job->event->kind];

    if (failure != PAWL_OK) {
        pawl__backend_event_fail(job->event, failure, 0, "the fake store was told to fail");
        return;
    }
    switch (job->event->kind) {
    case PAWL__BEV_SESSION_OPENED:
        do_open(state, job);
        break;
    case PAWL__BEV_RENEWED:
        do_renew(job);
        break;
    case PAWL__BEV_SESSION_CLOSED: {
        struct session *session = find_session(job->event->session);
        if (session != NULL && !job->flag) {
            drop_session(session);
        }
        break;
    }
    case PAWL__BEV_ENQUEUED:
        do_enqueue(job);
        break;
    case PAWL__BEV_LOOKED:
        (void)fill_views(job, job->flag);
        break;
    case PAWL__BEV_REMOVED:
        drop_entries(job->event->session, job->attempt, job->number);
        job->event->evidence = job->sent;
        break;
    case PAWL__BEV_MARKED:
        do_mark(job);
        break;
    case PAWL__BEV_LISTED:
        do_list(job);
        break;
    case PAWL__BEV_WATCH:
        break; /* the event is the hint */
    case PAWL__BEV_OWN:
    case PAWL__BEV_SESSION:
        abort();
    }
}

static void free_job(struct job *job)
{
    pawl__backend_event_free(job->event);
    free(job);
}

static void *run(void *arg)
{
    struct state *state = arg;

    lock();
    for (;;) {
        while (!state->is_closing && (store.is_paused || state->first_job == NULL)) {
            pthread_cond_wait(&store.cond, &store.mu);
        }
        if (state->is_closing) {
            break;
        }
        struct job *job = state->first_job;
        state->first_job = job->next;
        if (state->first_job == NULL) {
            state->last_job = &state->first_job;
        }
        execute(state, job);
        struct pawl__backend_event *event = job->event;
        job->event = NULL;
        free_job(job);
        state->host->post(state->host->ctx, event);
    }
    unlock();
    return NULL;
}

/* ---- Members -----------------------------------------------------------------------------------
 */

static pawl_status fake_open(const struct pawl__backend_settings *settings,
                             const struct pawl__backend_host *host, void **ret_state,
                             struct pawl__backend_info *ret_info, pawl_error *err)
{
    struct state *state = calloc(1, sizeof *state);

    (void)settings;
    (void)err;
    state->host = host;
    state->last_job = &state->first_job;
    lock();
    pawl__list_push_back(&store.states, &state->link);
    unlock();
    pthread_create(&state->worker, NULL, run, state);
    snprintf(ret_info->store_id, sizeof ret_info->store_id, "00000000feedf00d");
    ret_info->epoch = 3;
    ret_info->capabilities = PAWL_CAP_LINEARIZABLE | PAWL_CAP_ATOMIC_MULTI;
    *ret_state = state;
    return PAWL_OK;
}

static void fake_close(void *arg, int64_t timeout_ms)
{
    struct state *state = arg;

    (void)timeout_ms;
    lock();
    state->is_closing = true;
    unlock();
    pthread_join(state->worker, NULL);
    lock();
    PAWL_LIST_FOREACH_SAFE (it, tmp, &store.watches) {
        struct watch *watch = PAWL_LIST_ENTRY(it, struct watch, link);
        if (watch->state == state) {
            pawl__list_remove(&watch->link);
            free(watch);
        }
    }
    PAWL_LIST_FOREACH_SAFE (it, tmp, &store.sessions) {
        struct session *session = PAWL_LIST_ENTRY(it, struct session, link);
        if (session->state == state) {
            drop_session(session); /* a store that notices at once */
        }
    }
    pawl__list_remove(&state->link);
    unlock();
    while (state->first_job != NULL) {
        struct job *job = state->first_job;
        state->first_job = job->next;
        free_job(job);
    }
    free(state);
}

static void fake_fork_child(void *arg)
{
    (void)arg; /* eventfds end with the child. */
}

/* Hangs while the store is stalled. */
static void pass_stall(void)
{
    lock();
    if (store.is_stalled) {
        store.stalled_count++;
        pthread_cond_broadcast(&store.cond);
        while (store.is_stalled) {
            pthread_cond_wait(&store.cond, &store.mu);
        }
        store.stalled_count--;
    }
    unlock();
}

static struct job *new_job(enum pawl__backend_event_kind kind, uint64_t op, uint64_t session,
                           size_t views)
{
    pass_stall();
    struct job *job = calloc(1, sizeof *job);
    job->event = pawl__backend_event_new(kind, op);
    if (job->event != NULL && views > 0) {
        job->event->views = pawl__alloc_array(views, sizeof *job->event->views);
    }
    if (job->event == NULL || (views > 0 && job->event->views == NULL)) {
        free_job(job);
        return NULL;
    }
    job->event->session = session;
    job->sent = pawl__boot_now();
    return job;
}

static void set_wants(struct job *job, const struct pawl__want *wants, size_t count)
{
    job->count = count;
    for (size_t i = 0; i < count; i++) {
        snprintf(job->names[i], sizeof job->names[i], "%s", wants[i].name);
        job->modes[i] = wants[i].mode;
    }
}

static pawl_status submit(struct state *state, struct job *job)
{
    lock();
    store.taken[job->event->kind]++;
    *state->last_job = job;
    state->last_job = &job->next;
    unlock();
    return PAWL_OK;
}

static pawl_status fake_session_open(void *arg, uint64_t op, uint64_t session, int64_t ttl_ms)
{
    struct job *job = new_job(PAWL__BEV_SESSION_OPENED, op, session, 0);

    if (job == NULL) {
        return PAWL_E_NOMEM;
    }
    job->ttl_ms = ttl_ms;
    return submit(arg, job);
}

static pawl_status fake_session_renew(void *arg, uint64_t op, uint64_t session,
                                      const uint64_t *held, size_t held_count)
{
    struct job *job = new_job(PAWL__BEV_RENEWED, op, session, 0);

    (void)held;
    (void)held_count;
    return job == NULL ? PAWL_E_NOMEM : submit(arg, job);
}

static pawl_status fake_session_close(void *arg, uint64_t op, uint64_t session, bool bequeath)
{
    struct job *job = new_job(PAWL__BEV_SESSION_CLOSED, op, session, 0);

    if (job == NULL) {
        return PAWL_E_NOMEM;
    }
    job->flag = bequeath;
    return submit(arg, job);
}

static pawl_status fake_enqueue(void *arg, uint64_t op, const struct pawl__enqueue *enqueue)
{
    struct job *job = new_job(PAWL__BEV_ENQUEUED, op, enqueue->session, enqueue->count);

    if (job == NULL) {
        return PAWL_E_NOMEM;
    }
    job->attempt = enqueue->attempt;
    job->flag = enqueue->only_if_free;
    set_wants(job, enqueue->wants, enqueue->count);
    snprintf(job->payload, sizeof job->payload, "%s", enqueue->payload);
    return submit(arg, job);
}

static pawl_status fake_look(void *arg, uint64_t op, const struct pawl__look *look)
{
    struct job *job = new_job(PAWL__BEV_LOOKED, op, look->session, look->count);

    if (job == NULL) {
        return PAWL_E_NOMEM;
    }
    job->attempt = look->attempt;
    job->flag = look->position;
    set_wants(job, look->wants, look->count);
    return submit(arg, job);
}

static pawl_status fake_remove(void *arg, uint64_t op, const struct pawl__remove *removal)
{
    struct job *job = new_job(PAWL__BEV_REMOVED, op, removal->session, 0);

    if (job == NULL) {
        return PAWL_E_NOMEM;
    }
    job->attempt = removal->attempt;
    job->number = removal->number;
    return submit(arg, job);
}

static pawl_status fake_mark(void *arg, uint64_t op, const struct pawl__mark_request *mark)
{
    struct job *job = new_job(PAWL__BEV_MARKED, op, 0, 0);

    if (job == NULL) {
        return PAWL_E_NOMEM;
    }
    job->number = mark->number;
    job->flag = mark->now;
    snprintf(job->names[0], sizeof job->names[0], "%s", mark->name);
    snprintf(job->names[1], sizeof job->names[1], "%s", mark->by);
    snprintf(job->names[2], sizeof job->names[2], "%s", mark->reason);
    return submit(arg, job);
}

static pawl_status fake_list(void *arg, uint64_t op, const char *name)
{
    struct job *job = new_job(PAWL__BEV_LISTED, op, 0, 0);

    if (job == NULL) {
        return PAWL_E_NOMEM;
    }
    if (name != NULL) {
        job->count = 1;
        snprintf(job->names[0], sizeof job->names[0], "%s", name);
    }
    return submit(arg, job);
}

static pawl_status fake_watch(void *arg, uint64_t id, const char *name, uint64_t number)
{
    struct state *state = arg;
    struct watch *watch = calloc(1, sizeof *watch);

    (void)name;
    watch->state = state;
    watch->id = id;
    watch->number = number;
    lock();
    if (number_exists(number)) {
        pawl__list_push_back(&store.watches, &watch->link);
        watch = NULL;
    }
    unlock();
    if (watch == NULL) {
        return PAWL_OK;
    }
    /* Gone already. The hint comes from the worker: never from inside a member. */
    free(watch);
    struct job *job = new_job(PAWL__BEV_WATCH, 0, 0, 0);
    if (job == NULL) {
        return PAWL_E_NOMEM;
    }
    job->event->watch = id;
    return submit(state, job);
}

static void fake_unwatch(void *arg, uint64_t id)
{
    lock();
    PAWL_LIST_FOREACH_SAFE (it, tmp, &store.watches) {
        struct watch *watch = PAWL_LIST_ENTRY(it, struct watch, link);
        if (watch->state == arg && watch->id == id) {
            pawl__list_remove(&watch->link);
            free(watch);
        }
    }
    unlock();
}

static const struct pawl__backend_ops fake_ops_table = {
    .version = PAWL__BACKEND_VERSION,
    .scheme = "fake",
    .open = fake_open,
    .close = fake_close,
    .fork_child = fake_fork_child,
    .session_open = fake_session_open,
    .session_renew = fake_session_renew,
    .session_close = fake_session_close,
    .enqueue = fake_enqueue,
    .look = fake_look,
    .remove = fake_remove,
    .mark = fake_mark,
    .list = fake_list,
    .watch = fake_watch,
    .unwatch = fake_unwatch,
};

/* ---- What the tests turn -----------------------------------------------------------------------
 */

void fake_install(void)
{
    pthread_mutex_init(&store.mu, NULL);
    pthread_cond_init(&store.cond, NULL);
    pawl__list_init(&store.states);
    pawl__list_init(&store.entries);
    pawl__list_init(&store.sessions);
    pawl__list_init(&store.watches);
    pawl__backend_register("fake", &fake_ops_table, NULL);
}

void fake_pause(bool is_paused)
{
    lock();
    store.is_paused = is_paused;
    unlock();
}

void fake_stall(bool is_stalled)
{
    lock();
    store.is_stalled = is_stalled;
    unlock();
}

void fake_wait_for_stalled(void)
{
    lock();
    while (store.stalled_count == 0) {
        pthread_cond_wait(&store.cond, &store.mu);
    }
    unlock();
}

void fake_fail(enum pawl__backend_event_kind kind, pawl_status status)
{
    lock();
    store.failures[kind] = status;
    unlock();
}

void fake_wait_for_ops(enum pawl__backend_event_kind kind, size_t count)
{
    lock();
    while (store.taken[kind] < count) {
        pthread_cond_wait(&store.cond, &store.mu);
    }
    unlock();
}

size_t fake_ops(enum pawl__backend_event_kind kind)
{
    lock();
    size_t count = store.taken[kind];
    unlock();
    return count;
}

size_t fake_entries(void)
{
    lock();
    size_t count = pawl__list_len(&store.entries);
    unlock();
    return count;
}

size_t fake_sessions(void)
{
    lock();
    size_t count = pawl__list_len(&store.sessions);
    unlock();
    return count;
}

void fake_expire_sessions(void)
{
    struct pawl__list *link = NULL;

    lock();
    while ((link = pawl__list_first(&store.sessions)) != NULL) {
        drop_session(PAWL_LIST_ENTRY(link, struct session, link));
    }
    unlock();
}

uint64_t fake_add_stranger(const char *name, const char *owner, int64_t since_ms)
{
    struct entry *entry = calloc(1, sizeof *entry);
    struct pawl__payload payload = {.attempt = STRANGER,
                                    .owner = owner,
                                    .host = "elsewhere",
                                    .pid = 811,
                                    .mode = PAWL__MODE_X,
                                    .since_ms = since_ms};
    struct pawl__buf buf;

    pawl__buf_init(&buf);
    (void)pawl__payload_build(&payload, &buf, NULL);
    snprintf(entry->payload, sizeof entry->payload, "%s", pawl__buf_str(&buf));
    pawl__buf_release(&buf);
    snprintf(entry->name, sizeof entry->name, "%s", name);
    entry->session = STRANGER;
    entry->attempt = STRANGER;
    entry->mode = PAWL__MODE_X;
    lock();
    uint64_t number = entry->number = ++store.last_number;
    pawl__list_push_back(&store.entries, &entry->link);
    unlock();
    return number;
}

void fake_remove_stranger(uint64_t number)
{
    lock();
    drop_entries(STRANGER, 0, number);
    unlock();
}
