/* Tests of core/options: the table, single values, get and source, copies. Values against each
 * other are in test_options_pairs.c, environment and files in test_options_load.c. */
#include "core/options.h"

#include <criterion/criterion.h>
#include <string.h>

#include "core/url.h"
#include "test/heap.h"

/* Keys of formats.md 2 in their order, and what `get` gives for `local:` when nothing is set. */
static const char *const keys[][2] = {
    {"store", "local:"},
    {"ttl", "30s"},
    {"margin", "3s"},
    {"tick", "2s"},
    {"renew", "7500ms"},
    {"request_timeout", "5s"},
    {"connect_timeout", "2s"},
    {"retry_base", "200ms"},
    {"retry_cap", "5s"},
    {"grace", "5s"},
    {"layout", "pawl"},
    {"root", "pawl"},
    {"store_id", NULL},
    {"password_file", NULL},
    {"cacert", NULL},
    {"cert", NULL},
    {"key", NULL},
    {"insecure", "0"},
    {"max_requests", "65536"},
};

#define KEY_COUNT (sizeof(keys) / sizeof(keys[0]))

/* The table has every key of formats.md once, with words for people, and ends. */
Test(options, DescribesEveryKey)
{
    for (size_t i = 0; i < KEY_COUNT; i++) {
        const char *words[3] = {NULL, NULL, NULL};
        cr_assert_str_eq(pawl_options_describe(i, &words[0], &words[1], &words[2]), keys[i][0]);
        for (int k = 0; k < 3; k++) {
            cr_assert_not_null(words[k]);
            cr_expect_str_not_empty(words[k]);
        }
        cr_expect_not_null(pawl_options_describe(i, NULL, NULL, NULL));
    }
    cr_expect_null(pawl_options_describe(KEY_COUNT, NULL, NULL, NULL));
    cr_expect_null(pawl_options_describe((size_t)-1, NULL, NULL, NULL));
}

/* A new set holds the defaults of a local store, worked out, and says that they are defaults. */
Test(options, HoldsDefaultsAtFirst)
{
    pawl_options *options = pawl_options_new();

    for (size_t i = 0; i < KEY_COUNT; i++) {
        const char *text = pawl_options_get(options, keys[i][0]);
        if (keys[i][1] == NULL) {
            cr_expect_null(text, "%s", keys[i][0]);
        } else {
            cr_assert_not_null(text, "%s", keys[i][0]);
            cr_expect_str_eq(text, keys[i][1], "%s is %s", keys[i][0], text);
        }
        cr_expect_str_eq(pawl_options_source(options, keys[i][0]), "default");
    }
    cr_expect_eq(pawl_options_check(options, NULL), PAWL_OK);
    pawl_options_free(options);
}

struct value {
    const char *key;
    const char *text;
};

static const struct value good[] = {
    {"store", "local:"},
    {"store", "etcds://ann@h1,h2/root?ttl=10s&password_file=/p"},
    {"store", "local:///d?root=a/b"},
    {"ttl", "2s"},
    {"ttl", "300s"},
    {"ttl", "5m"},
    {"ttl", "2500ms"},
    {"ttl", "2.5s"},
    {"ttl", "off"},
    {"margin", "50ms"},
    {"tick", "100ms"},
    {"renew", "50ms"},
    {"request_timeout", "100s"},
    {"connect_timeout", "50ms"},
    {"retry_base", "10ms"},
    {"retry_cap", "5m"},
    {"grace", "0s"},
    {"layout", "raw"},
    {"root", "a"},
    {"root", "a/b-c/\xC3\xA9"},
    {"root", "..."},
    {"store_id", "0123456789abcdef"},
    {"password_file", "relative/path"},
    {"insecure", "1"},
    {"insecure", "false"},
    {"max_requests", "1"},
    {"max_requests", "1048576"},
};

/* Values inside their ranges are taken as they stand, and count as given by a flag. */
Test(options, TakesGoodValues)
{
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        pawl_options *options = pawl_options_new();
        pawl_error *err = pawl_error_new();
        cr_expect_eq(pawl_options_set(options, good[i].key, good[i].text, err), PAWL_OK, "%s",
                     pawl_error_message(err));
        cr_expect_str_eq(pawl_options_get(options, good[i].key), good[i].text);
        cr_expect_str_eq(pawl_options_source(options, good[i].key), "flag");
        pawl_error_free(err);
        pawl_options_free(options);
    }
}

struct refusal {
    const char *key;
    const char *text;
    const char *words; /* part of the message */
};

static const struct refusal refusals[] = {
    {"ttl", "", "empty"},
    {"ttl", "10", "no unit"},
    {"ttl", "10", "10s"},
    {"ttl", "10 s", "not a duration"},
    {"ttl", "-5s", "not a duration"},
    {"ttl", "10S", "not a duration"},
    {"ttl", "1h", "2s to 300s"},
    {"ttl", "1999ms", "2s to 300s"},
    {"ttl", "300001ms", "2s to 300s"},
    {"ttl", "99999999999999999999", "no unit"},
    {"ttl", "99999999999999999999s", "not a duration"},
    {"margin", "off", "not a duration"},
    {"margin", "49ms", "50ms"},
    {"margin", "151s", "ttl/2"},
    {"tick", "99ms", "100ms"},
    {"tick", "76s", "ttl/4"},
    {"renew", "0s", "50ms"},
    {"request_timeout", "101s", "ttl/3"},
    {"retry_base", "9ms", "10ms"},
    {"retry_cap", "301s", "300s"},
    {"grace", "301s", "out of range"},
    {"layout", "Raw", "pawl, raw"},
    {"root", "/a", "empty segment"},
    {"root", "a/", "empty segment"},
    {"root", "a//b", "empty segment"},
    {"root", "..", "'..'"},
    {"root", "a/./b", "'.'"},
    {"root", "a\nb", "control"},
    {"root", "\xFF", "UTF-8"},
    {"root", "12345678901234567890123456789012345678901234567890123456789012345", "64 bytes"},
    {"store_id", "0123456789ABCDEF", "lower-case"},
    {"store_id", "123", "16"},
    {"insecure", "yes", "0, 1"},
    {"insecure", "2", "0, 1"},
    {"max_requests", "0", "1 to 1048576"},
    {"max_requests", "1048577", "1 to 1048576"},
    {"max_requests", "1e3", "1 to 1048576"},
    {"max_requests", "-1", "1 to 1048576"},
    {"store", "locale", "scheme"},
    {"store", "etcd://h?tll=5s", "'ttl'"},
    {"store", "etcd://h?ttl=5", "no unit"},
    {"store", "etcd://h?store=local:", "another store"},
    {"store", "etcd://h/a?root=b", "twice"},
    {"store", "etcd://h/a//b", "empty segment"},
    {"store", "etcd://h/a/", "empty segment"},
    {"tll", "5s", "'ttl'"},
    {"TTL", "5s", "there is no option 'TTL'"},
    {"request-timeout", "5s", "'request_timeout'"},
    {"password", "hunter2", "'password_file'"},
    {"session_ttl", "5s", "'ttl'"},
    {"", "5s", "there is no option"},
    {"quux", "5s", "pawl config --reference"},
};

/* A value out of range or an unknown key is refused with a message that names it and the cure, and
 * changes nothing. */
Test(options, RefusesBadValues)
{
    pawl_error *err = pawl_error_new();

    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        const struct refusal *row = &refusals[i];
        pawl_options *options = pawl_options_new();
        pawl_error_clear(err);
        cr_expect_eq(pawl_options_set(options, row->key, row->text, err), PAWL_E_CONFIG,
                     "%s=%s was taken", row->key, row->text);
        const char *message = pawl_error_message(err);
        cr_expect(strstr(message, row->words) != NULL, "%s=%s: no '%s' in: %s", row->key, row->text,
                  row->words, message);
        cr_expect_null(strstr(message, "hunter2"));
        const char *source = pawl_options_source(options, row->key);
        cr_expect(source == NULL || strcmp(source, "default") == 0);
        pawl_options_free(options);
    }
    pawl_error_free(err);
}

/* NULL arguments are the caller's mistake, not a crash. */
Test(options, SurvivesNull)
{
    pawl_options *options = pawl_options_new();

    cr_expect_eq(pawl_options_set(NULL, "ttl", "5s", NULL), PAWL_E_INVALID);
    cr_expect_eq(pawl_options_set(options, NULL, "5s", NULL), PAWL_E_INVALID);
    cr_expect_eq(pawl_options_set(options, "ttl", NULL, NULL), PAWL_E_INVALID);
    cr_expect_eq(pawl_options_load(NULL, NULL), PAWL_E_INVALID);
    cr_expect_eq(pawl_options_check(NULL, NULL), PAWL_E_INVALID);
    cr_expect_null(pawl_options_get(NULL, "ttl"));
    cr_expect_null(pawl_options_get(options, NULL));
    cr_expect_null(pawl_options_get(options, "tll"));
    cr_expect_null(pawl_options_source(NULL, "ttl"));
    cr_expect_null(pawl_options_source(options, NULL));
    pawl_options_free(options);
    pawl_options_free(NULL);
}

/* A later set of a key replaces the earlier; a refused one leaves it. */
Test(options, KeepsTheLastGoodValue)
{
    pawl_options *options = pawl_options_new();

    cr_assert_eq(pawl_options_set(options, "ttl", "5s", NULL), PAWL_OK);
    cr_assert_eq(pawl_options_set(options, "ttl", "6s", NULL), PAWL_OK);
    cr_assert_eq(pawl_options_set(options, "ttl", "1h", NULL), PAWL_E_CONFIG);
    cr_expect_str_eq(pawl_options_get(options, "ttl"), "6s");
    pawl_options_free(options);
}

/* Defaults follow what they depend on: the store, its URL, the ttl. */
Test(options, WorksDefaultsOutAnew)
{
    pawl_options *options = pawl_options_new();

    cr_assert_eq(pawl_options_set(options, "ttl", "4s", NULL), PAWL_OK);
    cr_expect_str_eq(pawl_options_get(options, "margin"), "400ms");
    cr_expect_str_eq(pawl_options_get(options, "renew"), "1s");
    cr_expect_str_eq(pawl_options_get(options, "request_timeout"), "1333ms");
    cr_expect_str_eq(pawl_options_get(options, "connect_timeout"), "1s");
    cr_expect_str_eq(pawl_options_get(options, "grace"), "2600ms");
    cr_assert_eq(pawl_options_set(options, "ttl", "2s", NULL), PAWL_OK);
    cr_expect_str_eq(pawl_options_get(options, "margin"), "200ms");
    cr_assert_eq(pawl_options_set(options, "ttl", "off", NULL), PAWL_OK);
    cr_expect_str_eq(pawl_options_get(options, "ttl"), "off");
    cr_expect_str_eq(pawl_options_get(options, "margin"), "3s");
    pawl_options_free(options);

    options = pawl_options_new();
    cr_assert_eq(pawl_options_set(options, "store", "etcd://h", NULL), PAWL_OK);
    cr_expect_str_eq(pawl_options_get(options, "ttl"), "10s");
    cr_expect_str_eq(pawl_options_get(options, "renew"), "2500ms");
    cr_assert_eq(pawl_options_set(options, "store", "zk://h", NULL), PAWL_OK);
    cr_expect_str_eq(pawl_options_get(options, "ttl"), "30s");
    cr_expect_str_eq(pawl_options_get(options, "renew"), "2500ms");
    cr_assert_eq(pawl_options_set(options, "store", "zk://h?ttl=24s", NULL), PAWL_OK);
    cr_expect_str_eq(pawl_options_get(options, "renew"), "2s");
    pawl_options_free(options);
}

/* What the store's URL says is in force, marked as such, and gives way to a flag only. */
Test(options, TheUrlSpeaksBelowFlags)
{
    pawl_options *options = pawl_options_new();

    cr_assert_eq(pawl_options_set(options, "store", "etcd://h/base?ttl=20s&margin=1s", NULL),
                 PAWL_OK);
    cr_expect_str_eq(pawl_options_get(options, "root"), "base");
    cr_expect_str_eq(pawl_options_source(options, "root"), "url");
    cr_expect_str_eq(pawl_options_get(options, "ttl"), "20s");
    cr_expect_str_eq(pawl_options_source(options, "ttl"), "url");
    cr_assert_eq(pawl_options_set(options, "ttl", "8s", NULL), PAWL_OK);
    cr_assert_eq(pawl_options_set(options, "root", "mine", NULL), PAWL_OK);
    cr_expect_str_eq(pawl_options_get(options, "ttl"), "8s");
    cr_expect_str_eq(pawl_options_source(options, "ttl"), "flag");
    cr_expect_str_eq(pawl_options_get(options, "root"), "mine");
    cr_expect_str_eq(pawl_options_get(options, "margin"), "1s");
    cr_assert_eq(pawl_options_set(options, "store", "local:///d", NULL), PAWL_OK);
    cr_expect_str_eq(pawl_options_source(options, "margin"), "default");
    pawl_options_free(options);
}

/* The settings of a URL that was given apart are those of that URL, not of the option `store`. */
Test(options, ResolvesForAnyUrl)
{
    pawl_options *options = pawl_options_new();
    struct pawl__settings settings;
    struct pawl__url url;

    cr_assert_eq(pawl_options_set(options, "store", "local:?ttl=off", NULL), PAWL_OK);
    cr_assert_eq(pawl_options_set(options, "max_requests", "7", NULL), PAWL_OK);
    cr_assert_eq(pawl_options_set(options, "store_id", "0123456789abcdef", NULL), PAWL_OK);
    cr_assert_eq(pawl__url_parse("etcd://h/r?layout=raw&insecure=1", &url, NULL), PAWL_OK);
    cr_assert_eq(pawl__options_resolve(options, &url, &settings, NULL), PAWL_OK);
    cr_expect_eq(settings.ttl_ms, 10000);
    cr_expect_eq(settings.margin_ms, 1000);
    cr_expect_eq(settings.renew_ms, 2500);
    cr_expect_eq(settings.request_timeout_ms, 3333);
    cr_expect_eq(settings.connect_timeout_ms, 2000);
    cr_expect_eq(settings.retry_base_ms, 200);
    cr_expect_eq(settings.retry_cap_ms, 5000);
    cr_expect_eq(settings.grace_ms, 5000);
    cr_expect_eq(settings.tick_ms, 2000);
    cr_expect_eq(settings.max_requests, 7);
    cr_expect_eq((int)settings.layout, (int)PAWL__LAYOUT_RAW);
    cr_expect(settings.insecure);
    cr_expect_str_eq(settings.root, "r");
    cr_expect_str_eq(settings.store_id, "0123456789abcdef");
    cr_expect_null(settings.password_file);
    pawl__url_release(&url);
    pawl_options_free(options);
}

/* Without a set of options the defaults hold, and nothing is read from anywhere. */
Test(options, ResolvesWithoutOptions)
{
    struct pawl__settings settings;
    struct pawl__url url;

    cr_expect_str_eq(pawl__options_store(NULL), "local:");
    cr_assert_eq(pawl__url_parse("local:?ttl=off", &url, NULL), PAWL_OK);
    cr_assert_eq(pawl__options_resolve(NULL, &url, &settings, NULL), PAWL_OK);
    cr_expect_eq(settings.ttl_ms, 0);
    cr_expect_eq(settings.margin_ms, 3000);
    cr_expect_str_eq(settings.root, "pawl");
    cr_expect_null(settings.store_id);
    pawl__url_release(&url);
}

/* A URL with an unknown key or a bad value is refused also when it is not the option `store`. */
Test(options, ResolveChecksTheUrl)
{
    const char *const texts[] = {"local:?tll=5s", "local:?ttl=5", "etcd://h/a/", "local:?store=x"};
    struct pawl__settings settings = {.max_requests = 99};

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct pawl__url url;
        cr_assert_eq(pawl__url_parse(texts[i], &url, NULL), PAWL_OK);
        cr_expect_eq(pawl__options_resolve(NULL, &url, &settings, NULL), PAWL_E_CONFIG, "%s",
                     texts[i]);
        cr_expect_eq(settings.max_requests, 99);
        pawl__url_release(&url);
    }
}

/* A copy holds the same and does not change with the original. */
Test(options, CopiesAreIndependent)
{
    pawl_options *options = pawl_options_new();

    cr_assert_eq(pawl_options_set(options, "store", "etcd://h", NULL), PAWL_OK);
    cr_assert_eq(pawl_options_set(options, "ttl", "20s", NULL), PAWL_OK);
    pawl_options *copy = pawl__options_copy(options);
    cr_assert_eq(pawl_options_set(options, "ttl", "8s", NULL), PAWL_OK);
    pawl_options_free(options);
    cr_expect_str_eq(pawl__options_store(copy), "etcd://h");
    cr_expect_str_eq(pawl_options_get(copy, "ttl"), "20s");
    cr_expect_str_eq(pawl_options_get(copy, "margin"), "2s");
    pawl_options_free(copy);
    copy = pawl__options_copy(NULL);
    cr_expect_str_eq(pawl_options_get(copy, "ttl"), "30s");
    pawl_options_free(copy);
}

/* Uses a set of options with the n-th allocation failing; returns whether that happened. */
static bool use_with_failure(size_t n)
{
    struct pawl__settings settings;
    struct pawl__url url;

    pawl__heap_install();
    pawl__heap_fail_after(n);
    pawl_options *options = pawl_options_new();
    if (options != NULL) {
        (void)pawl_options_set(options, "store", "etcd://u@h1,h2/r?ttl=20s", NULL);
        (void)pawl_options_set(options, "margin", "1s", NULL);
        (void)pawl_options_get(options, "renew");
        (void)pawl_options_source(options, "ttl");
        (void)pawl_options_check(options, NULL);
        pawl_options *copy = pawl__options_copy(options);
        if (copy != NULL && pawl__url_parse("local:?ttl=off", &url, NULL) == PAWL_OK) {
            pawl_status status = pawl__options_resolve(copy, &url, &settings, NULL);
            cr_expect(status == PAWL_OK || status == PAWL_E_NOMEM);
            pawl__url_release(&url);
        }
        pawl_options_free(copy);
    }
    pawl_options_free(options);
    cr_expect_eq(pawl__heap_live(), 0, "leak when allocation %zu fails", n);
    return pawl__heap_has_failed();
}

/* Whichever allocation fails, nothing leaks and nothing crashes. */
Test(options, SurvivesEveryFailedAllocation)
{
    size_t n = 1;

    while (use_with_failure(n)) {
        n++;
    }
    cr_expect_geq(n, 20);
}

/* When memory is out, set says so and the old value stays. */
Test(options, SetTellsWhenMemoryIsOut)
{
    pawl__heap_install();
    pawl_options *options = pawl_options_new();
    cr_assert_eq(pawl_options_set(options, "ttl", "5s", NULL), PAWL_OK);
    pawl__heap_fail_after(1);
    cr_expect_eq(pawl_options_set(options, "ttl", "6s", NULL), PAWL_E_NOMEM);
    cr_expect_str_eq(pawl_options_get(options, "ttl"), "5s");
    pawl_options_free(options);
    cr_expect_eq(pawl__heap_live(), 0);
}
