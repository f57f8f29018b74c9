/* Tests of core/seal: sealed tokens. */
#include "core/seal.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>

#include "base/buf.h"
#include "test/heap.h"

#define STORE_ID "00c0ffee00c0ffee"

/* A token is written exactly as formats.md 1 says. */
Test(seal, HasTheFormOfFormats)
{
    struct pawl__buf buf = {0};

    cr_assert_eq(pawl__seal_append(&buf, STORE_ID, 2, 391, PAWL__MODE_X, "job/1"), PAWL_OK);
    cr_expect_str_eq(buf.data, "pawl1." STORE_ID ".2.391.x.job%2F1");
    pawl__buf_release(&buf);
}

/* Every mode and the largest numbers come back as they were put in. */
Test(seal, ComesBack)
{
    for (int mode = PAWL__MODE_X; mode < PAWL__MODE_COUNT; mode++) {
        struct pawl__buf buf = {0};
        struct pawl__seal seal;

        cr_assert_eq(pawl__seal_append(&buf, STORE_ID, UINT64_MAX, UINT64_MAX,
                                       (enum pawl__mode)mode, "a.b.c"),
                     PAWL_OK);
        cr_assert_eq(pawl__seal_parse(buf.data, buf.len, &seal, NULL), PAWL_OK);
        cr_expect_str_eq(seal.store_id, STORE_ID);
        cr_expect_eq(seal.epoch, UINT64_MAX);
        cr_expect_eq(seal.number, UINT64_MAX);
        cr_expect_eq((int)seal.mode, mode);
        cr_expect_str_eq(seal.name, "a.b.c");
        pawl__buf_release(&buf);
    }
}

/* The longest token fits the bound of limits.h. */
Test(seal, FitsItsBound)
{
    char name[PAWL__NAME_MAX + 1];
    struct pawl__buf buf = {0};
    struct pawl__seal seal;

    memset(name, '.', PAWL__NAME_MAX);
    name[PAWL__NAME_MAX] = '\0';
    cr_assert_eq(pawl__seal_append(&buf, STORE_ID, UINT64_MAX, UINT64_MAX, PAWL__MODE_SIX, name),
                 PAWL_OK);
    cr_expect_leq(buf.len, PAWL__SEALED_MAX);
    cr_assert_eq(pawl__seal_parse(buf.data, buf.len, &seal, NULL), PAWL_OK);
    cr_expect_str_eq(seal.name, name);
    pawl__buf_release(&buf);
}

/* Anything but the one spelling is refused with words and a cure, and sets nothing. */
Test(seal, RefusesAllElse)
{
    const char *const others[] = {
        "",
        "pawl1",
        "391",
        "pawl2." STORE_ID ".2.391.x.job",
        "PAWL1." STORE_ID ".2.391.x.job",
        " pawl1." STORE_ID ".2.391.x.job",
        "pawl1.00C0FFEE00C0FFEE.2.391.x.job",
        "pawl1.c0ffee.2.391.x.job",
        "pawl1." STORE_ID "0.2.391.x.job",
        "pawl1." STORE_ID ".02.391.x.job",
        "pawl1." STORE_ID ".2.0391.x.job",
        "pawl1." STORE_ID ".2.0.x.job",
        "pawl1." STORE_ID ".-2.391.x.job",
        "pawl1." STORE_ID ".+2.391.x.job",
        "pawl1." STORE_ID "..391.x.job",
        "pawl1." STORE_ID ".2..x.job",
        "pawl1." STORE_ID ".2.18446744073709551616.x.job",
        "pawl1." STORE_ID ".2.391.X.job",
        "pawl1." STORE_ID ".2.391.?.job",
        "pawl1." STORE_ID ".2.391..job",
        "pawl1." STORE_ID ".2.391.x.",
        "pawl1." STORE_ID ".2.391.x",
        "pawl1." STORE_ID ".2.391.x.job%2f1",
        "pawl1." STORE_ID ".2.391.x.job/1",
        "pawl1." STORE_ID ".2.391.x.a.b",
        "pawl1." STORE_ID ".2.391.x.job\n",
        "pawlgen1." STORE_ID ".2.391.a.b",
    };
    pawl_error *err = pawl_error_new();

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        struct pawl__seal seal = {.number = 77};
        pawl_error_clear(err);
        cr_expect_eq(pawl__seal_parse(others[i], strlen(others[i]), &seal, err), PAWL_E_DATA,
                     "'%s' was taken", others[i]);
        cr_expect_eq(seal.number, 77);
        cr_expect_not_null(strstr(pawl_error_message(err), "not a sealed token"));
    }
    pawl_error_free(err);
}

/* A NUL inside does not end the token early. */
Test(seal, RefusesNulInside)
{
    const char text[] = "pawl1." STORE_ID ".2.391.x\0.job";
    struct pawl__seal seal;

    cr_expect_eq(pawl__seal_parse(text, sizeof(text) - 1, &seal, NULL), PAWL_E_DATA);
}

/* A token with any one byte changed is refused or is another token, never the same. */
Test(seal, NoTwoTextsAreOneToken)
{
    const char text[] = "pawl1." STORE_ID ".12.391.six.job%2F1";
    struct pawl__seal seal;
    struct pawl__buf again = {0};

    for (size_t i = 0; i < sizeof(text) - 1; i++) {
        for (int byte = 0; byte < 256; byte++) {
            char changed[sizeof(text)];
            memcpy(changed, text, sizeof(text));
            changed[i] = (char)byte;
            if (pawl__seal_parse(changed, sizeof(text) - 1, &seal, NULL) != PAWL_OK) {
                continue;
            }
            pawl__buf_clear(&again);
            cr_assert_eq(pawl__seal_append(&again, seal.store_id, seal.epoch, seal.number,
                                           seal.mode, seal.name),
                         PAWL_OK);
            cr_assert_str_eq(again.data, changed);
        }
    }
    pawl__buf_release(&again);
}

/* A name that is not legal cannot be sealed. */
Test(seal, RefusesAnIllegalName)
{
    struct pawl__buf buf = {0};

    cr_expect_eq(pawl__seal_append(&buf, STORE_ID, 1, 1, PAWL__MODE_X, "a\nb"), PAWL_E_DATA);
    cr_expect_eq(pawl__seal_append(&buf, STORE_ID, 1, 1, PAWL__MODE_X, ""), PAWL_E_DATA);
    cr_expect_eq(buf.len, 0);
    pawl__buf_release(&buf);
}

/* Number 0 means "no token": sealing it is a bug of ours, stopped at once. */
Test(seal, NeverSealsZero, .signal = SIGABRT)
{
    struct pawl__buf buf = {0};

    (void)pawl__seal_append(&buf, STORE_ID, 1, 0, PAWL__MODE_X, "job");
}

/* Whichever allocation fails, the status says so, nothing is half written and nothing leaks. */
Test(seal, TellsOfEveryFailedAllocation)
{
    const char text[] = "pawl1." STORE_ID ".2.391.x.job%2F1";

    for (size_t n = 1;; n++) {
        struct pawl__buf buf = {0};
        struct pawl__seal seal;
        pawl__heap_install();
        pawl__heap_fail_after(n);
        pawl_status sealed = pawl__seal_append(&buf, STORE_ID, 2, 391, PAWL__MODE_X, "job/1");
        pawl_status parsed = pawl__seal_parse(text, sizeof(text) - 1, &seal, NULL);
        bool failed = pawl__heap_has_failed();
        cr_expect_eq(sealed == PAWL_E_NOMEM || parsed == PAWL_E_NOMEM, failed);
        cr_expect(sealed == PAWL_OK || buf.len == 0);
        pawl__buf_release(&buf);
        cr_expect_eq(pawl__heap_live(), 0);
        if (!failed) {
            cr_expect_geq(n, 4);
            break;
        }
    }
}
