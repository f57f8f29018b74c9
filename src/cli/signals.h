/* Signals as data: blocked, and read from a descriptor by the one loop of the main thread. */
#ifndef PAWL_CLI_SIGNALS_H
#define PAWL_CLI_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

struct pawl__signals {
    int fd; /* owned; readable when a signal came */
    sigset_t handled;
    sigset_t old_mask;
    struct sigaction old_pipe;
    struct sigaction old_child;
};

/* Before the first thread of the library starts, so that all of them inherit the mask. Signals that
 * our caller ignores (nohup, jobs in the background of a script) stay ignored. false with errno. */
bool pawl__signals_open(struct pawl__signals *signals);

/* The next signal that came, 0 if none. Does not block. */
int pawl__signals_next(struct pawl__signals *signals);

/* In the child, before exec: mask and dispositions as our caller gave them to us.
 * Async-signal-safe; writes to no memory. */
void pawl__signals_restore(const struct pawl__signals *signals);

void pawl__signals_close(struct pawl__signals *signals);

/* Whether `number` asks us to end: all that would by default, and that we do not merely note. */
bool pawl__signals_is_end(int number);

/* Stops this process as a shell's job control expects, until it is continued. */
void pawl__signals_stop_self(void);

#endif
