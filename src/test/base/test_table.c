/* Tests of base/table. */
#include "base/table.h"

#include <criterion/criterion.h>
#include <signal.h>

#include "base/rand.h"
#include "test/heap.h"

/* Any address that is not NULL will do as a value. */
static char values[4096];

/* An empty table answers everything without memory. */
Test(table, AnswersWhenEmpty)
{
    struct pawl__table table;
    size_t cursor = 0;

    pawl__heap_install();
    pawl__table_init(&table);
    cr_assert_null(pawl__table_get(&table, 1));
    cr_assert_null(pawl__table_remove(&table, 1));
    cr_assert_not(pawl__table_next(&table, &cursor, NULL, NULL));
    cr_assert_eq(pawl__table_len(&table), 0);
    cr_assert_eq(pawl__heap_count(), 0);
    pawl__table_release(&table);
    pawl__table_release(NULL);
}

/* 0 and UINT64_MAX are keys like all others. */
Test(table, TakesTheExtremeKeys)
{
    struct pawl__table table;

    pawl__table_init(&table);
    cr_assert(pawl__table_put(&table, 0, &values[0]));
    cr_assert(pawl__table_put(&table, UINT64_MAX, &values[1]));
    cr_assert_eq(pawl__table_get(&table, 0), &values[0]);
    cr_assert_eq(pawl__table_get(&table, UINT64_MAX), &values[1]);
    pawl__table_release(&table);
}

/* Putting a key again replaces its value and does not count it twice. */
Test(table, ReplacesAValue)
{
    struct pawl__table table;

    pawl__table_init(&table);
    cr_assert(pawl__table_put(&table, 5, &values[0]));
    cr_assert(pawl__table_put(&table, 5, &values[1]));
    cr_assert_eq(pawl__table_len(&table), 1);
    cr_assert_eq(pawl__table_remove(&table, 5), &values[1]);
    cr_assert_null(pawl__table_get(&table, 5));
    pawl__table_release(&table);
}

/* A NULL value could not be told from an absent key, so it is refused for good. */
Test(table, AbortsOnANullValue, .signal = SIGABRT)
{
    struct pawl__table table;

    pawl__table_init(&table);
    (void)pawl__table_put(&table, 5, NULL);
}

/* Random puts and removes agree with a plain array at every step, growth and graves included. */
Test(table, AgreesWithAnArray)
{
    enum { KEYS = 1000, STEPS = 200000 };
    static void *model[KEYS];
    struct pawl__table table;
    struct pawl__rand rand;
    size_t model_len = 0;

    pawl__table_init(&table);
    pawl__rand_init(&rand, 1);
    for (int step = 0; step < STEPS; step++) {
        uint64_t key = pawl__rand_below(&rand, KEYS);
        if (pawl__rand_below(&rand, 2) == 0) {
            void *value = &values[pawl__rand_below(&rand, sizeof(values))];
            cr_assert(pawl__table_put(&table, key, value));
            model_len += model[key] == NULL;
            model[key] = value;
        } else {
            cr_assert_eq(pawl__table_remove(&table, key), model[key]);
            model_len -= model[key] != NULL;
            model[key] = NULL;
        }
        uint64_t probe = pawl__rand_below(&rand, KEYS);
        cr_assert_eq(pawl__table_get(&table, probe), model[probe], "step %d", step);
        cr_assert_eq(pawl__table_len(&table), model_len);
    }
    pawl__table_release(&table);
}

/* A table that stays small stays small however many ids pass through it. */
Test(table, DoesNotGrowByChurn)
{
    struct pawl__table table;

    pawl__table_init(&table);
    for (uint64_t key = 0; key < 100000; key++) {
        cr_assert(pawl__table_put(&table, key, &values[0]));
        if (key >= 8) {
            cr_assert_not_null(pawl__table_remove(&table, key - 8));
        }
    }
    cr_assert_eq(pawl__table_len(&table), 8);
    cr_assert_leq(table.cap, 32);
    pawl__table_release(&table);
}

/* One id that comes and goes needs memory once: its grave is cleared, not kept for a rehash. */
Test(table, ClearsAGraveAtTheEndOfARun)
{
    struct pawl__table table;

    pawl__heap_install();
    pawl__table_init(&table);
    for (uint64_t key = 0; key < 1000; key++) {
        cr_assert(pawl__table_put(&table, key, &values[0]));
        cr_assert_not_null(pawl__table_remove(&table, key));
    }
    cr_assert_eq(pawl__heap_count(), 1);
    pawl__table_release(&table);
    cr_assert_eq(pawl__heap_live(), 0);
}

/* Iteration meets each entry exactly once, also when each is removed on the way. */
Test(table, IteratesWhileRemoving)
{
    enum { KEYS = 500 };
    static int seen[KEYS];
    struct pawl__table table;
    size_t cursor = 0;
    uint64_t key = 0;
    void *value = NULL;

    pawl__table_init(&table);
    for (size_t i = 0; i < KEYS; i++) {
        cr_assert(pawl__table_put(&table, i, &values[i]));
    }
    while (pawl__table_next(&table, &cursor, &key, &value)) {
        cr_assert_eq(value, &values[key]);
        seen[key]++;
        cr_assert_eq(pawl__table_remove(&table, key), value);
    }
    for (size_t i = 0; i < KEYS; i++) {
        cr_assert_eq(seen[i], 1, "key %zu seen %d times", i, seen[i]);
    }
    cr_assert_eq(pawl__table_len(&table), 0);
    cr_assert_not(pawl__table_next(&table, &cursor, &key, &value), "the end is the end");
    pawl__table_release(&table);
}

/* The same calls give the same order of iteration: a simulator run repeats. */
Test(table, IteratesInARepeatableOrder)
{
    struct pawl__table tables[2];
    size_t cursors[2] = {0};
    uint64_t keys[2] = {0};

    for (size_t t = 0; t < 2; t++) {
        pawl__table_init(&tables[t]);
        for (uint64_t key = 0; key < 100; key++) {
            cr_assert(pawl__table_put(&tables[t], key * key, &values[0]));
        }
    }
    while (pawl__table_next(&tables[0], &cursors[0], &keys[0], NULL)) {
        cr_assert(pawl__table_next(&tables[1], &cursors[1], &keys[1], NULL));
        cr_assert_eq(keys[0], keys[1]);
    }
    pawl__table_release(&tables[0]);
    pawl__table_release(&tables[1]);
}

/* Puts 100 entries with the n-th allocation failing; returns whether the failure happened. */
static bool put_with_failure(size_t n)
{
    struct pawl__table table;
    bool has_failed = false;

    pawl__heap_install();
    pawl__heap_fail_after(n);
    pawl__table_init(&table);
    for (uint64_t key = 0; key < 100; key++) {
        if (!pawl__table_put(&table, key, &values[key])) {
            has_failed = true;
            cr_assert_eq(pawl__table_len(&table), key, "the table changed");
            cr_assert_null(pawl__table_get(&table, key));
            cr_assert(pawl__table_put(&table, key, &values[key]), "it does not recover");
        }
    }
    for (uint64_t key = 0; key < 100; key++) {
        cr_assert_eq(pawl__table_get(&table, key), &values[key]);
    }
    cr_assert_eq(has_failed, pawl__heap_has_failed());
    pawl__table_release(&table);
    cr_assert_eq(pawl__heap_live(), 0);
    return has_failed;
}

/* Without memory a put is refused, the table is as before, and works again after. */
Test(table, SurvivesEveryFailedAllocation)
{
    size_t n = 1;

    while (put_with_failure(n)) {
        n++;
    }
    cr_assert_geq(n, 4, "100 entries need several allocations");
}

/* Replacing a value never fails, since it needs no memory. */
Test(table, ReplacesWithoutMemory)
{
    struct pawl__table table;

    pawl__heap_install();
    pawl__table_init(&table);
    for (uint64_t key = 0; key < 12; key++) {
        cr_assert(pawl__table_put(&table, key, &values[0]));
    }
    pawl__heap_fail_after(1);
    cr_assert_not(pawl__table_put(&table, 12, &values[0]), "the next new key needs a rehash");
    pawl__heap_fail_after(1);
    cr_assert(pawl__table_put(&table, 11, &values[1]));
    cr_assert_eq(pawl__table_get(&table, 11), &values[1]);
    pawl__table_release(&table);
}
