/* Tests of core/url: URLs of stores. */
#include "core/url.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "test/heap.h"

struct form {
    const char *text;
    const char *normal;
};

/* What is understood, and how it is printed. */
static const struct form forms[] = {
    {"local:", "local:"},
    {"LOCAL:", "local:"},
    {"local:///var/lib/pawl", "local:///var/lib/pawl"},
    {"local:///var/lib/pawl//", "local:///var/lib/pawl"},
    {"local:///a%20b/%C3%A9", "local:///a%20b/%C3%A9"},
    {"local:///a@b:c", "local:///a%40b%3Ac"},
    {"local:?ttl=off", "local:?ttl=off"},
    {"local:///d?ttl=5s&margin=1s", "local:///d?ttl=5s&margin=1s"},
    {"etcd://h", "etcd://h:2379"},
    {"etcd3://h", "etcd://h:2379"},
    {"etcds://h", "etcds://h:2379"},
    {"zk://h", "zk://h:2181"},
    {"zookeeper://h", "zk://h:2181"},
    {"zks://h", "zks://h:2181"},
    {"Etcd://Host.Example", "etcd://host.example:2379"},
    {"etcd://h1,h2:1,h3", "etcd://h1:2379,h2:1,h3:2379"},
    {"etcd://h,H,h:2379,h:2380", "etcd://h:2379,h:2380"},
    {"etcd://[::1],[fe80::2]:65535", "etcd://[::1]:2379,[fe80::2]:65535"},
    {"etcd://h/", "etcd://h:2379"},
    {"etcd://h/root", "etcd://h:2379/root"},
    {"etcd://h/a/b", "etcd://h:2379/a/b"},
    {"etcd://h/%C3%A9%20x", "etcd://h:2379/%C3%A9%20x"},
    {"etcd://ann@h", "etcd://ann@h:2379"},
    {"etcd://a%40b%3Ac@h", "etcd://a%40b%3Ac@h:2379"},
    {"etcd://h?ttl=10s&cacert=/etc/ca%2Bb.pem", "etcd://h:2379?ttl=10s&cacert=/etc/ca%2Bb.pem"},
    {"etcd://h?password_file=/home/a@b/pw", "etcd://h:2379?password_file=/home/a%40b/pw"},
    {"zk://u@10.0.0.1,[::1]:2182/x/y?tick=1s", "zk://u@10.0.0.1:2181,[::1]:2182/x/y?tick=1s"},
    {"sim:", "sim:"},
    {"sim://", "sim:"},
    {"sim:///root", "sim:///root"},
    {"mem2://h/x?ttl=5s", "mem2://h/x?ttl=5s"},
};

/* Parses `text`, which must be a URL, and appends its normal form to `buf`. */
static void print_normal(const char *text, struct pawl__buf *buf)
{
    pawl_error *err = pawl_error_new();
    struct pawl__url url;

    pawl_status status = pawl__url_parse(text, &url, err);
    cr_assert_eq(status, PAWL_OK, "%s: %s", text, pawl_error_message(err));
    pawl__url_text(&url, buf);
    pawl__url_release(&url);
    pawl_error_free(err);
}

/* Every form is understood, and what is printed of it is the normal form. */
Test(url, HasANormalForm)
{
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        struct pawl__buf buf = {0};
        print_normal(forms[i].text, &buf);
        cr_expect_str_eq(pawl__buf_str(&buf), forms[i].normal);
        pawl__buf_release(&buf);
    }
}

/* The normal form means itself. */
Test(url, NormalFormIsStable)
{
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        struct pawl__buf buf = {0};
        print_normal(forms[i].normal, &buf);
        cr_expect_str_eq(pawl__buf_str(&buf), forms[i].normal);
        pawl__buf_release(&buf);
    }
}

/* The parts are decoded and in their places. */
Test(url, HasItsParts)
{
    struct pawl__url url;

    cr_assert_eq(pawl__url_parse("zks://an%40n@H1,[::1]:99/r%C3%A9/s?ttl=10s&root=", &url, NULL),
                 PAWL_OK);
    cr_expect_str_eq(url.scheme, "zk");
    cr_expect(url.tls);
    cr_expect_str_eq(url.user, "an@n");
    cr_assert_eq(url.host_count, 2);
    cr_expect_str_eq(url.hosts[0].name, "h1");
    cr_expect_eq(url.hosts[0].port, 2181);
    cr_expect_str_eq(url.hosts[1].name, "::1");
    cr_expect_eq(url.hosts[1].port, 99);
    cr_expect_str_eq(url.path, "r\xC3\xA9/s");
    cr_assert_eq(url.pair_count, 2);
    cr_expect_str_eq(url.pairs[0].key, "ttl");
    cr_expect_str_eq(url.pairs[0].value, "10s");
    cr_expect_str_eq(url.pairs[1].value, "");
    pawl__url_release(&url);
    pawl__url_release(&url);
    pawl__url_release(NULL);
}

/* A local store has a directory with its slash, or none. */
Test(url, LocalHasADirectory)
{
    struct pawl__url url;

    cr_assert_eq(pawl__url_parse("local:///var/x", &url, NULL), PAWL_OK);
    cr_expect_str_eq(url.path, "/var/x");
    cr_expect_eq(url.host_count, 0);
    pawl__url_release(&url);
    cr_assert_eq(pawl__url_parse("local:", &url, NULL), PAWL_OK);
    cr_expect_null(url.path);
    pawl__url_release(&url);
}

struct refusal {
    const char *text;
    const char *words; /* part of the message */
};

static const struct refusal refusals[] = {
    {"", "scheme"},
    {"h1", "scheme"},
    {"/var/lib/pawl", "scheme"},
    {"://h", "scheme"},
    {"etcd+http://h", "scheme"},
    {"averyveryverylongscheme://h", "scheme"},
    {"h1:2379", "etcd://"},
    {"local", "local:"},
    {"local:/dir", "three slashes"},
    {"local://dir", "three slashes"},
    {"local:dir", "three slashes"},
    {"local://", "three slashes"},
    {"local:///", "no directory"},
    {"local:////", "no directory"},
    {"local://host/dir", "three slashes"},
    {"etcd:", "//"},
    {"etcd:h", "//"},
    {"zookeper:h", "zookeeper://"},
    {"etcd:/h", "//"},
    {"etcd://", "no host"},
    {"etcd:///root", "no host"},
    {"etcd://ann@", "no host"},
    {"sim://ann@", "no host"},
    {"etcd://h,", "host number 2"},
    {"etcd://,h", "host number 1"},
    {"etcd://h,,i", "host number 2"},
    {"etcd://h:0", "port"},
    {"etcd://h:65536", "port"},
    {"etcd://h:", "port"},
    {"etcd://h:12x", "port"},
    {"etcd://h:+1", "port"},
    {"etcd://h:000001", "port"},
    {"etcd://::1", "brackets"},
    {"etcd://[::1", "brackets"},
    {"etcd://[h]", "brackets"},
    {"etcd://[]", "brackets"},
    {"etcd://[127.0.0.1]", "brackets"},
    {"etcd://[::1]x", "brackets"},
    {"etcd://h!", "host name"},
    {"etcd://http://h", "port"},
    {"etcd://@h", "user"},
    {"etcd://a@b@h", "'@'"},
    {"etcd://h/a@b", "%40"},
    {"etcd://h/%zz", "hex"},
    {"etcd://h/%4", "hex"},
    {"etcd://h/%00", "control"},
    {"etcd://h/%FF", "UTF-8"},
    {"etcd://%0A@h", "control"},
    {"etcd://h?", "key=value"},
    {"etcd://h?ttl", "key=value"},
    {"etcd://h?=1", "key=value"},
    {"etcd://h?TTL=1s", "key=value"},
    {"etcd://h?ttl=1s&", "part number 2"},
    {"etcd://h?a=1&a=2", "'a' twice"},
    {"etcd://h?a=%0D", "control"},
    {"etcd://h#x", "'#'"},
    {"etcd://h x", "space"},
    {"etcd://h\n", "byte 9"},
};

/* Each malformed URL is refused with a message that names what is wrong, and nothing is set. */
Test(url, RefusesMalformedOnes)
{
    pawl_error *err = pawl_error_new();

    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        struct pawl__url url = {.host_count = 99};
        pawl_error_clear(err);
        cr_expect_eq(pawl__url_parse(refusals[i].text, &url, err), PAWL_E_CONFIG, "'%s' was taken",
                     refusals[i].text);
        cr_expect_eq(url.host_count, 99);
        cr_expect(strstr(pawl_error_message(err), refusals[i].words) != NULL, "%s: no '%s' in: %s",
                  refusals[i].text, refusals[i].words, pawl_error_message(err));
    }
    pawl_error_free(err);
}

/* A password is refused with its cure, and wherever it stands, also in URLs that are malformed in
 * another way, no message repeats it. */
Test(url, NeverRepeatsAPassword)
{
    const char *const texts[] = {
        "etcd://ann:hunter2@h",   "etcd://ann:@h",           "zk://ann:hunter2@h:99/root?ttl=1s",
        "etcd://ann:hunter2@x@h", "etcd://ann:hunter2/x@h",  "etcd://ann:12/hunter2@h",
        "etcd://ann:hunter2?x@h", "etcd://ann:12?hunter2@h", "etcd://ann:hunter2,x@h",
        "etcd:ann:hunter2@h",     "ann:hunter2@h:2379",      "sim://ann:hunter2@h",
        "local://ann:hunter2@h",  "etcd+x://ann:hunter2@h",  "etcd://ann:hunter2%zz@h",
        "etcd://ann:hunter2@h x", "etcd://ann:hunter2#@h",   "http://ann:hunter2@h",
    };
    pawl_error *err = pawl_error_new();

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct pawl__url url;
        cr_expect_eq(pawl__url_parse(texts[i], &url, err), PAWL_E_CONFIG, "%s", texts[i]);
        cr_expect(strstr(pawl_error_message(err), "hunter2") == NULL, "%s: %s", texts[i],
                  pawl_error_message(err));
    }
    cr_expect_eq(pawl__url_parse(texts[0], &(struct pawl__url){.host_count = 0}, err),
                 PAWL_E_CONFIG);
    cr_expect_not_null(strstr(pawl_error_message(err), "password_file"));
    pawl_error_free(err);
}

/* Length, hosts and query have bounds. */
Test(url, IsBounded)
{
    struct pawl__buf text = {0};
    struct pawl__url url;

    pawl__buf_append_str(&text, "etcd://h0");
    for (int i = 1; i < PAWL__URL_HOSTS_MAX; i++) {
        pawl__buf_appendf(&text, ",h%d", i);
    }
    cr_assert_eq(pawl__url_parse(text.data, &url, NULL), PAWL_OK);
    cr_expect_eq(url.host_count, PAWL__URL_HOSTS_MAX);
    pawl__url_release(&url);
    pawl__buf_append_str(&text, ",more");
    cr_expect_eq(pawl__url_parse(text.data, &url, NULL), PAWL_E_CONFIG);

    pawl__buf_clear(&text);
    pawl__buf_append_str(&text, "etcd://h?k0=");
    for (int i = 1; i <= PAWL__URL_PAIRS_MAX; i++) {
        pawl__buf_appendf(&text, "&k%d=", i);
    }
    cr_expect_eq(pawl__url_parse(text.data, &url, NULL), PAWL_E_CONFIG);

    pawl__buf_clear(&text);
    pawl__buf_append_str(&text, "etcd://h/");
    while (text.len < PAWL__URL_MAX) {
        pawl__buf_append_char(&text, 'a');
    }
    cr_assert_eq(pawl__url_parse(text.data, &url, NULL), PAWL_OK);
    pawl__url_release(&url);
    pawl__buf_append_char(&text, 'a');
    cr_expect_eq(pawl__url_parse(text.data, &url, NULL), PAWL_E_CONFIG);
    pawl__buf_release(&text);
}

/* Unknown schemes are left to the lookup of backends, but the one that was meant is known. */
Test(url, KnowsTheNearestScheme)
{
    cr_expect_str_eq(pawl__url_nearest_scheme("locl"), "local");
    cr_expect_str_eq(pawl__url_nearest_scheme("ectd"), "etcd");
    cr_expect_str_eq(pawl__url_nearest_scheme("zookeper"), "zookeeper");
    cr_expect_str_eq(pawl__url_nearest_scheme("http"), "etcd");
    cr_expect_str_eq(pawl__url_nearest_scheme("https"), "etcds");
    cr_expect_null(pawl__url_nearest_scheme("postgres"));
}

/* Hosts of this machine are told from others, whatever they look like. */
Test(url, TellsLocalHosts)
{
    const char *const local[] = {"localhost", "127.0.0.1", "127.9.9.9", "::1"};
    const char *const other[] = {"h",   "127.0.0.1.example", "128.0.0.1", "localhost.evil",
                                 "::2", "0.0.0.0",           "127.1x"};

    for (size_t i = 0; i < sizeof(local) / sizeof(local[0]); i++) {
        struct pawl__url_host host = {(char *)local[i], 1};
        cr_expect(pawl__url_host_is_local(&host), "%s", local[i]);
    }
    for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
        struct pawl__url_host host = {(char *)other[i], 1};
        cr_expect_not(pawl__url_host_is_local(&host), "%s", other[i]);
    }
}

/* Whichever allocation fails, the status says so and nothing leaks. */
Test(url, TellsOfEveryFailedAllocation)
{
    for (size_t n = 1;; n++) {
        struct pawl__url url;
        pawl__heap_install();
        pawl__heap_fail_after(n);
        pawl_status status =
            pawl__url_parse("etcd://u@h1,h1,[::1]:1/root?ttl=1s&renew=2s", &url, NULL);
        bool failed = pawl__heap_has_failed();
        cr_expect_eq(status, failed ? PAWL_E_NOMEM : PAWL_OK);
        if (status == PAWL_OK) {
            pawl__url_release(&url);
        }
        cr_expect_eq(pawl__heap_live(), 0, "leak when allocation %zu fails", n);
        if (!failed) {
            cr_expect_geq(n, 9);
            break;
        }
    }
}
