/* TAP output, see tap.h. Counts under a mutex so that any thread of a test may report. */
#include "tap.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static unsigned case_count;   /* guarded by mu */
static unsigned failed_count; /* guarded by mu */

bool tap_case(bool passed, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    pthread_mutex_lock(&mu);
    case_count++;
    failed_count += passed ? 0 : 1;
    printf("%s %u - ", passed ? "ok" : "not ok", case_count);
    vprintf(format, args);
    printf("\n");
    /* A later crash must not take the report with it. */
    fflush(stdout);
    pthread_mutex_unlock(&mu);
    va_end(args);
    return passed;
}

void tap_skip(const char *reason, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    pthread_mutex_lock(&mu);
    case_count++;
    printf("ok %u - ", case_count);
    vprintf(format, args);
    printf(" # SKIP %s\n", reason);
    fflush(stdout);
    pthread_mutex_unlock(&mu);
    va_end(args);
}

void tap_note(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    pthread_mutex_lock(&mu);
    printf("# ");
    vprintf(format, args);
    printf("\n");
    fflush(stdout);
    pthread_mutex_unlock(&mu);
    va_end(args);
}

int tap_done(void)
{
    pthread_mutex_lock(&mu);
    printf("1..%u\n", case_count);
    int status = failed_count > 0 ? 1 : 0;
    pthread_mutex_unlock(&mu);
    return status;
}
