/* See fault.h. An empty file in the shipped library. */
#include "backends/local/fault.h"

#ifdef PAWL_FAULT_POINTS

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define COUNTED_MAX 32

/* The only global state of the local backend, and of test builds alone. */
static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static const char *faults; /* guarded by mu; borrowed */
static bool is_set;        /* guarded by mu */
static struct {
    const char *at; /* where in `faults` */
    unsigned long hits;
} counted[COUNTED_MAX]; /* guarded by mu */

void pawl__fault_set(const char *text)
{
    pthread_mutex_lock(&mu);
    faults = text;
    is_set = true;
    memset(counted, 0, sizeof(counted));
    pthread_mutex_unlock(&mu);
}

static unsigned long count_hit(const char *at)
{
    for (size_t i = 0; i < COUNTED_MAX; i++) {
        if (counted[i].at == NULL || counted[i].at == at) {
            counted[i].at = at;
            return ++counted[i].hits;
        }
    }
    return 0;
}

/* The action of `name`, "" if there is none now; mu held on entry. */
static const char *find_action(const char *name)
{
    size_t len = strlen(name);
    const char *at = faults;

    while (at != NULL && at[0] != '\0') {
        const char *end = at + strcspn(at, ",");
        if (strncmp(at, name, len) == 0 && at[len] == '=') {
            const char *action = at + len + 1;
            const char *colon = memchr(action, ':', (size_t)(end - action));
            unsigned long hit = count_hit(at);
            return colon == NULL || strtoul(colon + 1, NULL, 10) == hit ? action : "";
        }
        at = end[0] == ',' ? end + 1 : end;
    }
    return "";
}

bool pawl__fault_point(const char *name)
{
    pthread_mutex_lock(&mu);
    if (!is_set) {
        faults = getenv("PAWL_FAULT");
        is_set = true;
    }
    const char *action = find_action(name);
    pthread_mutex_unlock(&mu);
    /* To this thread: sent to the process, another thread could take it, and this one run on. */
    if (strncmp(action, "kill", 4) == 0) {
        (void)raise(SIGKILL);
    }
    if (strncmp(action, "stop", 4) == 0) {
        (void)raise(SIGSTOP);
    }
    return strncmp(action, "error", 5) == 0;
}

#endif
