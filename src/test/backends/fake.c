/* The fake itself: see fake.h. Part of the test modules too, so it calls nothing of backend.c. */
#include "fake.h"

#include <string.h>

#include "base/alloc.h"

static pawl_status fake_open(const struct pawl__backend_settings *settings,
                             const struct pawl__backend_host *host, void **ret_state,
                             struct pawl__backend_info *ret_info, pawl_error *err)
{
    struct fake *fake = settings->context;

    (void)err; /* Never fails. */
    fake->host = host;
    fake->is_open = true;
    *ret_state = fake;
    memcpy(ret_info->store_id, "0123456789abcdef", sizeof(ret_info->store_id));
    return PAWL_OK;
}

static void fake_close(void *state, int64_t timeout_ms)
{
    struct fake *fake = state;

    (void)timeout_ms;
    fake->is_open = false;
}

static void fake_fork_child(void *state)
{
    (void)state;
}

static pawl_status take(struct fake *fake, uint64_t op, uint64_t session,
                        enum pawl__backend_event_kind kind)
{
    fake->calls++;
    fake->op = op;
    fake->session = session;
    if (fake->posts_inside) {
        fake_post(fake, fake_event(fake, kind));
    }
    return fake->answer;
}

static pawl_status fake_session_open(void *state, uint64_t op, uint64_t session, int64_t ttl_ms)
{
    (void)ttl_ms;
    return take(state, op, session, PAWL__BEV_SESSION_OPENED);
}

static pawl_status fake_session_renew(void *state, uint64_t op, uint64_t session,
                                      const uint64_t *held, size_t held_count)
{
    (void)held;
    (void)held_count;
    return take(state, op, session, PAWL__BEV_RENEWED);
}

static pawl_status fake_session_close(void *state, uint64_t op, uint64_t session, bool bequeath)
{
    (void)bequeath;
    return take(state, op, session, PAWL__BEV_SESSION_CLOSED);
}

static pawl_status fake_enqueue(void *state, uint64_t op, const struct pawl__enqueue *enqueue)
{
    return take(state, op, enqueue->session, PAWL__BEV_ENQUEUED);
}

static pawl_status fake_look(void *state, uint64_t op, const struct pawl__look *look)
{
    return take(state, op, look->session, PAWL__BEV_LOOKED);
}

static pawl_status fake_remove(void *state, uint64_t op, const struct pawl__remove *remove)
{
    return take(state, op, remove->session, PAWL__BEV_REMOVED);
}

static pawl_status fake_mark(void *state, uint64_t op, const struct pawl__mark_request *mark)
{
    (void)mark;
    return take(state, op, 0, PAWL__BEV_MARKED);
}

static pawl_status fake_list(void *state, uint64_t op, const char *name)
{
    (void)name;
    return take(state, op, 0, PAWL__BEV_LISTED);
}

static pawl_status fake_watch(void *state, uint64_t watch, const char *name, uint64_t number)
{
    struct fake *fake = state;

    (void)watch;
    (void)name;
    (void)number;
    return fake->answer;
}

static void fake_unwatch(void *state, uint64_t watch)
{
    struct fake *fake = state;

    fake->unwatched = watch;
}

const struct pawl__backend_ops fake_ops = {
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

struct pawl__backend_event *fake_event(struct fake *fake, enum pawl__backend_event_kind kind)
{
    struct pawl__backend_event *event = pawl__backend_event_new(kind, fake->op);

    event->session = fake->session;
    return event;
}

void fake_post(struct fake *fake, struct pawl__backend_event *event)
{
    fake->host->post(fake->host->ctx, event);
}
