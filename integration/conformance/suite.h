/* What the cases of the conformance suite share: a store by URL, clients on it, short forms of the
 * calls that nearly every case makes. Public headers only, so that it is an honest test of them. */
#ifndef PAWL_CONFORMANCE_SUITE_H
#define PAWL_CONFORMANCE_SUITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pawl/pawl.h>

/* A bound for what must come; none of it is slept through. */
#define PATIENCE_MS 30000

struct suite {
    const char *url; /* borrowed from main() */
    pawl_error *err; /* owned */
};

/* The cases, by subject. Each uses lock names of its own and closes its clients. */
void suite_queue_cases(struct suite *suite);
void suite_wait_cases(struct suite *suite);
void suite_end_cases(struct suite *suite);
void suite_break_cases(struct suite *suite);
void suite_name_cases(struct suite *suite);
void suite_observe_cases(struct suite *suite);
void suite_callback_cases(struct suite *suite);

/* `text`, or a folder of its own for "local:"; to be freed. NULL: no folder. */
char *suite_make_url(const char *text);

int64_t suite_now_ms(void);

/* A client, with option `key` set to `text` unless it is NULL. Without one the test cannot go on:
 * says why and exits. */
pawl_client *suite_open(struct suite *suite, const char *key, const char *text);

/* True when the store confirmed that nothing is left. */
bool suite_close(pawl_client *client);

/* A request for `first` and, unless it is NULL, `second`. */
pawl_request *suite_request(struct suite *suite, const char *first, const char *second);

/* A hold of a lock that nobody has for long, or NULL. */
pawl_hold *suite_lock(struct suite *suite, pawl_client *client, const char *name);

/* A started acquire without a callback, or NULL. */
pawl_pending *suite_start(struct suite *suite, pawl_client *client, const char *name,
                          int64_t wait_ms);

/* The hold of a started acquire that must be granted, or NULL; frees `pending`. */
pawl_hold *suite_take(struct suite *suite, pawl_pending *pending);

/* Releases and frees; true when the store confirmed it. NULL is false. */
bool suite_give_back(struct suite *suite, pawl_hold *hold);

/* Entries in the queue of `name` (NULL: all there are); -1 when the store did not tell. */
long suite_count(struct suite *suite, pawl_client *client, const char *name);

/* Waits until suite_count() is `count`. */
bool suite_await_count(struct suite *suite, pawl_client *client, const char *name, long count);

#endif
