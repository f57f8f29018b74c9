/* Every bound of Pawl, as formats.md 1 to 3 fix them, checked before anything is sent. Sizes are in
 * bytes and without a NUL. */
#ifndef PAWL_BASE_LIMITS_H
#define PAWL_BASE_LIMITS_H

/* Names, payloads, queues. */
#define PAWL__NAME_MAX              512
#define PAWL__NAME_ENCODED_MAX      (3 * PAWL__NAME_MAX) /* every byte as %XX */
#define PAWL__ROOT_MAX              64
#define PAWL__PAYLOAD_MAX           2048
#define PAWL__REASON_MAX            256
#define PAWL__OWNER_MAX             256
#define PAWL__NAMES_PER_REQUEST_MAX 64
#define PAWL__QUEUE_ENTRIES_MAX     10000
#define PAWL__MODE_MAX              48 /* longest mode word: p<k>of<n> */

/* pawl1.<16 hex>.<epoch>.<number>.<mode>.<encoded name>, numbers of at most 20 digits. */
#define PAWL__SEALED_MAX                                                                           \
    (6 + 16 + 1 + 20 + 1 + 20 + 1 + PAWL__MODE_MAX + 1 + PAWL__NAME_ENCODED_MAX)

/* Store API and wire. */
#define PAWL__RECORD_MAX      (512 * 1024)
#define PAWL__BLOB_MAX        (256 * 1024)
#define PAWL__TXN_OPS_MAX     128 /* compares, and puts as many again */
#define PAWL__TXN_BYTES_MAX   (900 * 1024)
#define PAWL__REPLY_MAX       (8 * 1024 * 1024)
#define PAWL__STREAM_LINE_MAX (2 * 1024 * 1024)

/* Times. */
#define PAWL__TTL_MIN_MS        2000
#define PAWL__TTL_MAX_MS        300000
#define PAWL__MARGIN_MIN_MS     50
#define PAWL__MARGIN_DEFAULT_MS 200 /* at least; ttl/10 when that is more */
#define PAWL__TICK_MIN_MS       100
#define PAWL__RETRY_BASE_MS     200
#define PAWL__RETRY_CAP_MS      5000

/* Default bound of the mailbox and of the requests that a client holds or waits for. */
#define PAWL__REQUESTS_MAX 65536

_Static_assert(PAWL__REASON_MAX + PAWL__OWNER_MAX < PAWL__PAYLOAD_MAX,
               "reason and owner are parts of the payload");
_Static_assert(PAWL__BLOB_MAX <= PAWL__RECORD_MAX, "a blob is stored as a record");
_Static_assert(PAWL__RECORD_MAX <= PAWL__TXN_BYTES_MAX, "any record fits into a transaction");
_Static_assert(PAWL__TXN_BYTES_MAX <= PAWL__STREAM_LINE_MAX,
               "a watch line carries at least what one transaction wrote");
_Static_assert(PAWL__STREAM_LINE_MAX <= PAWL__REPLY_MAX, "a line is a part of a reply");
_Static_assert(PAWL__NAMES_PER_REQUEST_MAX <= PAWL__TXN_OPS_MAX,
               "a request is enqueued in one transaction");
_Static_assert(PAWL__NAMES_PER_REQUEST_MAX *(PAWL__PAYLOAD_MAX + PAWL__NAME_ENCODED_MAX) <=
                   PAWL__TXN_BYTES_MAX,
               "a full request fits into one transaction");
_Static_assert(PAWL__TTL_MIN_MS < PAWL__TTL_MAX_MS, "the range of ttl is not empty");
_Static_assert(PAWL__MARGIN_MIN_MS <= PAWL__MARGIN_DEFAULT_MS &&
                   PAWL__MARGIN_DEFAULT_MS <= PAWL__TTL_MIN_MS / 2,
               "the default margin is legal for every ttl");
_Static_assert(PAWL__TICK_MIN_MS <= PAWL__TTL_MIN_MS / 4,
               "the smallest tick fits the smallest ttl");
_Static_assert(PAWL__RETRY_BASE_MS <= PAWL__RETRY_CAP_MS, "backoff grows");

#endif
