/* Modes and the order of a queue. */
#include <criterion/criterion.h>

#include "core/mode.h"
#include "core/queue.h"

/* Two modes conflict or not, whoever was first. */
Test(mode, ConflictIsSymmetric)
{
    for (int a = 0; a < PAWL__MODE_COUNT; a++) {
        for (int b = 0; b < PAWL__MODE_COUNT; b++) {
            cr_assert_eq(pawl__mode_conflicts((enum pawl__mode)a, (enum pawl__mode)b),
                         pawl__mode_conflicts((enum pawl__mode)b, (enum pawl__mode)a));
        }
    }
    cr_assert(pawl__mode_conflicts(PAWL__MODE_X, PAWL__MODE_IS));
    cr_assert_not(pawl__mode_conflicts(PAWL__MODE_IX, PAWL__MODE_IX));
    cr_assert(pawl__mode_conflicts(PAWL__MODE_NONE, PAWL__MODE_IS),
              "an unknown mode is waited for");
}

/* The join of two modes conflicts with all that either of them conflicts with. */
Test(mode, JoinIncludesBoth)
{
    for (int a = PAWL__MODE_X; a < PAWL__MODE_COUNT; a++) {
        for (int b = PAWL__MODE_X; b < PAWL__MODE_COUNT; b++) {
            enum pawl__mode join = pawl__mode_join((enum pawl__mode)a, (enum pawl__mode)b);
            for (int c = PAWL__MODE_X; c < PAWL__MODE_COUNT; c++) {
                bool either = pawl__mode_conflicts((enum pawl__mode)a, (enum pawl__mode)c) ||
                              pawl__mode_conflicts((enum pawl__mode)b, (enum pawl__mode)c);
                cr_assert(!either || pawl__mode_conflicts(join, (enum pawl__mode)c));
            }
        }
    }
}

/* Each word reads back as its mode; other words are no mode. */
Test(mode, WordsReadBack)
{
    for (int a = PAWL__MODE_X; a < PAWL__MODE_COUNT; a++) {
        cr_assert_eq((int)pawl__mode_parse(pawl__mode_word((enum pawl__mode)a)), a);
    }
    cr_assert_eq(pawl__mode_parse("?"), PAWL__MODE_NONE);
    cr_assert_eq(pawl__mode_parse("X"), PAWL__MODE_NONE);
}

static const struct pawl__queue_entry readers_and_writer[] = {
    {.number = 10, .session = 1, .attempt = 1, .mode = PAWL__MODE_S},
    {.number = 11, .session = 1, .attempt = 2, .mode = PAWL__MODE_X},
    {.number = 12, .session = 2, .attempt = 1, .mode = PAWL__MODE_S},
    {.number = 13, .session = 3, .attempt = 1, .mode = PAWL__MODE_S},
};

/* A reader waits for the nearest conflicting entry, the writer, and not for the reader before it.
 */
Test(queue, WaitsForTheNearestConflictingEntry)
{
    struct pawl__queue_view view;

    pawl__queue_look(readers_and_writer, 4, 3, 1, PAWL__MODE_S, &view);
    cr_assert(view.own_present);
    cr_assert_eq(view.own_number, 13);
    cr_assert_eq(view.blocker, 11);
    cr_assert_eq(view.holder, 11);
    cr_assert_eq(view.position, 1);
}

/* Own is session and attempt: another request of the same session is a stranger. */
Test(queue, OtherAttemptOfTheSameSessionIsAStranger)
{
    struct pawl__queue_view view;

    pawl__queue_look(readers_and_writer, 4, 1, 2, PAWL__MODE_X, &view);
    cr_assert_eq(view.own_number, 11);
    cr_assert_eq(view.blocker, 10);
    pawl__queue_look(readers_and_writer, 4, 1, 3, PAWL__MODE_X, &view);
    cr_assert_not(view.own_present);
    cr_assert_eq(view.blocker, 13);
    cr_assert_eq(view.holder, 10);
    cr_assert_eq(view.position, 4);
}
