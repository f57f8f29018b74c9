/* Pieces of the runtime by themselves: lease view, words for a waiting request, snapshot. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "core/lease_view.h"
#include "core/query.h"
#include "core/snapshot.h"
#include "core/waiting.h"

static struct pawl__boot at(int64_t ms)
{
    return (struct pawl__boot){ms};
}

/* A view answers what is left, and nothing at the deadline itself. */
Test(lease_view, ends_at_the_deadline)
{
    struct pawl__lease_view *view = pawl__lease_view_new();

    cr_assert_eq(pawl__lease_view_left_ms(view, at(5)), 0, "dead before its start");
    pawl__lease_view_start(view, 1, at(100));
    cr_assert_eq(pawl__lease_view_left_ms(view, at(40)), 60);
    cr_assert_eq(pawl__lease_view_left_ms(view, at(99)), 1);
    cr_assert_eq(pawl__lease_view_left_ms(view, at(100)), 0);
    pawl__lease_view_unref(view);
}

/* Once a reader has seen the deadline pass, no renewal brings it back, whatever time a reader has.
 */
Test(lease_view, is_not_extended_after_a_reader_saw_its_end)
{
    struct pawl__lease_view *view = pawl__lease_view_new();

    pawl__lease_view_start(view, 1, at(100));
    cr_assert_eq(pawl__lease_view_left_ms(view, at(100)), 0);
    cr_assert_not(pawl__lease_view_extend(view, at(500)));
    cr_assert_eq(pawl__lease_view_left_ms(view, at(50)), 0);
    pawl__lease_view_unref(view);
}

/* A renewal in time moves the deadline. */
Test(lease_view, is_extended_in_time)
{
    struct pawl__lease_view *view = pawl__lease_view_new();

    pawl__lease_view_start(view, 1, at(100));
    cr_assert(pawl__lease_view_extend(view, at(500)));
    cr_assert_eq(pawl__lease_view_left_ms(view, at(100)), 400);
    pawl__lease_view_end(view);
    cr_assert_eq(pawl__lease_view_left_ms(view, at(100)), 0);
    cr_assert_not(pawl__lease_view_extend(view, at(600)));
    pawl__lease_view_unref(view);
}

/* Without a ttl no time ends it. */
Test(lease_view, has_no_end_without_ttl)
{
    struct pawl__lease_view *view = pawl__lease_view_new();

    pawl__lease_view_start(view, 1, PAWL__BOOT_NEVER);
    cr_assert_eq(pawl__lease_view_left_ms(view, at(INT64_MAX - 1)), INT64_MAX);
    cr_assert_eq(pawl__lease_view_left_ms(NULL, at(1)), 0, "no view is no lease");
    pawl__lease_view_unref(view);
}

static void assert_words(struct pawl__waiting *waiting, const char *expected)
{
    struct pawl__buf buf;

    pawl__buf_init(&buf);
    pawl__waiting_describe(waiting, &buf);
    cr_assert_str_eq(pawl__buf_str(&buf), expected);
    pawl__buf_release(&buf);
}

/* What is not known is left out; places have their endings. */
Test(waiting, says_what_is_known)
{
    struct pawl__waiting waiting = {0};
    static const struct {
        int position;
        const char *words;
    } rows[] = {{1, "held by another, you are 1st"},    {2, "held by another, you are 2nd"},
                {3, "held by another, you are 3rd"},    {4, "held by another, you are 4th"},
                {11, "held by another, you are 11th"},  {12, "held by another, you are 12th"},
                {13, "held by another, you are 13th"},  {21, "held by another, you are 21st"},
                {102, "held by another, you are 102nd"}};

    assert_words(&waiting, "held by another");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        waiting.position = rows[i].position;
        assert_words(&waiting, rows[i].words);
    }
}

/* Owner, process, age in whole seconds and token come from the entry in the way. */
Test(waiting, names_the_holder)
{
    struct pawl__waiting waiting = {0};
    char payload[256];
    struct pawl__entry_info entry = {.payload = payload, .number = 391};

    (void)snprintf(payload, sizeof payload,
                   "{\"v\":1,\"owner\":\"os:ann@h\",\"pid\":811,\"since\":%lld}",
                   (long long)pawl__wall_ms() - 12300);
    pawl__waiting_update(&waiting, &entry, 3);
    assert_words(&waiting, "held by os:ann@h (pid 811) for 12s, token 391, you are 3rd");
    pawl__waiting_update(&waiting, NULL, 2);
    assert_words(&waiting, "held by os:ann@h (pid 811) for 12s, token 391, you are 2nd");
    entry.payload = NULL;
    entry.number = 400;
    pawl__waiting_update(&waiting, &entry, -1);
    assert_words(&waiting, "held by another, token 400, you are 2nd");
    pawl__waiting_release(&waiting);
}

static void fill(struct pawl__entry_info *entry, const char *name, uint64_t number,
                 enum pawl__mode mode)
{
    *entry = (struct pawl__entry_info){.name = pawl__strdup(name),
                                       .payload = pawl__strdup("{}"),
                                       .session = pawl__strdup("s"),
                                       .mode = mode,
                                       .number = number,
                                       .ttl_left_ms = 1000};
}

static void assert_entry(const pawl_snapshot *snapshot, size_t index, const char *state,
                         int position)
{
    cr_assert_str_eq(pawl_snapshot_text(snapshot, index, PAWL_ENTRY_STATE), state);
    cr_assert_eq(pawl_snapshot_number(snapshot, index, PAWL_ENTRY_POSITION), position);
}

/* Shared entries at the front are all holders; who comes behind a conflicting one waits, and does
 * not pass it. */
Test(snapshot, places_follow_the_modes)
{
    struct pawl__entry_info *entries = pawl__alloc_array(5, sizeof *entries);

    fill(&entries[0], "b", 9, PAWL__MODE_X);
    fill(&entries[1], "a", 1, PAWL__MODE_S);
    fill(&entries[2], "a", 4, PAWL__MODE_S);
    fill(&entries[3], "a", 3, PAWL__MODE_X);
    fill(&entries[4], "a", 2, PAWL__MODE_S);
    pawl_snapshot *snapshot = pawl__snapshot_new(entries, 5, 1000);
    cr_assert_eq(pawl_snapshot_count(snapshot), 5);
    assert_entry(snapshot, 0, "held", 0);
    assert_entry(snapshot, 1, "held", 0);
    assert_entry(snapshot, 2, "waiting", 1);
    assert_entry(snapshot, 3, "waiting", 2);
    assert_entry(snapshot, 4, "held", 0);
    cr_assert_eq(pawl_snapshot_number(snapshot, 1, PAWL_ENTRY_TOKEN), 2);
    cr_assert_eq(pawl_snapshot_number(snapshot, 2, PAWL_ENTRY_TOKEN), 0);
    pawl_snapshot_free(snapshot);
}

/* An entry whose session is over, or that is marked, says so; it still stands in the way. */
Test(snapshot, names_expired_and_breaking)
{
    struct pawl__entry_info *entries = pawl__alloc_array(3, sizeof *entries);

    fill(&entries[0], "a", 1, PAWL__MODE_X);
    fill(&entries[1], "a", 2, PAWL__MODE_X);
    fill(&entries[2], "a", 3, PAWL__MODE_X);
    entries[0].ttl_left_ms = 0;
    entries[1].marked = true;
    pawl_snapshot *snapshot = pawl__snapshot_new(entries, 3, 1000);
    assert_entry(snapshot, 0, "expired", 0);
    assert_entry(snapshot, 1, "breaking", 1);
    assert_entry(snapshot, 2, "waiting", 2);
    pawl_snapshot_free(snapshot);
}

/* An empty store is an empty snapshot, not a failure. */
Test(snapshot, may_be_empty)
{
    pawl_snapshot *snapshot = pawl__snapshot_new(NULL, 0, 1000);

    cr_assert_not_null(snapshot);
    cr_assert_eq(pawl_snapshot_count(snapshot), 0);
    cr_assert_null(pawl_snapshot_text(snapshot, 0, PAWL_ENTRY_LOCK));
    pawl_snapshot_free(snapshot);
    pawl_snapshot_free(NULL);
    cr_assert_eq(pawl_snapshot_count(NULL), 0);
}
