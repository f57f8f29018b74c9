/* Inside of the simulated world: what world.c (time, store, network) and endpoint.c (the client
 * end) share. */
#ifndef PAWL_BACKENDS_SIM_WORLD_H
#define PAWL_BACKENDS_SIM_WORLD_H

#include "backends/sim/sim.h"
#include "base/rand.h"
#include "base/table.h"

enum pawl__sim_message_kind {
    PAWL__SIM_REQUEST = 1, /* to the store */
    PAWL__SIM_REPLY,       /* to the endpoint: an answer */
    PAWL__SIM_HINT,        /* to the endpoint */
    PAWL__SIM_WATCH,       /* to the store: watch, or unwatch without a name */
    PAWL__SIM_TIMEOUT,     /* of the endpoint's own clock: op */
    PAWL__SIM_REFUSAL,     /* the endpoint could not send: op */
    PAWL__SIM_EXPIRY,      /* of the store's own clock: session */
};

/* Anything that happens at a time. Owned by the heap of the world until it happens. */
struct pawl__sim_message {
    int64_t at_ms;
    uint64_t seq; /* order of what happens at the same time */
    enum pawl__sim_message_kind kind;
    unsigned client;
    uint64_t era;                     /* the store's, when it was sent: lost with the store */
    struct pawl__boot sent;           /* by the endpoint's clock */
    uint64_t number_seen;             /* highest number that the endpoint knew when it sent */
    struct pawl__sim_request request; /* REQUEST, WATCH: owns what it points to. REPLY: what is to
                                         be sent again, if below the floor. Else: op alone */
    struct pawl__sim_result result;   /* REPLY; HINT: the event alone. Owns the event */
    uint64_t store_number;            /* REPLY: of the store when it answered */
    uint64_t detail;                  /* WATCH: number; EXPIRY: session */
};

/* An op that the endpoint owes an answer. */
struct pawl__sim_op {
    enum pawl__backend_event_kind kind;
    uint64_t session;
};

struct pawl__sim_endpoint {
    struct pawl__sim_world *world; /* borrowed */
    unsigned index;
    struct pawl__sim_net net;
    struct pawl__rand rand;
    const struct pawl__backend_host *host; /* NULL when not open */
    int64_t request_timeout_ms;
    struct pawl__table ops; /* op -> struct pawl__sim_op, owned */
    uint64_t floor;         /* raised by every settling look */
    uint64_t number_seen;
    bool is_cut;
    struct pawl__sim_message **held; /* owned: what waits for the end of the partition */
    size_t held_count;
};

struct pawl__sim_world {
    int64_t now_ms;
    uint64_t seq;
    struct pawl__rand rand;
    struct pawl__sim_message **heap; /* owned */
    size_t heap_len;
    struct pawl__sim_endpoint **endpoints; /* owned */
    size_t endpoint_count;
    struct pawl__sim_store store;
    struct pawl__sim_store saved;
    bool has_saved;
    bool is_down;
    uint64_t era; /* raised when messages under way are lost */
};

/* Takes ownership; happens after `delay_ms`. */
void pawl__sim_schedule(struct pawl__sim_world *world, struct pawl__sim_message *message,
                        int64_t delay_ms);
struct pawl__sim_message *pawl__sim_message_new(enum pawl__sim_message_kind kind, unsigned client);
void pawl__sim_message_free(struct pawl__sim_message *message);

/* Deep copies and what frees them. */
struct pawl__sim_request pawl__sim_request_copy(const struct pawl__sim_request *request);
void pawl__sim_request_release(struct pawl__sim_request *request);

/* What arrives at the endpoint. */
void pawl__sim_endpoint_reply(struct pawl__sim_endpoint *endpoint,
                              struct pawl__sim_message *message);
void pawl__sim_endpoint_hint(struct pawl__sim_endpoint *endpoint,
                             struct pawl__sim_message *message);
/* status: E_UNKNOWN for a timeout, E_UNAVAILABLE for a refusal. */
void pawl__sim_endpoint_give_up(struct pawl__sim_endpoint *endpoint, uint64_t op,
                                pawl_status status);
void pawl__sim_endpoint_forget_ops(struct pawl__sim_endpoint *endpoint);

/* One way of a message of this endpoint. */
int64_t pawl__sim_draw_delay(struct pawl__sim_endpoint *endpoint);
bool pawl__sim_draw(struct pawl__sim_endpoint *endpoint, unsigned percent);

#endif
