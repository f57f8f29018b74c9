/* Deadline arithmetic of a session. */
#include "core/lease.h"

#include "base/assert.h"

static void count_from(struct pawl__lease *lease, struct pawl__boot evidence)
{
    lease->evidence = evidence;
    if (lease->ttl_ms == 0) {
        lease->deadline = PAWL__BOOT_NEVER;
        lease->suspect_at = PAWL__BOOT_NEVER;
        return;
    }
    lease->deadline = pawl__boot_add(evidence, lease->ttl_ms - lease->margin_ms);
    /* Two renewals in a row had no answer: one lost reply is no reason to worry anybody. */
    int64_t overdue = 2 * lease->renew_ms;
    if (overdue < lease->ttl_ms / 2) {
        overdue = lease->ttl_ms / 2;
    }
    lease->suspect_at =
        pawl__boot_min(pawl__boot_add(evidence, overdue), pawl__boot_add(lease->deadline, -1));
}

void pawl__lease_start(struct pawl__lease *lease, int64_t granted_ttl_ms, int64_t margin_ms,
                       int64_t renew_ms, struct pawl__boot evidence)
{
    PAWL_INVARIANT(granted_ttl_ms >= 0);
    PAWL_INVARIANT(margin_ms >= 0);
    PAWL_INVARIANT(renew_ms > 0);
    lease->ttl_ms = granted_ttl_ms;
    lease->margin_ms = margin_ms;
    lease->renew_ms = renew_ms;
    if (granted_ttl_ms > 0) {
        if (lease->margin_ms > granted_ttl_ms / 2) {
            lease->margin_ms = granted_ttl_ms / 2;
        }
        if (lease->renew_ms > granted_ttl_ms / 3) {
            lease->renew_ms = granted_ttl_ms / 3 > 0 ? granted_ttl_ms / 3 : 1;
        }
    }
    count_from(lease, evidence);
}

bool pawl__lease_extend(struct pawl__lease *lease, struct pawl__boot evidence)
{
    if (!pawl__boot_before(lease->evidence, evidence)) {
        return false;
    }
    count_from(lease, evidence);
    PAWL_INVARIANT(lease->ttl_ms == 0 || !pawl__boot_before(lease->deadline, evidence));
    return true;
}

bool pawl__lease_is_live(const struct pawl__lease *lease, struct pawl__boot now)
{
    return pawl__boot_before(now, lease->deadline);
}

bool pawl__lease_is_suspect(const struct pawl__lease *lease, struct pawl__boot now)
{
    return pawl__lease_is_live(lease, now) && !pawl__boot_before(now, lease->suspect_at);
}
