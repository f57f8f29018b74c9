/* The root: where in a store everything of one installation is kept (formats.md 1). */
#ifndef PAWL_CORE_ROOT_H
#define PAWL_CORE_ROOT_H

#include <pawl/status.h>

/* 1 to 64 bytes of UTF-8 without control characters; segments with '/' between, none of them empty,
 * "." or "..", so that it is one path to etcd and to ZooKeeper alike. E_CONFIG names value and
 * cure. */
pawl_status pawl__root_check(const char *root, pawl_error *err);

#endif
