/* Which table serves a scheme: see module.h. */
#include "backends/module.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/text.h"
#include "core/error.h"

#define REGISTERED_MAX 8

/* Built in: no module needed. */
#ifdef PAWL_HAS_LOCAL
extern const struct pawl__backend_ops pawl__backend_local;
#endif
static const struct pawl__backend_ops *const built_in[] = {
#ifdef PAWL_HAS_LOCAL
    &pawl__backend_local,
#endif
    NULL,
};

/* Every scheme there is, in this build or not: for messages. */
static const char *const known[] = {"local", "etcd", "zk"};

/* Tables of tests: the only state of this file that changes. */
static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static struct {
    const char *scheme;
    const struct pawl__backend_ops *ops;
    void *context;
} registered[REGISTERED_MAX]; /* guarded by mu */

void pawl__backend_register(const char *scheme, const struct pawl__backend_ops *ops, void *context)
{
    size_t slot = REGISTERED_MAX;

    pthread_mutex_lock(&mu);
    for (size_t i = REGISTERED_MAX; i-- > 0;) {
        bool is_same = registered[i].ops != NULL && strcmp(registered[i].scheme, scheme) == 0;
        if (is_same || (registered[i].ops == NULL && slot == REGISTERED_MAX)) {
            slot = i;
        }
        if (is_same) {
            break;
        }
    }
    PAWL_INVARIANT(slot < REGISTERED_MAX);
    registered[slot].scheme = scheme;
    registered[slot].ops = ops;
    registered[slot].context = context;
    pthread_mutex_unlock(&mu);
}

static const struct pawl__backend_ops *find_registered(const char *scheme, void **ret_context)
{
    const struct pawl__backend_ops *ops = NULL;

    pthread_mutex_lock(&mu);
    for (size_t i = 0; i < REGISTERED_MAX; i++) {
        if (registered[i].ops != NULL && strcmp(registered[i].scheme, scheme) == 0) {
            ops = registered[i].ops;
            *ret_context = registered[i].context;
        }
    }
    pthread_mutex_unlock(&mu);
    return ops;
}

static const struct pawl__backend_ops *find_built_in(const char *scheme)
{
    for (size_t i = 0; built_in[i] != NULL; i++) {
        if (strcmp(built_in[i]->scheme, scheme) == 0) {
            return built_in[i];
        }
    }
    return NULL;
}

/* ---- Modules ----------------------------------------------------------------------------------
 */

/* Where modules are: fixed at compile time, so that no environment can bring code into a program.
 * Only the tests' own copy may look elsewhere. */
static const char *module_dir(void)
{
#ifdef PAWL_FAULT_POINTS
    const char *dir = getenv("PAWL_MODULE_DIR");
    if (dir != NULL) {
        return dir;
    }
#endif
    return PAWL_MODULE_DIR;
}

/* A scheme becomes part of a file name: letters, digits, nothing else. */
static bool scheme_is_safe(const char *scheme)
{
    size_t len = strspn(scheme, "abcdefghijklmnopqrstuvwxyz0123456789");

    return len > 0 && len <= 16 && scheme[len] == '\0';
}

static pawl_status refuse_scheme(const char *scheme, pawl_error *err)
{
    const size_t count = sizeof(known) / sizeof(known[0]);
    const char *nearest = pawl__nearest_word(scheme, known, count);

    for (size_t i = 0; i < count; i++) {
        if (strcmp(known[i], scheme) == 0) {
            return pawl__error_set(err, PAWL_E_UNSUPPORTED, 0,
                                   "the %s backend is not in this build: there is no module "
                                   "pawl_backend_%s.so in %s; use local: or local:///dir",
                                   scheme, scheme, module_dir());
        }
    }
    if (nearest != NULL) {
        return pawl__error_set(err, PAWL_E_UNSUPPORTED, 0,
                               "there is no store of kind '%.32s'; did you mean '%s'?", scheme,
                               nearest);
    }
    return pawl__error_set(err, PAWL_E_UNSUPPORTED, 0,
                           "there is no store of kind '%.32s'; known are local, etcd, zk", scheme);
}

static pawl_status check_module(const struct pawl__backend_ops *ops, const char *scheme,
                                const char *path, pawl_error *err)
{
    if (ops == NULL || ops->version != PAWL__BACKEND_VERSION) {
        return pawl__error_set(err, PAWL_E_UNSUPPORTED, 0,
                               "module %s has version %u of the backend contract, this build needs "
                               "%u; install the module of the same release",
                               path, ops == NULL ? 0 : ops->version, PAWL__BACKEND_VERSION);
    }
    if (ops->scheme == NULL || strcmp(ops->scheme, scheme) != 0) {
        return pawl__error_set(err, PAWL_E_UNSUPPORTED, 0, "module %s serves '%s', not '%s'", path,
                               ops->scheme == NULL ? "" : ops->scheme, scheme);
    }
    return PAWL_OK;
}

static pawl_status load_module(const char *path, const char *scheme,
                               const struct pawl__backend_ops **ret_ops, pawl_error *err)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle == NULL) {
        return pawl__error_set(err, PAWL_E_UNSUPPORTED, 0, "module %s cannot be loaded: %s", path,
                               dlerror());
    }
    /* POSIX lets a data pointer hold a function's address; ISO C has no cast for it. */
    void *symbol = dlsym(handle, PAWL__MODULE_SYMBOL);
    pawl__module_fn module = NULL;
    _Static_assert(sizeof(symbol) == sizeof(module), "a function fits into a pointer");
    memcpy(&module, &symbol, sizeof(module));
    const struct pawl__backend_ops *ops = NULL;
    pawl_status status;
    if (module == NULL) {
        status =
            pawl__error_set(err, PAWL_E_UNSUPPORTED, 0, "%s is not a module of pawl: it has no %s",
                            path, PAWL__MODULE_SYMBOL);
    } else {
        ops = module();
        status = check_module(ops, scheme, path, err);
    }
    (void)dlclose(handle); /* The code stays (NODELETE): the table must live for good. */
    if (status == PAWL_OK) {
        *ret_ops = ops;
    }
    return status;
}

static bool file_exists(const char *path)
{
    FILE *file = fopen(path, "re");

    if (file != NULL) {
        (void)fclose(file); /* Read only: nothing can be lost. */
    }
    return file != NULL;
}

pawl_status pawl__backend_find(const char *scheme, const struct pawl__backend_ops **ret_ops,
                               void **ret_context, pawl_error *err)
{
    char path[4096];

    *ret_context = NULL;
    const struct pawl__backend_ops *ops = find_registered(scheme, ret_context);
    if (ops == NULL) {
        ops = find_built_in(scheme);
    }
    if (ops != NULL) {
        *ret_ops = ops;
        return PAWL_OK;
    }
    if (!scheme_is_safe(scheme)) {
        return refuse_scheme(scheme, err);
    }
    int len = snprintf(path, sizeof(path), "%s/pawl_backend_%s.so", module_dir(), scheme);
    if (len < 0 || (size_t)len >= sizeof(path) || !file_exists(path)) {
        return refuse_scheme(scheme, err);
    }
    return load_module(path, scheme, ret_ops, err);
}
