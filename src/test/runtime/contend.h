/* Many threads of one client on one name. */
#ifndef PAWL_TEST_RUNTIME_CONTEND_H
#define PAWL_TEST_RUNTIME_CONTEND_H

#include <pawl/pawl.h>

#define CONTEND_THREADS 32

struct contention {
    int grants;
    int overlaps;     /* more than one inside */
    int token_errors; /* a token that was not greater than the one before */
};

/* Each of CONTEND_THREADS threads locks `name` `rounds` times. */
struct contention contend(pawl_client *client, const char *name, int rounds);

#endif
