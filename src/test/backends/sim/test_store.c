/* Tests of the simulated store, backends/sim/store.c and answer.c, request by request. */
#include <criterion/criterion.h>
#include <string.h>

#include "backends/sim/store.h"

#define ONE UINT64_C(1)
#define TWO UINT64_C(2)

static const struct pawl__want job[1] = {{"job", PAWL__MODE_X}};
static const struct pawl__want both[2] = {{"job", PAWL__MODE_X}, {"other", PAWL__MODE_X}};

static struct pawl__sim_store store;
static unsigned hint_count;
static enum pawl__backend_event_kind last_hint;

static void count_hint(void *ctx, unsigned client, struct pawl__backend_event *event)
{
    (void)ctx;
    (void)client;
    hint_count++;
    last_hint = event->kind;
    pawl__backend_event_free(event);
}

static pawl_status execute(const struct pawl__sim_request *request,
                           struct pawl__queue_view *ret_view)
{
    struct pawl__sim_result result = pawl__sim_store_execute(&store, request, 1000);
    pawl_status status = result.event->status;

    if (ret_view != NULL) {
        memset(ret_view, 0, sizeof(*ret_view));
        if (result.event->view_count > 0) {
            *ret_view = result.event->views[0];
        }
    }
    pawl__backend_event_free(result.event);
    return status;
}

static pawl_status open_session(uint64_t session)
{
    struct pawl__sim_request request = {
        .kind = PAWL__BEV_SESSION_OPENED, .op = 1, .session = session, .ttl_ms = 5000};

    return execute(&request, NULL);
}

static pawl_status close_session(uint64_t session)
{
    struct pawl__sim_request request = {
        .kind = PAWL__BEV_SESSION_CLOSED, .op = 1, .session = session};

    return execute(&request, NULL);
}

static struct pawl__sim_request an_enqueue(uint64_t session, uint64_t attempt)
{
    return (struct pawl__sim_request){.kind = PAWL__BEV_ENQUEUED,
                                      .op = 1,
                                      .session = session,
                                      .attempt = attempt,
                                      .wants = job,
                                      .count = 1,
                                      .text = "{}"};
}

static pawl_status enqueue(uint64_t session, uint64_t attempt, struct pawl__queue_view *ret_view)
{
    struct pawl__sim_request request = an_enqueue(session, attempt);

    return execute(&request, ret_view);
}

static pawl_status look(uint64_t session, uint64_t attempt, struct pawl__queue_view *ret_view)
{
    struct pawl__sim_request request = an_enqueue(session, attempt);

    request.kind = PAWL__BEV_LOOKED;
    request.position = true;
    return execute(&request, ret_view);
}

static pawl_status remove_entry(uint64_t session, uint64_t attempt, uint64_t number)
{
    struct pawl__sim_request request = an_enqueue(session, attempt);

    request.kind = PAWL__BEV_REMOVED;
    request.number = number;
    return execute(&request, NULL);
}

static void setup(void)
{
    pawl__sim_store_init(&store);
    store.observer.hint = count_hint;
    hint_count = 0;
    cr_assert_eq(open_session(ONE), PAWL_OK);
    cr_assert_eq(open_session(TWO), PAWL_OK);
}

static void teardown(void)
{
    pawl__sim_store_release(&store);
}

TestSuite(sim_store, .init = setup, .fini = teardown);

/* Who comes first is first in line; who comes later sees it in its way. */
Test(sim_store, ServesInOrder)
{
    struct pawl__queue_view first;
    struct pawl__queue_view second;

    cr_assert_eq(enqueue(ONE, 11, &first), PAWL_OK);
    cr_assert_eq(first.blocker, 0);
    cr_assert_eq(enqueue(TWO, 22, &second), PAWL_OK);
    cr_assert_eq(second.blocker, first.own_number);
    cr_assert_gt(second.own_number, first.own_number);
    cr_assert_eq(look(TWO, 22, &second), PAWL_OK);
    cr_assert_eq(second.position, 1);
    cr_assert_eq(remove_entry(ONE, 11, first.own_number), PAWL_OK);
    cr_assert_eq(look(TWO, 22, &second), PAWL_OK);
    cr_assert_eq(second.blocker, 0);
    cr_assert_eq(second.position, 0);
}

/* Two readers stand side by side, a writer waits for the nearer of them. */
Test(sim_store, LetsReadersShare)
{
    static const struct pawl__want shared[1] = {{"job", PAWL__MODE_S}};
    struct pawl__sim_request request = an_enqueue(ONE, 11);
    struct pawl__queue_view view;

    request.wants = shared;
    cr_assert_eq(execute(&request, NULL), PAWL_OK);
    request.attempt = 12;
    cr_assert_eq(execute(&request, &view), PAWL_OK);
    cr_assert_eq(view.blocker, 0);
    uint64_t second = view.own_number;
    cr_assert_eq(enqueue(TWO, 22, &view), PAWL_OK);
    cr_assert_eq(view.blocker, second);
    cr_assert_lt(view.holder, second);
}

/* The entries of a request have one number. */
Test(sim_store, GivesOneNumberToAllNames)
{
    struct pawl__sim_request request = an_enqueue(ONE, 11);

    request.wants = both;
    request.count = 2;
    struct pawl__sim_result result = pawl__sim_store_execute(&store, &request, 1000);
    cr_assert_eq(result.event->status, PAWL_OK);
    cr_assert_eq(result.event->views[0].own_number, result.event->views[1].own_number);
    cr_assert_eq(pawl__sim_store_entry_count(&store), 2);
    pawl__backend_event_free(result.event);
}

/* The same enqueue twice makes one entry. */
Test(sim_store, EnqueuesOnce)
{
    struct pawl__queue_view first;
    struct pawl__queue_view again;

    cr_assert_eq(enqueue(ONE, 11, &first), PAWL_OK);
    cr_assert_eq(enqueue(ONE, 11, &again), PAWL_OK);
    cr_assert_eq(again.own_number, first.own_number);
    cr_assert_eq(pawl__sim_store_entry_count(&store), 1);
}

/* A late copy of an enqueue does not bring back an entry that was removed. */
Test(sim_store, DoesNotReviveAnAttempt)
{
    struct pawl__queue_view view;

    cr_assert_eq(enqueue(ONE, 11, &view), PAWL_OK);
    cr_assert_eq(remove_entry(ONE, 11, view.own_number), PAWL_OK);
    cr_assert_eq(enqueue(ONE, 11, &view), PAWL_E_UNKNOWN);
    cr_assert_eq(pawl__sim_store_entry_count(&store), 0);
}

/* A try that would have to wait leaves nothing. */
Test(sim_store, RefusesATryWithoutTrace)
{
    struct pawl__sim_request request = an_enqueue(TWO, 22);
    struct pawl__queue_view view;

    cr_assert_eq(enqueue(ONE, 11, NULL), PAWL_OK);
    request.flag = true;
    cr_assert_eq(execute(&request, &view), PAWL_E_TIMEOUT);
    cr_assert_neq(view.blocker, 0);
    cr_assert_eq(pawl__sim_store_entry_count(&store), 1);
}

/* After a settling look an older enqueue is refused, unless its entry is there already. */
Test(sim_store, RefusesBelowTheFloor)
{
    struct pawl__sim_request settle = an_enqueue(ONE, 11);
    struct pawl__queue_view view;

    cr_assert_eq(enqueue(ONE, 12, NULL), PAWL_OK);
    settle.kind = PAWL__BEV_LOOKED;
    settle.flag = true;
    settle.floor = 1;
    cr_assert_eq(execute(&settle, &view), PAWL_OK);
    cr_assert_not(view.own_present);
    cr_assert_eq(enqueue(ONE, 11, NULL), PAWL_E_UNAVAILABLE);
    cr_assert_eq(enqueue(ONE, 12, &view), PAWL_OK);
    cr_assert(view.own_present);
}

/* An entry goes only when session, attempt and number are right. */
Test(sim_store, RemovesExactlyOne)
{
    struct pawl__queue_view view;

    cr_assert_eq(enqueue(ONE, 11, &view), PAWL_OK);
    cr_assert_eq(remove_entry(ONE, 12, view.own_number), PAWL_OK);
    cr_assert_eq(remove_entry(ONE, 11, view.own_number + 1), PAWL_OK);
    cr_assert_eq(remove_entry(TWO, 11, view.own_number), PAWL_OK);
    cr_assert_eq(pawl__sim_store_entry_count(&store), 1);
    cr_assert_eq(remove_entry(ONE, 11, view.own_number), PAWL_OK);
    cr_assert_eq(pawl__sim_store_entry_count(&store), 0);
}

/* A closed session takes its entries along, and nothing of it can be made again. */
Test(sim_store, ClosesForGood)
{
    cr_assert_eq(enqueue(ONE, 11, NULL), PAWL_OK);
    cr_assert_eq(close_session(ONE), PAWL_OK);
    cr_assert_eq(pawl__sim_store_entry_count(&store), 0);
    cr_assert_eq(enqueue(ONE, 12, NULL), PAWL_E_LOST);
    cr_assert_eq(open_session(ONE), PAWL_E_LOST);
    cr_assert_eq(close_session(ONE), PAWL_OK);
}

/* A session that was closed before its open landed stays closed. */
Test(sim_store, ClosesBeforeOpen)
{
    cr_assert_eq(close_session(77), PAWL_OK);
    cr_assert_eq(open_session(77), PAWL_E_LOST);
}

/* A mark is told at the next renewal, once, and goes with its entry. */
Test(sim_store, TellsAMark)
{
    struct pawl__sim_request mark = {
        .kind = PAWL__BEV_MARKED, .op = 1, .name = "job", .by = "me", .text = "stuck"};
    struct pawl__sim_request renew = {.kind = PAWL__BEV_RENEWED, .op = 2, .session = ONE};
    struct pawl__queue_view view;

    cr_assert_eq(enqueue(ONE, 11, &view), PAWL_OK);
    mark.number = view.own_number + 1;
    cr_assert_eq(execute(&mark, NULL), PAWL_E_FENCED);
    mark.number = view.own_number;
    cr_assert_eq(execute(&mark, NULL), PAWL_OK);
    cr_assert_eq(execute(&mark, NULL), PAWL_OK);
    cr_assert_eq(last_hint, PAWL__BEV_SESSION);
    struct pawl__sim_result result = pawl__sim_store_execute(&store, &renew, 1000);
    cr_assert_eq(result.event->mark_count, 1);
    cr_assert_eq(result.event->marks[0].number, view.own_number);
    cr_assert_str_eq(result.event->marks[0].reason, "stuck");
    pawl__backend_event_free(result.event);
    cr_assert_eq(remove_entry(ONE, 11, view.own_number), PAWL_OK);
    result = pawl__sim_store_execute(&store, &renew, 1000);
    cr_assert_eq(result.event->mark_count, 0);
    pawl__backend_event_free(result.event);
}

/* A renewal says which of the held entries are not there. */
Test(sim_store, SweepsWhatIsGone)
{
    struct pawl__queue_view view;

    cr_assert_eq(enqueue(ONE, 11, &view), PAWL_OK);
    uint64_t held[2] = {view.own_number, view.own_number + 1};
    struct pawl__sim_request renew = {
        .kind = PAWL__BEV_RENEWED, .op = 2, .session = ONE, .held = held, .held_count = 2};
    struct pawl__sim_result result = pawl__sim_store_execute(&store, &renew, 1000);
    cr_assert_eq(result.event->gone_count, 1);
    cr_assert_eq(result.event->gone[0], view.own_number + 1);
    pawl__backend_event_free(result.event);
}

/* A watch hints when its entry goes, and at once when it is gone already. */
Test(sim_store, HintsOnce)
{
    struct pawl__queue_view view;

    cr_assert_eq(enqueue(ONE, 11, &view), PAWL_OK);
    pawl__sim_store_watch(&store, 0, 5, "job", view.own_number);
    cr_assert_eq(hint_count, 0);
    cr_assert_eq(remove_entry(ONE, 11, view.own_number), PAWL_OK);
    cr_assert_eq(hint_count, 1);
    cr_assert_eq(last_hint, PAWL__BEV_WATCH);
    pawl__sim_store_watch(&store, 0, 6, "job", view.own_number);
    cr_assert_eq(hint_count, 2);
}

/* A list is sorted by name and number, and shows what is there. */
Test(sim_store, ListsInOrder)
{
    struct pawl__sim_request list = {.kind = PAWL__BEV_LISTED, .op = 1};
    struct pawl__sim_request request = an_enqueue(ONE, 11);

    cr_assert_eq(enqueue(TWO, 21, NULL), PAWL_OK);
    request.wants = both;
    request.count = 2;
    cr_assert_eq(execute(&request, NULL), PAWL_OK);
    struct pawl__sim_result result = pawl__sim_store_execute(&store, &list, 1000);
    cr_assert_eq(result.event->entry_count, 3);
    cr_assert_str_eq(result.event->entries[1].name, "job");
    cr_assert_eq(result.event->entries[1].attempt, 11);
    cr_assert_str_eq(result.event->entries[2].name, "other");
    pawl__backend_event_free(result.event);
}

/* A copy is whole: what happens to the one does not touch the other. */
Test(sim_store, CopiesDeeply)
{
    struct pawl__sim_store copy;

    cr_assert_eq(enqueue(ONE, 11, NULL), PAWL_OK);
    pawl__sim_store_copy(&copy, &store);
    cr_assert_eq(close_session(ONE), PAWL_OK);
    cr_assert_eq(pawl__sim_store_entry_count(&copy), 1);
    cr_assert_not_null(pawl__sim_store_session(&copy, ONE));
    pawl__sim_store_release(&copy);
}
