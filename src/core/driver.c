/* Executes the actions of a core. The same code serves a real client and the simulator. */
#include "core/driver.h"

#include "base/assert.h"

static pawl_status start_session_op(struct pawl__backend *backend,
                                    const struct pawl__core_action *action)
{
    if (action->kind == PAWL__ACT_SESSION_OPEN) {
        return pawl__backend_session_open(backend, action->op, action->session, action->ttl_ms);
    }
    if (action->kind == PAWL__ACT_SESSION_RENEW) {
        return pawl__backend_session_renew(backend, action->op, action->session, action->numbers,
                                           action->number_count);
    }
    PAWL_INVARIANT(action->kind == PAWL__ACT_SESSION_CLOSE);
    return pawl__backend_session_close(backend, action->op, action->session, action->flag);
}

static pawl_status start_entry_op(struct pawl__backend *backend,
                                  const struct pawl__core_action *action)
{
    if (action->kind == PAWL__ACT_ENQUEUE) {
        struct pawl__enqueue enqueue = {.session = action->session,
                                        .attempt = action->attempt,
                                        .wants = action->wants,
                                        .count = action->count,
                                        .payload = action->payload,
                                        .only_if_free = action->flag};
        return pawl__backend_enqueue(backend, action->op, &enqueue);
    }
    if (action->kind == PAWL__ACT_LOOK) {
        struct pawl__look look = {.session = action->session,
                                  .attempt = action->attempt,
                                  .wants = action->wants,
                                  .count = action->count,
                                  .settle = action->flag,
                                  .position = action->flag2};
        return pawl__backend_look(backend, action->op, &look);
    }
    PAWL_INVARIANT(action->kind == PAWL__ACT_REMOVE);
    struct pawl__remove removal = {.session = action->session,
                                   .attempt = action->attempt,
                                   .number = action->number,
                                   .wants = action->wants,
                                   .count = action->count};
    return pawl__backend_remove(backend, action->op, &removal);
}

static pawl_status start_other_op(struct pawl__backend *backend,
                                  const struct pawl__core_action *action)
{
    if (action->kind == PAWL__ACT_MARK) {
        struct pawl__mark_request mark = {.name = action->name,
                                          .number = action->number,
                                          .by = action->by,
                                          .reason = action->text,
                                          .now = action->flag};
        return pawl__backend_mark(backend, action->op, &mark);
    }
    if (action->kind == PAWL__ACT_LIST) {
        return pawl__backend_list(backend, action->op, action->name);
    }
    if (action->kind == PAWL__ACT_WATCH) {
        /* A watch that cannot be had costs time, not safety: the core polls behind it. */
        (void)pawl__backend_watch(backend, action->op, action->name, action->number);
        return PAWL_OK;
    }
    PAWL_INVARIANT(action->kind == PAWL__ACT_UNWATCH);
    pawl__backend_unwatch(backend, action->op);
    return PAWL_OK;
}

static void execute(struct pawl__core *core, struct pawl__boot now, struct pawl__backend *backend,
                    const struct pawl__core_action *action)
{
    uint64_t op = action->op;
    pawl_status status = PAWL_OK;

    if (action->kind <= PAWL__ACT_SESSION_CLOSE) {
        status = start_session_op(backend, action);
    } else if (action->kind <= PAWL__ACT_REMOVE) {
        status = start_entry_op(backend, action);
    } else {
        status = start_other_op(backend, action);
    }
    if (status != PAWL_OK) {
        pawl__core_refuse(core, now, op, status);
    }
}

void pawl__driver_run(struct pawl__core *core, struct pawl__boot now, struct pawl__backend *backend,
                      pawl__sink_fn sink, void *ctx)
{
    const struct pawl__core_action *action;

    while ((action = pawl__core_next_action(core)) != NULL) {
        if (action->kind >= PAWL__ACT_LEASE) {
            sink(ctx, action);
        } else {
            execute(core, now, backend, action);
        }
    }
}
