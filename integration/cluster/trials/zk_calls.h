/* Calls of libzookeeper_mt for the trial: each prints what is sent and what came back, and waits.
 * No client: no retry, one thread of ours. */
#ifndef PAWL_TRIALS_ZK_CALLS_H
#define PAWL_TRIALS_ZK_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zookeeper/zookeeper.h>

#define ZK_NAMES_MAX 64
#define ZK_OPS_MAX   72

/* What a completion brought. */
struct reply {
    bool done;
    int rc;
    char text[4096]; /* value, created path */
    struct Stat stat;
    char names[ZK_NAMES_MAX][160]; /* children */
    int count;
};

/* What a watcher was told last, and how often. */
struct seen {
    int type;
    int calls;
};

/* One multi: ops are added by the functions below, sent by multi(). */
struct batch {
    zoo_op_t ops[ZK_OPS_MAX];
    zoo_op_result_t results[ZK_OPS_MAX];
    struct Stat stats[ZK_OPS_MAX];
    char paths[ZK_OPS_MAX][256];
    char line[4096]; /* the ops in words */
    int count;
};

extern int zk_failed;

void step(const char *title);
void check(bool condition, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Opens a handle and waits until it is connected (or its session is refused: then NULL). */
zhandle_t *connect_to(const char *hosts, int timeout_ms, const clientid_t *id,
                      struct seen *session);

/* Start a call; await() prints the reply. */
void start_create(zhandle_t *zh, const char *path, const char *data, int flags, struct reply *r);
void start_set(zhandle_t *zh, const char *path, const char *data, int version, struct reply *r);
void start_children(zhandle_t *zh, const char *path, struct reply *r);
void start_get(zhandle_t *zh, const char *path, struct seen *watch, struct reply *r);
void start_exists(zhandle_t *zh, const char *path, struct seen *watch, struct reply *r);
void start_delete(zhandle_t *zh, const char *path, struct reply *r);
void start_sync(zhandle_t *zh, const char *path, struct reply *r);
void start_multi(zhandle_t *zh, struct batch *b, struct reply *r);
int await(struct reply *r, const char *what);

void add_create(struct batch *b, const char *path, const char *data, int flags);
void add_set(struct batch *b, const char *path, const char *data, int version);
void add_check(struct batch *b, const char *path, int version);
void add_delete(struct batch *b, const char *path);

/* Start and await in one. */
int do_create(zhandle_t *zh, const char *path, const char *data, int flags, struct reply *r);
int do_set(zhandle_t *zh, const char *path, const char *data, int version, struct reply *r);
int do_children(zhandle_t *zh, const char *path, struct reply *r);
int do_get(zhandle_t *zh, const char *path, struct seen *watch, struct reply *r);
int do_exists(zhandle_t *zh, const char *path, struct seen *watch, struct reply *r);
int do_delete(zhandle_t *zh, const char *path, struct reply *r);
int do_multi(zhandle_t *zh, struct batch *b, struct reply *r);

/* Takes a watch made by start_get() back. */
int do_unwatch(zhandle_t *zh, const char *path, struct seen *watch, struct reply *r);

/* Waits until the watcher was called `calls` times in all; at most 3 s. */
bool await_watch(const struct seen *watch, int calls);

#endif
