/* The simulator in the test suite: the plans that once failed, then a fixed number of new ones.
 * `--full` plays a hundred times as many. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"
#include "shrink.h"
#include "tap.h"

#define SEEDS_PER_CASE 500
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CASES 4 /* ten to twenty times as slow */
#else
#define CASES 20
#endif
#define CASES_FULL 2000

/* Plays the seeds; one case. */
static bool play_seeds(uint64_t first, uint64_t count, struct run_stats *stats)
{
    static struct plan plan;
    char failure[512] = "";

    for (uint64_t seed = first; seed < first + count; seed++) {
        plan_make(&plan, seed);
        if (!run_plan(&plan, NULL, stats, failure)) {
            (void)tap_case(false, "seed %" PRIu64 ": %s", seed, failure);
            (void)shrink_plan(&plan, failure, 2000);
            plan_print(&plan, stderr);
            return false;
        }
    }
    return tap_case(true, "every promise is kept in seeds %" PRIu64 " to %" PRIu64, first,
                    first + count - 1);
}

/* The plans of SEEDS_FILE; one case each. */
static void play_found(struct run_stats *stats)
{
    static struct plan plan;
    char failure[512] = "";
    int line = 0;
    int read = 0;
    FILE *file = fopen(SEEDS_FILE, "re");

    (void)tap_case(file != NULL, "the list of found plans can be read");
    if (file == NULL) {
        return;
    }
    while (plan_read(&plan, file, &line)) {
        bool passed = run_plan(&plan, NULL, stats, failure);
        (void)tap_case(passed, "found plan %d, seed %" PRIu64 " %s", ++read, plan.seed, failure);
    }
    (void)tap_case(feof(file) != 0, "all of the list was read, after plan %d", read);
    (void)fclose(file); /* Read only. */
}

/* The plan as text, to be freed; NULL if there is no memory. */
static char *text_of(const struct plan *plan)
{
    char *text = NULL;
    size_t len = 0;
    FILE *file = open_memstream(&text, &len);

    if (file != NULL) {
        plan_print(plan, file);
        (void)fclose(file); /* In memory: text is NULL if it failed. */
    }
    return text;
}

/* Both as text and as what it does, or a member that is not printed would not be missed. */
static bool plan_survives_text(const struct plan *plan)
{
    static struct plan read;
    static struct run_stats stats[2];
    char failure[512];
    bool is_same = false;
    int line = 0;
    char *text = text_of(plan);
    FILE *file = text == NULL ? NULL : fmemopen(text, strlen(text), "r");

    if (file != NULL) {
        if (plan_read(&read, file, &line)) {
            char *again = text_of(&read);
            (void)run_plan(plan, NULL, &stats[0], failure);
            (void)run_plan(&read, NULL, &stats[1], failure);
            is_same = again != NULL && strcmp(text, again) == 0 &&
                      memcmp(&stats[0], &stats[1], sizeof(stats[0])) == 0;
            free(again);
        }
        (void)fclose(file); /* Read only. */
    }
    free(text);
    return is_same;
}

/* A failure can be played again only if a seed is always the same run, and a plan its text. */
static void check_repeats(void)
{
    static struct plan plan;
    static struct run_stats stats[2];
    char failure[512];

    for (uint64_t seed = 1; seed <= 20; seed++) {
        for (int i = 0; i < 2; i++) {
            plan_make(&plan, seed);
            (void)run_plan(&plan, NULL, &stats[i], failure);
        }
    }
    (void)tap_case(memcmp(&stats[0], &stats[1], sizeof(stats[0])) == 0,
                   "the same seeds are the same runs");
    (void)tap_case(plan_survives_text(&plan), "a plan is the same after printing and reading");
}

/* A store that went back to an older state is an error that the user sees: what was held is LOST,
 * and the next request is told. */
static void check_restore(void)
{
    static const struct plan plan = {
        .seed = 1,
        .clients = 1,
        .names = 1,
        .ttl_ms = 4000,
        .count = 4,
        .items = {{.at_ms = 0, .kind = PLAN_SAVE},
                  {.at_ms = 10, .kind = PLAN_ACQUIRE, .a = 1, .b = -1, .c = 60000},
                  {.at_ms = 500, .kind = PLAN_RESTORE},
                  {.at_ms = 600, .kind = PLAN_ACQUIRE, .a = 1, .b = -1}},
    };
    struct run_stats stats = {0};
    char failure[512];

    bool passed = run_plan(&plan, NULL, &stats, failure);
    (void)tap_case(passed && stats.lost == 1 && stats.went_back == 1,
                   "a store that went back is told: %s", failure);
}

int main(int argc, char **argv)
{
    struct run_stats stats = {0};
    unsigned cases = argc > 1 && strcmp(argv[1], "--full") == 0 ? CASES_FULL : CASES;

    check_repeats();
    check_restore();
    play_found(&stats);
    for (unsigned i = 0; i < cases; i++) {
        if (!play_seeds(1 + (uint64_t)i * SEEDS_PER_CASE, SEEDS_PER_CASE, &stats)) {
            break; /* One shrunk plan is enough to read. */
        }
    }
    tap_note("%" PRIu64 " steps, %" PRIu64 " calls, %" PRIu64 " grants, %" PRIu64 " lost",
             stats.steps, stats.calls, stats.grants, stats.lost);
    /* A simulator in which nothing happens would keep every promise. */
    (void)tap_case(stats.grants > stats.calls / 4, "at least one call in four was granted");
    (void)tap_case(stats.lost > 0, "holds were lost");
    return tap_done();
}
