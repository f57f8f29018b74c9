/* One run of a plan: pure cores as clients of a simulated world, and an oracle that checks what is
 * promised after every step. run.c moves time and applies the plan, client.c drives the cores,
 * oracle.c knows what is true. */
#ifndef PAWL_TEST_SIM_RUN_H
#define PAWL_TEST_SIM_RUN_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/sim/sim.h"
#include "base/rand.h"
#include "core/core.h"
#include "plan.h"

#define NEVER INT64_MAX

enum call_state {
    CALL_PENDING = 1, /* no answer yet */
    CALL_HELD,        /* granted; `hold` says more */
    CALL_OVER,
};

/* Something a caller asked a core for. Times are the world's. */
struct call {
    uint64_t id;
    unsigned client;
    unsigned life;                   /* of the client: calls die with the process */
    enum pawl__core_event_kind kind; /* ACQUIRE, BREAK, INSPECT */
    enum call_state state;
    pawl_hold_state_value hold;
    uint64_t names; /* bit set */
    enum pawl__mode mode;
    uint64_t attempt;
    uint64_t number;
    uint64_t session;
    int64_t deadline_ms; /* NEVER = waits for ever */
    int64_t hold_ms;
    int64_t release_ms; /* when the caller gives it back; NEVER = not held */
    bool is_forever;
    bool is_try;
    bool canceled;
    bool released;
    bool
        excused; /* P3 is not promised for this hold: its session was killed, it was broken --now */
};

#define LEASES_MAX 64

/* What a reader of a core's leases knows. */
struct lease {
    uint64_t session;
    struct pawl__boot deadline; /* by the client's clock; PAWL__BOOT_NONE = dead */
};

struct client {
    struct run *run;
    unsigned index;
    unsigned life;
    struct pawl__core *core; /* NULL = the process does not run */
    struct pawl__backend *backend;
    struct pawl__backend_host host;
    struct pawl__sim_endpoint *endpoint;
    struct pawl__rand rand;
    int64_t clock_offset_ms;           /* each machine counts from its own boot */
    struct pawl__backend_event *inbox; /* owned; oldest first */
    struct pawl__backend_event **inbox_end;
    struct lease leases[LEASES_MAX];
    size_t lease_count;
    bool closing;
    bool closed; /* told; to be taken down after the step */
    int64_t close_deadline_ms;
    int64_t restart_ms;
    int64_t resumed_ms; /* when it last went on after standing still */
    /* Ends of faults; NEVER = not in force. */
    int64_t paused_ms;
    int64_t cut_ms;
    int64_t mute_ms;
    int64_t net_ms;
    enum plan_net net;
};

/* A write to a fenced resource, under way. */
struct fenced_write {
    int64_t at_ms;
    unsigned name;
    uint64_t token;
};

/* What the oracle knows of a lock, from the store's own order. */
struct lock_truth {
    uint64_t granted[PAWL__MODE_COUNT]; /* highest number granted in the store, a mode */
    uint64_t told[PAWL__MODE_COUNT];    /* highest number that a client was told, a mode */
    uint64_t mark;                      /* of the fenced resource */
    uint64_t last_writer;               /* place in the grant order of the last accepted write */
};

/* Place of a number in the order of grants in the store. */
struct grant {
    unsigned name;
    uint64_t number;
    enum pawl__mode mode;
    uint64_t place;
};

struct numbers {
    uint64_t *items; /* owned */
    size_t count;
};

struct oracle {
    struct lock_truth locks[PLAN_NAMES_MAX];
    struct grant *grants; /* owned */
    size_t grant_count;
    struct numbers broken_now; /* numbers for which --now was asked: P3 is given up for them */
    struct numbers broken;     /* numbers for which any break was asked */
    struct numbers killed;     /* sessions ended before their ttl */
    bool restored;             /* the store went back: only P5 is promised from here */
};

struct run_stats {
    uint64_t steps;
    uint64_t calls;
    uint64_t grants;
    uint64_t lost;
    uint64_t went_back; /* calls that were told E_STORE */
};

struct run {
    const struct plan *plan;
    struct pawl__sim_world *world;
    struct pawl__rand rand; /* choices of the run itself: not of the plan, the net or the clients */
    struct client clients[PLAN_CLIENTS_MAX];
    struct call *calls; /* owned */
    size_t call_count;
    size_t calls_open;           /* index below which all calls are over */
    struct fenced_write *writes; /* owned */
    size_t write_count;
    struct oracle oracle;
    size_t next_item;
    int64_t down_ms;    /* the store comes up; NEVER = it is up */
    bool healing;       /* the plan is over, everything is repaired */
    unsigned steps_now; /* steps at this moment of time: bounded */
    FILE *trace;        /* borrowed; NULL = quiet */
    struct run_stats stats;
    char failure[512]; /* "" = none so far; begins with the promise, "P3: ..." */
};

/* Plays `plan`. True if every promise was kept; else `ret_failure` (of 512 bytes) says which was
 * not. A broken PAWL_INVARIANT is a failure as well. `trace` may be NULL. */
bool run_plan(const struct plan *plan, FILE *trace, struct run_stats *stats, char *ret_failure);

/* ---- Shared by the files of a run ---------------------------------------------------------------
 */

/* Notes the first failure: the run ends after this step. */
void run_fail(struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));
void run_trace(struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));
int64_t run_now(const struct run *run);
const char *run_name(unsigned name);
struct call *run_new_call(struct run *run, unsigned client, enum pawl__core_event_kind kind);

struct pawl__boot client_clock(const struct client *client);
void client_start(struct run *run, unsigned index);
void client_free(struct client *client);
void client_crash(struct client *client);
bool client_runs(const struct client *client); /* the process is there and not stopped */
/* Hands everything that is due to the core: events, time. */
void client_step(struct client *client);
void client_acquire(struct client *client, const struct plan_item *item);
void client_cancel(struct client *client, struct call *call);
void client_release(struct client *client, struct call *call);
void client_break(struct client *client, unsigned name, uint64_t number, bool now);
void client_inspect(struct client *client, int64_t name);
void client_close(struct client *client, int64_t timeout_ms);
/* When the core wants the next tick, in the world's time. */
int64_t client_next(const struct client *client);
/* What the caller is told now if it asks whether `call` is held: no network, its own clock alone.
 */
bool client_believes(const struct run *run, const struct call *call);

void oracle_init(struct run *run);
void oracle_release(struct run *run);
struct pawl__sim_observer oracle_observer(struct run *run);
void oracle_granted(struct run *run, struct call *call);
void oracle_failed(struct run *run, const struct call *call, pawl_status status);
void oracle_lost(struct run *run, const struct call *call);
void oracle_lease_dead(struct run *run, const struct client *client, const struct lease *lease);
void oracle_closed(struct run *run, const struct client *client, pawl_status status);
void oracle_write_arrives(struct run *run, const struct fenced_write *write);
/* After every step: P1, P3, P5. */
void oracle_check(struct run *run);
/* When everything has come to rest: P6. */
void oracle_check_rest(struct run *run);
void oracle_note(struct numbers *set, uint64_t number);
bool oracle_has(const struct numbers *set, uint64_t number);

#endif
