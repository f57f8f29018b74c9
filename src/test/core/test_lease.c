/* Deadline arithmetic: counted from the sending, cut to what was granted, never moved back. */
#include <criterion/criterion.h>

#include "core/lease.h"

static struct pawl__boot at(int64_t ms)
{
    return (struct pawl__boot){ms};
}

static struct pawl__lease lease_of(int64_t ttl_ms, int64_t margin_ms, int64_t renew_ms)
{
    struct pawl__lease lease;

    pawl__lease_start(&lease, ttl_ms, margin_ms, renew_ms, at(1000));
    return lease;
}

/* The deadline is the time of sending plus the granted ttl minus the margin. */
Test(lease, DeadlineIsFromTheSendingMinusMargin)
{
    struct pawl__lease lease = lease_of(10000, 1000, 2500);

    cr_assert_eq(lease.deadline.ms, 10000);
    cr_assert(pawl__lease_is_live(&lease, at(9999)));
    cr_assert_not(pawl__lease_is_live(&lease, at(10000)));
}

/* Newer evidence moves the deadline; older evidence must not move it back. */
Test(lease, OlderEvidenceChangesNothing)
{
    struct pawl__lease lease = lease_of(10000, 1000, 2500);

    cr_assert(pawl__lease_extend(&lease, at(3000)));
    cr_assert_eq(lease.deadline.ms, 12000);
    cr_assert_not(pawl__lease_extend(&lease, at(2000)));
    cr_assert_not(pawl__lease_extend(&lease, PAWL__BOOT_NONE));
    cr_assert_eq(lease.deadline.ms, 12000);
}

/* A store that grants less than was asked for cuts margin and interval, too. */
Test(lease, ShortGrantCutsMarginAndInterval)
{
    struct pawl__lease lease = lease_of(3000, 5000, 7500);

    cr_assert_eq(lease.margin_ms, 1500);
    cr_assert_eq(lease.renew_ms, 1000);
    cr_assert_eq(lease.deadline.ms, 2500);
}

/* Suspect comes after two renewals without an answer, and always before the deadline. */
Test(lease, SuspectLiesBetweenRenewalsAndDeadline)
{
    struct pawl__lease lease = lease_of(10000, 1000, 2500);

    cr_assert_not(pawl__lease_is_suspect(&lease, at(1000 + 4999)));
    cr_assert(pawl__lease_is_suspect(&lease, at(1000 + 5000)));
    cr_assert_not(pawl__lease_is_suspect(&lease, at(10000)), "past the deadline it is LOST");
    for (int64_t ttl = 2000; ttl <= 300000; ttl += 1999) {
        lease = lease_of(ttl, ttl / 2, ttl / 3);
        cr_assert_lt(lease.suspect_at.ms, lease.deadline.ms);
    }
}

/* Without a ttl nothing ends by time. */
Test(lease, WithoutTtlNeverEnds)
{
    struct pawl__lease lease = lease_of(0, 0, 7500);

    cr_assert(pawl__lease_is_live(&lease, at(INT64_MAX - 1)));
    cr_assert_not(pawl__lease_is_suspect(&lease, at(INT64_MAX - 1)));
}
