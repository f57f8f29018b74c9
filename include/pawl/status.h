/* Outcome of a call: a status for programs, an error object for people.
 *
 * Every function that can fail returns `pawl_status`: 0 is success, all others are negative.
 * Numbers are never changed or used again. Nothing returns PAWL_OK that the store did not confirm.
 */
#ifndef PAWL_STATUS_H
#define PAWL_STATUS_H

#include <pawl/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a caller does about a status.
 *   OK       go on
 *   USAGE    the call or its data are wrong: repair the caller, a repeat cannot help
 *   RETRY    certainly nothing happened; may be tried again
 *   UNKNOWN  may or may not have taken effect: look before repeating
 *   LOST     something that was held is not held any more
 *   FATAL    this client or this store cannot go on; see the text */
#define PAWL_STATUS_CLASS_MAP(X)                                                                   \
    X(OK)                                                                                          \
    X(USAGE)                                                                                       \
    X(RETRY)                                                                                       \
    X(UNKNOWN)                                                                                     \
    X(LOST)                                                                                        \
    X(FATAL)

/* X(name, value, class, text). The one place where a status is defined. */
#define PAWL_STATUS_MAP(X)                                                                         \
    X(OK, 0, OK, "ok")                                                                             \
    X(E_INVALID, -1, USAGE, "the call is not valid")                                               \
    X(E_DATA, -2, USAGE, "the data are not valid")                                                 \
    X(E_CONFIG, -3, USAGE, "the configuration is not valid")                                       \
    X(E_UNSUPPORTED, -4, USAGE, "not supported by this store or this build")                       \
    X(E_LIMIT, -5, USAGE, "a limit would be passed")                                               \
    X(E_TIMEOUT, -6, RETRY, "certainly not acquired in the time given")                            \
    X(E_BUSY, -7, RETRY, "too many requests under way in this client")                             \
    X(E_CANCELED, -8, RETRY, "canceled by the caller")                                             \
    X(E_UNAVAILABLE, -9, RETRY, "the store cannot be reached; nothing was changed")                \
    X(E_UNKNOWN, -10, UNKNOWN, "the outcome is not known; look before repeating")                  \
    X(E_LOST, -11, LOST, "held before, no longer held")                                            \
    X(E_FENCED, -12, LOST, "the token is not the one in force")                                    \
    X(E_CONFLICT, -13, RETRY, "the record changed in between")                                     \
    X(E_NOT_FOUND, -14, RETRY, "there is no such thing in the store")                              \
    X(E_PERMISSION, -15, FATAL, "the store or the system refuses access")                          \
    X(E_STORE, -16, FATAL, "the store is not the expected one, or is damaged")                     \
    X(E_CLOSED, -17, FATAL, "the client is closed or closing")                                     \
    X(E_FORKED, -18, FATAL, "the client belongs to the parent of this forked process")             \
    X(E_NOMEM, -19, FATAL, "out of memory")                                                        \
    X(E_INTERNAL, -20, FATAL, "a bug in pawl")

typedef enum pawl_status {
#define PAWL_STATUS_ENUM(name, value, class_, text) PAWL_##name = (value),
    PAWL_STATUS_MAP(PAWL_STATUS_ENUM)
#undef PAWL_STATUS_ENUM
        PAWL_STATUS_FORCE_INT_ = 0x7fffffff
} pawl_status;

typedef enum pawl_status_class {
#define PAWL_STATUS_CLASS_ENUM(name) PAWL_CLASS_##name,
    PAWL_STATUS_CLASS_MAP(PAWL_STATUS_CLASS_ENUM)
#undef PAWL_STATUS_CLASS_ENUM
} pawl_status_class;

/* "E_TIMEOUT" for PAWL_E_TIMEOUT; "?" for a number that is no status. Static storage, any thread.
 */
PAWL_API const char *pawl_status_name(pawl_status status);

/* One English sentence part without a full stop. Static storage, any thread. */
PAWL_API const char *pawl_status_text(pawl_status status);

/* What a caller does about it; PAWL_CLASS_FATAL for a number that is no status. Any thread. */
PAWL_API pawl_status_class pawl_status_classify(pawl_status status);

/* Details of a failure, for people and logs. Owned by the caller, reusable, not shared between
 * threads at one time. Wherever a function takes `err` last, NULL is allowed; on failure the object
 * is overwritten, on success it is left as it was. */
typedef struct pawl_error pawl_error;

/* A new, empty error; NULL when memory is out (then pass NULL on: calls still return a status).
 * Free with pawl_error_free(). Any thread; never blocks. */
PAWL_API pawl_error *pawl_error_new(void);

/* Frees `err`; NULL is allowed. Any thread; never blocks. */
PAWL_API void pawl_error_free(pawl_error *err);

/* Empties `err` for re-use; NULL is allowed. */
PAWL_API void pawl_error_clear(pawl_error *err);

/* The status of the failure; PAWL_OK when empty or NULL. */
PAWL_API pawl_status pawl_error_status(const pawl_error *err);

/* The message, naming the value that was wrong and what cures it; "" when empty or NULL. Borrowed:
 * valid until `err` is next written, cleared or freed. Never holds a password. */
PAWL_API const char *pawl_error_message(const pawl_error *err);

/* The number that the store, the library below or the kernel gave (an errno, an SQLite code, a gRPC
 * or ZooKeeper code: the message names which); 0 when there is none. */
PAWL_API int pawl_error_backend_code(const pawl_error *err);

#ifdef __cplusplus
}
#endif

#endif
