/* pawl bench: how many locks a second this store and machine give. */
#include "cli/bench.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"
#include "cli/args.h"
#include "cli/output.h"
#include "cli/term.h"

#define RUNS_MAX    16
#define WIDTH_MAX   10000
#define SECONDS_MAX 3600

enum { OPT_IN_FLIGHT, OPT_THREADS, OPT_CONTENDERS, OPT_SECONDS, OPT_COUNT };

static const struct pawl__cli_option options[OPT_COUNT] = {
    [OPT_IN_FLIGHT] = {0, "in-flight", "N"},
    [OPT_THREADS] = {0, "threads", "N"},
    [OPT_CONTENDERS] = {0, "contenders", "N"},
    [OPT_SECONDS] = {0, "seconds", "S"},
};

static const char bench_help[] =
    "[--in-flight N]... [--threads N]... [--contenders N]... [--seconds S]\n"
    "\n"
    "  pawl bench                          in flight 1, 8 and 64; contenders 2 and 8\n"
    "  pawl bench --in-flight 64           only this one\n"
    "\n"
    "  --in-flight N    acquire and release of N names of their own at once, one client\n"
    "  --threads N      the same by N threads that block\n"
    "  --contenders N   hand-overs of one name between N clients\n"
    "  --seconds S      for each of them; default 2\n"
    "\n"
    "Works on names below pawl-bench/ in the store that --store chooses, and removes them.\n";

struct run {
    int kind; /* OPT_IN_FLIGHT, OPT_THREADS or OPT_CONTENDERS */
    unsigned width;
};

struct bench_args {
    struct run runs[RUNS_MAX];
    size_t run_count;
    int64_t seconds;
};

int64_t pawl__bench_now_us(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail on Linux */
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

void pawl__bench_failed(struct pawl__bench_result *result, pawl_status status,
                        const pawl_error *err)
{
    if (result->status != PAWL_OK) {
        return;
    }
    const char *message = pawl_error_message(err);
    result->status = status;
    (void)snprintf(result->message, sizeof(result->message), "%s",
                   *message != '\0' ? message : pawl_status_text(status));
}

static int apply(const struct pawl__cli *cli, struct bench_args *args, int option,
                 const char *value)
{
    uint64_t number = 0;
    uint64_t max = option == OPT_SECONDS ? SECONDS_MAX : WIDTH_MAX;
    if (!pawl__parse_u64(value, &number) || number < 1 || number > max) {
        return pawl__cli_fail(cli, PAWL__EXIT_USAGE,
                              "--%s '%s' is out of range; use a number from 1 to %llu",
                              options[option].name, value, (unsigned long long)max);
    }
    if (option == OPT_SECONDS) {
        args->seconds = (int64_t)number;
        return PAWL__EXIT_OK;
    }
    if (args->run_count == RUNS_MAX) {
        return pawl__cli_fail(cli, PAWL__EXIT_USAGE, "more than %d measurements at once", RUNS_MAX);
    }
    args->runs[args->run_count++] = (struct run){option, (unsigned)number};
    return PAWL__EXIT_OK;
}

static void use_defaults(struct bench_args *args)
{
    static const struct run runs[] = {{OPT_IN_FLIGHT, 1},
                                      {OPT_IN_FLIGHT, 8},
                                      {OPT_IN_FLIGHT, 64},
                                      {OPT_CONTENDERS, 2},
                                      {OPT_CONTENDERS, 8}};
    memcpy(args->runs, runs, sizeof(runs));
    args->run_count = sizeof(runs) / sizeof(runs[0]);
}

static int parse(struct pawl__cli *cli, int argc, char **argv, struct bench_args *args,
                 bool *ret_done)
{
    struct pawl__args reader;
    pawl__args_init(&reader, cli, options, OPT_COUNT);
    pawl__args_set(&reader, argc, argv);
    *ret_done = true;
    int option = 0;
    while ((option = pawl__args_next(&reader)) >= 0) {
        int code = apply(cli, args, option, reader.value);
        if (code != PAWL__EXIT_OK) {
            return code;
        }
    }
    if (option == PAWL__ARGS_ERROR) {
        return reader.code;
    }
    if (cli->help) {
        return pawl__cli_command_usage(cli, &pawl__cli_bench);
    }
    if (reader.operand_count > 0 || reader.rest != NULL) {
        return pawl__cli_fail(cli, PAWL__EXIT_USAGE, "takes options only, but got '%s'",
                              reader.operand_count > 0 ? reader.operands[0] : "--");
    }
    if (args->run_count == 0) {
        use_defaults(args);
    }
    *ret_done = false;
    return PAWL__EXIT_OK;
}

static void measure(const struct pawl__cli *cli, pawl_client *client, const struct run *run,
                    int64_t duration_us, struct pawl__bench_result *result)
{
    if (run->kind == OPT_IN_FLIGHT) {
        pawl__bench_cycles(client, run->width, duration_us, result);
    } else if (run->kind == OPT_THREADS) {
        pawl__bench_threads(client, run->width, duration_us, result);
    } else {
        pawl__bench_handovers(cli->options, run->width, duration_us, result);
    }
}

static int64_t per_second(const struct pawl__bench_result *result)
{
    return result->took_us > 0 ? (int64_t)((double)result->count * 1e6 / (double)result->took_us)
                               : 0;
}

static void print_line(const struct run *run, const struct pawl__bench_result *result,
                       struct pawl__buf *out)
{
    static const char *const words[] = {"cycles, in flight", "cycles, threads",
                                        "hand-overs, contenders"};
    pawl__buf_appendf(out, "%-22s %5u %9lld/s   p50 %8lld us   p99 %8lld us\n", words[run->kind],
                      run->width, (long long)per_second(result),
                      (long long)pawl__histogram_at(&result->latency, 500),
                      (long long)pawl__histogram_at(&result->latency, 990));
}

static void write_json(const struct run *run, const struct pawl__bench_result *result,
                       struct pawl__items *list)
{
    static const char *const tests[] = {"cycles", "cycles", "handovers"};
    static const char *const widths[] = {"in_flight", "threads", "contenders"};
    struct pawl__jsonw *json = pawl__items_next(list);
    pawl__jsonw_key(json, "test");
    pawl__jsonw_str(json, tests[run->kind]);
    pawl__jsonw_key(json, widths[run->kind]);
    pawl__jsonw_int(json, run->width);
    pawl__jsonw_key(json, "count");
    pawl__jsonw_int(json, (int64_t)result->count);
    pawl__jsonw_key(json, "took_ms");
    pawl__jsonw_int(json, result->took_us / 1000);
    pawl__jsonw_key(json, "per_second");
    pawl__jsonw_int(json, per_second(result));
    pawl__jsonw_key(json, "p50_us");
    pawl__jsonw_int(json, pawl__histogram_at(&result->latency, 500));
    pawl__jsonw_key(json, "p99_us");
    pawl__jsonw_int(json, pawl__histogram_at(&result->latency, 990));
    pawl__items_end_one(list);
}

/* Table and jsonl come line by line as they are measured; json is one document at the end. */
static int run_all(struct pawl__cli *cli, pawl_client *client, const struct bench_args *args,
                   struct pawl__bench_result *result)
{
    struct pawl__buf out;
    struct pawl__items list;
    int code = PAWL__EXIT_OK;
    pawl__buf_init(&out);
    pawl__items_begin(&list, cli, &out);
    if (cli->format != PAWL__CLI_JSON) {
        pawl__buf_clear(&out);
    }
    for (size_t i = 0; i < args->run_count && code == PAWL__EXIT_OK; i++) {
        memset(result, 0, sizeof(*result));
        measure(cli, client, &args->runs[i], args->seconds * 1000000, result);
        if (result->status != PAWL_OK) {
            code =
                pawl__cli_fail(cli, pawl__exit_from_status(result->status), "%s", result->message);
        } else if (cli->format == PAWL__CLI_TABLE) {
            print_line(&args->runs[i], result, &out);
        } else {
            write_json(&args->runs[i], result, &list);
        }
        if (code == PAWL__EXIT_OK && cli->format != PAWL__CLI_JSON) {
            code = pawl__output_write(cli, &out);
            pawl__buf_clear(&out);
        }
    }
    if (code == PAWL__EXIT_OK && cli->format == PAWL__CLI_JSON) {
        pawl__items_end(&list);
        code = pawl__output_write(cli, &out);
    }
    pawl__buf_release(&out);
    return code;
}

static int run_bench(struct pawl__cli *cli, int argc, char **argv)
{
    struct bench_args args = {.seconds = 2};
    bool done = false;
    int code = parse(cli, argc, argv, &args, &done);
    if (done) {
        return code;
    }
    struct pawl__bench_result *result = pawl__alloc(sizeof(*result));
    if (result == NULL) {
        return pawl__cli_fail(cli, PAWL__EXIT_INTERNAL, "out of memory");
    }
    pawl_client *client = NULL;
    code = pawl__cli_open(cli, &client);
    if (code == PAWL__EXIT_OK) {
        code = run_all(cli, client, &args, result);
        /* All was released or has failed; the rest ends with the session. */
        (void)pawl_client_close(client, pawl__cli_option_ms(cli, "request_timeout", 5000), NULL);
    }
    pawl__free(result);
    return code;
}

const struct pawl__cli_command pawl__cli_bench = {
    .name = "bench",
    .summary = "how many locks a second the store gives",
    .help = bench_help,
    .run = run_bench,
};
