/* Another process that uses the store: program peer.c, spoken to by lines. A forked child of a test
 * could not do it, because the test has threads. */
#ifndef PAWL_TEST_LOCAL_PEER_H
#define PAWL_TEST_LOCAL_PEER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct peer {
    pid_t pid;
    int in;  /* we write */
    int out; /* we read */
};

/* What a line was answered with. */
struct said {
    bool came; /* false = no answer in time, or the process is gone */
    int status;
    unsigned long long number;
    unsigned long long blocker;
};

/* Starts it on the store in `dir`; `fault` is its $PAWL_FAULT or NULL. The store is opened at once:
 * the first answer tells how that went. */
struct said peer_start(struct peer *peer, const char *dir, const char *fault);

/* Lines: "session S TTL", "renew S", "close S", "enqueue S A NAME", "try S A NAME", "look S A
 * NAME", "remove S A N NAME", "wait S A NAME" (until granted), "list", "copy" (starts a child that
 * keeps the session descriptor), "quit". */
struct said peer_say(struct peer *peer, int timeout_ms, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Sends without waiting for the answer; peer_hear() reads it. */
void peer_tell(struct peer *peer, const char *format, ...) __attribute__((format(printf, 2, 3)));
struct said peer_hear(struct peer *peer, int timeout_ms);

/* Waits until it is stopped by a signal; false = it did not come to that in 5 s. */
bool peer_wait_stopped(struct peer *peer);

/* Waits for its end after "quit" or a fault; the wait status. */
int peer_wait(struct peer *peer);

/* SIGKILL, and wait. */
void peer_kill(struct peer *peer);

#endif
