/* The simulator as a command: many seeds, one seed, or one plan.
 *
 *   sim_run [--seed N] [--schedules K] [--minutes M] [--defect NAME] [--plan FILE] [-v]
 * [--no-shrink]
 *
 * Exit code 0: every promise was kept; 1: one was not, and the shortest plan that shows it is
 * printed with the command that plays it again; 64: usage. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/defect.h"
#include "defects.h"
#include "run.h"
#include "shrink.h"

struct arguments {
    uint64_t seed;
    uint64_t schedules;
    double minutes; /* 0 = not bounded by time */
    const char *plan;
    const char *defect;
    bool verbose;
    bool shrinks;
};

static double now_s(void)
{
    struct timespec ts;

    (void)clock_gettime(CLOCK_MONOTONIC, &ts); /* Cannot fail. */
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static int refuse(const char *what, const char *value)
{
    fprintf(stderr,
            "sim_run: %s '%s'\n"
            "usage: sim_run [--seed N] [--schedules K] [--minutes M] [--defect NAME]\n"
            "               [--plan FILE] [--no-shrink] [-v]\n",
            what, value);
    return 64;
}

static bool read_number(const char *text, uint64_t *ret)
{
    char *end = NULL;

    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0') {
        return false;
    }
    *ret = value;
    return true;
}

/* 0 = go on; else the exit code. */
static int read_argument(struct arguments *arguments, const char *key, const char *value)
{
    uint64_t number = 0;

    if (strcmp(key, "--plan") == 0) {
        arguments->plan = value;
    } else if (strcmp(key, "--defect") == 0) {
        arguments->defect = value;
    } else if (!read_number(value, &number)) {
        return refuse("not a number:", value);
    } else if (strcmp(key, "--seed") == 0) {
        arguments->seed = number;
        arguments->schedules = 1;
    } else if (strcmp(key, "--schedules") == 0) {
        arguments->schedules = number;
    } else if (strcmp(key, "--minutes") == 0) {
        arguments->minutes = (double)number;
        arguments->schedules = UINT64_MAX;
    } else {
        return refuse("unknown option", key);
    }
    return 0;
}

static int read_arguments(struct arguments *arguments, int argc, char **argv)
{
    *arguments = (struct arguments){.seed = 1, .schedules = 1000, .shrinks = true};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-v") == 0) {
            arguments->verbose = true;
        } else if (strcmp(argv[i], "--no-shrink") == 0) {
            arguments->shrinks = false;
        } else if (i + 1 == argc) {
            return refuse("no value for, or unknown:", argv[i]);
        } else {
            int code = read_argument(arguments, argv[i], argv[i + 1]);
            i++;
            if (code != 0) {
                return code;
            }
        }
    }
    return 0;
}

static void report(const struct arguments *arguments, struct plan *plan, const char *failure)
{
    struct run_stats stats = {0};
    char again[512] = "";

    printf("FAILED seed %" PRIu64 ": %s\n", plan->seed, failure);
    if (arguments->shrinks) {
        unsigned tries = shrink_plan(plan, failure, 3000);
        (void)run_plan(plan, NULL, &stats, again);
        printf("shrunk in %u runs to %zu items: %s\n", tries, plan->count, again);
    }
    plan_print(plan, stdout);
    if (arguments->defect == NULL) {
        printf("# play again: sim_run --seed %" PRIu64
               " -v, or save the plan: sim_run --plan FILE -v\n",
               plan->seed);
    } else {
        printf("# play again: sim_run_defects --defect %s --seed %" PRIu64 " -v\n",
               arguments->defect, plan->seed);
    }
}

static int run_file(const struct arguments *arguments)
{
    static struct plan plan;
    struct run_stats stats = {0};
    char failure[512];
    int line = 0;
    FILE *file = fopen(arguments->plan, "re");

    if (file == NULL) {
        return refuse("cannot read", arguments->plan);
    }
    bool is_plan = plan_read(&plan, file, &line);
    (void)fclose(file); /* Read only. */
    if (!is_plan) {
        fprintf(stderr, "sim_run: %s:%d is no plan\n", arguments->plan, line);
        return 65;
    }
    if (run_plan(&plan, arguments->verbose ? stdout : NULL, &stats, failure)) {
        printf("passed, %" PRIu64 " steps\n", stats.steps);
        return 0;
    }
    printf("FAILED %s\n", failure);
    return 1;
}

static int run_seeds(const struct arguments *arguments)
{
    static struct plan plan;
    struct run_stats stats = {0};
    char failure[512];
    double start = now_s();
    uint64_t done = 0;

    while (done < arguments->schedules &&
           (arguments->minutes <= 0 || now_s() - start < 60 * arguments->minutes)) {
        plan_make(&plan, arguments->seed + done);
        if (!run_plan(&plan, arguments->verbose ? stdout : NULL, &stats, failure)) {
            report(arguments, &plan, failure);
            return 1;
        }
        done++;
    }
    double took = now_s() - start;
    printf("%" PRIu64 " schedules passed in %.1f s, %.0f a minute; %" PRIu64 " steps, %" PRIu64
           " calls, %" PRIu64 " grants, %" PRIu64 " lost\n",
           done, took, took > 0 ? 60 * (double)done / took : 0.0, stats.steps, stats.calls,
           stats.grants, stats.lost);
    return 0;
}

int main(int argc, char **argv)
{
    struct arguments arguments;
    int code = read_arguments(&arguments, argc, argv);

    if (code != 0) {
        return code;
    }
    if (arguments.defect != NULL && !defect_choose(arguments.defect)) {
        return refuse("no such defect, or none in this build:", arguments.defect);
    }
    (void)setvbuf(stdout, NULL, _IOLBF, 0); /* Else buffered as before: no harm. */
    return arguments.plan != NULL ? run_file(&arguments) : run_seeds(&arguments);
}
