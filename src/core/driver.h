/* Executes the actions of a core: those for the backend against it, the others by a sink. */
#ifndef PAWL_CORE_DRIVER_H
#define PAWL_CORE_DRIVER_H

#include "core/core.h"

/* Gets the actions that are not for the backend. What the action points to is borrowed for the
 * call. Must not step the core. */
typedef void (*pawl__sink_fn)(void *ctx, const struct pawl__core_action *action);

/* Drains the actions of `core`; ops that the backend cannot start are given back to the core at
 * once. */
void pawl__driver_run(struct pawl__core *core, struct pawl__boot now, struct pawl__backend *backend,
                      pawl__sink_fn sink, void *ctx);

#endif
