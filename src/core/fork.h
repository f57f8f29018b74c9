/* What a forked child does with the clients of its parent: knows them, and closes their
 * descriptors, so that the parent's locks end with the parent. State of the process: a list and a
 * number, because fork() is the process's. */
#ifndef PAWL_CORE_FORK_H
#define PAWL_CORE_FORK_H

#include <stdbool.h>

#include "base/list.h"

struct pawl__fork_node {
    struct pawl__list link; /* guarded by fork.c's mu */
    /* Runs in the child, before fork() returns there: async-signal-safe functions only, no lock. */
    void (*in_child)(struct pawl__fork_node *node);
};

/* Changes in every child. An object that remembers another number belongs to a parent. */
unsigned pawl__fork_generation(void);

/* `node` is borrowed until it is unregistered. False: no memory for the handlers. */
bool pawl__fork_register(struct pawl__fork_node *node);

/* Before the descriptors are closed: a child must not close numbers that are in use again. */
void pawl__fork_unregister(struct pawl__fork_node *node);

#endif
