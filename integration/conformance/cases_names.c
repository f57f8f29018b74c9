/* Conformance: names, and the sealed token that carries them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"
#include "tap.h"

#define NAME_MAX_LEN 512

struct golden {
    const char *name;
    const char *encoded;
};

/* formats.md, section 1; none meets another, though some are prefixes or paths of others. */
static const struct golden rows[] = {
    {"job", "job"},         {"job/1", "job%2F1"},
    {"job/", "job%2F"},     {"job%2F1", "job%252F1"},
    {"JOB", "JOB"},         {"..", "%2E%2E"},
    {".", "%2E"},           {"/", "%2F"},
    {"a%b", "a%25b"},       {"ha:agent", "ha%3Aagent"},
    {"\xc3\xa9", "%C3%A9"}, {"e\xcc\x81", "e%CC%81"}, /* looks the same, is another name */
    {" ", "%20"},           {"lock", "lock"},
};
#define ROW_COUNT (sizeof(rows) / sizeof(rows[0]))

static bool token_fits(pawl_client *client, pawl_hold *hold, const struct golden *row)
{
    char expected[2048];
    const char *sealed = pawl_hold_sealed_token(hold, 0);
    const char *id = pawl_client_store_id(client);

    /* pawl1.<store id>.<epoch>.<number>.<mode>.<encoded name> */
    if (sealed == NULL || strlen(id) != 16 || strlen(sealed) < 24) {
        return false;
    }
    unsigned long epoch = strtoul(sealed + 23, NULL, 10);
    (void)snprintf(expected, sizeof(expected), "pawl1.%s.%lu.%" PRIu64 ".x.%s", id, epoch,
                   pawl_hold_token(hold), row->encoded); /* rows are short */
    if (strcmp(sealed, expected) != 0) {
        tap_note("expected %s, got %s", expected, sealed);
        return false;
    }
    return pawl_hold_sealed_token(hold, 1) == NULL;
}

/* All golden names are held at the same time, each under its own name and token. */
static void golden_names_never_meet(struct suite *suite)
{
    pawl_client *client = suite_open(suite, NULL, NULL);
    pawl_hold *holds[ROW_COUNT];
    pawl_snapshot *snapshot = NULL;

    for (size_t i = 0; i < ROW_COUNT; i++) {
        holds[i] = NULL;
        if (tap_case(pawl_lock(client, rows[i].name, 0, &holds[i], suite->err) == PAWL_OK,
                     "'%s' is free", rows[i].name)) {
            tap_case(strcmp(pawl_hold_name(holds[i], 0), rows[i].name) == 0, "name %zu", i);
            tap_case(token_fits(client, holds[i], &rows[i]), "sealed token of '%s'", rows[i].name);
        }
    }
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (pawl_inspect(client, rows[i].name, PATIENCE_MS, &snapshot, suite->err) != PAWL_OK) {
            tap_case(false, "inspect of '%s'", rows[i].name);
            continue;
        }
        tap_case(pawl_snapshot_count(snapshot) == 1 &&
                     strcmp(pawl_snapshot_text(snapshot, 0, PAWL_ENTRY_LOCK), rows[i].name) == 0,
                 "'%s' comes back as it was given", rows[i].name);
        pawl_snapshot_free(snapshot);
    }
    TAP_CHECK(suite_count(suite, client, NULL) == (long)ROW_COUNT);
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (!suite_give_back(suite, holds[i])) {
            tap_case(false, "release of '%s'", rows[i].name);
        }
    }
    TAP_CHECK(suite_close(client));
}

/* 512 bytes are a name, also of characters that are stored as three each. */
static void the_longest_name_works(struct suite *suite)
{
    pawl_client *client = suite_open(suite, NULL, NULL);
    char name[NAME_MAX_LEN + 2];

    memset(name, '/', sizeof(name));
    name[NAME_MAX_LEN] = '\0';
    pawl_hold *hold = suite_lock(suite, client, name);
    TAP_CHECK(hold != NULL && strcmp(pawl_hold_name(hold, 0), name) == 0);
    TAP_CHECK(suite_count(suite, client, name) == 1);
    TAP_CHECK(suite_give_back(suite, hold));
    TAP_CHECK(suite_close(client));
}

static bool is_refused(struct suite *suite, const char *name, size_t len)
{
    pawl_request *request = pawl_request_new();
    pawl_status status = pawl_request_add_bytes(request, name, len, PAWL_MODE_X, suite->err);
    bool is_told = status == PAWL_E_DATA && pawl_error_message(suite->err)[0] != '\0';

    pawl_request_free(request);
    return is_told;
}

/* What is no name is refused with words before anything is sent. */
static void bad_names_are_refused(struct suite *suite)
{
    pawl_client *client = suite_open(suite, NULL, NULL);
    char name[NAME_MAX_LEN + 2];
    pawl_hold *none = NULL;
    pawl_snapshot *snapshot = NULL;

    memset(name, 'a', sizeof(name));
    name[NAME_MAX_LEN + 1] = '\0';
    TAP_CHECK(is_refused(suite, "", 0));
    TAP_CHECK(is_refused(suite, name, NAME_MAX_LEN + 1));
    TAP_CHECK(is_refused(suite, "a\0b", 3));
    TAP_CHECK(is_refused(suite, "a\0", 2));
    TAP_CHECK(is_refused(suite, "\xff", 1));
    TAP_CHECK(is_refused(suite, "\xc3", 1));             /* cut */
    TAP_CHECK(is_refused(suite, "\xc0\xaf", 2));         /* '/' spelled too long */
    TAP_CHECK(is_refused(suite, "\xed\xa0\x80", 3));     /* half of a pair */
    TAP_CHECK(is_refused(suite, "\xf4\x90\x80\x80", 4)); /* past the last character */
    TAP_CHECK(is_refused(suite, "a\nb", 3));
    TAP_CHECK(is_refused(suite, "\x7f", 1));
    TAP_CHECK(pawl_lock(client, "", 0, &none, suite->err) == PAWL_E_DATA);
    TAP_CHECK(pawl_lock(client, name, 0, &none, suite->err) == PAWL_E_DATA);
    TAP_CHECK(pawl_inspect(client, "a\nb", PATIENCE_MS, &snapshot, suite->err) == PAWL_E_DATA);
    TAP_CHECK(pawl_break(client, "", 1, "r", 0, PATIENCE_MS, suite->err) == PAWL_E_DATA);
    TAP_CHECK(suite_count(suite, client, NULL) == 0);
    TAP_CHECK(suite_close(client));
}

void suite_name_cases(struct suite *suite)
{
    golden_names_never_meet(suite);
    the_longest_name_works(suite);
    bad_names_are_refused(suite);
}
