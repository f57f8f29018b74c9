/* pawl lock, in three parts: acquire.c waits for the lock, then run.c runs CMD under it or keep.c
 * holds it without one. */
#ifndef PAWL_CLI_LOCK_H
#define PAWL_CLI_LOCK_H

#include "cli/cli.h"
#include "cli/signals.h"

/* The command line of pawl lock. Pointers are borrowed from argv. */
struct pawl__lock_args {
    char **names;
    int name_count;
    int64_t wait_ms;
    const char *reason;
    int busy_code; /* in place of 75 */
    bool close_fd;
    char **command; /* NULL = hold until a signal */
};

/* One run of pawl lock. Main thread only. */
struct pawl__lock_job {
    struct pawl__cli *cli;              /* borrowed */
    const struct pawl__lock_args *args; /* borrowed */
    pawl_client *client;                /* owned by lock.c */
    pawl_hold *hold;                    /* owned by lock.c; NULL until granted */
    struct pawl__signals signals;
};

/* Waits for the lock. 0 and job->hold is set, or an exit code (which -E can make 0, without a
 * hold); what went wrong is printed. A signal that ends programs cancels, and the code is then
 * 128+N. */
int pawl__lock_acquire(struct pawl__lock_job *job);

/* Prints the JSON line and holds until a signal, the end of a piped stdin, or a loss. */
int pawl__lock_keep(struct pawl__lock_job *job);

/* Runs CMD and returns the exit code of the whole. */
int pawl__lock_run(struct pawl__lock_job *job);

/* Registers for changes of the hold, so that the client's descriptor wakes the loop; the loop then
 * asks the hold itself. Returns an exit code. */
int pawl__lock_watch(struct pawl__lock_job *job);

/* Says on stderr that the lock is lost, and why. */
void pawl__lock_report_loss(const struct pawl__lock_job *job);

#endif
