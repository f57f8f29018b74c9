/* pawl bench: cycles of acquire and release by callbacks. */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/bench.h"

#define STALL_MS 10000 /* no answer for so long is a failure, not a measurement */

struct bench;

/* One name, one request at a time. */
struct slot {
    struct bench *bench;   /* borrowed */
    pawl_request *request; /* owned */
    pawl_hold *hold;       /* owned; NULL while not granted */
    int64_t begin_us;
};

/* One thread, callbacks included. */
struct bench {
    pawl_client *client;
    struct pawl__bench_result *result;
    struct slot *slots; /* owned */
    unsigned slot_count;
    unsigned busy; /* slots with something under way */
    int64_t end_us;
    pawl_error *err; /* owned */
};

static void start(struct slot *slot);

static void finish_cycle(struct slot *slot)
{
    struct bench *bench = slot->bench;
    int64_t now_us = pawl__bench_now_us();
    pawl_hold_free(slot->hold);
    slot->hold = NULL;
    bench->busy--;
    bench->result->count++;
    pawl__histogram_add(&bench->result->latency, now_us - slot->begin_us);
    if (now_us < bench->end_us && bench->result->status == PAWL_OK) {
        start(slot);
    }
}

static void take_change(void *user, pawl_hold *hold, pawl_hold_state_value state)
{
    struct slot *slot = user;
    (void)hold;
    if (slot->hold == NULL) {
        return;
    }
    if (state == PAWL_HOLD_RELEASED) {
        finish_cycle(slot);
    } else if (state == PAWL_HOLD_LOST) {
        pawl__bench_failed(slot->bench->result, PAWL_E_LOST, NULL);
        finish_cycle(slot);
    }
}

static void take_grant(void *user, pawl_status status, pawl_hold *hold, const pawl_error *err)
{
    struct slot *slot = user;
    struct bench *bench = slot->bench;
    if (status != PAWL_OK) {
        pawl__bench_failed(bench->result, status, err);
        bench->busy--;
        return;
    }
    slot->hold = hold;
    status = pawl_hold_on_change(hold, take_change, slot, bench->err);
    if (status != PAWL_OK) {
        pawl__bench_failed(bench->result, status, bench->err);
    }
    /* Not waited for: the confirmation comes as a change of state. */
    if (pawl_hold_release(hold, 0, NULL) == PAWL_OK) {
        finish_cycle(slot);
    }
}

static void start(struct slot *slot)
{
    struct bench *bench = slot->bench;
    slot->begin_us = pawl__bench_now_us();
    pawl_status status = pawl_acquire_start(bench->client, slot->request, PAWL_WAIT_FOREVER,
                                            take_grant, slot, NULL, bench->err);
    if (status != PAWL_OK) {
        pawl__bench_failed(bench->result, status, bench->err);
        return;
    }
    bench->busy++;
}

static bool prepare(struct bench *bench)
{
    bench->err = pawl_error_new();
    bench->slots = pawl__alloc_array(bench->slot_count, sizeof(struct slot));
    if (bench->slots == NULL) {
        pawl__bench_failed(bench->result, PAWL_E_NOMEM, NULL);
        return false;
    }
    for (unsigned i = 0; i < bench->slot_count; i++) {
        char name[PAWL__BENCH_NAME_MAX];
        (void)snprintf(name, sizeof(name), "pawl-bench/%ld/%u", (long)getpid(), i);
        bench->slots[i].bench = bench;
        bench->slots[i].request = pawl_request_new();
        pawl_status status =
            bench->slots[i].request == NULL
                ? PAWL_E_NOMEM
                : pawl_request_add(bench->slots[i].request, name, PAWL_MODE_X, bench->err);
        if (status != PAWL_OK) {
            pawl__bench_failed(bench->result, status, bench->err);
            return false;
        }
    }
    return true;
}

static void run(struct bench *bench)
{
    struct pollfd fd = {.fd = pawl_client_fd(bench->client), .events = POLLIN};
    for (unsigned i = 0; i < bench->slot_count; i++) {
        start(&bench->slots[i]);
    }
    while (bench->busy > 0) {
        int count = poll(&fd, 1, STALL_MS);
        if (count == 0) {
            pawl__bench_failed(bench->result, PAWL_E_TIMEOUT, NULL);
            return;
        }
        if (pawl_dispatch(bench->client, NULL) != PAWL_OK) {
            pawl__bench_failed(bench->result, PAWL_E_INTERNAL, NULL);
            return;
        }
    }
}

void pawl__bench_cycles(pawl_client *client, unsigned in_flight, int64_t duration_us,
                        struct pawl__bench_result *result)
{
    struct bench bench = {.client = client, .result = result, .slot_count = in_flight};
    if (prepare(&bench)) {
        int64_t begin_us = pawl__bench_now_us();
        bench.end_us = begin_us + duration_us;
        run(&bench);
        result->took_us = pawl__bench_now_us() - begin_us;
    }
    for (unsigned i = 0; bench.slots != NULL && i < bench.slot_count; i++) {
        pawl_hold_free(bench.slots[i].hold);
        pawl_request_free(bench.slots[i].request);
    }
    pawl__free(bench.slots);
    pawl_error_free(bench.err);
}
