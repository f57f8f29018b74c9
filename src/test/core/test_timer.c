/* The heap of timers against a plain search, and its memory. */
#include <criterion/criterion.h>

#include "base/rand.h"
#include "core/timer.h"
#include "test/heap.h"

#define NODES 200

static struct pawl__boot earliest(const struct pawl__timer *nodes)
{
    struct pawl__boot first = PAWL__BOOT_NEVER;

    for (size_t i = 0; i < NODES; i++) {
        if (nodes[i].slot != 0) {
            first = pawl__boot_min(first, nodes[i].at);
        }
    }
    return first;
}

static void change_one(struct pawl__timers *timers, struct pawl__timer *node,
                       struct pawl__rand *rand)
{
    uint64_t dice = pawl__rand_below(rand, 10);

    if (node->slot == 0) {
        cr_assert(pawl__timer_register(timers, node));
    } else if (dice == 0) {
        pawl__timer_unregister(timers, node);
    } else {
        struct pawl__boot at = {(int64_t)pawl__rand_below(rand, 1000)};
        pawl__timer_arm(timers, node, dice == 1 ? PAWL__BOOT_NEVER : at);
    }
}

/* After any sequence of arming and unregistering, the next one is the earliest of all. */
Test(timer, NextIsTheEarliestOfAll)
{
    static struct pawl__timer nodes[NODES];
    struct pawl__timers timers = {0};
    struct pawl__rand rand;

    pawl__rand_init(&rand, 1);
    for (int i = 0; i < 20000; i++) {
        change_one(&timers, &nodes[pawl__rand_below(&rand, NODES)], &rand);
        cr_assert_eq(pawl__timers_next(&timers).ms, earliest(nodes).ms);
    }
    pawl__timers_release(&timers);
}

/* What is due comes out by time, once; what is not due stays. */
Test(timer, PopsByTimeWhatIsDue)
{
    struct pawl__timer nodes[3] = {0};
    struct pawl__timers timers = {0};

    for (int i = 0; i < 3; i++) {
        cr_assert(pawl__timer_register(&timers, &nodes[i]));
        pawl__timer_arm(&timers, &nodes[i], (struct pawl__boot){30 - 10 * i});
    }
    cr_assert_null(pawl__timers_pop(&timers, (struct pawl__boot){9}));
    cr_assert_eq(pawl__timers_pop(&timers, (struct pawl__boot){20}), &nodes[2]);
    cr_assert_eq(pawl__timers_pop(&timers, (struct pawl__boot){20}), &nodes[1]);
    cr_assert_null(pawl__timers_pop(&timers, (struct pawl__boot){20}));
    cr_assert_eq(pawl__timers_next(&timers).ms, 30);
    pawl__timers_release(&timers);
}

/* Registering without memory changes nothing; arming never needs any. */
Test(timer, RegisteringMayFailArmingNever)
{
    struct pawl__timer node = {0};
    struct pawl__timers timers = {0};

    pawl__heap_install();
    pawl__heap_fail_after(1);
    cr_assert_not(pawl__timer_register(&timers, &node));
    cr_assert_eq(node.slot, 0);
    cr_assert(pawl__timer_register(&timers, &node));
    pawl__timers_release(&timers);
    cr_assert_eq(pawl__heap_live(), 0);
    pawl__heap_uninstall();
}
