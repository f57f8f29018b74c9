/* Tests of base/list.h. */
#include "base/list.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>

struct item {
    int number;
    struct pawl__list link;
};

/* The numbers of the list as decimal digits, in order: 1, 2, 3 give 123. */
static int read_digits(const struct pawl__list *head)
{
    int digits = 0;

    PAWL_LIST_FOREACH (it, head) {
        digits = digits * 10 + PAWL_LIST_ENTRY(it, struct item, link)->number;
    }
    return digits;
}

/* A new list is empty, has no first node, and a loop over it does nothing. */
Test(list, IsEmptyAtFirst)
{
    struct pawl__list head;

    pawl__list_init(&head);
    cr_assert(pawl__list_is_empty(&head));
    cr_assert_null(pawl__list_first(&head));
    cr_assert_null(pawl__list_pop_front(&head));
    cr_assert_eq(read_digits(&head), 0);
}

/* push_back keeps the order of calls, push_front goes before all. */
Test(list, KeepsOrder)
{
    struct pawl__list head;
    struct item items[3] = {{.number = 1}, {.number = 2}, {.number = 3}};

    pawl__list_init(&head);
    pawl__list_push_back(&head, &items[1].link);
    pawl__list_push_back(&head, &items[2].link);
    pawl__list_push_front(&head, &items[0].link);
    cr_assert_eq(read_digits(&head), 123);
    cr_assert_eq(pawl__list_len(&head), 3);
    cr_assert_eq(pawl__list_first(&head), &items[0].link);
    cr_assert_eq(head.prev, &items[2].link);
}

/* Removing a node twice is harmless, and so is removing one that was never in a list. */
Test(list, RemovesTwiceWithoutHarm)
{
    struct pawl__list head;
    struct item items[3] = {{.number = 1}, {.number = 2}, {.number = 3}};

    pawl__list_init(&head);
    pawl__list_push_back(&head, &items[0].link);
    pawl__list_push_back(&head, &items[1].link);
    pawl__list_init(&items[2].link);
    pawl__list_remove(&items[2].link);
    pawl__list_remove(&items[0].link);
    pawl__list_remove(&items[0].link);
    cr_assert_eq(read_digits(&head), 2);
    cr_assert(pawl__list_is_empty(&items[0].link));
    pawl__list_push_back(&head, &items[0].link);
    cr_assert_eq(read_digits(&head), 21);
}

/* The safe loop may free each node it stands on. */
Test(list, FreesInsideTheSafeLoop)
{
    struct pawl__list head;
    int sum = 0;

    pawl__list_init(&head);
    for (int i = 1; i <= 4; i++) {
        struct item *item = calloc(1, sizeof(*item));
        item->number = i;
        pawl__list_push_back(&head, &item->link);
    }
    PAWL_LIST_FOREACH_SAFE (it, tmp, &head) {
        struct item *item = PAWL_LIST_ENTRY(it, struct item, link);
        sum = sum * 10 + item->number;
        pawl__list_remove(it);
        free(item);
    }
    cr_assert_eq(sum, 1234);
    cr_assert(pawl__list_is_empty(&head));
}

/* pop_front empties a list from its start and leaves the nodes free for another list. */
Test(list, PopsFromTheFront)
{
    struct pawl__list from;
    struct pawl__list to;
    struct item items[2] = {{.number = 1}, {.number = 2}};

    pawl__list_init(&from);
    pawl__list_init(&to);
    pawl__list_push_back(&from, &items[0].link);
    pawl__list_push_back(&from, &items[1].link);
    pawl__list_push_front(&to, pawl__list_pop_front(&from));
    pawl__list_push_front(&to, pawl__list_pop_front(&from));
    cr_assert(pawl__list_is_empty(&from));
    cr_assert_eq(read_digits(&to), 21);
}

/* A node whose neighbours do not know it (overwritten memory) ends the process, not the list. */
Test(list, AbortsOnABrokenLink, .signal = SIGABRT)
{
    struct pawl__list head;
    struct item items[2] = {{.number = 1}, {.number = 2}};

    pawl__list_init(&head);
    pawl__list_push_back(&head, &items[0].link);
    items[1].link = items[0].link;
    pawl__list_remove(&items[1].link);
}
