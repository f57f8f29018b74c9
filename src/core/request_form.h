/* What a caller asks for: the public pawl_request. (core/request.c is the core's machine.) */
#ifndef PAWL_CORE_REQUEST_FORM_H
#define PAWL_CORE_REQUEST_FORM_H

#include <stddef.h>

#include "core/mode.h"
#include <pawl/lock.h>

struct pawl__request_name {
    char *name; /* owned; legal */
    enum pawl__mode mode;
};

/* Of one thread at a time, the caller's. */
struct pawl_request {
    struct pawl__request_name *names; /* owned; in the order of the calls, none twice */
    size_t count;
    char *reason; /* owned, as are those below; NULL = none */
    char *run;
    char *trace;
};

#endif
