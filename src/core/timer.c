/* A binary min-heap of timers, by time. */
#include "core/timer.h"

#include "base/alloc.h"
#include "base/assert.h"

static void place(struct pawl__timers *timers, size_t index, struct pawl__timer *timer)
{
    timers->heap[index] = timer;
    timer->slot = index + 1;
}

static size_t sift_up(struct pawl__timers *timers, size_t index)
{
    struct pawl__timer *timer = timers->heap[index];

    while (index > 0) {
        size_t parent = (index - 1) / 2;
        if (!pawl__boot_before(timer->at, timers->heap[parent]->at)) {
            break;
        }
        place(timers, index, timers->heap[parent]);
        index = parent;
    }
    place(timers, index, timer);
    return index;
}

static void sift_down(struct pawl__timers *timers, size_t index)
{
    struct pawl__timer *timer = timers->heap[index];

    for (;;) {
        size_t child = 2 * index + 1;
        if (child >= timers->len) {
            break;
        }
        if (child + 1 < timers->len &&
            pawl__boot_before(timers->heap[child + 1]->at, timers->heap[child]->at)) {
            child++;
        }
        if (!pawl__boot_before(timers->heap[child]->at, timer->at)) {
            break;
        }
        place(timers, index, timers->heap[child]);
        index = child;
    }
    place(timers, index, timer);
}

void pawl__timers_release(struct pawl__timers *timers)
{
    pawl__free(timers->heap);
    *timers = (struct pawl__timers){0};
}

bool pawl__timer_register(struct pawl__timers *timers, struct pawl__timer *timer)
{
    PAWL_INVARIANT(timer->slot == 0);
    if (timers->len == timers->cap) {
        size_t cap = timers->cap == 0 ? 64 : 2 * timers->cap;
        struct pawl__timer **heap = pawl__realloc(timers->heap, cap * sizeof(struct pawl__timer *));
        if (heap == NULL) {
            return false;
        }
        timers->heap = heap;
        timers->cap = cap;
    }
    timer->at = PAWL__BOOT_NEVER;
    timers->len++;
    place(timers, timers->len - 1, timer);
    return true;
}

void pawl__timer_unregister(struct pawl__timers *timers, struct pawl__timer *timer)
{
    if (timer->slot == 0) {
        return;
    }
    size_t index = timer->slot - 1;
    PAWL_INVARIANT(index < timers->len);
    PAWL_INVARIANT(timers->heap[index] == timer);
    timers->len--;
    timer->slot = 0;
    if (index < timers->len) {
        place(timers, index, timers->heap[timers->len]);
        sift_down(timers, sift_up(timers, index));
    }
}

void pawl__timer_arm(struct pawl__timers *timers, struct pawl__timer *timer, struct pawl__boot at)
{
    PAWL_INVARIANT(timer->slot != 0);
    if (timer->at.ms == at.ms) {
        return;
    }
    timer->at = at;
    sift_down(timers, sift_up(timers, timer->slot - 1));
}

struct pawl__boot pawl__timers_next(const struct pawl__timers *timers)
{
    return timers->len == 0 ? PAWL__BOOT_NEVER : timers->heap[0]->at;
}

struct pawl__timer *pawl__timers_pop(struct pawl__timers *timers, struct pawl__boot now)
{
    struct pawl__boot next = pawl__timers_next(timers);

    if (pawl__boot_is_never(next) || pawl__boot_before(now, next)) {
        return NULL;
    }
    struct pawl__timer *timer = timers->heap[0];
    pawl__timer_arm(timers, timer, PAWL__BOOT_NEVER);
    return timer;
}
