/* Opening and closing of clients: what api_client.c needs of client.c. */
#ifndef PAWL_CORE_CLIENT_OPEN_H
#define PAWL_CORE_CLIENT_OPEN_H

#include <stdint.h>

#include "core/options.h"
#include "core/url.h"
#include <pawl/client.h>

/* An open client for the store at `url`; its reference is the caller's. Both are borrowed. Statuses
 * of pawl_client_open(). */
pawl_status pawl__client_new(const struct pawl__url *url, const struct pawl__settings *settings,
                             pawl_client **ret_client, pawl_error *err);

/* Closes it and gives back the caller's reference; OK or E_UNKNOWN. */
pawl_status pawl__client_end(pawl_client *client, int64_t timeout_ms);

#endif
