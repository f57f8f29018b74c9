/* Named fault points: places where a test kills, stops or fails this process. They exist only in
 * the tests' own copy of the objects; in the shipped library they are nothing at all. */
#ifndef PAWL_BACKENDS_LOCAL_FAULT_H
#define PAWL_BACKENDS_LOCAL_FAULT_H

#include <stdbool.h>

#ifdef PAWL_FAULT_POINTS

/* Looks `name` up in the faults set by pawl__fault_set(), else in $PAWL_FAULT (read once):
 *   name=kill|stop|error[:n][,name=...]
 * kill and stop send that signal to this process, error returns true; with n only at the n-th time,
 * else every time. Any thread. */
bool pawl__fault_point(const char *name);

/* Replaces the faults of this process; NULL = none. `text` is borrowed until the next call. For
 * tests; no other thread of ours may run. */
void pawl__fault_set(const char *text);

#else

static inline bool pawl__fault_point(const char *name)
{
    (void)name;
    return false;
}

#endif
#endif
