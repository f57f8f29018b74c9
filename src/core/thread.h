/* Threads of the library. They block all signals: those are the host's. */
#ifndef PAWL_CORE_THREAD_H
#define PAWL_CORE_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* `name` has at most 15 bytes. False: the system gives no thread. */
bool pawl__thread_start(pthread_t *ret_thread, const char *name, void *(*run)(void *), void *arg);

#endif
