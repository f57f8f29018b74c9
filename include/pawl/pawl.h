/* Pawl: locks, fencing tokens and prompt versions that only move forward.
 *
 * Threads. One pawl_client a process, shared by all threads. Objects that the caller builds
 * (options, requests, errors) are used by one thread at a time; objects that the library hands out
 * (clients, pendings, holds, snapshots) by any. No function of the library holds a lock while it
 * runs a callback, and no callback runs unless the host calls pawl_dispatch() or asked for a thread
 * by pawl_client_start_dispatch().
 *
 * Ownership. What a function returns through `ret_x` is owned by the caller and has a `_free` of
 * its own, unless the comment says borrowed. `ret_x` is written on success only. Arguments are
 * borrowed for the call and copied when they must live longer. Every `_free` takes NULL.
 *
 * Time. Durations are int64_t milliseconds. Deadlines of holds run on CLOCK_BOOTTIME, which counts
 * suspend; waits on CLOCK_MONOTONIC; the wall clock is shown to people and decides nothing.
 *
 * Failure. `pawl_status` first, details in a caller-owned `pawl_error`, last argument, may be NULL.
 */
#ifndef PAWL_PAWL_H
#define PAWL_PAWL_H

#include <pawl/client.h>
#include <pawl/export.h>
#include <pawl/lock.h>
#include <pawl/observe.h>
#include <pawl/options.h>
#include <pawl/status.h>
#include <pawl/version.h>

#endif
