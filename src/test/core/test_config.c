/* Tests of core/config: the strict loader of configuration files. */
#include "core/config.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test/heap.h"

/* A file is a flat mapping; comments, quotes and JSON's braces are YAML too. */
Test(config, ReadsAFlatMapping)
{
    const char *const texts[] = {
        "store: local:///d\nttl: 20s\n",
        "# comment\n---\nstore: 'local:///d' # why\nttl: \"20s\"\n...\n",
        "{\"store\": \"local:///d\", \"ttl\": \"20s\"}\n",
        "\xEF\xBB\xBFstore: local:///d\nttl: 20s",
        "store: local:///d\r\nttl: 20s\r\n",
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct pawl__config config;
        cr_assert_eq(pawl__config_parse(texts[i], strlen(texts[i]), "f", &config, NULL), PAWL_OK,
                     "%s", texts[i]);
        cr_expect_str_eq(config.values[PAWL__OPTION_STORE], "local:///d");
        cr_expect_str_eq(config.values[PAWL__OPTION_TTL], "20s");
        cr_expect_null(config.values[PAWL__OPTION_MARGIN]);
        pawl__config_release(&config);
    }
}

/* Values are text as it stands: no YAML 1.1 numbers, dates or booleans. */
Test(config, TakesValuesAsText)
{
    const char *text = "max_requests: 0100\ninsecure: true\nstore_id: 0011223344556677\n"
                       "cacert: no\nttl: off\n";
    struct pawl__config config;

    cr_assert_eq(pawl__config_parse(text, strlen(text), "f", &config, NULL), PAWL_OK);
    cr_expect_str_eq(config.values[PAWL__OPTION_MAX_REQUESTS], "0100");
    cr_expect_str_eq(config.values[PAWL__OPTION_INSECURE], "true");
    cr_expect_str_eq(config.values[PAWL__OPTION_STORE_ID], "0011223344556677");
    cr_expect_str_eq(config.values[PAWL__OPTION_CACERT], "no");
    cr_expect_str_eq(config.values[PAWL__OPTION_TTL], "off");
    pawl__config_release(&config);
}

/* The place of each value is kept, for `pawl config`. */
Test(config, KnowsWhereValuesStand)
{
    const char *text = "# first line\nttl: 20s\n\nroot:    \"r\"\n";
    struct pawl__config config;

    cr_assert_eq(pawl__config_parse(text, strlen(text), "f", &config, NULL), PAWL_OK);
    cr_expect_eq(config.marks[PAWL__OPTION_TTL].line, 2);
    cr_expect_eq(config.marks[PAWL__OPTION_TTL].column, 6);
    cr_expect_eq(config.marks[PAWL__OPTION_ROOT].line, 4);
    cr_expect_eq(config.marks[PAWL__OPTION_ROOT].column, 10);
    pawl__config_release(&config);
}

/* A file that sets nothing sets nothing. */
Test(config, MayBeEmpty)
{
    const char *const texts[] = {"", "\n\n", "# only words\n", "---\n", "{}", "--- {}\n...\n"};

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct pawl__config config;
        cr_assert_eq(pawl__config_parse(texts[i], strlen(texts[i]), "f", &config, NULL), PAWL_OK,
                     "'%s'", texts[i]);
        for (int k = 0; k < PAWL__OPTION_COUNT; k++) {
            cr_expect_null(config.values[k]);
        }
        pawl__config_release(&config);
    }
}

struct refusal {
    const char *text;
    const char *place; /* begin of the message */
    const char *words; /* part of the message */
};

static const struct refusal refusals[] = {
    {"ttl: 20s\ntl: 30s\n", "f.yaml:2:1: ", "'ttl'"},
    {"ttl: 20s\nrequest-timeout: 1s\n", "f.yaml:2:1: ", "'request_timeout'"},
    {"password: x\n", "f.yaml:1:1: ", "'password_file'"},
    {"zzzzzzzz: x\n", "f.yaml:1:1: ", "pawl config --reference"},
    {"ttl: 20s\nroot: r\nttl: 30s\n", "f.yaml:3:1: ", "twice, first in line 1"},
    {"root: r\nttl: 20\n", "f.yaml:2:6: ", "unit"},
    {"ttl: 1s\n", "f.yaml:1:6: ", "2s to 300s"},
    {"ttl:\n", "f.yaml:1:5: ", "empty"},
    {"ttl: ''\n", "f.yaml:1:6: ", "empty"},
    {"ttl: &a 20s\n", "f.yaml:1:6: ", "anchors"},
    {"&a ttl: 20s\n", "f.yaml:1:1: ", "anchors"},
    {"&a {ttl: 20s}\n", "f.yaml:1:1: ", "anchors"},
    {"ttl: *a\n", "f.yaml:1:6: ", "aliases"},
    {"ttl: !!str 20s\n", "f.yaml:1:6: ", "tags"},
    {"ttl: !x 20s\n", "f.yaml:1:6: ", "tags"},
    {"!!map {ttl: 20s}\n", "f.yaml:1:1: ", "tags"},
    {"<<: {ttl: 20s}\n", "f.yaml:1:1: ", "merge"},
    {"ttl: [20s]\n", "f.yaml:1:6: ", "lists"},
    {"ttl: {a: b}\n", "f.yaml:1:6: ", "nested"},
    {"ttl:\n  a: b\n", "f.yaml:2:3: ", "nested"},
    {"? [ttl]\n: 20s\n", "f.yaml:1:3: ", "lists"},
    {"- ttl\n", "f.yaml:1:1: ", "key: value"},
    {"ttl\n", "f.yaml:1:1: ", "key: value"},
    {"''\n", "f.yaml:1:1: ", "key: value"},
    {"ttl: 20s\n---\nttl: 20s\n", "f.yaml:2:1: ", "second document"},
    {"%YAML 1.1\n---\nttl: 20s\n", "f.yaml:1:1: ", "directives"},
    {"%TAG ! x\n---\nttl: 20s\n", "f.yaml:1:1: ", "directives"},
    {"ttl: 20s\n\troot: r\n", "f.yaml:2:1: ", "YAML"},
    {"ttl: \"20s\n", "f.yaml:2:1: ", "YAML"},
    {"ttl: \"a\\0b\"\n", "f.yaml:1:6: ", "NUL"},
    {"ttl: 20s\nroot: r: s\n", "f.yaml:2:", "YAML"},
    {"store: etcd://a:hunter2@h\n", "f.yaml:1:8: ", "password_file"},
    {"store: local:?tll=5s\n", "f.yaml:1:8: ", "'ttl'"},
    {"root: a//b\n", "f.yaml:1:7: ", "empty segment"},
    {"ttl: |\n  20s\n", "f.yaml:1:6: ", "duration"},
};

/* Whatever a flat mapping of known keys does not have is refused with file, line, column and cure,
 * and nothing is set. */
Test(config, RefusesAllElse)
{
    pawl_error *err = pawl_error_new();

    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        const struct refusal *row = &refusals[i];
        struct pawl__config config = {.values = {NULL}};
        pawl_error_clear(err);
        cr_expect_eq(pawl__config_parse(row->text, strlen(row->text), "f.yaml", &config, err),
                     PAWL_E_CONFIG, "%s was taken", row->text);
        const char *message = pawl_error_message(err);
        cr_expect(strncmp(message, row->place, strlen(row->place)) == 0, "%s: not at %s: %s",
                  row->text, row->place, message);
        cr_expect(strstr(message, row->words) != NULL, "%s: no '%s' in: %s", row->text, row->words,
                  message);
        cr_expect_null(strstr(message, "hunter2"));
        for (int k = 0; k < PAWL__OPTION_COUNT; k++) {
            cr_expect_null(config.values[k]);
        }
    }
    pawl_error_free(err);
}

/* Bytes that are no UTF-8 and NULs are refused with a place, whatever follows. */
Test(config, RefusesBinary)
{
    const char *const texts[] = {"ttl: \xFF\n", "ttl: 20s\n\x01\n", "\xFF\xFEt\0t\0"};
    pawl_error *err = pawl_error_new();
    struct pawl__config config;

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        cr_expect_eq(pawl__config_parse(texts[i], strlen(texts[i]), "f.yaml", &config, err),
                     PAWL_E_CONFIG);
        cr_expect_eq(strncmp(pawl_error_message(err), "f.yaml:", 7), 0);
    }
    cr_expect_eq(pawl__config_parse("ttl: 20s\0\n", 10, "f.yaml", &config, err), PAWL_E_CONFIG);
    pawl_error_free(err);
}

/* Nesting is refused at its first level: depth costs nothing. */
Test(config, RefusesDepthEarly)
{
    char text[20000];
    pawl_error *err = pawl_error_new();
    struct pawl__config config;

    memset(text, '[', sizeof(text));
    for (size_t i = 0; i < 5; i++) {
        text[i] = "ttl: "[i];
    }
    cr_expect_eq(pawl__config_parse(text, sizeof(text), "f", &config, err), PAWL_E_CONFIG);
    cr_expect_str_eq(pawl_error_message(err),
                     "f:1:6: lists are not allowed; give each key one value");
    pawl_error_free(err);
}

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");

    cr_assert_not_null(file);
    cr_assert_geq(fputs(text, file), 0);
    cr_assert_eq(fclose(file), 0);
}

/* A folder below the one that the harness removes. */
static void enter_folder(void)
{
    const char *base = getenv("TMPDIR");
    char folder[4096];

    (void)snprintf(folder, sizeof(folder), "%s/config.XXXXXX", base != NULL ? base : "/tmp");
    cr_assert_not_null(mkdtemp(folder));
    cr_assert_eq(chdir(folder), 0);
}

/* A file that is there is read; one that is not is passed over. */
Test(config, LoadsFiles)
{
    struct pawl__config config;
    bool found = true;

    enter_folder();
    cr_assert_eq(pawl__config_load("none.yaml", &found, &config, NULL), PAWL_OK);
    cr_expect_not(found);
    write_file("c.yaml", "ttl: 20s\n");
    cr_assert_eq(pawl__config_load("c.yaml/x", &found, &config, NULL), PAWL_OK);
    cr_expect_not(found);
    cr_assert_eq(pawl__config_load("c.yaml", &found, &config, NULL), PAWL_OK);
    cr_expect(found);
    cr_expect_str_eq(config.values[PAWL__OPTION_TTL], "20s");
    pawl__config_release(&config);
    pawl__config_release(&config);
    pawl__config_release(NULL);
    cr_expect_eq(unlink("c.yaml"), 0);
}

/* A folder, a FIFO (which must not hang us), a loop of links and a huge file are refused by name.
 */
Test(config, RefusesWhatIsNoFile, .timeout = 10)
{
    static char huge[PAWL__CONFIG_MAX + 2];
    const char *const names[] = {"folder", "fifo", "loop", "huge"};
    pawl_error *err = pawl_error_new();
    struct pawl__config config;
    bool found = false;

    enter_folder();
    cr_assert_eq(mkdir("folder", 0700), 0);
    cr_assert_eq(mkfifo("fifo", 0600), 0);
    cr_assert_eq(symlink("loop", "loop"), 0);
    /* A comment of one byte too many: nothing but its length is wrong. */
    memset(huge, '#', sizeof(huge) - 1);
    huge[sizeof(huge) - 1] = '\0';
    write_file("huge", huge);
    for (size_t i = 0; i < 4; i++) {
        cr_expect_eq(pawl__config_load(names[i], &found, &config, err), PAWL_E_CONFIG, "%s",
                     names[i]);
        cr_expect_eq(strncmp(pawl_error_message(err), names[i], strlen(names[i])), 0, "%s",
                     pawl_error_message(err));
    }
    huge[PAWL__CONFIG_MAX] = '\0';
    write_file("huge", huge);
    cr_expect_eq(pawl__config_load("huge", &found, &config, err), PAWL_OK);
    pawl_error_free(err);
}

/* Whichever allocation fails, the status says so and nothing leaks. */
Test(config, TellsOfEveryFailedAllocation)
{
    const char *text = "store: etcd://u@h/r?ttl=5s\nttl: 20s\nroot: r\n";

    for (size_t n = 1;; n++) {
        struct pawl__config config;
        pawl__heap_install();
        pawl__heap_fail_after(n);
        pawl_status status = pawl__config_parse(text, strlen(text), "f", &config, NULL);
        bool failed = pawl__heap_has_failed();
        cr_expect_eq(status, failed ? PAWL_E_NOMEM : PAWL_OK);
        if (status == PAWL_OK) {
            pawl__config_release(&config);
        }
        cr_expect_eq(pawl__heap_live(), 0, "leak when allocation %zu fails", n);
        if (!failed) {
            cr_expect_geq(n, 10);
            break;
        }
    }
}
