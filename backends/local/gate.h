/* The gate: one writer at a time among all processes, in the order in which they came. */
#ifndef PAWL_BACKENDS_LOCAL_GATE_H
#define PAWL_BACKENDS_LOCAL_GATE_H

#include <stdint.h>

#include "backends/local/dir.h"

/* Opens the gate file of `dir`; -1 with errno. The descriptor is the caller's. */
int pawl__local_gate_open(const struct pawl__local_dir *dir);

/* Waits without a bound: for a thread of our own only. 0, ESTALE (the file was replaced: open it
 * again) or another errno. */
int pawl__local_gate_enter(int fd, const struct pawl__local_dir *dir);

/* Waits at most `timeout_ms`; ETIMEDOUT. */
int pawl__local_gate_enter_timed(int fd, const struct pawl__local_dir *dir, int64_t timeout_ms);

void pawl__local_gate_leave(int fd);

/* The mark: the next number of store `store_id`, written beside the database before each commit
 * that gives numbers. It outlives the process, not a power loss (that is what the reserved block is
 * for): so numbers do not go back either when someone removes the WAL, or puts back an older
 * database file. Gate held for both. 0: there is none, or it is of another store. */
uint64_t pawl__local_gate_mark(int fd, const char *store_id);

/* 0 or an errno. */
int pawl__local_gate_set_mark(int fd, const char *store_id, uint64_t next);

#endif
