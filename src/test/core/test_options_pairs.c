/* Tests of core/options_resolve: values that must fit each other and the store. */
#include "core/options.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "core/url.h"

/* Up to three settings that go with a store. */
struct set {
    const char *store;
    const char *settings; /* "key=text key=text" */
    const char *words[2]; /* parts of the message; NULL = must be taken */
};

/* Applies "key=text key=text" to a new set for `store`. */
static pawl_options *make_options(const char *store, const char *settings)
{
    pawl_options *options = pawl_options_new();
    char copy[256];
    char *rest = NULL;

    cr_assert_eq(pawl_options_set(options, "store", store, NULL), PAWL_OK);
    (void)snprintf(copy, sizeof(copy), "%s", settings);
    for (char *pair = strtok_r(copy, " ", &rest); pair != NULL; pair = strtok_r(NULL, " ", &rest)) {
        char *text = strchr(pair, '=');
        *text++ = '\0';
        cr_assert_eq(pawl_options_set(options, pair, text, NULL), PAWL_OK, "%s %s", pair, text);
    }
    return options;
}

/* Checks each set; the two ways to check (public, and as the client opens) must agree. */
static void check_sets(const struct set *sets, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        pawl_options *options = make_options(sets[i].store, sets[i].settings);
        pawl_error *err = pawl_error_new();
        pawl_status want = sets[i].words[0] == NULL ? PAWL_OK : PAWL_E_CONFIG;
        struct pawl__settings settings;
        struct pawl__url url;

        cr_expect_eq(pawl_options_check(options, err), want, "%s %s: %s", sets[i].store,
                     sets[i].settings, pawl_error_message(err));
        for (int k = 0; k < 2 && sets[i].words[k] != NULL; k++) {
            cr_expect(strstr(pawl_error_message(err), sets[i].words[k]) != NULL,
                      "%s %s: no '%s' in: %s", sets[i].store, sets[i].settings, sets[i].words[k],
                      pawl_error_message(err));
        }
        cr_assert_eq(pawl__url_parse(pawl__options_store(options), &url, NULL), PAWL_OK);
        cr_expect_eq(pawl__options_resolve(options, &url, &settings, NULL), want);
        pawl__url_release(&url);
        pawl_error_free(err);
        pawl_options_free(options);
    }
}

#define CHECK_SETS(sets) check_sets((sets), sizeof(sets) / sizeof((sets)[0]))

/* The margin is at most half of the ttl. */
Test(options_pairs, MarginAndTtl)
{
    static const struct set sets[] = {
        {"local:", "ttl=10s margin=5s", {NULL, NULL}},
        {"local:", "ttl=10s margin=5001ms", {"margin 5001ms", "ttl 10s"}},
        {"etcd://h", "margin=6s", {"margin 6s", "ttl 10s (default)"}},
    };

    CHECK_SETS(sets);
}

/* A renewal leaves time for one more try; on ZooKeeper the measured bound of ttl/12 holds. */
Test(options_pairs, RenewAndTtl)
{
    static const struct set sets[] = {
        {"local:", "ttl=10s margin=2s renew=4s", {NULL, NULL}},
        {"local:", "ttl=10s margin=2s renew=4001ms", {"renew 4001ms", "ttl 10s"}},
        {"etcd://h", "renew=9s", {"renew 9s", "half of ttl - margin"}},
        {"zk://h", "ttl=24s renew=2s", {NULL, NULL}},
        {"zk://h", "ttl=24s renew=2001ms", {"renew 2001ms", "ttl/12"}},
    };

    CHECK_SETS(sets);
}

/* One try takes at most a third of the lease. */
Test(options_pairs, TriesAndTtl)
{
    static const struct set sets[] = {
        {"etcd://h", "ttl=9s request_timeout=3s", {NULL, NULL}},
        {"etcd://h", "ttl=9s request_timeout=3001ms", {"request_timeout 3001ms", "ttl 9s"}},
        {"etcd://h", "ttl=9s connect_timeout=3s", {NULL, NULL}},
        {"etcd://h", "ttl=9s connect_timeout=3001ms", {"connect_timeout 3001ms", "ttl 9s"}},
    };

    CHECK_SETS(sets);
}

/* The grace of a command fits into what the deadline leaves. */
Test(options_pairs, GraceAndDeadline)
{
    static const struct set sets[] = {
        {"local:", "ttl=10s margin=1s renew=2s grace=7s", {NULL, NULL}},
        {"local:", "ttl=10s margin=1s renew=2s grace=7001ms", {"grace 7001ms", "deadline"}},
        {"local:", "ttl=2s margin=1s", {NULL, NULL}},
    };

    CHECK_SETS(sets);
}

/* ZooKeeper's tick is at most a quarter of the ttl; other stores have none. */
Test(options_pairs, TickAndTtl)
{
    static const struct set sets[] = {
        {"zk://h", "ttl=8s tick=2s", {NULL, NULL}},
        {"zk://h", "ttl=7s", {"tick 2s (default)", "ttl 7s"}},
        {"zk://h", "ttl=8s tick=2001ms", {"tick 2001ms", "ttl/4"}},
        {"etcd://h", "ttl=4s tick=30s", {NULL, NULL}},
        {"local:", "ttl=2s", {NULL, NULL}},
    };

    CHECK_SETS(sets);
}

/* Backoff begins below its cap. */
Test(options_pairs, RetryBaseAndCap)
{
    static const struct set sets[] = {
        {"local:", "retry_base=1s retry_cap=1s", {NULL, NULL}},
        {"local:", "retry_base=1001ms retry_cap=1s", {"retry_base 1001ms", "retry_cap 1s"}},
        {"local:", "retry_base=6s", {"retry_base 6s", "retry_cap 5s (default)"}},
    };

    CHECK_SETS(sets);
}

/* Without a ttl nothing expires: only a local store has that, and its other times do not matter. */
Test(options_pairs, NoTtlAndStore)
{
    static const struct set sets[] = {
        {"local:", "ttl=off", {NULL, NULL}},
        {"local:", "ttl=off margin=20s renew=100s request_timeout=90s", {NULL, NULL}},
        {"sim:", "ttl=off", {NULL, NULL}},
        {"etcd://h", "ttl=off", {"ttl off", "etcd"}},
        {"zks://h", "ttl=off", {"ttl off", "zk"}},
    };

    CHECK_SETS(sets);
}

/* Raw names are for stores that have other clients. */
Test(options_pairs, LayoutAndStore)
{
    static const struct set sets[] = {
        {"etcd://h", "layout=raw", {NULL, NULL}},
        {"zk://h", "layout=raw", {NULL, NULL}},
        {"local:", "layout=raw", {"layout raw", "local"}},
    };

    CHECK_SETS(sets);
}

/* Certificates without encryption, or half a pair of them, are refused. */
Test(options_pairs, CertificatesAndStore)
{
    static const struct set sets[] = {
        {"etcds://h", "cacert=/c cert=/a key=/b", {NULL, NULL}},
        {"etcd://h", "cacert=/c", {"cacert", "etcds://"}},
        {"zk://h", "cert=/a key=/b", {"cert", "zks://"}},
        {"etcds://h", "cert=/a", {"key is missing", NULL}},
        {"etcds://h", "key=/a", {"cert is missing", NULL}},
        {"local:", "cacert=/c cert=/a", {NULL, NULL}},
    };

    CHECK_SETS(sets);
}

/* A password goes over an unencrypted connection to another machine only on purpose. */
Test(options_pairs, PasswordAndConnection)
{
    static const struct set sets[] = {
        {"etcd://ann@localhost,127.0.0.1,[::1]", "password_file=/p", {NULL, NULL}},
        {"etcd://ann@localhost,h2", "password_file=/p", {"h2 unencrypted", "insecure=1"}},
        {"etcd://ann@h2", "password_file=/p insecure=1", {NULL, NULL}},
        {"etcds://ann@h2", "password_file=/p", {NULL, NULL}},
        {"zk://ann@h2?password_file=/p", "", {"unencrypted", "zks://"}},
        {"etcds://h2", "password_file=/p", {"without a user", "etcds://USER@host"}},
        {"local:", "password_file=/p", {NULL, NULL}},
    };

    CHECK_SETS(sets);
}

/* Every ttl in its range gives defaults that fit each other, on every kind of store. */
Test(options_pairs, DefaultsAlwaysFit)
{
    const char *const stores[] = {"local:", "etcd://h", "zk://h"};

    for (size_t i = 0; i < 3; i++) {
        for (int ms = i == 2 ? 8000 : 2000; ms <= 300000; ms += 997) {
            pawl_options *options = pawl_options_new();
            pawl_error *err = pawl_error_new();
            char text[32];
            (void)snprintf(text, sizeof(text), "%dms", ms);
            cr_assert_eq(pawl_options_set(options, "store", stores[i], NULL), PAWL_OK);
            cr_assert_eq(pawl_options_set(options, "ttl", text, NULL), PAWL_OK);
            cr_assert_eq(pawl_options_check(options, err), PAWL_OK, "%s ttl %s: %s", stores[i],
                         text, pawl_error_message(err));
            pawl_error_free(err);
            pawl_options_free(options);
        }
    }
}
