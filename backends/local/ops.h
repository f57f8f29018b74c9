/* The local backend: locks in an SQLite database, for the processes of one machine. */
#ifndef PAWL_BACKENDS_LOCAL_OPS_H
#define PAWL_BACKENDS_LOCAL_OPS_H

#include "backends/backend.h"

extern const struct pawl__backend_ops pawl__backend_local;

#endif
