/* Tests of the lookup of backends, backends/module.c, with modules that are built for them. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/module.h"
#include "fake.h"

static const char *message_for(const char *scheme, pawl_status want)
{
    const struct pawl__backend_ops *ops = NULL;
    void *context = NULL;
    static char message[512];
    pawl_error *err = pawl_error_new();

    pawl_status status = pawl__backend_find(scheme, &ops, &context, err);
    (void)snprintf(message, sizeof(message), "%s", pawl_error_message(err));
    pawl_error_free(err);
    cr_assert_eq(status, want, "%s: %s", pawl_status_name(status), message);
    cr_assert_null(ops);
    return message;
}

static void use_test_modules(void)
{
    cr_assert_eq(setenv("PAWL_MODULE_DIR", TEST_MODULE_DIR, 1), 0);
}

/* A known store that this build lacks is named, with the cure. */
Test(module, NamesTheMissingBackend)
{
    const char *message = message_for("etcd", PAWL_E_UNSUPPORTED);

    cr_assert(strstr(message, "the etcd backend is not in this build") != NULL, "%s", message);
    cr_assert(strstr(message, "pawl_backend_etcd.so") != NULL, "%s", message);
}

/* A misspelt scheme gets the nearest known one. */
Test(module, NamesTheNearestScheme)
{
    const char *message = message_for("locla", PAWL_E_UNSUPPORTED);

    cr_assert(strstr(message, "'locla'") != NULL, "%s", message);
    cr_assert(strstr(message, "'local'") != NULL, "%s", message);
}

/* A scheme never becomes a path. */
Test(module, RefusesASchemeThatIsAPath)
{
    use_test_modules();
    const char *message = message_for("../x", PAWL_E_UNSUPPORTED);

    cr_assert(strstr(message, "no store of kind '../x'") != NULL, "%s", message);
}

/* A module is loaded on first use of its scheme and serves it. */
Test(module, LoadsAModule)
{
    const struct pawl__backend_ops *ops = NULL;
    void *context = NULL;

    use_test_modules();
    cr_assert_eq(pawl__backend_find("good", &ops, &context, NULL), PAWL_OK);
    cr_assert_str_eq(ops->scheme, "good");
    cr_assert_null(context);

    struct fake fake;
    struct sink sink;
    struct pawl__backend *backend = NULL;
    struct pawl__backend_info info;
    struct pawl__backend_settings settings = {
        .request_timeout_ms = 1000, .connect_timeout_ms = 1000, .context = &fake};
    memset(&fake, 0, sizeof(fake));
    sink_init(&sink);
    cr_assert_eq(pawl__backend_open_with(ops, &settings, &sink.host, &backend, &info, NULL),
                 PAWL_OK);
    cr_assert_eq(pawl__backend_list(backend, 1, NULL), PAWL_OK);
    fake_post(&fake, fake_event(&fake, PAWL__BEV_LISTED));
    cr_assert_eq(sink.count, 1);
    pawl__backend_close(backend, 0);
    sink_release(&sink);
}

/* A module of another release is refused with both versions. */
Test(module, RefusesAnotherVersion)
{
    use_test_modules();
    const char *message = message_for("old", PAWL_E_UNSUPPORTED);

    cr_assert(strstr(message, "version 999") != NULL, "%s", message);
}

/* A module that serves another scheme than its file name says is refused. */
Test(module, RefusesAnotherScheme)
{
    use_test_modules();
    const char *message = message_for("other", PAWL_E_UNSUPPORTED);

    cr_assert(strstr(message, "serves 'good', not 'other'") != NULL, "%s", message);
}

/* A shared object without the symbol is no module. */
Test(module, RefusesAFileWithoutTheSymbol)
{
    use_test_modules();
    const char *message = message_for("empty", PAWL_E_UNSUPPORTED);

    cr_assert(strstr(message, "is not a module of pawl") != NULL, "%s", message);
}

/* A file that the loader refuses is reported with the loader's words. */
Test(module, ReportsALoadError)
{
    use_test_modules();
    const char *message = message_for("broken", PAWL_E_UNSUPPORTED);

    cr_assert(strstr(message, "cannot be loaded") != NULL, "%s", message);
}

/* A registered table wins over everything else and brings its context. */
Test(module, PrefersARegisteredTable)
{
    const struct pawl__backend_ops *ops = NULL;
    void *context = NULL;
    int mine = 0;

    use_test_modules();
    pawl__backend_register("good", &fake_ops, &mine);
    cr_assert_eq(pawl__backend_find("good", &ops, &context, NULL), PAWL_OK);
    cr_assert_eq(ops, &fake_ops);
    cr_assert_eq(context, &mine);
    pawl__backend_register("good", NULL, NULL);
    cr_assert_eq(pawl__backend_find("good", &ops, &context, NULL), PAWL_OK);
    cr_assert_neq(ops, &fake_ops);
}
