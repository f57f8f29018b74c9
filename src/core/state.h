/* The state of a core, shared by the files that implement it: core.c routes, session.c, request.c,
 * breaker.c and look.c are the machines, actions.c is the way out. Nothing else includes this. */
#ifndef PAWL_CORE_STATE_H
#define PAWL_CORE_STATE_H

#include "base/list.h"
#include "base/sm.h"
#include "base/table.h"
#include "core/core.h"
#include "core/hold.h"
#include "core/lease.h"
#include "core/retry.h"
#include "core/timer.h"

/* How often a waiter looks although no hint came: first soon, to learn its position for people,
 * then rarely, as the bound behind lost hints (design.md 6, rule 4). */
#define PAWL__FIRST_POLL_MS 50
#define PAWL__POLL_MIN_MS   1000
#define PAWL__BREAK_POLL_MS 2000

/* Sessions that are over for us but may live on in the store; more than these end by their ttl. */
#define PAWL__OLD_SESSIONS_MAX 8

/* Entries swept in one renewal (design.md 6, rule 2). */
#define PAWL__SWEEP_MAX 128

/* Break marks kept for entries whose enqueue has no answer yet. */
#define PAWL__MARKS_MAX 32

/* What the caller asked for and has no answer yet, or what must still be cleaned up. */
enum pawl__call_kind {
    PAWL__CALL_REQUEST = 1,
    PAWL__CALL_BREAK,
    PAWL__CALL_INSPECT,
    PAWL__CALL_SESSION,
};

struct pawl__call {
    enum pawl__call_kind kind;
    uint64_t id;
    uint64_t op;     /* outstanding op, 0 = none; its upper bits are the id */
    uint16_t op_seq; /* last used */
    struct pawl__timer timer;
    struct pawl__boot deadline; /* of the caller */
    struct pawl__boot retry_at; /* PAWL__BOOT_NEVER = not waiting for a retry */
    struct pawl__retry retry;
    struct pawl__list link; /* in core->calls, or core->dead */
    bool over;              /* in core->dead: freed at the next step */
    char why[256];          /* text of the last action, borrowed by it */
};

/*   NEW ----> ENQUEUEING ----> WAITING ----> HELD
 *    ^          |   |             |           |
 *    |          v   +-------------+---------->+
 *    +------ SETTLING             |           |
 *    |          |                 v           v
 *    |          +------------> REMOVING ---> DONE
 *    +--- from every phase that is still wanted, when the session ends
 *
 * From every phase DONE is reached when the session ends and nobody wants the request any more. */
enum pawl__phase {
    PAWL__PHASE_NEW,        /* nothing in the store; waits for a session or a retry */
    PAWL__PHASE_ENQUEUEING, /* an enqueue is under way */
    PAWL__PHASE_SETTLING,   /* its outcome is unknown; a settling look is under way or due */
    PAWL__PHASE_WAITING,    /* in the queue behind someone */
    PAWL__PHASE_HELD,
    PAWL__PHASE_REMOVING, /* a debt: the entry is there (or may be), and must go */
    PAWL__PHASE_DONE,
};

struct pawl__request {
    struct pawl__call call;   /* first: a request is a call */
    struct pawl__want *wants; /* owned, names too */
    size_t count;
    char *payload; /* owned */
    uint64_t attempt;
    bool only_if_free;
    bool wanted;           /* the caller has no answer yet, and has not given up */
    bool look_again;       /* a hint came while a look was under way */
    bool position_known;   /* it was asked for once */
    bool debt_told;        /* DEBT was told, DEBT_PAID has to follow */
    struct pawl__sm phase; /* enum pawl__phase */
    struct pawl__sm hold;  /* pawl_hold_state_value; PAWL__HOLD_NONE before the grant */
    uint64_t number;       /* 0 = not known to be in the store */
    uint64_t watch;        /* outstanding watch, 0 = none */
    uint64_t blocker;      /* what it watches */
    struct pawl__boot poll_at;
};

/* MARKING -> WATCHING -> FORCING: see breaker.c. */
enum pawl__break_phase {
    PAWL__BREAK_MARKING,
    PAWL__BREAK_WATCHING,
    PAWL__BREAK_FORCING,
};

struct pawl__breaker {
    struct pawl__call call;
    char *name;   /* owned */
    char *reason; /* owned */
    uint64_t number;
    bool now;
    bool marked; /* the store confirmed the mark once */
    enum pawl__break_phase phase;
    uint64_t watch;
    struct pawl__boot force_at;
    pawl_status last; /* status of the last failed try */
};

struct pawl__look_call {
    struct pawl__call call;
    char *name; /* owned; NULL = all */
};

/*   NONE -> OPENING -> LIVE -> CLOSING
 *    ^         |        |        |
 *    +---------+--------+--------+   LIVE -> NONE: lost; it goes to `old` to be closed */
enum pawl__session_phase {
    PAWL__SESSION_NONE,
    PAWL__SESSION_OPENING,
    PAWL__SESSION_LIVE,
    PAWL__SESSION_CLOSING,
};

struct pawl__session {
    struct pawl__sm phase;
    uint64_t id; /* 0 in NONE */
    char name[64];
    int fd;
    struct pawl__lease lease;
    bool suspect;
    bool may_exist;    /* an open had no answer: the store may have it */
    uint64_t op;       /* open or close under way */
    uint64_t renew_op; /* renewal under way */
    struct pawl__boot renew_at;
    struct pawl__boot retry_at; /* of open or close */
    struct pawl__retry retry;
    struct pawl__timer timer;
    uint64_t sweep[PAWL__SWEEP_MAX]; /* numbers of the renewal under way */
    uint64_t marks[PAWL__MARKS_MAX]; /* marked numbers of entries not known yet */
    size_t mark_count;
};

struct pawl__old_session {
    uint64_t id; /* 0 = free slot */
    uint64_t op;
    struct pawl__boot retry_at;
    struct pawl__retry retry;
};

/* An action before it is told; the rest is looked up in `call` when it is. */
struct pawl__note {
    enum pawl__core_action_kind kind;
    struct pawl__call *call; /* NULL: the session */
    uint64_t id;             /* without a call: of a call that could not even be made */
    uint64_t op;
    uint64_t number; /* number, or session */
    struct pawl__boot deadline;
    pawl_status status;
    int detail; /* hold state, event kind, position, fd */
    bool flag;
    bool flag2;
    const char *text;
    const char *name;
    struct pawl__backend_event *event;
};

struct pawl__core {
    struct pawl__core_config config;
    char *principal; /* owned */
    struct pawl__boot now;
    struct pawl__table by_id; /* struct pawl__call */
    struct pawl__list calls;  /* all that are not over */
    struct pawl__list dead;   /* over; actions of this step may still point at them */
    struct pawl__timers timers;
    struct pawl__session session;
    struct pawl__old_session old[PAWL__OLD_SESSIONS_MAX];
    uint16_t session_op_seq;
    bool store_away; /* told as STORE_AWAY */
    bool closing;
    bool bequeath;
    bool closed;
    struct pawl__boot close_deadline;
    struct pawl__timer close_timer;
    struct pawl__note *notes; /* owned; [note_next, note_len) are to be told */
    size_t note_len;
    size_t note_next;
    size_t note_cap;
    struct pawl__core_action action; /* the one told last */
    char text[256];                  /* of session events */
    char away_text[300];             /* of STORE_AWAY */
};

static inline struct pawl__request *pawl__request_of(struct pawl__call *call)
{
    PAWL_INVARIANT(call->kind == PAWL__CALL_REQUEST);
    return (struct pawl__request *)call;
}

static inline enum pawl__phase pawl__request_phase(const struct pawl__request *request)
{
    return (enum pawl__phase)pawl__sm_state(&request->phase);
}

static inline bool pawl__request_is_held(const struct pawl__request *request)
{
    int hold = pawl__sm_state(&request->hold);
    return hold == PAWL_HOLD_HELD || hold == PAWL_HOLD_SUSPECT;
}

static inline bool pawl__session_is_live(const struct pawl__core *core)
{
    return pawl__sm_state(&core->session.phase) == PAWL__SESSION_LIVE;
}

/* May succeed later without anybody changing anything. */
static inline bool pawl__status_is_passing(pawl_status status)
{
    return status == PAWL_E_UNAVAILABLE || status == PAWL_E_UNKNOWN || status == PAWL_E_NOMEM ||
           status == PAWL_E_BUSY;
}

/* actions.c: makes room for all that one step can say with one more call; false: no memory. */
bool pawl__notes_reserve(struct pawl__core *core);
void pawl__note_push(struct pawl__core *core, struct pawl__note note);
/* The answer to a call for which there was no memory. `text` is static. */
void pawl__note_refusal(struct pawl__core *core, enum pawl__core_action_kind kind, uint64_t id,
                        pawl_status status, const char *text);
void pawl__note_event(struct pawl__core *core, pawl_event_kind kind, struct pawl__call *call,
                      const char *text);

/* core.c: calls in general. */
bool pawl__call_add(struct pawl__core *core, struct pawl__call *call, enum pawl__call_kind kind,
                    uint64_t id, struct pawl__boot deadline);
void pawl__call_finish(struct pawl__core *core, struct pawl__call *call);
uint64_t pawl__call_new_op(struct pawl__call *call);
void pawl__call_retry_later(struct pawl__core *core, struct pawl__call *call);
/* The store answered, or did not: tells STORE_AWAY and STORE_BACK once each. */
void pawl__store_answered(struct pawl__core *core, pawl_status status, const char *text);

/* session.c */
void pawl__session_init(struct pawl__core *core);
void pawl__session_upkeep(struct pawl__core *core);
void pawl__session_expire(struct pawl__core *core);
bool pawl__session_has_mark(const struct pawl__core *core, uint64_t number);
void pawl__session_end(struct pawl__core *core, bool gone_in_store, const char *why);
void pawl__session_handle(struct pawl__core *core, struct pawl__backend_event *event);
void pawl__session_start_close(struct pawl__core *core);
bool pawl__session_is_settled(const struct pawl__core *core);
uint64_t pawl__session_new_op(struct pawl__core *core);

/* request.c */
void pawl__request_start(struct pawl__core *core, const struct pawl__core_event *event);
void pawl__request_cancel(struct pawl__core *core, struct pawl__request *request,
                          pawl_status status, const char *why);
void pawl__request_release(struct pawl__core *core, struct pawl__request *request);
void pawl__request_handle(struct pawl__core *core, struct pawl__request *request,
                          struct pawl__backend_event *event);
void pawl__request_hint(struct pawl__core *core, struct pawl__request *request, bool by_watch);
void pawl__request_session_up(struct pawl__core *core, struct pawl__request *request);
void pawl__request_session_over(struct pawl__core *core, struct pawl__request *request,
                                const char *why);
void pawl__request_session_refused(struct pawl__core *core, struct pawl__request *request,
                                   pawl_status status, const char *why);
void pawl__request_set_suspect(struct pawl__core *core, struct pawl__request *request,
                               bool suspect);
void pawl__request_broken(struct pawl__core *core, struct pawl__request *request,
                          const struct pawl__mark *mark);
void pawl__request_client_closing(struct pawl__core *core, struct pawl__request *request);
void pawl__request_client_closed(struct pawl__core *core, struct pawl__request *request,
                                 bool confirmed);
void pawl__request_timer(struct pawl__core *core, struct pawl__request *request);
void pawl__request_free(struct pawl__request *request);

/* breaker.c */
void pawl__breaker_start(struct pawl__core *core, const struct pawl__core_event *event);
void pawl__breaker_handle(struct pawl__core *core, struct pawl__breaker *breaker,
                          struct pawl__backend_event *event);
void pawl__breaker_hint(struct pawl__core *core, struct pawl__breaker *breaker, uint64_t watch);
void pawl__breaker_timer(struct pawl__core *core, struct pawl__breaker *breaker);
void pawl__breaker_fail(struct pawl__core *core, struct pawl__breaker *breaker, pawl_status status,
                        const char *why);
void pawl__breaker_free(struct pawl__breaker *breaker);

/* look.c: inspect, and waiting for a session */
void pawl__inspect_start(struct pawl__core *core, const struct pawl__core_event *event);
void pawl__inspect_handle(struct pawl__core *core, struct pawl__look_call *look,
                          struct pawl__backend_event *event);
void pawl__wait_session_start(struct pawl__core *core, const struct pawl__core_event *event);
void pawl__wait_session_up(struct pawl__core *core, struct pawl__look_call *look);
void pawl__look_timer(struct pawl__core *core, struct pawl__look_call *look);
void pawl__look_fail(struct pawl__core *core, struct pawl__look_call *look, pawl_status status,
                     const char *why);
void pawl__look_free(struct pawl__look_call *look);

#endif
