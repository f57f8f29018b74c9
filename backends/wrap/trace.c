/* Writes down what goes to a backend and what comes back: see trace.h. Changes nothing. */
#include "backends/wrap/trace.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "core/error.h"

#define LINE_MAX_BYTES 512 /* longer lines are cut: they are for people */
#define NAMES_MAX      128

struct trace_state {
    const struct pawl__trace *trace;       /* borrowed */
    struct pawl__backend *inner;           /* owned */
    const struct pawl__backend_host *host; /* borrowed: the one above */
    struct pawl__backend_host own_host;    /* what the inner one sees */
};

void pawl__trace_print(void *ctx, const char *text)
{
    (void)fprintf(ctx, "%s\n", text); /* A line that is lost is no fault of the store. */
}

static void __attribute__((format(printf, 2, 3)))
write_line(struct trace_state *state, const char *format, ...)
{
    char line[LINE_MAX_BYTES];
    va_list args;

    int64_t now_ms = state->host->now(state->host->ctx).ms;
    int len = snprintf(line, sizeof(line), "%" PRId64 " ", now_ms);
    PAWL_INVARIANT(len > 0 && (size_t)len < sizeof(line));
    va_start(args, format);
    (void)vsnprintf(line + len, sizeof(line) - (size_t)len, format, args);
    va_end(args);
    state->trace->line(state->trace->ctx, line);
}

static const char *join_names(char out[NAMES_MAX], const struct pawl__want *wants, size_t count)
{
    size_t len = 0;

    out[0] = '\0';
    for (size_t i = 0; i < count && len < NAMES_MAX - 1; i++) {
        int more = snprintf(out + len, NAMES_MAX - len, "%s%s", i == 0 ? "" : ",", wants[i].name);
        len += more < 0 ? 0 : (size_t)more;
    }
    return out;
}

/* ---- What comes back ------------------------------------------------------------------------- */

static const char *event_word(enum pawl__backend_event_kind kind)
{
    static const char *const words[] = {
        [PAWL__BEV_SESSION_OPENED] = "session-opened",
        [PAWL__BEV_RENEWED] = "renewed",
        [PAWL__BEV_SESSION_CLOSED] = "session-closed",
        [PAWL__BEV_ENQUEUED] = "enqueued",
        [PAWL__BEV_LOOKED] = "looked",
        [PAWL__BEV_REMOVED] = "removed",
        [PAWL__BEV_MARKED] = "marked",
        [PAWL__BEV_LISTED] = "listed",
        [PAWL__BEV_WATCH] = "hint-watch",
        [PAWL__BEV_OWN] = "hint-own",
        [PAWL__BEV_SESSION] = "hint-session",
    };

    return words[kind];
}

static void describe_outcome(const struct pawl__backend_event *event, char *out, size_t out_size)
{
    if (event->op == 0) {
        (void)snprintf(out, out_size, "watch=%" PRIu64 " number=%" PRIu64, event->watch,
                       event->number);
    } else if (event->status != PAWL_OK && event->view_count == 0) {
        (void)snprintf(out, out_size, "code=%d %s", event->backend_code, event->text);
    } else if (event->view_count > 0) {
        (void)snprintf(out, out_size, "number=%" PRIu64 " blocker=%" PRIu64 " position=%d",
                       event->views[0].own_number, event->views[0].blocker,
                       event->views[0].position);
    } else {
        (void)snprintf(out, out_size, "ttl=%" PRId64 " marks=%zu gone=%zu entries=%zu",
                       event->ttl_ms, event->mark_count, event->gone_count, event->entry_count);
    }
}

static void trace_post(void *ctx, struct pawl__backend_event *event)
{
    struct trace_state *state = ctx;
    char outcome[300];

    describe_outcome(event, outcome, sizeof(outcome));
    write_line(state, "< %s op=%" PRIx64 " session=%" PRIx64 " status=%s evidence=%" PRId64 " %s",
               event_word(event->kind), event->op, event->session, pawl_status_name(event->status),
               event->evidence.ms, outcome);
    state->host->post(state->host->ctx, event);
}

static struct pawl__boot trace_now(void *ctx)
{
    struct trace_state *state = ctx;

    return state->host->now(state->host->ctx);
}

/* ---- Members --------------------------------------------------------------------------------- */

static pawl_status trace_open(const struct pawl__backend_settings *settings,
                              const struct pawl__backend_host *host, void **ret_state,
                              struct pawl__backend_info *ret_info, pawl_error *err)
{
    const struct pawl__trace *trace = settings->context;
    struct pawl__backend_settings inner = *settings;

    PAWL_INVARIANT(trace != NULL && trace->inner != NULL && trace->line != NULL);
    struct trace_state *state = pawl__alloc(sizeof(*state));
    if (state == NULL) {
        return pawl__error_set(err, PAWL_E_NOMEM, 0, "no memory to trace the store");
    }
    state->trace = trace;
    state->host = host;
    state->own_host = (struct pawl__backend_host){trace_post, trace_now, state};
    inner.context = trace->inner_context;
    pawl_status status = pawl__backend_open_with(trace->inner, &inner, &state->own_host,
                                                 &state->inner, ret_info, err);
    write_line(state, "> open scheme=%s status=%s", trace->inner->scheme, pawl_status_name(status));
    if (status != PAWL_OK) {
        pawl__free(state);
        return status;
    }
    *ret_state = state;
    return PAWL_OK;
}

static void trace_close(void *ctx, int64_t timeout_ms)
{
    struct trace_state *state = ctx;

    write_line(state, "> close timeout=%" PRId64, timeout_ms);
    pawl__backend_close(state->inner, timeout_ms);
    pawl__free(state);
}

static void trace_fork_child(void *ctx)
{
    struct trace_state *state = ctx;

    pawl__backend_fork_child(state->inner); /* Nothing is written: another thread may be at it. */
}

static pawl_status trace_session_open(void *ctx, uint64_t op, uint64_t session, int64_t ttl_ms)
{
    struct trace_state *state = ctx;

    write_line(state, "> session-open op=%" PRIx64 " session=%" PRIx64 " ttl=%" PRId64, op, session,
               ttl_ms);
    return pawl__backend_session_open(state->inner, op, session, ttl_ms);
}

static pawl_status trace_session_renew(void *ctx, uint64_t op, uint64_t session,
                                       const uint64_t *held, size_t held_count)
{
    struct trace_state *state = ctx;

    write_line(state, "> session-renew op=%" PRIx64 " session=%" PRIx64 " held=%zu", op, session,
               held_count);
    return pawl__backend_session_renew(state->inner, op, session, held, held_count);
}

static pawl_status trace_session_close(void *ctx, uint64_t op, uint64_t session, bool bequeath)
{
    struct trace_state *state = ctx;

    write_line(state, "> session-close op=%" PRIx64 " session=%" PRIx64 " bequeath=%d", op, session,
               (int)bequeath);
    return pawl__backend_session_close(state->inner, op, session, bequeath);
}

static pawl_status trace_enqueue(void *ctx, uint64_t op, const struct pawl__enqueue *enqueue)
{
    struct trace_state *state = ctx;
    char names[NAMES_MAX];

    write_line(state,
               "> enqueue op=%" PRIx64 " session=%" PRIx64 " attempt=%" PRIx64
               " if-free=%d names=%s",
               op, enqueue->session, enqueue->attempt, (int)enqueue->only_if_free,
               join_names(names, enqueue->wants, enqueue->count));
    return pawl__backend_enqueue(state->inner, op, enqueue);
}

static pawl_status trace_look(void *ctx, uint64_t op, const struct pawl__look *look)
{
    struct trace_state *state = ctx;
    char names[NAMES_MAX];

    write_line(state,
               "> look op=%" PRIx64 " session=%" PRIx64 " attempt=%" PRIx64 " settle=%d names=%s",
               op, look->session, look->attempt, (int)look->settle,
               join_names(names, look->wants, look->count));
    return pawl__backend_look(state->inner, op, look);
}

static pawl_status trace_remove(void *ctx, uint64_t op, const struct pawl__remove *removal)
{
    struct trace_state *state = ctx;
    char names[NAMES_MAX];

    write_line(state,
               "> remove op=%" PRIx64 " session=%" PRIx64 " attempt=%" PRIx64 " number=%" PRIu64
               " names=%s",
               op, removal->session, removal->attempt, removal->number,
               join_names(names, removal->wants, removal->count));
    return pawl__backend_remove(state->inner, op, removal);
}

static pawl_status trace_mark(void *ctx, uint64_t op, const struct pawl__mark_request *mark)
{
    struct trace_state *state = ctx;

    write_line(state, "> mark op=%" PRIx64 " name=%.64s number=%" PRIu64 " now=%d", op, mark->name,
               mark->number, (int)mark->now);
    return pawl__backend_mark(state->inner, op, mark);
}

static pawl_status trace_list(void *ctx, uint64_t op, const char *name)
{
    struct trace_state *state = ctx;

    write_line(state, "> list op=%" PRIx64 " name=%.64s", op, name == NULL ? "*" : name);
    return pawl__backend_list(state->inner, op, name);
}

static pawl_status trace_watch(void *ctx, uint64_t watch, const char *name, uint64_t number)
{
    struct trace_state *state = ctx;

    write_line(state, "> watch watch=%" PRIu64 " name=%.64s number=%" PRIu64, watch, name, number);
    return pawl__backend_watch(state->inner, watch, name, number);
}

static void trace_unwatch(void *ctx, uint64_t watch)
{
    struct trace_state *state = ctx;

    write_line(state, "> unwatch watch=%" PRIu64, watch);
    pawl__backend_unwatch(state->inner, watch);
}

const struct pawl__backend_ops pawl__trace_ops = {
    .version = PAWL__BACKEND_VERSION,
    .scheme = "trace",
    .open = trace_open,
    .close = trace_close,
    .fork_child = trace_fork_child,
    .session_open = trace_session_open,
    .session_renew = trace_session_renew,
    .session_close = trace_session_close,
    .enqueue = trace_enqueue,
    .look = trace_look,
    .remove = trace_remove,
    .mark = trace_mark,
    .list = trace_list,
    .watch = trace_watch,
    .unwatch = trace_unwatch,
};
