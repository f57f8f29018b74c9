/* Tests of core/status: statuses, errors, version. */
#include <pawl/status.h>

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "core/error.h"
#include "test/heap.h"
#include <pawl/version.h>

/* Name, number, class and words of a status are those of the table in the header. */
Test(status, SaysWhatTheTableSays)
{
#define CHECK_ROW(name, value, class_, text)                                                       \
    cr_expect_eq((int)PAWL_##name, value);                                                         \
    cr_expect_str_eq(pawl_status_name(PAWL_##name), #name);                                        \
    cr_expect_str_eq(pawl_status_text(PAWL_##name), text);                                         \
    cr_expect_eq(pawl_status_classify(PAWL_##name), PAWL_CLASS_##class_);
    PAWL_STATUS_MAP(CHECK_ROW)
#undef CHECK_ROW
}

/* The numbers are a promise to programs that were compiled before: they never change. */
Test(status, KeepsItsNumbers)
{
    cr_expect_eq((int)PAWL_OK, 0);
    cr_expect_eq((int)PAWL_E_INVALID, -1);
    cr_expect_eq((int)PAWL_E_TIMEOUT, -6);
    cr_expect_eq((int)PAWL_E_UNKNOWN, -10);
    cr_expect_eq((int)PAWL_E_LOST, -11);
    cr_expect_eq((int)PAWL_E_INTERNAL, -20);
}

/* A number that is no status is named so and counts as fatal: no program goes on with it. */
Test(status, SurvivesANumberThatIsNone)
{
    pawl_status none = (pawl_status)-999;

    cr_expect_str_eq(pawl_status_name(none), "?");
    cr_expect(strlen(pawl_status_text(none)) > 0);
    cr_expect_eq(pawl_status_classify(none), PAWL_CLASS_FATAL);
}

/* The loaded library says the version that the header says. */
Test(version, IsThatOfTheHeader)
{
    char text[32];

    (void)snprintf(text, sizeof(text), "%d.%d.%d", PAWL_VERSION_MAJOR, PAWL_VERSION_MINOR,
                   PAWL_VERSION_PATCH);
    cr_expect_str_eq(pawl_version(), text);
    cr_expect_str_eq(pawl_version(), PAWL_VERSION_STRING);
    cr_expect_eq(pawl_version_hex(), PAWL_VERSION_HEX);
    cr_expect(PAWL_VERSION_AT_LEAST(0, 1, 0));
}

/* A new error is empty; set, it holds status, code and message; cleared, it is empty again. */
Test(error, HoldsWhatWasSet)
{
    pawl_error *err = pawl_error_new();

    cr_expect_eq(pawl_error_status(err), PAWL_OK);
    cr_expect_str_eq(pawl_error_message(err), "");
    cr_expect_eq(pawl__error_set(err, PAWL_E_BUSY, 7, "%d are %s", 3, "many"), PAWL_E_BUSY);
    cr_expect_eq(pawl_error_status(err), PAWL_E_BUSY);
    cr_expect_eq(pawl_error_backend_code(err), 7);
    cr_expect_str_eq(pawl_error_message(err), "3 are many");
    pawl_error_clear(err);
    cr_expect_eq(pawl_error_status(err), PAWL_OK);
    cr_expect_eq(pawl_error_backend_code(err), 0);
    cr_expect_str_eq(pawl_error_message(err), "");
    pawl_error_free(err);
}

/* Wherever an error is taken, NULL is taken, and the status comes back all the same. */
Test(error, MayBeNull)
{
    cr_expect_eq(pawl__error_set(NULL, PAWL_E_DATA, 0, "x"), PAWL_E_DATA);
    pawl__error_prefix(NULL, "x");
    pawl__error_copy(NULL, NULL);
    pawl_error_clear(NULL);
    pawl_error_free(NULL);
    cr_expect_eq(pawl_error_status(NULL), PAWL_OK);
    cr_expect_str_eq(pawl_error_message(NULL), "");
    cr_expect_eq(pawl_error_backend_code(NULL), 0);
}

/* Each layer puts its context before what the layer below said; status and code stay the cause's.
 */
Test(error, PrefixesTheFirstCause)
{
    pawl_error *err = pawl_error_new();

    pawl__error_prefix(err, "nothing to prefix");
    cr_expect_str_eq(pawl_error_message(err), "");
    (void)pawl__error_set(err, PAWL_E_STORE, 11, "disk is damaged");
    pawl__error_prefix(err, "file %s", "a.db");
    pawl__error_prefix(err, "lock '%s'", "job");
    cr_expect_str_eq(pawl_error_message(err), "lock 'job': file a.db: disk is damaged");
    cr_expect_eq(pawl_error_status(err), PAWL_E_STORE);
    cr_expect_eq(pawl_error_backend_code(err), 11);
    pawl_error_free(err);
}

/* An old message may be part of the new one. */
Test(error, MayQuoteItself)
{
    pawl_error *err = pawl_error_new();

    (void)pawl__error_set(err, PAWL_E_DATA, 0, "inner");
    (void)pawl__error_set(err, PAWL_E_STORE, 0, "outer (%s)", pawl_error_message(err));
    cr_expect_str_eq(pawl_error_message(err), "outer (inner)");
    pawl_error_free(err);
}

/* A message that is too long is cut between characters and says so. */
Test(error, CutsLongMessagesAtACharacter)
{
    pawl_error *err = pawl_error_new();
    char text[4001];

    for (size_t shift = 0; shift < 3; shift++) {
        memset(text, 'a', shift);
        for (size_t i = shift; i + 3 < sizeof(text); i += 3) {
            memcpy(text + i, "\xE2\x82\xAC", 4); /* the euro sign */
        }
        (void)pawl__error_set(err, PAWL_E_DATA, 0, "%s", text);
        const char *message = pawl_error_message(err);
        size_t len = strlen(message);
        cr_expect_lt(len, PAWL__ERROR_MESSAGE_MAX);
        cr_expect_gt(len, PAWL__ERROR_MESSAGE_MAX - 8);
        cr_expect_str_eq(message + len - 3, "...");
        cr_expect(pawl__utf8_is_valid(message, len));
    }
    pawl_error_free(err);
}

/* However much context is put before it, the cause stays whole. */
Test(error, KeepsTheCauseWhenContextIsLong)
{
    const char *cause = "the cause that matters";
    pawl_error *err = pawl_error_new();
    char context[301];

    memset(context, 'c', sizeof(context) - 1);
    context[sizeof(context) - 1] = '\0';
    (void)pawl__error_set(err, PAWL_E_DATA, 0, "%s", cause);
    for (int i = 0; i < 20; i++) {
        pawl__error_prefix(err, "%s", context);
        const char *message = pawl_error_message(err);
        size_t len = strlen(message);
        cr_assert_lt(len, PAWL__ERROR_MESSAGE_MAX);
        cr_assert_str_eq(message + len - strlen(cause), cause);
    }
    pawl_error_free(err);
}

/* A copy is equal and independent; a copy of nothing empties. */
Test(error, Copies)
{
    pawl_error *a = pawl_error_new();
    pawl_error *b = pawl_error_new();

    (void)pawl__error_set(a, PAWL_E_LOST, 3, "gone");
    pawl__error_copy(b, a);
    pawl__error_copy(a, a);
    cr_expect_str_eq(pawl_error_message(a), "gone");
    pawl_error_free(a);
    cr_expect_str_eq(pawl_error_message(b), "gone");
    cr_expect_eq(pawl_error_status(b), PAWL_E_LOST);
    cr_expect_eq(pawl_error_backend_code(b), 3);
    pawl__error_copy(b, NULL);
    cr_expect_eq(pawl_error_status(b), PAWL_OK);
    cr_expect_str_eq(pawl_error_message(b), "");
    pawl_error_free(b);
}

/* Bytes that a terminal would obey, or that are no text, are shown as numbers. */
Test(error, QuotesUnsafeBytes)
{
    char out[PAWL__QUOTE_MAX];

    cr_expect_str_eq(pawl__error_quote(out, "job", 3), "'job'");
    cr_expect_str_eq(pawl__error_quote(out, "", 0), "''");
    cr_expect_str_eq(pawl__error_quote(out, "a\0b", 3), "'a\\x00b'");
    cr_expect_str_eq(pawl__error_quote(out, "a\x1b[2J", 5), "'a\\x1B[2J'");
    cr_expect_str_eq(pawl__error_quote(out, "\xC2\x9B", 2), "'\\xC2\\x9B'");
    cr_expect_str_eq(pawl__error_quote(out, "\xC3\xA9\xFF", 3), "'\xC3\xA9\\xFF'");
}

/* Text of any length and kind fits, and of long text both ends are shown. */
Test(error, QuotesShorten)
{
    char out[PAWL__QUOTE_MAX];
    char text[600];

    for (size_t len = 0; len <= sizeof(text); len++) {
        memset(text, 0x01, len);
        cr_assert_lt(strlen(pawl__error_quote(out, text, len)), PAWL__QUOTE_MAX);
        memset(text, 0xE2, len);
        cr_assert_lt(strlen(pawl__error_quote(out, text, len)), PAWL__QUOTE_MAX);
    }
    memset(text, 'm', sizeof(text));
    memset(text, 'a', 5);
    memset(text + sizeof(text) - 3, 'z', 3);
    (void)pawl__error_quote(out, text, sizeof(text));
    cr_expect_eq(strncmp(out, "'aaaaam", 7), 0);
    cr_expect_not_null(strstr(out, "..."));
    cr_expect_str_eq(out + strlen(out) - 5, "mzzz'");
}

/* Without memory there is no object, which is allowed everywhere; and an error takes one block. */
Test(error, NeedsOneAllocation)
{
    pawl__heap_install();
    pawl__heap_fail_after(1);
    cr_expect_null(pawl_error_new());
    pawl_error *err = pawl_error_new();
    size_t count = pawl__heap_count();
    (void)pawl__error_set(err, PAWL_E_NOMEM, 0, "out of memory");
    pawl__error_prefix(err, "here");
    cr_expect_eq(pawl__heap_count(), count, "telling of a failure must not need memory");
    pawl_error_free(err);
    cr_expect_eq(pawl__heap_live(), 0);
}
