/* What stands in the queues, for people: the public pawl_snapshot. */
#ifndef PAWL_CORE_SNAPSHOT_H
#define PAWL_CORE_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>

#include "backends/backend.h"
#include <pawl/observe.h>

/* Takes over `entries` with their strings on success; NULL when memory is out. `now_ms` is wall
 * time.
 */
pawl_snapshot *pawl__snapshot_new(struct pawl__entry_info *entries, size_t count, int64_t now_ms);

#endif
