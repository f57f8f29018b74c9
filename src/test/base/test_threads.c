/* What several threads do to base at once; plain TAP, so that ThreadSanitizer can watch. */
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/json.h"
#include "tap.h"
#include "test/heap.h"

#define THREADS ((size_t)8)
#define ROUNDS  ((size_t)500)

struct box {
    pthread_mutex_t mu;
    pthread_cond_t cond;
    bool is_full; /* guarded by mu */
};

static void *fill_box(void *arg)
{
    struct box *box = arg;

    (void)pthread_mutex_lock(&box->mu);
    box->is_full = true;
    (void)pthread_cond_signal(&box->cond);
    (void)pthread_mutex_unlock(&box->mu);
    return NULL;
}

/* Waits with `timeout_ms` for another thread's signal; returns whether it came. */
static bool wait_for_signal(int64_t timeout_ms)
{
    struct box box = {.mu = PTHREAD_MUTEX_INITIALIZER};
    bool is_in_time = true;
    pthread_t thread;

    pawl__cond_init_monotonic(&box.cond);
    (void)pthread_mutex_lock(&box.mu);
    if (pthread_create(&thread, NULL, fill_box, &box) != 0) {
        (void)pthread_mutex_unlock(&box.mu);
        return false;
    }
    while (!box.is_full && is_in_time) {
        is_in_time = pawl__cond_wait_ms(&box.cond, &box.mu, timeout_ms);
    }
    bool is_full = box.is_full;
    (void)pthread_mutex_unlock(&box.mu);
    (void)pthread_join(thread, NULL);
    (void)pthread_cond_destroy(&box.cond);
    return is_full;
}

/* The very first parses of the process race for the seed of jansson's hash. */
static void *parse_often(void *arg)
{
    const char *text = "{\"a\":\"1\",\"b\":{\"c\":2}}";
    size_t *good = arg;

    for (size_t i = 0; i < ROUNDS; i++) {
        json_t *root = pawl__json_parse(text, strlen(text), 100);
        uint64_t value = 0;
        *good += pawl__json_u64str(root, "a", &value) && value == 1;
        json_decref(root);
    }
    return NULL;
}

static void *allocate_often(void *arg)
{
    size_t *good = arg;

    for (size_t i = 0; i < ROUNDS; i++) {
        char *block = pawl__alloc(16);
        char *bigger = pawl__realloc(block, 64);
        *good += bigger != NULL;
        pawl__free(bigger);
    }
    return NULL;
}

/* Runs `body` in all threads; returns the sum of what they counted. */
static size_t run_threads(void *(*body)(void *))
{
    pthread_t threads[THREADS];
    size_t counts[THREADS] = {0};
    size_t started = 0;
    size_t sum = 0;

    while (started < THREADS &&
           pthread_create(&threads[started], NULL, body, &counts[started]) == 0) {
        started++;
    }
    for (size_t i = 0; i < started; i++) {
        (void)pthread_join(threads[i], NULL);
        sum += counts[i];
    }
    return sum;
}

int main(void)
{
    tap_case(run_threads(parse_often) == THREADS * ROUNDS, "threads parse JSON at once");
    pawl__heap_install();
    tap_case(run_threads(allocate_often) == THREADS * ROUNDS, "threads allocate at once");
    tap_case(pawl__heap_live() == 0, "no block is left");
    tap_case(pawl__heap_count() == 2 * THREADS * ROUNDS, "no allocation is missed in the count");
    pawl__heap_uninstall();
    tap_case(wait_for_signal(60000), "a signal ends a timed wait");
    tap_case(wait_for_signal(PAWL__WAIT_FOREVER), "a signal ends a wait without end");
    tap_case(wait_for_signal(PAWL__WAIT_FOREVER - 1), "a signal ends a wait of ages");
    return tap_done();
}
