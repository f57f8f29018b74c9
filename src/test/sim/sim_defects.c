/* Proof that the simulator can find faults: each planted defect must be found, within three minutes
 * together, and the same seeds must pass without it. */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "defects.h"
#include "run.h"
#include "tap.h"

#define LIMIT_S 180
#define FIRST   UINT64_C(1000000)

static double now_s(void)
{
    struct timespec ts;

    (void)clock_gettime(CLOCK_MONOTONIC, &ts); /* Cannot fail. */
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* Seeds tried until `defect` showed; 0 = it did not before `until`. */
static uint64_t find_defect(double until, char *ret_failure)
{
    static struct plan plan;
    struct run_stats stats = {0};

    for (uint64_t i = 0; now_s() < until; i++) {
        plan_make(&plan, FIRST + i);
        if (!run_plan(&plan, NULL, &stats, ret_failure)) {
            return i + 1;
        }
    }
    return 0;
}

int main(void)
{
    static struct plan plan;
    struct run_stats stats = {0};
    char failure[512] = "";
    double start = now_s();
    uint64_t most = 0;

    for (unsigned i = 0; defect_name(i) != NULL; i++) {
        double from = now_s();
        bool is_on = defect_choose(defect_name(i));
        uint64_t tried = is_on ? find_defect(start + LIMIT_S, failure) : 0;
        (void)tap_case(tried > 0, "%s is found", defect_name(i));
        if (tried > 0) {
            tap_note("in %" PRIu64 " schedules, %.2f s: %s", tried, now_s() - from, failure);
        }
        most = tried > most ? tried : most;
    }
    tap_note("all together %.1f s", now_s() - start);
    /* What was found must be the defect, not the seed. */
    bool passed = defect_choose("none");
    for (uint64_t i = 0; passed && i < most; i++) {
        plan_make(&plan, FIRST + i);
        passed = run_plan(&plan, NULL, &stats, failure);
    }
    (void)tap_case(passed, "the same seeds pass without a defect");
    if (!passed) {
        tap_note("seed %" PRIu64 ": %s", plan.seed, failure);
    }
    return tap_done();
}
