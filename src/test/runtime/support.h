/* What the runtime's test programs share: clients of the fake store, and waiting for a condition.
 */
#ifndef PAWL_TEST_RUNTIME_SUPPORT_H
#define PAWL_TEST_RUNTIME_SUPPORT_H

#include <stdbool.h>
#include <stdint.h>

#include <pawl/pawl.h>

/* A client of the fake store; `ttl` as text ("2s", "off"), NULL = the default. Ends the program
 * when it cannot be had. */
pawl_client *open_fake(const char *ttl);

/* The same with one more option. */
pawl_client *open_fake_with(const char *ttl, const char *key, const char *text);

/* A client of the store at `url`. */
pawl_client *open_url(const char *url, const char *ttl);

/* "local://" and a new directory, which leave_local() removes with what is in it. */
const char *enter_local(void);
void leave_local(void);

/* Closes it within 5 s; true if the store confirmed. */
bool close_client(pawl_client *client);

/* A request of one name. */
pawl_request *request_of(const char *name);

/* Locks `name` at once; NULL if it cannot be had. */
pawl_hold *lock_now(pawl_client *client, const char *name);

/* Polls `is_true` up to `timeout_ms`. */
bool wait_until(bool (*is_true)(void *ctx), void *ctx, int64_t timeout_ms);

/* CLOCK_MONOTONIC in milliseconds. */
int64_t now_ms(void);

void sleep_ms(int64_t ms);

#endif
