/* See thread.h. */
#include "core/thread.h"

#include <signal.h>

bool pawl__thread_start(pthread_t *ret_thread, const char *name, void *(*run)(void *), void *arg)
{
    sigset_t all;
    sigset_t before;
    pthread_t thread;

    /* Blocked before it starts: a new thread inherits the mask, so there is no moment without it.
     */
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&thread, NULL, run, arg);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc != 0) {
        return false;
    }
    (void)pthread_setname_np(thread, name); /* For people who look at the process; may fail. */
    *ret_thread = thread;
    return true;
}
