/* Exit codes of the command: stable, documented by `pawl help exit-codes` and pawl(1). */
#ifndef PAWL_CLI_EXITCODE_H
#define PAWL_CLI_EXITCODE_H

#include <pawl/status.h>
#include <stddef.h>

/* X(name, code, text). 82 to 87 belong to commands of later versions; they are in the table so that
 * scripts can be written once. */
#define PAWL__EXIT_MAP(X)                                                                          \
    X(OK, 0, "done; with CMD: CMD ended with 0")                                                   \
    X(USAGE, 64, "wrong use of the command line")                                                  \
    X(DATA, 65, "bad data: a name, a reason or a limit")                                           \
    X(UNAVAILABLE, 69, "the store cannot be reached; nothing was changed")                         \
    X(INTERNAL, 70, "an error inside pawl, or output that could not be written")                   \
    X(BUSY, 75, "not acquired in time (lock -E N replaces it)")                                    \
    X(PERMISSION, 77, "the store or the system refuses access")                                    \
    X(CONFIG, 78, "configuration: a setting, a file, an unfit or a wrong store")                   \
    X(LOST, 80, "the lock was lost while CMD ran, or our place in the queue was broken")           \
    X(FENCED, 81, "stale token: it is not, or no longer, the one in force")                        \
    X(CONFLICT, 82, "version conflict")                                                            \
    X(GATE, 83, "gate denied")                                                                     \
    X(FROZEN, 84, "frozen")                                                                        \
    X(APPROVAL, 85, "approval pending")                                                            \
    X(UNKNOWN, 86, "outcome unknown: look before repeating")                                       \
    X(SINK, 87, "published, a sink is behind")                                                     \
    X(CANNOT_RUN, 126, "CMD was found but cannot be run")                                          \
    X(NOT_FOUND, 127, "CMD was not found")                                                         \
    X(SIGNAL, 128, "128+N: signal N ended CMD, or pawl while it waited for the lock")

enum pawl__exit {
#define PAWL__EXIT_ENUM(name, code, text) PAWL__EXIT_##name = (code),
    PAWL__EXIT_MAP(PAWL__EXIT_ENUM)
#undef PAWL__EXIT_ENUM
};

/* The exit code for what a call of libpawl returned. */
int pawl__exit_from_status(pawl_status status);

/* Row `index` of the table: its code, and the text in *ret_text; -1 past the end. */
int pawl__exit_describe(size_t index, const char **ret_text);

#endif
