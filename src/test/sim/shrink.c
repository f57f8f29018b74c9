/* Delta debugging over the items of a plan: see shrink.h. */
#include "shrink.h"

#include <string.h>

#include "run.h"

struct shrinker {
    char promise[40]; /* what must go on being broken */
    unsigned tries;
    unsigned tries_max;
};

static bool still_fails(struct shrinker *shrinker, const struct plan *plan)
{
    struct run_stats stats = {0};
    char failure[512];

    if (shrinker->tries >= shrinker->tries_max) {
        return false;
    }
    shrinker->tries++;
    return !run_plan(plan, NULL, &stats, failure) &&
           strncmp(failure, shrinker->promise, strlen(shrinker->promise)) == 0;
}

static void cut(struct plan *plan, size_t from, size_t count)
{
    memmove(&plan->items[from], &plan->items[from + count],
            (plan->count - from - count) * sizeof(plan->items[0]));
    plan->count -= count;
}

/* Leaves out runs of items, long ones first. True if any could be. */
static bool cut_items(struct shrinker *shrinker, struct plan *plan)
{
    struct plan smaller;
    bool any = false;

    for (size_t size = plan->count; size > 0; size /= 2) {
        for (size_t from = 0; from + size <= plan->count;) {
            smaller = *plan;
            cut(&smaller, from, size);
            if (still_fails(shrinker, &smaller)) {
                *plan = smaller;
                any = true;
            } else {
                from += size;
            }
        }
    }
    return any;
}

/* Fewer clients and a better network make a plan easier to read. */
static void calm_down(struct shrinker *shrinker, struct plan *plan)
{
    struct plan simpler = *plan;

    simpler.net = PLAN_NET_CALM;
    if (plan->net != PLAN_NET_CALM && still_fails(shrinker, &simpler)) {
        *plan = simpler;
    }
    simpler = *plan;
    simpler.clients = 1;
    for (size_t i = 0; i < plan->count; i++) {
        unsigned needed = plan->items[i].client + 1;
        simpler.clients = needed > simpler.clients ? needed : simpler.clients;
    }
    if (simpler.clients < plan->clients && still_fails(shrinker, &simpler)) {
        *plan = simpler;
    }
}

unsigned shrink_plan(struct plan *plan, const char *failure, unsigned tries_max)
{
    struct shrinker shrinker = {.tries_max = tries_max};
    /* "P3: granted by c": the words up to the first number. */
    size_t promise = strcspn(failure, ":");
    size_t len = promise + strcspn(failure + promise, "0123456789");

    len = len < sizeof(shrinker.promise) - 1 ? len : sizeof(shrinker.promise) - 1;
    memcpy(shrinker.promise, failure, len);
    calm_down(&shrinker, plan);
    while (cut_items(&shrinker, plan)) {
    }
    calm_down(&shrinker, plan);
    return shrinker.tries;
}
