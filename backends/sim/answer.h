/* Between store.c, which keeps the state, and answer.c, which executes requests on it. */
#ifndef PAWL_BACKENDS_SIM_ANSWER_H
#define PAWL_BACKENDS_SIM_ANSWER_H

#include "backends/sim/store.h"

/* Behind all others: `number` must be the highest. Copies the payload. */
void pawl__sim_store_add_entry(struct pawl__sim_store *store, const char *name,
                               const struct pawl__sim_entry *entry);
void pawl__sim_store_remove_entry(struct pawl__sim_store *store, struct pawl__sim_queue *queue,
                                  size_t index, enum pawl__sim_cause cause);
void pawl__sim_store_hint_session(struct pawl__sim_store *store,
                                  const struct pawl__sim_session *session);

/* No request of `attempt` with this floor or a lower one makes an entry any more. */
void pawl__sim_store_end_attempt(struct pawl__sim_session *session, uint64_t attempt,
                                 uint64_t floor);

/* A session that was closed or ended is never made again, whatever lands late. */
bool pawl__sim_store_session_is_over(const struct pawl__sim_store *store, uint64_t session);
void pawl__sim_store_forbid_session(struct pawl__sim_store *store, uint64_t session);

#endif
