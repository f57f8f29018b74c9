/* See contend.h. */
#include "test/runtime/contend.h"

#include <pthread.h>
#include <stdatomic.h>

struct shared {
    pawl_client *client;
    const char *name;
    int rounds;
    _Atomic int inside;
    _Atomic int overlaps;
    _Atomic int grants;
    _Atomic int token_errors;
    uint64_t last_token; /* guarded by the lock under test */
};

static void *enter_often(void *arg)
{
    struct shared *shared = arg;

    for (int i = 0; i < shared->rounds; i++) {
        pawl_hold *hold = NULL;
        if (pawl_lock(shared->client, shared->name, 60000, &hold, NULL) != PAWL_OK) {
            return NULL;
        }
        if (atomic_fetch_add(&shared->inside, 1) != 0) {
            atomic_fetch_add(&shared->overlaps, 1);
        }
        if (pawl_hold_token(hold) <= shared->last_token) {
            atomic_fetch_add(&shared->token_errors, 1);
        }
        shared->last_token = pawl_hold_token(hold);
        atomic_fetch_add(&shared->grants, 1);
        atomic_fetch_sub(&shared->inside, 1);
        (void)pawl_hold_release(hold, 60000, NULL);
        pawl_hold_free(hold);
    }
    return NULL;
}

struct contention contend(pawl_client *client, const char *name, int rounds)
{
    struct shared shared = {.client = client, .name = name, .rounds = rounds};
    pthread_t threads[CONTEND_THREADS];

    for (int i = 0; i < CONTEND_THREADS; i++) {
        pthread_create(&threads[i], NULL, enter_often, &shared);
    }
    for (int i = 0; i < CONTEND_THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    return (struct contention){
        .grants = shared.grants, .overlaps = shared.overlaps, .token_errors = shared.token_errors};
}
