/* Finds the table of a backend by the scheme of a URL: registered, built in, or in a module. */
#ifndef PAWL_BACKENDS_MODULE_H
#define PAWL_BACKENDS_MODULE_H

#include "backends/backend.h"

/* A module is `pawl_backend_<scheme>.so`, loaded on first use, that exports a function of this name
 * and type. The table lives as long as the process: modules are never unloaded, since a stuck
 * thread of theirs may be left behind. A module brings its own copy of src/base and
 * backends/event.c, because the library's symbols are hidden; memory of both comes from libc. */
#define PAWL__MODULE_SYMBOL "pawl__backend_module"
typedef const struct pawl__backend_ops *(*pawl__module_fn)(void);

/* For tests: from now on `scheme` means `ops`, opened with `context`, also where a built-in backend
 * has that scheme. Borrowed for good; NULL ops forgets it. At most 8. Process-wide; any thread. */
void pawl__backend_register(const char *scheme, const struct pawl__backend_ops *ops, void *context);

/* *ret_context is that of a registered table, else NULL. E_UNSUPPORTED: there is no such backend in
 * this build, or a module that cannot be used; the message says why and how to get one. */
pawl_status pawl__backend_find(const char *scheme, const struct pawl__backend_ops **ret_ops,
                               void **ret_context, pawl_error *err);

#endif
