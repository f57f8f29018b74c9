/* pawl bench: what each measurement needs and gives. */
#ifndef PAWL_CLI_BENCH_H
#define PAWL_CLI_BENCH_H

#include "cli/cli.h"
#include "cli/histogram.h"

#define PAWL__BENCH_NAME_MAX 64

struct pawl__bench_result {
    struct pawl__histogram latency; /* of one cycle, or of one wait for the lock */
    uint64_t count;                 /* cycles or hand-overs */
    int64_t took_us;
    pawl_status status; /* of the first failure */
    char message[256];  /* its words */
};

/* CLOCK_MONOTONIC in microseconds. */
int64_t pawl__bench_now_us(void);

/* Notes a failure; the first one counts. */
void pawl__bench_failed(struct pawl__bench_result *result, pawl_status status,
                        const pawl_error *err);

/* Acquire and release of `in_flight` distinct names at once, by callbacks, one thread, one client.
 */
void pawl__bench_cycles(pawl_client *client, unsigned in_flight, int64_t duration_us,
                        struct pawl__bench_result *result);

/* The same by `thread_count` threads that block, one name each, one client. */
void pawl__bench_threads(pawl_client *client, unsigned thread_count, int64_t duration_us,
                         struct pawl__bench_result *result);

/* One name, `contenders` clients that all want it all the time, a thread each. */
void pawl__bench_handovers(const pawl_options *options, unsigned contenders, int64_t duration_us,
                           struct pawl__bench_result *result);

#endif
