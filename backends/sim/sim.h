/* The simulated world: one store, virtual time, a network that delays, loses and repeats, and the
 * client ends of it (endpoints), each of which is opened as a backend. One thread. Everything that
 * happens follows from the seed and the calls.
 *
 * A request becomes a message that reaches the store after a delay and is executed there at that
 * moment; its answer travels back. After request_timeout the endpoint answers E_UNKNOWN by itself,
 * as a real one would, and the message may still land later. */
#ifndef PAWL_BACKENDS_SIM_SIM_H
#define PAWL_BACKENDS_SIM_SIM_H

#include <stdbool.h>
#include <stdint.h>

#include "backends/backend.h"
#include "backends/sim/store.h"

struct pawl__sim_world;
struct pawl__sim_endpoint;

/* Opened with settings.context = a struct pawl__sim_endpoint. */
extern const struct pawl__backend_ops pawl__sim_ops;

/* What the network does to an endpoint's messages. Chances in percent of the messages. */
struct pawl__sim_net {
    int64_t delay_min_ms; /* of one way */
    int64_t delay_max_ms;
    int64_t slow_max_ms; /* of a slow message */
    unsigned slow;
    unsigned lose_request; /* never executed; answered E_UNKNOWN in the end */
    unsigned lose_reply;   /* executed; answered E_UNKNOWN in the end */
    unsigned late;         /* lands after it was answered E_UNKNOWN */
    unsigned duplicate;    /* executed twice */
    unsigned refuse;       /* answered E_UNAVAILABLE at once, nothing is sent */
    unsigned lose_hint;
    unsigned repeat_hint;
};

/* What the runner is told, in the store's order; see struct pawl__sim_observer. */
struct pawl__sim_world *pawl__sim_world_new(uint64_t seed,
                                            const struct pawl__sim_observer *observer);
/* All backends must be closed. */
void pawl__sim_world_free(struct pawl__sim_world *world);

/* Virtual milliseconds since the start of the world; not 0. */
int64_t pawl__sim_now(const struct pawl__sim_world *world);

/* When the next thing happens by itself; INT64_MAX = never. */
int64_t pawl__sim_next(const struct pawl__sim_world *world);

/* Lets time pass up to `to_ms`, which must not be after pawl__sim_next(). */
void pawl__sim_advance(struct pawl__sim_world *world, int64_t to_ms);

/* Goes to the next thing that happens and lets it happen; false if there is none. May post to the
 * hosts of the endpoints. */
bool pawl__sim_step(struct pawl__sim_world *world);

const struct pawl__sim_store *pawl__sim_store(const struct pawl__sim_world *world);

/* A new client end. It belongs to the world; numbered from 0. `net` is copied. */
struct pawl__sim_endpoint *pawl__sim_join(struct pawl__sim_world *world,
                                          const struct pawl__sim_net *net);
unsigned pawl__sim_endpoint_index(const struct pawl__sim_endpoint *endpoint);
void pawl__sim_set_net(struct pawl__sim_endpoint *endpoint, const struct pawl__sim_net *net);

/* ---- Faults ------------------------------------------------------------------------------------
 */

/* Holds all messages of the endpoint, both ways, until it is healed. */
void pawl__sim_partition(struct pawl__sim_endpoint *endpoint, bool cut);

/* Ends a session that is there before its ttl: what an operator can do. P3 cannot hold for it. */
void pawl__sim_kill_session(struct pawl__sim_world *world, uint64_t session);

/* The store loses all messages under way, in both directions, and all watches; nothing is executed
 * until it is up again. Then every session gets its whole ttl once more. */
void pawl__sim_store_down(struct pawl__sim_world *world);
void pawl__sim_store_up(struct pawl__sim_world *world);

/* Keeps a copy of the state; goes back to it, losing all messages under way. An endpoint that has
 * seen a later number answers E_STORE from then on. */
void pawl__sim_store_save(struct pawl__sim_world *world);
void pawl__sim_store_restore(struct pawl__sim_world *world);

#endif
