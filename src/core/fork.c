/* See fork.h. */
#include "core/fork.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/assert.h"

static struct {
    _Atomic unsigned generation;
    pthread_mutex_t mu;
    /* Guarded by mu. */
    struct pawl__list nodes;
    struct pawl__list orphans; /* of parents; kept so that a leak checker in the child finds them */
    bool is_installed;
} forks = {.generation = 1,
           .mu = PTHREAD_MUTEX_INITIALIZER,
           .nodes = {.prev = &forks.nodes, .next = &forks.nodes},
           .orphans = {.prev = &forks.orphans, .next = &forks.orphans}};

static void before_fork(void)
{
    /* So that the child finds the list whole. The thread that forks is the one that unlocks, here
     * and there. */
    (void)pthread_mutex_lock(&forks.mu);
}

static void after_in_parent(void)
{
    (void)pthread_mutex_unlock(&forks.mu);
}

static void after_in_child(void)
{
    struct pawl__list *link;

    atomic_fetch_add(&forks.generation, 1);
    /* Each is taken out, so that a child of the child does not close the same numbers again. */
    while ((link = pawl__list_pop_front(&forks.nodes)) != NULL) {
        struct pawl__fork_node *node = PAWL_LIST_ENTRY(link, struct pawl__fork_node, link);
        node->in_child(node);
        pawl__list_push_back(&forks.orphans, &node->link);
    }
    (void)pthread_mutex_unlock(&forks.mu);
}

unsigned pawl__fork_generation(void)
{
    return atomic_load_explicit(&forks.generation, memory_order_relaxed);
}

bool pawl__fork_register(struct pawl__fork_node *node)
{
    PAWL_INVARIANT(node->in_child != NULL);
    (void)pthread_mutex_lock(&forks.mu);
    if (!forks.is_installed) {
        forks.is_installed = pthread_atfork(before_fork, after_in_parent, after_in_child) == 0;
    }
    bool is_installed = forks.is_installed;
    if (is_installed) {
        pawl__list_push_back(&forks.nodes, &node->link);
    }
    (void)pthread_mutex_unlock(&forks.mu);
    return is_installed;
}

void pawl__fork_unregister(struct pawl__fork_node *node)
{
    (void)pthread_mutex_lock(&forks.mu);
    pawl__list_remove(&node->link);
    (void)pthread_mutex_unlock(&forks.mu);
}
