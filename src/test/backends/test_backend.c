/* Tests of the checked wrappers, backends/backend.c and check.c: what passes, and that each way of
 * breaking the contract ends the process. */
#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>

#include "backends/backend.h"
#include "base/alloc.h"
#include "base/limits.h"
#include "fake.h"

#define SESSION UINT64_C(77)

static const struct pawl__want wants[2] = {{"a", PAWL__MODE_X}, {"b", PAWL__MODE_X}};

static struct pawl__enqueue an_enqueue(bool only_if_free)
{
    return (struct pawl__enqueue){.session = SESSION,
                                  .attempt = 5,
                                  .wants = wants,
                                  .count = 2,
                                  .payload = "{}",
                                  .only_if_free = only_if_free};
}

static struct pawl__look a_look(void)
{
    return (struct pawl__look){.session = SESSION, .attempt = 5, .wants = wants, .count = 2};
}

/* An answer to the enqueue above: two entries of number 9, nothing before them. */
static struct pawl__backend_event *enqueued(struct fake *fake)
{
    struct pawl__backend_event *event = fake_event(fake, PAWL__BEV_ENQUEUED);

    event->views = pawl__alloc_array(2, sizeof(event->views[0]));
    event->view_count = 2;
    for (size_t i = 0; i < 2; i++) {
        event->views[i].own_present = true;
        event->views[i].own_number = 9;
        event->views[i].position = -1;
    }
    return event;
}

static struct pawl__backend *start_enqueue(struct fake *fake, struct sink *sink, bool only_if_free)
{
    struct pawl__backend *backend = open_fake(fake, sink);
    struct pawl__enqueue enqueue = an_enqueue(only_if_free);

    (void)pawl__backend_enqueue(backend, 1, &enqueue);
    return backend;
}

/* An answer that keeps the contract reaches the core as it is. */
Test(backend, HandsOnAnAnswer)
{
    struct fake fake;
    struct sink sink;
    struct pawl__backend *backend = start_enqueue(&fake, &sink, false);
    struct pawl__backend_event *event = enqueued(&fake);

    fake_post(&fake, event);
    cr_assert_eq(sink.last, event);
    cr_assert_eq(fake.calls, 1);
    pawl__backend_close(backend, 0);
    cr_assert_not(fake.is_open);
    sink_release(&sink);
}

/* A try that has to wait is answered with who is in the way. */
Test(backend, HandsOnARefusedTry)
{
    struct fake fake;
    struct sink sink;
    struct pawl__backend *backend = start_enqueue(&fake, &sink, true);
    struct pawl__backend_event *event = enqueued(&fake);

    memset(event->views, 0, 2 * sizeof(event->views[0]));
    event->views[0].position = event->views[1].position = -1;
    event->views[1].blocker = event->views[1].holder = 4;
    event->status = PAWL_E_TIMEOUT;
    fake_post(&fake, event);
    cr_assert_eq(sink.last->status, PAWL_E_TIMEOUT);
    pawl__backend_close(backend, 0);
    sink_release(&sink);
}

/* An op that the member could not start is not under way: its number is free again. */
Test(backend, ForgetsAnOpThatWasNotStarted)
{
    struct fake fake;
    struct sink sink;
    struct pawl__backend *backend = open_fake(&fake, &sink);

    fake.answer = PAWL_E_NOMEM;
    cr_assert_eq(pawl__backend_list(backend, 3, NULL), PAWL_E_NOMEM);
    fake.answer = PAWL_OK;
    cr_assert_eq(pawl__backend_list(backend, 3, NULL), PAWL_OK);
    fake_post(&fake, fake_event(&fake, PAWL__BEV_LISTED));
    cr_assert_eq(sink.count, 1);
    pawl__backend_close(backend, 0);
    sink_release(&sink);
}

/* Hints need no op and may come twice. */
Test(backend, HandsOnHints)
{
    struct fake fake;
    struct sink sink;
    struct pawl__backend *backend = open_fake(&fake, &sink);

    cr_assert_eq(pawl__backend_watch(backend, 8, "a", 4), PAWL_OK);
    for (int i = 0; i < 2; i++) {
        struct pawl__backend_event *event = pawl__backend_event_new(PAWL__BEV_WATCH, 0);
        event->watch = 8;
        fake_post(&fake, event);
    }
    cr_assert_eq(sink.count, 2);
    pawl__backend_unwatch(backend, 8);
    cr_assert_eq(fake.unwatched, 8);
    pawl__backend_close(backend, 0);
    sink_release(&sink);
}

/* ---- Lies of a backend ------------------------------------------------------------------------
 */

/* The same op answered twice. */
Test(backend_lies, SecondAnswer, .signal = SIGABRT)
{
    struct fake fake;
    struct sink sink;

    (void)start_enqueue(&fake, &sink, false);
    fake_post(&fake, enqueued(&fake));
    fake_post(&fake, enqueued(&fake));
}

/* An op that nobody started. */
Test(backend_lies, AnswerToNothing, .signal = SIGABRT)
{
    struct fake fake;
    struct sink sink;

    (void)open_fake(&fake, &sink);
    fake.op = 4;
    fake_post(&fake, fake_event(&fake, PAWL__BEV_LISTED));
}

/* Another kind of answer than the op has. */
Test(backend_lies, WrongKind, .signal = SIGABRT)
{
    struct fake fake;
    struct sink sink;

    (void)start_enqueue(&fake, &sink, false);
    fake_post(&fake, fake_event(&fake, PAWL__BEV_REMOVED));
}

/* An answer for another session. */
Test(backend_lies, WrongSession, .signal = SIGABRT)
{
    struct fake fake;
    struct sink sink;

    (void)start_enqueue(&fake, &sink, false);
    struct pawl__backend_event *event = enqueued(&fake);
    event->session = SESSION + 1;
    fake_post(&fake, event);
}

/* One view too few. */
Test(backend_lies, MissingView, .signal = SIGABRT)
{
    struct fake fake;
    struct sink sink;

    (void)start_enqueue(&fake, &sink, false);
    struct pawl__backend_event *event = enqueued(&fake);
    event->view_count = 1;
    fake_post(&fake, event);
}

/* "Enqueued", but one of the entries is not there. */
Test(backend_lies, HalfEnqueued, .signal = SIGABRT)
{
    struct fake fake;
    struct sink sink;

    (void)start_enqueue(&fake, &sink, false);
    struct pawl__backend_event *event = enqueued(&fake);
    memset(&event->views[1], 0, sizeof(event->views[1]));
    fake_post(&fake, event);
}

/* Entries of one request under two numbers. */
Test(backend_lies, TwoNumbers, .signal = SIGABRT)
{
    struct fake fake;
    struct sink sink;

    (void)start_enqueue(&fake, &sink, false);
    struct pawl__backend_event *event = enqueued(&fake);
    event->views[1].own_number = 10;
    fake_post(&fake, event);
}

/* Present without a number: the token would be 0. */
Test(backend_lies, PresentWithoutNumber, .signal = SIGABRT)
{
    struct fake fake;
    struct sink sink;

    (void)start_enqueue(&fake, &sink, false);
    struct pawl__backend_event *event = enqueued(&fake);
    event->views[0].own_number = 0;
    fake_post(&fake, event);
}

/* A blocker that is later than the own entry. */
Test(backend_lies, LaterBlocker, .signal = SIGABRT)
{
    struct fake fake;
    struct sink sink;

    (void)start_enqueue(&fake, &sink, false);
    struct pawl__backend_event *event = enqueued(&fake);
    event->views[0].blocker = event->views[0].holder = 12;
    fake_post(&fake, event);
}

/* A try that failed although nothing is in the way. */
Test(backend_lies, TryRefusedForNothing, .signal = SIGABRT)
{
    struct fake fake;
    struct sink sink;

    (void)start_enqueue(&fake, &sink, true);
    struct pawl__backend_event *event = enqueued(&fake);
    memset(event->views, 0, 2 * sizeof(event->views[0]));
    event->status = PAWL_E_TIMEOUT;
    fake_post(&fake, event);
}

/* E_TIMEOUT for an enqueue that may wait. */
Test(backend_lies, TimeoutOfAWaiter, .signal = SIGABRT)
{
    struct fake fake;
    struct sink sink;

    (void)start_enqueue(&fake, &sink, false);
    struct pawl__backend_event *event = fake_event(&fake, PAWL__BEV_ENQUEUED);
    event->status = PAWL_E_TIMEOUT;
    fake_post(&fake, event);
}

/* Evidence that is later than the present: a deadline would be too late. */
Test(backend_lies, EvidenceFromTheFuture, .signal = SIGABRT)
{
    struct fake fake;
    struct sink sink;

    (void)start_enqueue(&fake, &sink, false);
    struct pawl__backend_event *event = enqueued(&fake);
    event->evidence = pawl__boot_add(sink.now, 1);
    fake_post(&fake, event);
}

/* A session with a ttl that was opened without evidence. */
Test(backend_lies, OpenedWithoutEvidence, .signal = SIGABRT)
{
    struct fake fake;
    struct sink sink;
    struct pawl__backend *backend = open_fake(&fake, &sink);

    (void)pawl__backend_session_open(backend, 1, SESSION, 5000);
    struct pawl__backend_event *event = fake_event(&fake, PAWL__BEV_SESSION_OPENED);
    event->ttl_ms = 5000;
    fake_post(&fake, event);
}

/* More entries gone than were asked about. */
Test(backend_lies, TooManyGone, .signal = SIGABRT)
{
    struct fake fake;
    struct sink sink;
    struct pawl__backend *backend = open_fake(&fake, &sink);
    uint64_t held[1] = {9};

    (void)pawl__backend_session_renew(backend, 1, SESSION, held, 1);
    struct pawl__backend_event *event = fake_event(&fake, PAWL__BEV_RENEWED);
    event->gone = pawl__alloc_array(2, sizeof(event->gone[0]));
    event->gone_count = 2;
    fake_post(&fake, event);
}

/* A hint without the number it speaks of. */
Test(backend_lies, EmptyHint, .signal = SIGABRT)
{
    struct fake fake;
    struct sink sink;

    (void)open_fake(&fake, &sink);
    fake_post(&fake, pawl__backend_event_new(PAWL__BEV_OWN, 0));
}

/* A list that is not sorted. */
Test(backend_lies, UnsortedList, .signal = SIGABRT)
{
    struct fake fake;
    struct sink sink;
    struct pawl__backend *backend = open_fake(&fake, &sink);

    (void)pawl__backend_list(backend, 1, NULL);
    struct pawl__backend_event *event = fake_event(&fake, PAWL__BEV_LISTED);
    event->entries = pawl__alloc_array(2, sizeof(event->entries[0]));
    event->entry_count = 2;
    for (size_t i = 0; i < 2; i++) {
        event->entries[i].name = pawl__strdup("a");
        event->entries[i].payload = pawl__strdup("");
        event->entries[i].session = pawl__strdup("s");
        event->entries[i].number = 7 - i;
    }
    fake_post(&fake, event);
}

/* An answer from inside the member: the core is in the middle of a step. */
Test(backend_lies, AnswerFromInside, .signal = SIGABRT)
{
    struct fake fake;
    struct sink sink;
    struct pawl__backend *backend = open_fake(&fake, &sink);

    fake.posts_inside = true;
    (void)pawl__backend_list(backend, 1, NULL);
}

/* A member that says "unknown" where only an event may. */
Test(backend_lies, UnknownFromMember, .signal = SIGABRT)
{
    struct fake fake;
    struct sink sink;
    struct pawl__backend *backend = open_fake(&fake, &sink);

    fake.answer = PAWL_E_UNKNOWN;
    (void)pawl__backend_list(backend, 1, NULL);
}

/* ---- Bugs of the caller ------------------------------------------------------------------------
 */

/* The same op number twice. */
Test(backend_misuse, SameOpTwice, .signal = SIGABRT)
{
    struct fake fake;
    struct sink sink;
    struct pawl__backend *backend = open_fake(&fake, &sink);

    (void)pawl__backend_list(backend, 1, NULL);
    (void)pawl__backend_list(backend, 1, NULL);
}

/* A name twice in one request. */
Test(backend_misuse, NameTwice, .signal = SIGABRT)
{
    struct fake fake;
    struct sink sink;
    struct pawl__backend *backend = open_fake(&fake, &sink);
    struct pawl__want twice[2] = {{"a", PAWL__MODE_X}, {"a", PAWL__MODE_S}};
    struct pawl__enqueue enqueue = an_enqueue(false);

    enqueue.wants = twice;
    (void)pawl__backend_enqueue(backend, 1, &enqueue);
}

/* An entry is removed by its number, never by its name alone. */
Test(backend_misuse, RemoveWithoutNumber, .signal = SIGABRT)
{
    struct fake fake;
    struct sink sink;
    struct pawl__backend *backend = open_fake(&fake, &sink);
    struct pawl__remove remove = {.session = SESSION, .attempt = 5, .wants = wants, .count = 2};

    (void)pawl__backend_remove(backend, 1, &remove);
}

/* A look of nobody. */
Test(backend_misuse, LookWithoutAttempt, .signal = SIGABRT)
{
    struct fake fake;
    struct sink sink;
    struct pawl__backend *backend = open_fake(&fake, &sink);
    struct pawl__look look = a_look();

    look.attempt = 0;
    (void)pawl__backend_look(backend, 1, &look);
}

/* A reason that is longer than what the store keeps. */
Test(backend_misuse, LongReason, .signal = SIGABRT)
{
    struct fake fake;
    struct sink sink;
    struct pawl__backend *backend = open_fake(&fake, &sink);
    char reason[PAWL__REASON_MAX + 2];

    memset(reason, 'r', sizeof(reason) - 1);
    reason[sizeof(reason) - 1] = '\0';
    struct pawl__mark_request mark = {.name = "a", .number = 1, .by = "me", .reason = reason};
    (void)pawl__backend_mark(backend, 1, &mark);
}
