/* CMD as a process: its environment, its start in a group of its own, signals to it, its end. Knows
 * nothing of locks. */
#ifndef PAWL_CLI_CHILD_H
#define PAWL_CLI_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "cli/signals.h"
#include "cli/term.h"

struct pawl__child {
    pid_t pid; /* also the id of its process group; 0 = not started */
    struct pawl__term_loan loan;
    bool ended;
    int wait_status; /* once it ended */
};

/* The environment of this process with `count` of its variables replaced, "NAME=value" each; NULL
 * when memory is out. One block: pawl__free() it. `extra` is borrowed for its life. */
char **pawl__child_environment(const char *const *extra, size_t count);

/* Starts `command`. `keep_fd` (-1 = none) is the one descriptor that it inherits beyond those it
 * would have anyway. Main thread only: the child dies with the *thread* that made it. false with
 * errno when no process could be made; a command that cannot be run says so itself and ends with
 * 126 or 127. */
bool pawl__child_start(struct pawl__child *child, char **command, char **environment, int keep_fd,
                       const struct pawl__signals *signals);

/* Sends `number` to its group; with the leader gone the rest of the group still gets it. */
void pawl__child_signal(const struct pawl__child *child, int number);

/* After SIGCHLD: notes its end. If it stopped while it had the terminal, stops us as well, as a
 * shell expects of a job, and returns when we were continued; call pawl__child_continue() then. */
bool pawl__child_reap(struct pawl__child *child);

/* Lets a stopped group go on, in the foreground if we have it to give. */
void pawl__child_continue(struct pawl__child *child);

/* Its exit code as a shell tells it: the code, or 128+N. */
int pawl__child_code(const struct pawl__child *child);

#endif
