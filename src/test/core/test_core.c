/* The pure core as tables of events: each test is one race, played step by step. The store is this
 * file: it answers the op that the core asked for last. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "core/core.h"
#include "test/heap.h"

#define TTL_MS    10000
#define MARGIN_MS 1000
#define RENEW_MS  2500
#define NOTES_MAX 64

struct play {
    struct pawl__core *core;
    struct pawl__boot now;
    struct pawl__core_action seen[NOTES_MAX]; /* of the last step */
    size_t seen_count;
    uint64_t session;
    uint64_t rand;
};

static uint64_t next_random(void *ctx)
{
    struct play *play = ctx;

    return ++play->rand;
}

static void drain(struct play *play)
{
    const struct pawl__core_action *action;

    play->seen_count = 0;
    while ((action = pawl__core_next_action(play->core)) != NULL) {
        cr_assert_lt(play->seen_count, NOTES_MAX);
        play->seen[play->seen_count++] = *action;
    }
}

static void step(struct play *play, struct pawl__core_event event)
{
    pawl__core_step(play->core, play->now, &event);
    drain(play);
}

static const struct pawl__core_action *find(const struct play *play,
                                            enum pawl__core_action_kind kind)
{
    for (size_t i = 0; i < play->seen_count; i++) {
        if (play->seen[i].kind == kind) {
            return &play->seen[i];
        }
    }
    return NULL;
}

static const struct pawl__core_action *expect(const struct play *play,
                                              enum pawl__core_action_kind kind)
{
    const struct pawl__core_action *action = find(play, kind);

    cr_assert_not_null(action, "no action of kind %d", (int)kind);
    return action;
}

static void start(struct play *play)
{
    struct pawl__core_config config = {.ttl_ms = TTL_MS,
                                       .margin_ms = MARGIN_MS,
                                       .renew_ms = RENEW_MS,
                                       .request_timeout_ms = 3000,
                                       .retry_base_ms = 200,
                                       .retry_cap_ms = 5000,
                                       .principal = "os:test@host",
                                       .random = next_random,
                                       .random_ctx = play};

    *play = (struct play){.now = {100000}};
    play->core = pawl__core_new(&config);
    cr_assert_not_null(play->core);
}

static void acquire(struct play *play, uint64_t id, struct pawl__boot deadline, bool only_if_free)
{
    struct pawl__want *wants = pawl__alloc(sizeof *wants);

    wants[0] = (struct pawl__want){.name = pawl__strdup("job"), .mode = PAWL__MODE_X};
    step(play, (struct pawl__core_event){.kind = PAWL__EV_ACQUIRE,
                                         .id = id,
                                         .acquire = {.wants = wants,
                                                     .count = 1,
                                                     .payload = pawl__strdup("{}"),
                                                     .attempt = 1000 + id,
                                                     .only_if_free = only_if_free,
                                                     .deadline = deadline}});
}

static void simple(struct play *play, enum pawl__core_event_kind kind, uint64_t id)
{
    step(play, (struct pawl__core_event){.kind = kind, .id = id, .deadline = PAWL__BOOT_NEVER});
}

static void pass(struct play *play, int64_t ms)
{
    play->now = pawl__boot_add(play->now, ms);
    simple(play, PAWL__EV_TICK, 0);
}

static void answer(struct play *play, struct pawl__backend_event event)
{
    step(play, (struct pawl__core_event){.kind = PAWL__EV_BACKEND, .backend = &event});
}

static void session_opened(struct play *play, struct pawl__boot evidence)
{
    const struct pawl__core_action *open = expect(play, PAWL__ACT_SESSION_OPEN);

    play->session = open->session;
    answer(play, (struct pawl__backend_event){.kind = PAWL__BEV_SESSION_OPENED,
                                              .op = open->op,
                                              .session = open->session,
                                              .evidence = evidence,
                                              .ttl_ms = TTL_MS,
                                              .session_name = "s",
                                              .session_fd = -1});
}

static void viewed(struct play *play, enum pawl__backend_event_kind kind, uint64_t op,
                   struct pawl__queue_view view)
{
    answer(play,
           (struct pawl__backend_event){
               .kind = kind, .op = op, .session = play->session, .views = &view, .view_count = 1});
}

static void failed(struct play *play, enum pawl__backend_event_kind kind, uint64_t op,
                   pawl_status status)
{
    answer(play, (struct pawl__backend_event){
                     .kind = kind, .op = op, .session = play->session, .status = status});
}

/* A session, and request 1 enqueued as number 5, first in line. */
static void hold(struct play *play)
{
    acquire(play, 1, PAWL__BOOT_NEVER, false);
    session_opened(play, play->now);
    viewed(play, PAWL__BEV_ENQUEUED, expect(play, PAWL__ACT_ENQUEUE)->op,
           (struct pawl__queue_view){.own_present = true, .own_number = 5});
    cr_assert_eq(expect(play, PAWL__ACT_GRANTED)->number, 5);
}

/* A session, and request 1 enqueued as number 5 behind number 4. */
static void wait_behind(struct play *play, struct pawl__boot deadline)
{
    acquire(play, 1, deadline, false);
    session_opened(play, play->now);
    viewed(
        play, PAWL__BEV_ENQUEUED, expect(play, PAWL__ACT_ENQUEUE)->op,
        (struct pawl__queue_view){.own_present = true, .own_number = 5, .blocker = 4, .holder = 4});
    cr_assert_eq(expect(play, PAWL__ACT_WATCH)->number, 4);
    cr_assert_null(find(play, PAWL__ACT_GRANTED));
}

static void finish(struct play *play)
{
    pawl__core_free(play->core);
}

/* A free lock costs one op after the session: enqueued, seen, granted. */
Test(core, FreeLockIsGrantedByTheEnqueue)
{
    struct play play;

    start(&play);
    hold(&play);
    cr_assert_eq(pawl__core_count(play.core).holds, 1);
    finish(&play);
}

/* A watch hint grants nothing by itself: the core looks, and is granted by what it sees. */
Test(core, HintOnlyMakesItLook)
{
    struct play play;

    start(&play);
    wait_behind(&play, PAWL__BOOT_NEVER);
    uint64_t watch = expect(&play, PAWL__ACT_WATCH)->op;
    answer(&play, (struct pawl__backend_event){.kind = PAWL__BEV_WATCH, .watch = watch});
    cr_assert_null(find(&play, PAWL__ACT_GRANTED));
    uint64_t look = expect(&play, PAWL__ACT_LOOK)->op;
    viewed(
        &play, PAWL__BEV_LOOKED, look,
        (struct pawl__queue_view){.own_present = true, .own_number = 5, .blocker = 3, .holder = 3});
    cr_assert_eq(expect(&play, PAWL__ACT_WATCH)->number, 3, "another one was in between");
    cr_assert_null(find(&play, PAWL__ACT_GRANTED));
    finish(&play);
}

/* Past the deadline the hold is LOST before the renewal that arrives in the same step is even read.
 */
Test(core, LateRenewalDoesNotHeal)
{
    struct play play;

    start(&play);
    hold(&play);
    struct pawl__boot opened = play.now;
    pass(&play, RENEW_MS);
    uint64_t renew = expect(&play, PAWL__ACT_SESSION_RENEW)->op;
    play.now = pawl__boot_add(opened, TTL_MS - MARGIN_MS);
    answer(&play, (struct pawl__backend_event){.kind = PAWL__BEV_RENEWED,
                                               .op = renew,
                                               .session = play.session,
                                               .evidence = pawl__boot_add(opened, RENEW_MS),
                                               .ttl_ms = TTL_MS});
    cr_assert_eq(play.seen[0].kind, PAWL__ACT_LEASE);
    cr_assert(pawl__boot_is_none(play.seen[0].deadline));
    cr_assert_eq(expect(&play, PAWL__ACT_HOLD)->hold, PAWL_HOLD_LOST);
    cr_assert_eq(pawl__core_count(play.core).holds, 0);
    finish(&play);
}

/* One millisecond before the deadline it is still held; the deadline counts from the sending. */
Test(core, HeldUntilTheDeadlineOfTheSending)
{
    struct play play;

    start(&play);
    acquire(&play, 1, PAWL__BOOT_NEVER, false);
    struct pawl__boot sent = play.now;
    play.now = pawl__boot_add(play.now, 4000);
    session_opened(&play, sent);
    viewed(&play, PAWL__BEV_ENQUEUED, expect(&play, PAWL__ACT_ENQUEUE)->op,
           (struct pawl__queue_view){.own_present = true, .own_number = 5});
    play.now = pawl__boot_add(sent, TTL_MS - MARGIN_MS - 1);
    simple(&play, PAWL__EV_TICK, 0);
    cr_assert_eq(pawl__core_count(play.core).holds, 1);
    pass(&play, 1);
    cr_assert_eq(expect(&play, PAWL__ACT_HOLD)->hold, PAWL_HOLD_LOST);
    finish(&play);
}

/* An unknown enqueue is settled by a look before anything is sent again; absent means not done. */
Test(core, UnknownEnqueueIsSettledFirst)
{
    struct play play;

    start(&play);
    acquire(&play, 1, PAWL__BOOT_NEVER, false);
    session_opened(&play, play.now);
    failed(&play, PAWL__BEV_ENQUEUED, expect(&play, PAWL__ACT_ENQUEUE)->op, PAWL_E_UNKNOWN);
    cr_assert_null(find(&play, PAWL__ACT_ENQUEUE));
    const struct pawl__core_action *look = expect(&play, PAWL__ACT_LOOK);
    cr_assert(look->flag, "it has to settle");
    viewed(&play, PAWL__BEV_LOOKED, look->op, (struct pawl__queue_view){0});
    (void)expect(&play, PAWL__ACT_ENQUEUE);
    finish(&play);
}

/* Given up while the enqueue is under way: the caller is answered at once, and the entry is removed
 * by its number as soon as it is known. */
Test(core, AbandonedEnqueueIsRemoved)
{
    struct play play;

    start(&play);
    acquire(&play, 1, PAWL__BOOT_NEVER, false);
    session_opened(&play, play.now);
    uint64_t enqueue = expect(&play, PAWL__ACT_ENQUEUE)->op;
    simple(&play, PAWL__EV_CANCEL, 1);
    cr_assert_eq(expect(&play, PAWL__ACT_FAILED)->status, PAWL_E_CANCELED);
    viewed(&play, PAWL__BEV_ENQUEUED, enqueue,
           (struct pawl__queue_view){.own_present = true, .own_number = 7});
    cr_assert_null(find(&play, PAWL__ACT_GRANTED));
    const struct pawl__core_action *removal = expect(&play, PAWL__ACT_REMOVE);
    cr_assert_eq(removal->number, 7);
    failed(&play, PAWL__BEV_REMOVED, removal->op, PAWL_E_UNAVAILABLE);
    cr_assert_eq(pawl__core_count(play.core).debts, 1);
    pass(&play, 201);
    failed(&play, PAWL__BEV_REMOVED, expect(&play, PAWL__ACT_REMOVE)->op, PAWL_OK);
    cr_assert_eq(pawl__core_count(play.core).requests, 0);
    finish(&play);
}

/* A timed wait ends at its deadline, whatever the store does, and its entry goes. */
Test(core, TimedWaitEndsAtItsDeadline)
{
    struct play play;

    start(&play);
    wait_behind(&play, pawl__boot_add(play.now, 3000));
    pass(&play, 2999);
    cr_assert_null(find(&play, PAWL__ACT_FAILED));
    pass(&play, 1);
    cr_assert_eq(expect(&play, PAWL__ACT_FAILED)->status, PAWL_E_TIMEOUT);
    (void)expect(&play, PAWL__ACT_UNWATCH);
    finish(&play);
}

/* A waiter whose session ended asks again under the next one instead of waiting for ever (B02). */
Test(core, WaiterAsksAgainAfterItsSessionEnded)
{
    struct play play;

    start(&play);
    wait_behind(&play, PAWL__BOOT_NEVER);
    uint64_t old = play.session;
    pass(&play, TTL_MS);
    cr_assert_null(find(&play, PAWL__ACT_FAILED));
    cr_assert_eq(expect(&play, PAWL__ACT_SESSION_CLOSE)->session, old);
    session_opened(&play, play.now);
    cr_assert_neq(play.session, old);
    cr_assert_eq(expect(&play, PAWL__ACT_ENQUEUE)->session, play.session);
    finish(&play);
}

/* A mark makes the hold LOST first, and only then the entry goes. */
Test(core, BrokenHoldIsLostBeforeItIsRemoved)
{
    struct pawl__mark mark = {.number = 5, .by = (char *)"os:ann@h", .reason = (char *)"stuck"};
    struct play play;

    start(&play);
    hold(&play);
    pass(&play, RENEW_MS);
    answer(&play, (struct pawl__backend_event){.kind = PAWL__BEV_RENEWED,
                                               .op = expect(&play, PAWL__ACT_SESSION_RENEW)->op,
                                               .session = play.session,
                                               .evidence = play.now,
                                               .ttl_ms = TTL_MS,
                                               .marks = &mark,
                                               .mark_count = 1});
    const struct pawl__core_action *lost = expect(&play, PAWL__ACT_HOLD);
    cr_assert_eq(lost->hold, PAWL_HOLD_LOST);
    cr_assert_str_eq(lost->text, "broken by os:ann@h: stuck");
    cr_assert(lost < expect(&play, PAWL__ACT_REMOVE));
    finish(&play);
}

/* A mark that comes before the own enqueue is known to have landed is not forgotten. */
Test(core, MarkBeforeTheGrantPreventsIt)
{
    struct pawl__mark mark = {.number = 5, .by = (char *)"os:ann@h", .reason = (char *)"stuck"};
    struct play play;

    start(&play);
    acquire(&play, 1, PAWL__BOOT_NEVER, false);
    session_opened(&play, play.now);
    uint64_t enqueue = expect(&play, PAWL__ACT_ENQUEUE)->op;
    pass(&play, RENEW_MS);
    answer(&play, (struct pawl__backend_event){.kind = PAWL__BEV_RENEWED,
                                               .op = expect(&play, PAWL__ACT_SESSION_RENEW)->op,
                                               .session = play.session,
                                               .evidence = play.now,
                                               .ttl_ms = TTL_MS,
                                               .marks = &mark,
                                               .mark_count = 1});
    viewed(&play, PAWL__BEV_ENQUEUED, enqueue,
           (struct pawl__queue_view){.own_present = true, .own_number = 5});
    cr_assert_null(find(&play, PAWL__ACT_GRANTED));
    cr_assert_eq(expect(&play, PAWL__ACT_FAILED)->status, PAWL_E_LOST);
    (void)expect(&play, PAWL__ACT_REMOVE);
    finish(&play);
}

/* An own entry that vanished without a mark is a loss, found by a look after the hint (I08). */
Test(core, VanishedEntryIsALoss)
{
    struct play play;

    start(&play);
    hold(&play);
    answer(&play, (struct pawl__backend_event){
                      .kind = PAWL__BEV_OWN, .session = play.session, .number = 5});
    cr_assert_null(find(&play, PAWL__ACT_HOLD), "a hint is no proof");
    viewed(&play, PAWL__BEV_LOOKED, expect(&play, PAWL__ACT_LOOK)->op,
           (struct pawl__queue_view){0});
    cr_assert_eq(expect(&play, PAWL__ACT_HOLD)->hold, PAWL_HOLD_LOST);
    finish(&play);
}

/* A try that the store does not answer ends by the request timeout as "unavailable". */
Test(core, TryIsBounded)
{
    struct play play;

    start(&play);
    acquire(&play, 1, pawl__boot_add(play.now, 3000), true);
    pass(&play, 3000);
    cr_assert_eq(expect(&play, PAWL__ACT_FAILED)->status, PAWL_E_UNAVAILABLE);
    finish(&play);
}

/* Close answers every caller at once and is over when the store confirmed the end of the session.
 */
Test(core, CloseReleasesBySession)
{
    struct play play;

    start(&play);
    hold(&play);
    acquire(&play, 2, PAWL__BOOT_NEVER, false);
    simple(&play, PAWL__EV_CLOSE, 0);
    cr_assert_eq(expect(&play, PAWL__ACT_FAILED)->status, PAWL_E_CLOSED);
    cr_assert_eq(expect(&play, PAWL__ACT_HOLD)->hold, PAWL_HOLD_RELEASING);
    cr_assert_null(find(&play, PAWL__ACT_CLOSED));
    failed(&play, PAWL__BEV_SESSION_CLOSED, expect(&play, PAWL__ACT_SESSION_CLOSE)->op, PAWL_OK);
    cr_assert_eq(expect(&play, PAWL__ACT_HOLD)->hold, PAWL_HOLD_RELEASED);
    cr_assert_eq(expect(&play, PAWL__ACT_CLOSED)->status, PAWL_OK);
    finish(&play);
}

/* A break of an unresponsive owner is forced one whole granted ttl after the mark, not before. */
Test(core, BreakIsForcedAfterOneTtl)
{
    struct play play;

    start(&play);
    step(&play,
         (struct pawl__core_event){.kind = PAWL__EV_BREAK,
                                   .id = 9,
                                   .deadline = PAWL__BOOT_NEVER,
                                   .break_ = {.name = "job", .number = 5, .reason = "stuck"}});
    struct pawl__boot marked = play.now;
    answer(&play, (struct pawl__backend_event){.kind = PAWL__BEV_MARKED,
                                               .op = expect(&play, PAWL__ACT_MARK)->op,
                                               .ttl_ms = TTL_MS});
    while (pawl__boot_diff(play.now, marked) < TTL_MS - 1000) {
        pass(&play, 1000);
        const struct pawl__core_action *mark = find(&play, PAWL__ACT_MARK);
        if (mark != NULL) {
            cr_assert_not(mark->flag, "forced too early");
            answer(&play, (struct pawl__backend_event){
                              .kind = PAWL__BEV_MARKED, .op = mark->op, .ttl_ms = TTL_MS});
        }
    }
    pass(&play, 1000);
    const struct pawl__core_action *force = expect(&play, PAWL__ACT_MARK);
    cr_assert(force->flag);
    answer(&play, (struct pawl__backend_event){.kind = PAWL__BEV_MARKED, .op = force->op});
    cr_assert_eq(expect(&play, PAWL__ACT_BROKEN)->status, PAWL_OK);
    finish(&play);
}

/* A token that no entry has is refused as such. */
Test(core, BreakOfAWrongTokenIsFenced)
{
    struct play play;

    start(&play);
    step(&play,
         (struct pawl__core_event){.kind = PAWL__EV_BREAK,
                                   .id = 9,
                                   .deadline = PAWL__BOOT_NEVER,
                                   .break_ = {.name = "job", .number = 5, .reason = "stuck"}});
    failed(&play, PAWL__BEV_MARKED, expect(&play, PAWL__ACT_MARK)->op, PAWL_E_FENCED);
    cr_assert_eq(expect(&play, PAWL__ACT_BROKEN)->status, PAWL_E_FENCED);
    finish(&play);
}

/* Without memory an acquire is refused with E_NOMEM, whichever allocation fails, and nothing leaks.
 */
Test(core, EveryAllocationMayFail)
{
    for (size_t n = 1; n < 12; n++) {
        struct play play;
        pawl__heap_install();
        start(&play);
        struct pawl__want *wants = pawl__alloc(sizeof *wants);
        wants[0] = (struct pawl__want){.name = pawl__strdup("job"), .mode = PAWL__MODE_X};
        char *payload = pawl__strdup("{}");
        pawl__heap_fail_after(n);
        step(&play, (struct pawl__core_event){.kind = PAWL__EV_ACQUIRE,
                                              .id = 1,
                                              .acquire = {.wants = wants,
                                                          .count = 1,
                                                          .payload = payload,
                                                          .attempt = 1,
                                                          .deadline = PAWL__BOOT_NEVER}});
        bool refused = find(&play, PAWL__ACT_FAILED) != NULL;
        cr_assert_eq(refused, pawl__heap_has_failed());
        pawl__heap_fail_after(0);
        finish(&play);
        cr_assert_eq(pawl__heap_live(), 0);
        pawl__heap_uninstall();
    }
}
