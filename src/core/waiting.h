/* Who stands in the way of a request, as last seen, and how that is put into words. */
#ifndef PAWL_CORE_WAITING_H
#define PAWL_CORE_WAITING_H

#include <stdbool.h>
#include <stdint.h>

#include "backends/backend.h"
#include "base/buf.h"

struct pawl__waiting {
    char *owner;      /* owned; NULL = nobody is known */
    int64_t pid;      /* 0 = not known */
    int64_t since_ms; /* wall clock; 0 = not known */
    uint64_t token;   /* 0 = not known */
    int position;     /* 0 = not known */
};

/* A zeroed struct is an empty one. */
void pawl__waiting_release(struct pawl__waiting *waiting);

/* What a look showed: `entry` may be NULL, `position` -1. Keeps what it knew where the look says
 * nothing new. Without memory the owner stays unknown. */
void pawl__waiting_update(struct pawl__waiting *waiting, const struct pawl__entry_info *entry,
                          int position);

/* "held by os:ann@h (pid 811) for 12s, token 391, you are 3rd", or the parts of it that are known.
 */
void pawl__waiting_describe(const struct pawl__waiting *waiting, struct pawl__buf *buf);

#endif
