/* Tests of core/options_load: environment and files, and who wins. */
#include "core/options.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test/heap.h"

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    cr_assert_not_null(file);
    cr_assert_geq(fputs(text, file), 0);
    cr_assert_eq(fclose(file), 0);
}

/* Each test is a process of its own: a folder with places for all three files, and an environment
 * without ours. */
static void set_up(void)
{
    const char *base = getenv("TMPDIR");
    char folder[4000];
    char home[4096];

    (void)snprintf(folder, sizeof(folder), "%s/options.XXXXXX", base != NULL ? base : "/tmp");
    cr_assert_not_null(mkdtemp(folder));
    cr_assert_eq(chdir(folder), 0);
    cr_assert_eq(mkdir("xdg", 0700), 0);
    cr_assert_eq(mkdir("xdg/pawl", 0700), 0);
    (void)snprintf(home, sizeof(home), "%s/xdg", folder);
    cr_assert_eq(setenv("XDG_CONFIG_HOME", home, 1), 0);
    cr_assert_eq(unsetenv("PAWL_TTL"), 0);
    cr_assert_eq(unsetenv("PAWL_STORE"), 0);
    pawl__options_set_system_file("system.yaml");
}

TestSuite(options_load, .init = set_up);

static void expect_value(pawl_options *options, const char *key, const char *text,
                         const char *source)
{
    cr_expect_str_eq(pawl_options_get(options, key), text, "%s is %s, not %s", key,
                     pawl_options_get(options, key), text);
    cr_expect(strstr(pawl_options_source(options, key), source) != NULL, "%s is from %s, not %s",
              key, pawl_options_source(options, key), source);
}

/* Where there is no file and no variable, the defaults stay. */
Test(options_load, FindsNothing)
{
    pawl_options *options = pawl_options_new();

    cr_assert_eq(pawl_options_load(options, NULL), PAWL_OK);
    expect_value(options, "ttl", "30s", "default");
    pawl_options_free(options);
}

/* Flag, URL, environment, project file, user file, system file, default: the first that has a key
 * wins, and is named with its place. */
Test(options_load, FollowsThePrecedence)
{
    const char *all = "ttl: 20s\nmargin: 1s\nrenew: 2s\nroot: r\nretry_cap: 6s\ngrace: 1s\n";
    pawl_options *options = pawl_options_new();

    write_file("system.yaml", all);
    write_file("xdg/pawl/config.yaml", "ttl: 19s\nmargin: 900ms\nrenew: 1900ms\nroot: u\n");
    write_file(".pawl.yaml", "ttl: 18s\nmargin: 800ms\n# words\nrenew: 1800ms\n");
    cr_assert_eq(setenv("PAWL_TTL", "17s", 1), 0);
    cr_assert_eq(setenv("PAWL_MARGIN", "700ms", 1), 0);
    cr_assert_eq(setenv("PAWL_STORE", "local:?ttl=16s", 1), 0);
    cr_assert_eq(pawl_options_load(options, NULL), PAWL_OK);
    expect_value(options, "store", "local:?ttl=16s", "environment PAWL_STORE");
    expect_value(options, "ttl", "16s", "url");
    expect_value(options, "margin", "700ms", "environment PAWL_MARGIN");
    expect_value(options, "renew", "1800ms", "file ./.pawl.yaml:4:8");
    expect_value(options, "root", "u", "xdg/pawl/config.yaml:4:7");
    expect_value(options, "grace", "1s", "file system.yaml:6:8");
    expect_value(options, "retry_base", "200ms", "default");
    cr_assert_eq(pawl_options_set(options, "ttl", "15s", NULL), PAWL_OK);
    expect_value(options, "ttl", "15s", "flag");
    pawl_options_free(options);
}

/* What was set before loading still wins after it. */
Test(options_load, LeavesFlagsAlone)
{
    pawl_options *options = pawl_options_new();

    cr_assert_eq(setenv("PAWL_TTL", "17s", 1), 0);
    cr_assert_eq(pawl_options_set(options, "ttl", "15s", NULL), PAWL_OK);
    cr_assert_eq(pawl_options_load(options, NULL), PAWL_OK);
    expect_value(options, "ttl", "15s", "flag");
    pawl_options_free(options);
}

/* A second load sees the world as it is then, and forgets what is gone. */
Test(options_load, LoadsAfresh)
{
    pawl_options *options = pawl_options_new();

    write_file(".pawl.yaml", "ttl: 18s\nroot: r\n");
    cr_assert_eq(pawl_options_load(options, NULL), PAWL_OK);
    write_file(".pawl.yaml", "ttl: 19s\n");
    cr_assert_eq(pawl_options_load(options, NULL), PAWL_OK);
    expect_value(options, "ttl", "19s", "file");
    expect_value(options, "root", "pawl", "default");
    pawl_options_free(options);
}

/* Long keys have their variable, and an empty variable counts as none. */
Test(options_load, ReadsVariables)
{
    pawl_options *options = pawl_options_new();

    cr_assert_eq(setenv("PAWL_REQUEST_TIMEOUT", "3s", 1), 0);
    cr_assert_eq(setenv("PAWL_MARGIN", "", 1), 0);
    cr_assert_eq(setenv("PAWL_NO_SUCH_KEY", "x", 1), 0);
    cr_assert_eq(pawl_options_load(options, NULL), PAWL_OK);
    expect_value(options, "request_timeout", "3s", "environment PAWL_REQUEST_TIMEOUT");
    expect_value(options, "margin", "3s", "default");
    pawl_options_free(options);
}

/* Expects loading to fail with a message that begins so and holds `words`, and to change nothing.
 */
static void expect_refused(const char *begin, const char *words)
{
    pawl_options *options = pawl_options_new();
    pawl_error *err = pawl_error_new();

    cr_expect_eq(pawl_options_load(options, err), PAWL_E_CONFIG);
    const char *message = pawl_error_message(err);
    cr_expect(strncmp(message, begin, strlen(begin)) == 0, "does not begin with %s: %s", begin,
              message);
    cr_expect(strstr(message, words) != NULL, "no '%s' in: %s", words, message);
    expect_value(options, "root", "pawl", "default");
    pawl_error_free(err);
    pawl_options_free(options);
}

/* A variable that is wrong is named. */
Test(options_load, RefusesBadVariables)
{
    cr_assert_eq(setenv("PAWL_ROOT", "r", 1), 0);
    cr_assert_eq(setenv("PAWL_TTL", "17", 1), 0);
    expect_refused("environment PAWL_TTL: ", "unit");
}

/* A file that is wrong is named with the place, also where something stronger sets the same key. */
Test(options_load, RefusesBadFiles)
{
    cr_assert_eq(setenv("PAWL_TTL", "17s", 1), 0);
    write_file("xdg/pawl/config.yaml", "root: r\n");
    write_file("system.yaml", "root: r\nttl: 17\n");
    expect_refused("system.yaml:2:6: ", "unit");
    write_file(".pawl.yaml", "\nroott: r\n");
    expect_refused("./.pawl.yaml:2:1: ", "'root'");
}

/* A file that is there but cannot be read is not passed over. */
Test(options_load, RefusesUnreadableFiles)
{
    cr_assert_eq(mkdir(".pawl.yaml", 0700), 0);
    expect_refused("./.pawl.yaml", "regular file");
}

/* Without XDG_CONFIG_HOME, and with a relative one, the file is in ~/.config. */
Test(options_load, FallsBackToHome)
{
    pawl_options *options = pawl_options_new();
    char home[4096];

    cr_assert_not_null(getcwd(home, sizeof(home)));
    cr_assert_eq(setenv("HOME", home, 1), 0);
    cr_assert_eq(mkdir(".config", 0700), 0);
    cr_assert_eq(mkdir(".config/pawl", 0700), 0);
    write_file(".config/pawl/config.yaml", "ttl: 21s\n");
    write_file("xdg/pawl/config.yaml", "ttl: 22s\n");
    cr_assert_eq(setenv("XDG_CONFIG_HOME", "xdg", 1), 0);
    cr_assert_eq(pawl_options_load(options, NULL), PAWL_OK);
    expect_value(options, "ttl", "21s", "/.config/pawl/config.yaml");
    cr_assert_eq(unsetenv("XDG_CONFIG_HOME"), 0);
    cr_assert_eq(pawl_options_load(options, NULL), PAWL_OK);
    expect_value(options, "ttl", "21s", "/.config/pawl/config.yaml");
    cr_assert_eq(setenv("HOME", "", 1), 0);
    cr_assert_eq(pawl_options_load(options, NULL), PAWL_OK);
    expect_value(options, "ttl", "30s", "default");
    pawl_options_free(options);
}

/* A copy keeps what was loaded and where from. */
Test(options_load, CopiesWhatWasLoaded)
{
    pawl_options *options = pawl_options_new();

    write_file(".pawl.yaml", "ttl: 18s\n");
    cr_assert_eq(pawl_options_load(options, NULL), PAWL_OK);
    pawl_options *copy = pawl__options_copy(options);
    pawl_options_free(options);
    expect_value(copy, "ttl", "18s", "file ./.pawl.yaml:1:6");
    pawl_options_free(copy);
}

/* Whichever allocation fails, load says so, keeps what was loaded before, and leaks nothing. */
Test(options_load, TellsOfEveryFailedAllocation)
{
    write_file(".pawl.yaml", "ttl: 18s\nstore: etcd://h/x\n");
    write_file("system.yaml", "margin: 1s\n");
    cr_assert_eq(setenv("PAWL_RENEW", "2s", 1), 0);
    for (size_t n = 1;; n++) {
        pawl__heap_install();
        pawl_options *options = pawl_options_new();
        cr_assert_not_null(options);
        pawl__heap_fail_after(n);
        pawl_status status = pawl_options_load(options, NULL);
        bool failed = pawl__heap_has_failed();
        cr_expect_eq(status, failed ? PAWL_E_NOMEM : PAWL_OK);
        pawl__heap_fail_after(0);
        cr_expect_str_eq(pawl_options_get(options, "ttl"), failed ? "30s" : "18s");
        pawl_options_free(options);
        cr_expect_eq(pawl__heap_live(), 0, "leak when allocation %zu fails", n);
        if (!failed) {
            cr_expect_geq(n, 12);
            break;
        }
    }
}
