/* Tests of the decorator backends/wrap/fault.c, on a fake backend; a plain program, so that
 * ThreadSanitizer sees its poster at work. */
#include <string.h>

#include "backends/wrap/fault.h"
#include "fake.h"
#include "tap.h"

#define SESSION 9

static const struct pawl__want wants[1] = {{"job", PAWL__MODE_X}};

struct bench {
    struct fake fake;
    struct sink sink;
    struct pawl__fault fault;
    struct pawl__fault_rule rule;
    struct pawl__backend *backend;
};

static void open_bench(struct bench *bench, struct pawl__fault_rule rule)
{
    struct pawl__backend_settings settings = {
        .request_timeout_ms = 1000, .connect_timeout_ms = 1000, .context = &bench->fault};

    memset(bench, 0, sizeof(*bench));
    bench->rule = rule;
    bench->fault = (struct pawl__fault){
        .inner = &fake_ops, .inner_context = &bench->fake, .rules = &bench->rule, .rule_count = 1};
    sink_init(&bench->sink);
    (void)pawl__backend_open_with(&pawl__fault_ops, &settings, &bench->sink.host, &bench->backend,
                                  NULL, NULL);
}

static void close_bench(struct bench *bench)
{
    pawl__backend_close(bench->backend, 0);
    TAP_CHECK(bench->fault.hits == 1);
    sink_release(&bench->sink);
}

static pawl_status call_remove(struct bench *bench, uint64_t op)
{
    struct pawl__remove removal = {
        .session = SESSION, .attempt = 5, .number = 17, .wants = wants, .count = 1};

    return pawl__backend_remove(bench->backend, op, &removal);
}

static pawl_status call_settle(struct bench *bench, uint64_t op)
{
    struct pawl__look look = {
        .session = SESSION, .attempt = 5, .wants = wants, .count = 1, .settle = true};

    return pawl__backend_look(bench->backend, op, &look);
}

/* The status of the n-th event, which must be for `op`. */
static pawl_status await_answer(struct bench *bench, unsigned n, uint64_t op)
{
    if (!TAP_CHECK(sink_wait(&bench->sink, n))) {
        return PAWL_E_INTERNAL;
    }
    TAP_CHECK(bench->sink.last->op == op);
    TAP_CHECK(bench->sink.last->session == SESSION);
    return bench->sink.last->status;
}

/* Only the n-th call is hit; the others pass. */
static void refuses_the_nth(void)
{
    struct bench bench;

    open_bench(&bench, (struct pawl__fault_rule){PAWL__FAULT_REFUSE, PAWL__BEV_REMOVED, 2, 0});
    TAP_CHECK(call_remove(&bench, 1) == PAWL_OK);
    fake_post(&bench.fake, fake_event(&bench.fake, PAWL__BEV_REMOVED));
    TAP_CHECK(await_answer(&bench, 1, 1) == PAWL_OK);
    TAP_CHECK(call_remove(&bench, 2) == PAWL_OK);
    TAP_CHECK(await_answer(&bench, 2, 2) == PAWL_E_UNAVAILABLE);
    TAP_CHECK(bench.fake.calls == 1);
    close_bench(&bench);
}

/* A lost request is not executed, and its outcome is unknown. */
static void loses_a_request(void)
{
    struct bench bench;

    open_bench(&bench,
               (struct pawl__fault_rule){PAWL__FAULT_LOSE_REQUEST, PAWL__BEV_REMOVED, 1, 0});
    TAP_CHECK(call_remove(&bench, 1) == PAWL_OK);
    TAP_CHECK(await_answer(&bench, 1, 1) == PAWL_E_UNKNOWN);
    TAP_CHECK(bench.fake.calls == 0);
    close_bench(&bench);
}

/* A lost reply: executed, and its outcome is unknown. */
static void loses_a_reply(void)
{
    struct bench bench;

    open_bench(&bench, (struct pawl__fault_rule){PAWL__FAULT_LOSE_REPLY, PAWL__BEV_REMOVED, 1, 0});
    TAP_CHECK(call_remove(&bench, 1) == PAWL_OK);
    TAP_CHECK(bench.fake.calls == 1);
    fake_post(&bench.fake, fake_event(&bench.fake, PAWL__BEV_REMOVED));
    TAP_CHECK(await_answer(&bench, 1, 1) == PAWL_E_UNKNOWN);
    close_bench(&bench);
}

/* A late request is answered E_UNKNOWN first and executed before a later call. */
static void lands_late(void)
{
    struct bench bench;

    open_bench(&bench, (struct pawl__fault_rule){PAWL__FAULT_LATE, PAWL__BEV_REMOVED, 1, 2});
    TAP_CHECK(call_remove(&bench, 1) == PAWL_OK);
    TAP_CHECK(await_answer(&bench, 1, 1) == PAWL_E_UNKNOWN);
    TAP_CHECK(call_remove(&bench, 2) == PAWL_OK);
    TAP_CHECK(bench.fake.calls == 1);
    TAP_CHECK(call_remove(&bench, 3) == PAWL_OK);
    TAP_CHECK(bench.fake.calls == 3);
    close_bench(&bench);
}

/* What was settled never lands. */
static void never_lands_after_settle(void)
{
    struct bench bench;

    open_bench(&bench, (struct pawl__fault_rule){PAWL__FAULT_LATE, PAWL__BEV_REMOVED, 1, 2});
    TAP_CHECK(call_remove(&bench, 1) == PAWL_OK);
    TAP_CHECK(await_answer(&bench, 1, 1) == PAWL_E_UNKNOWN);
    TAP_CHECK(call_settle(&bench, 2) == PAWL_OK);
    TAP_CHECK(call_settle(&bench, 3) == PAWL_OK);
    TAP_CHECK(bench.fake.calls == 2);
    close_bench(&bench);
}

/* A doubled request is executed twice and answered once. */
static void doubles(void)
{
    struct bench bench;

    open_bench(&bench, (struct pawl__fault_rule){PAWL__FAULT_DUPLICATE, PAWL__BEV_REMOVED, 1, 0});
    TAP_CHECK(call_remove(&bench, 1) == PAWL_OK);
    TAP_CHECK(bench.fake.calls == 2);
    uint64_t second = bench.fake.op;
    fake_post(&bench.fake, fake_event(&bench.fake, PAWL__BEV_REMOVED));
    TAP_CHECK(bench.sink.count == 0);
    bench.fake.op = second - 1;
    fake_post(&bench.fake, fake_event(&bench.fake, PAWL__BEV_REMOVED));
    TAP_CHECK(await_answer(&bench, 1, 1) == PAWL_OK);
    close_bench(&bench);
}

/* A delayed answer comes as it was, later. */
static void delays(void)
{
    struct bench bench;

    open_bench(&bench, (struct pawl__fault_rule){PAWL__FAULT_DELAY, PAWL__BEV_REMOVED, 1, 30});
    struct pawl__boot before = pawl__boot_now();
    TAP_CHECK(call_remove(&bench, 1) == PAWL_OK);
    fake_post(&bench.fake, fake_event(&bench.fake, PAWL__BEV_REMOVED));
    TAP_CHECK(await_answer(&bench, 1, 1) == PAWL_OK);
    TAP_CHECK(pawl__boot_diff(pawl__boot_now(), before) >= 30);
    close_bench(&bench);
}

static void post_watch_hint(struct bench *bench)
{
    struct pawl__backend_event *event = pawl__backend_event_new(PAWL__BEV_WATCH, 0);

    event->watch = 3;
    fake_post(&bench->fake, event);
}

/* Hints are lost and repeated. */
static void harms_hints(void)
{
    struct bench bench;

    open_bench(&bench, (struct pawl__fault_rule){PAWL__FAULT_DROP_HINT, PAWL__BEV_WATCH, 1, 0});
    post_watch_hint(&bench);
    TAP_CHECK(bench.sink.count == 0);
    post_watch_hint(&bench);
    TAP_CHECK(bench.sink.count == 1);
    close_bench(&bench);
    open_bench(&bench, (struct pawl__fault_rule){PAWL__FAULT_REPEAT_HINT, PAWL__BEV_WATCH, 1, 0});
    post_watch_hint(&bench);
    TAP_CHECK(bench.sink.count == 2);
    close_bench(&bench);
}

int main(void)
{
    refuses_the_nth();
    loses_a_request();
    loses_a_reply();
    lands_late();
    never_lands_after_settle();
    doubles();
    delays();
    harms_hints();
    return tap_done();
}
