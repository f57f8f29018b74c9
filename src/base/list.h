/* Intrusive doubly linked list, circular: the head is a node of its own. Owns nothing. */
#ifndef PAWL_BASE_LIST_H
#define PAWL_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/assert.h"

struct pawl__list {
    struct pawl__list *prev, *next;
};

/* Both for heads and for nodes: a node must be initialised before its first _remove. */
static inline void pawl__list_init(struct pawl__list *list)
{
    list->prev = list;
    list->next = list;
}

/* For a head: has no members. For a node: is in no list. */
static inline bool pawl__list_is_empty(const struct pawl__list *list)
{
    return list->next == list;
}

static inline void pawl__list_insert_between(struct pawl__list *node, struct pawl__list *prev,
                                             struct pawl__list *next)
{
    pawl__assert(prev->next == next);
    pawl__assert(next->prev == prev);
    node->prev = prev;
    node->next = next;
    prev->next = node;
    next->prev = node;
}

/* `node` must be in no list. */
static inline void pawl__list_push_back(struct pawl__list *head, struct pawl__list *node)
{
    pawl__list_insert_between(node, head->prev, head);
}

static inline void pawl__list_push_front(struct pawl__list *head, struct pawl__list *node)
{
    pawl__list_insert_between(node, head, head->next);
}

/* Re-initialises the node, so that removing twice is harmless. */
static inline void pawl__list_remove(struct pawl__list *node)
{
    pawl__assert(node->prev->next == node);
    pawl__assert(node->next->prev == node);
    node->prev->next = node->next;
    node->next->prev = node->prev;
    pawl__list_init(node);
}

/* NULL when the list is empty. */
static inline struct pawl__list *pawl__list_first(const struct pawl__list *head)
{
    return head->next == head ? NULL : head->next;
}

/* Removes and returns the first node; NULL when the list is empty. */
static inline struct pawl__list *pawl__list_pop_front(struct pawl__list *head)
{
    struct pawl__list *node = pawl__list_first(head);

    if (node != NULL) {
        pawl__list_remove(node);
    }
    return node;
}

/* Counts by walking: for tests and rare paths. */
static inline size_t pawl__list_len(const struct pawl__list *head)
{
    size_t len = 0;

    for (const struct pawl__list *node = head->next; node != head; node = node->next) {
        len++;
    }
    return len;
}

/* From a node to the struct that holds it. */
#define PAWL_LIST_ENTRY(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

/* NOLINTBEGIN(bugprone-macro-parentheses): a declared name takes none. */

/* Declares `it` (struct pawl__list *) itself. The body must not remove `it`. */
#define PAWL_LIST_FOREACH(it, head)                                                                \
    for (struct pawl__list *it = (head)->next; it != (head); it = it->next)

/* Declares `it` and `tmp` itself. The body may remove (and free) `it`, but no other node. */
#define PAWL_LIST_FOREACH_SAFE(it, tmp, head)                                                      \
    for (struct pawl__list *it = (head)->next, *tmp = it->next; it != (head);                      \
         it = tmp, tmp = it->next)

/* NOLINTEND(bugprone-macro-parentheses) */

#endif
