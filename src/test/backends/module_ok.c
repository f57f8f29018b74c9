/* A module for test_module.c: MODULE_VERSION and MODULE_SCHEME say which contract it serves. */
#include "fake.h"

const struct pawl__backend_ops *pawl__backend_module(void);

__attribute__((visibility("default"))) const struct pawl__backend_ops *pawl__backend_module(void)
{
    static struct pawl__backend_ops ops;

    ops = fake_ops;
    ops.version = MODULE_VERSION;
    ops.scheme = MODULE_SCHEME;
    return &ops;
}
