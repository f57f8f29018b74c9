/* pawl bench: threads that block, on names of their own or all on one. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/bench.h"

#define RELEASE_TIMEOUT_MS 10000

/* One thread; its result is merged when it has ended. */
struct worker {
    pthread_t thread;
    bool is_running;
    pawl_client *client; /* owned when owns_client, else borrowed */
    bool owns_client;
    int64_t end_us;
    char name[PAWL__BENCH_NAME_MAX];
    struct pawl__bench_result result;
};

static void work(struct worker *worker, pawl_error *err)
{
    for (;;) {
        int64_t begin_us = pawl__bench_now_us();
        if (begin_us >= worker->end_us) {
            return;
        }
        pawl_hold *hold = NULL;
        pawl_status status = pawl_lock(worker->client, worker->name, PAWL_WAIT_FOREVER, &hold, err);
        int64_t granted_us = pawl__bench_now_us();
        if (status == PAWL_OK) {
            status = pawl_hold_release(hold, RELEASE_TIMEOUT_MS, err);
            pawl_hold_free(hold);
        }
        if (status != PAWL_OK) {
            pawl__bench_failed(&worker->result, status, err);
            return;
        }
        /* With a client of its own it contends: the wait counts. Else the whole cycle does. */
        int64_t end_us = worker->owns_client ? granted_us : pawl__bench_now_us();
        pawl__histogram_add(&worker->result.latency, end_us - begin_us);
        worker->result.count++;
    }
}

static void *run_worker(void *user)
{
    struct worker *worker = user;
    pawl_error *err = pawl_error_new();
    work(worker, err);
    pawl_error_free(err);
    return NULL;
}

/* Starts all, waits for all, adds up. Every worker is prepared. */
static void run_all(struct worker *workers, unsigned count, int64_t duration_us,
                    struct pawl__bench_result *result)
{
    int64_t begin_us = pawl__bench_now_us();
    for (unsigned i = 0; i < count; i++) {
        workers[i].end_us = begin_us + duration_us;
        workers[i].is_running =
            pthread_create(&workers[i].thread, NULL, run_worker, &workers[i]) == 0;
        if (!workers[i].is_running) {
            pawl__bench_failed(result, PAWL_E_NOMEM, NULL);
        }
    }
    for (unsigned i = 0; i < count; i++) {
        if (workers[i].is_running) {
            (void)pthread_join(workers[i].thread, NULL); /* fails for misuse only */
        }
        pawl__histogram_merge(&result->latency, &workers[i].result.latency);
        result->count += workers[i].result.count;
        if (result->status == PAWL_OK && workers[i].result.status != PAWL_OK) {
            result->status = workers[i].result.status;
            memcpy(result->message, workers[i].result.message, sizeof(result->message));
        }
    }
    result->took_us = pawl__bench_now_us() - begin_us;
}

void pawl__bench_threads(pawl_client *client, unsigned thread_count, int64_t duration_us,
                         struct pawl__bench_result *result)
{
    struct worker *workers = pawl__alloc_array(thread_count, sizeof(struct worker));
    if (workers == NULL) {
        pawl__bench_failed(result, PAWL_E_NOMEM, NULL);
        return;
    }
    for (unsigned i = 0; i < thread_count; i++) {
        workers[i].client = client;
        (void)snprintf(workers[i].name, sizeof(workers[i].name), "pawl-bench/%ld/t%u",
                       (long)getpid(), i);
    }
    run_all(workers, thread_count, duration_us, result);
    pawl__free(workers);
}

void pawl__bench_handovers(const pawl_options *options, unsigned contenders, int64_t duration_us,
                           struct pawl__bench_result *result)
{
    struct worker *workers = pawl__alloc_array(contenders, sizeof(struct worker));
    pawl_error *err = pawl_error_new();
    if (workers == NULL) {
        pawl__bench_failed(result, PAWL_E_NOMEM, NULL);
        goto out;
    }
    for (unsigned i = 0; i < contenders; i++) {
        workers[i].owns_client = true;
        (void)snprintf(workers[i].name, sizeof(workers[i].name), "pawl-bench/%ld/one",
                       (long)getpid());
        pawl_status status = pawl_client_open(NULL, options, &workers[i].client, err);
        if (status != PAWL_OK) {
            pawl__bench_failed(result, status, err);
            goto out;
        }
    }
    run_all(workers, contenders, duration_us, result);
out:
    for (unsigned i = 0; workers != NULL && i < contenders; i++) {
        if (workers[i].client != NULL) {
            /* All was released; what is not confirmed ends with the session. */
            (void)pawl_client_close(workers[i].client, RELEASE_TIMEOUT_MS, NULL);
        }
    }
    pawl_error_free(err);
    pawl__free(workers);
}
