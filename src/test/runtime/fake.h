/* A small store in this process, for tests of the runtime: correct by default, and it can be told
 * to stop answering, to hang inside a member, or to fail ops. Its URL is "fake:". One a process. */
#ifndef PAWL_TEST_RUNTIME_FAKE_H
#define PAWL_TEST_RUNTIME_FAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/backend.h"

/* Registers it as scheme "fake". Once, before the first client. */
void fake_install(void);

/* While paused, ops are taken and no answer comes: a store that is black-holed. */
void fake_pause(bool is_paused);

/* While stalled, every member blocks: the owner thread hangs in it. */
void fake_stall(bool is_stalled);

/* Waits until a thread hangs in a member. */
void fake_wait_for_stalled(void);

/* From now on ops that are answered by events of `kind` fail with `status`; PAWL_OK = no more. */
void fake_fail(enum pawl__backend_event_kind kind, pawl_status status);

/* Waits until `count` ops answered by `kind` were taken since the start of the program. */
void fake_wait_for_ops(enum pawl__backend_event_kind kind, size_t count);
size_t fake_ops(enum pawl__backend_event_kind kind);

/* What is in the store. */
size_t fake_entries(void);
size_t fake_sessions(void);

/* Ends all sessions in the store, with their entries, as if their ttl were over. */
void fake_expire_sessions(void);

/* Adds an entry of a stranger, as `owner`, at the end of the queue of `name`; returns its number.
 */
uint64_t fake_add_stranger(const char *name, const char *owner, int64_t since_ms);
void fake_remove_stranger(uint64_t number);

#endif
