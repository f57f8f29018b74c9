/* Tests of core/payload and core/principal: what entries say about their owner. */
#include "core/payload.h"

#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/rand.h"
#include "base/text.h"
#include "test/heap.h"

static const struct pawl__payload sample = {
    .attempt = 0xC0FFEE,
    .owner = "os:ann@h",
    .host = "h",
    .pid = 811,
    .mode = PAWL__MODE_X,
    .reason = "nightly \"run\"",
    .run = "r-1",
    .trace = "t-1",
    .since_ms = 1717243200123,
};

/* The JSON has the fields of formats.md 1 in their order. */
Test(payload, HasTheFormOfFormats)
{
    struct pawl__buf buf = {0};

    cr_assert_eq(pawl__payload_build(&sample, &buf, NULL), PAWL_OK);
    cr_expect_str_eq(buf.data, "{\"v\":1,\"attempt\":\"0000000000c0ffee\",\"owner\":\"os:ann@h\","
                               "\"host\":\"h\",\"pid\":811,\"mode\":\"x\","
                               "\"reason\":\"nightly \\\"run\\\"\",\"run\":\"r-1\","
                               "\"trace\":\"t-1\",\"since\":1717243200123}");
    pawl__buf_release(&buf);
}

/* What was built is read back. */
Test(payload, ComesBack)
{
    struct pawl__payload_fields fields;
    struct pawl__buf buf = {0};

    cr_assert_eq(pawl__payload_build(&sample, &buf, NULL), PAWL_OK);
    pawl__payload_parse(buf.data, buf.len, &fields);
    cr_expect_eq(fields.attempt, sample.attempt);
    cr_expect_str_eq(fields.owner, sample.owner);
    cr_expect_str_eq(fields.host, sample.host);
    cr_expect_eq(fields.pid, sample.pid);
    cr_expect_str_eq(fields.mode, "x");
    cr_expect_str_eq(fields.reason, sample.reason);
    cr_expect_str_eq(fields.run, sample.run);
    cr_expect_str_eq(fields.trace, sample.trace);
    cr_expect_eq(fields.since_ms, sample.since_ms);
    pawl__buf_release(&buf);
}

/* Texts of full length, of characters that JSON escapes, still fit into 2 KiB. */
Test(payload, FitsWhenEverythingIsLongest)
{
    char reason[PAWL__REASON_MAX + 1];
    char owner[PAWL__OWNER_MAX + 1];
    char run[PAWL__RUN_MAX + 1];
    char host[PAWL__HOST_MAX + 1];
    struct pawl__payload payload = sample;
    struct pawl__buf buf = {0};

    memset(reason, '"', sizeof(reason));
    memset(owner, '\\', sizeof(owner));
    memset(run, '"', sizeof(run));
    memset(host, '\\', sizeof(host));
    reason[PAWL__REASON_MAX] = owner[PAWL__OWNER_MAX] = '\0';
    run[PAWL__RUN_MAX] = host[PAWL__HOST_MAX] = '\0';
    payload.reason = reason;
    payload.owner = owner;
    payload.run = run;
    payload.trace = run;
    payload.host = host;
    payload.pid = INT64_MAX;
    payload.since_ms = INT64_MAX;
    cr_assert_eq(pawl__payload_build(&payload, &buf, NULL), PAWL_OK);
    cr_expect_leq(buf.len, PAWL__PAYLOAD_MAX);
    struct pawl__payload_fields fields;
    pawl__payload_parse(buf.data, buf.len, &fields);
    cr_expect_str_eq(fields.reason, reason);
    cr_expect_str_eq(fields.owner, owner);
    pawl__buf_release(&buf);
}

/* Absent texts are empty, not null. */
Test(payload, WritesNothingAsEmpty)
{
    struct pawl__payload payload = {.attempt = 1, .mode = PAWL__MODE_S};
    struct pawl__buf buf = {0};

    cr_assert_eq(pawl__payload_build(&payload, &buf, NULL), PAWL_OK);
    cr_expect_null(strstr(buf.data, "null"));
    cr_expect_not_null(strstr(buf.data, "\"reason\":\"\""));
    pawl__buf_release(&buf);
}

/* Expects a refusal whose message holds `words`. */
static void expect_refused(const char *text, const char *words)
{
    pawl_error *err = pawl_error_new();
    struct pawl__payload payload = sample;
    struct pawl__buf buf = {0};

    payload.reason = text;
    cr_expect_eq(pawl__payload_check("reason", text, PAWL__REASON_MAX, err), PAWL_E_DATA);
    cr_expect(strstr(pawl_error_message(err), words) != NULL, "no '%s' in: %s", words,
              pawl_error_message(err));
    cr_expect_eq(pawl__payload_build(&payload, &buf, NULL), PAWL_E_DATA);
    cr_expect_eq(buf.len, 0);
    pawl__buf_release(&buf);
    pawl_error_free(err);
}

/* A reason that is too long, no UTF-8, or would steer a terminal is refused before it is stored. */
Test(payload, RefusesBadReasons)
{
    char text[PAWL__REASON_MAX + 2];

    memset(text, 'r', sizeof(text));
    text[PAWL__REASON_MAX] = '\0';
    cr_expect_eq(pawl__payload_check("reason", text, PAWL__REASON_MAX, NULL), PAWL_OK);
    cr_expect_eq(pawl__payload_check("reason", NULL, PAWL__REASON_MAX, NULL), PAWL_OK);
    text[PAWL__REASON_MAX] = 'r';
    text[PAWL__REASON_MAX + 1] = '\0';
    expect_refused(text, "257 bytes");
    expect_refused("a\nb", "byte 2");
    expect_refused("\x1b[2J", "control");
    expect_refused("\xC2\x9B"
                   "2J",
                   "control");
    expect_refused("\x7F", "control");
    expect_refused("ab\xE2\x82", "UTF-8");
}

/* A foreign payload of any kind leaves unknown fields empty and never breaks anything. */
Test(payload, ReadsForeignJunkAsEmpty)
{
    const char *const texts[] = {
        "",
        "junk",
        "null",
        "[]",
        "{",
        "{}",
        "\"os:ann@h\"",
        "{\"owner\":7,\"pid\":\"x\",\"mode\":[],\"reason\":{},\"since\":null,\"attempt\":1}",
        "{\"owner\":null,\"host\":true,\"attempt\":\"XYZ\",\"pid\":1.5,\"since\":1e99}",
        "{\"pid\":-4,\"since\":-1,\"attempt\":\"\"}",
        "{\"attempt\":\"11112222333344445\"}",
        "{\"pid\":99999999999999999999}",
        "{\"owner\":\"a\",\"owner\":\"b\"}",
        "{\"owner\":\"\\u0000\"}",
        "{\"owner\":\"\xFF\"}",
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct pawl__payload_fields fields;
        memset(&fields, 0x55, sizeof(fields));
        pawl__payload_parse(texts[i], strlen(texts[i]), &fields);
        cr_expect_eq(fields.attempt, 0, "%s", texts[i]);
        cr_expect_str_empty(fields.owner, "%s", texts[i]);
        cr_expect_str_empty(fields.host);
        cr_expect_str_empty(fields.mode);
        cr_expect_str_empty(fields.reason);
        cr_expect_str_empty(fields.run);
        cr_expect_str_empty(fields.trace);
        cr_expect_eq(fields.pid, 0, "%s", texts[i]);
        cr_expect_eq(fields.since_ms, 0);
    }
}

/* What can be read of a payload is, beside fields that we do not know. */
Test(payload, ReadsWhatItCan)
{
    const char *text =
        "{\"v\":9,\"new\":[1],\"owner\":\"zk:x\",\"pid\":\"seven\",\"reason\":\"r\"}";
    struct pawl__payload_fields fields;

    pawl__payload_parse(text, strlen(text), &fields);
    cr_expect_str_eq(fields.owner, "zk:x");
    cr_expect_str_eq(fields.reason, "r");
    cr_expect_eq(fields.pid, 0);
}

/* Foreign texts cannot steer a terminal or pass their bound, and are cut between characters. */
Test(payload, CleansForeignTexts)
{
    struct pawl__payload_fields fields;
    struct pawl__buf buf = {0};

    const char *evil = "{\"reason\":\"a\\u001b[2J\\n\\u009bx\\u007f\"}";
    pawl__payload_parse(evil, strlen(evil), &fields);
    cr_expect_str_eq(fields.reason, "a?[2J??x?");
    pawl__buf_append_str(&buf, "{\"run\":\"x");
    for (int i = 0; i < 100; i++) {
        pawl__buf_append_str(&buf, "\xE2\x82\xAC");
    }
    pawl__buf_append_str(&buf, "\"}");
    pawl__payload_parse(buf.data, buf.len, &fields);
    cr_expect_eq(strlen(fields.run), 127);
    cr_expect(pawl__utf8_is_valid(fields.run, strlen(fields.run)));
    pawl__buf_release(&buf);
}

/* A payload above 2 KiB is nobody's: it is not even parsed. */
Test(payload, IgnoresHugeOnes)
{
    struct pawl__payload_fields fields;
    struct pawl__buf buf = {0};

    pawl__buf_append_str(&buf, "{\"owner\":\"os:ann@h\",\"x\":\"");
    while (buf.len < PAWL__PAYLOAD_MAX) {
        pawl__buf_append_char(&buf, 'x');
    }
    pawl__buf_append_str(&buf, "\"}");
    pawl__payload_parse(buf.data, buf.len, &fields);
    cr_expect_str_empty(fields.owner);
    pawl__buf_release(&buf);
}

/* Random damage to a good payload is survived, and every text stays clean. */
Test(payload, SurvivesRandomDamage)
{
    struct pawl__payload_fields fields;
    struct pawl__buf buf = {0};
    struct pawl__rand rand;

    cr_assert_eq(pawl__payload_build(&sample, &buf, NULL), PAWL_OK);
    pawl__rand_init(&rand, 99);
    for (int round = 0; round < 50000; round++) {
        char text[512];
        size_t len = 1 + pawl__rand_below(&rand, buf.len);
        memcpy(text, buf.data, len);
        for (uint64_t hits = pawl__rand_below(&rand, 4); hits > 0; hits--) {
            text[pawl__rand_below(&rand, len)] = (char)pawl__rand_u64(&rand);
        }
        pawl__payload_parse(text, len, &fields);
        cr_assert_eq(pawl__payload_check("reason", fields.reason, PAWL__REASON_MAX, NULL), PAWL_OK);
        cr_assert_geq(fields.pid, 0);
    }
    pawl__buf_release(&buf);
}

/* The principal is the user and host of this process, in words. */
Test(principal, NamesUserAndHost)
{
    char host[PAWL__HOST_MAX + 1];
    char real[PAWL__HOST_MAX + 1] = "";
    struct pawl__buf buf = {0};

    pawl__host_name(host);
    cr_assert_eq(gethostname(real, sizeof(real)), 0);
    cr_expect_str_eq(host, real);
    cr_assert_eq(pawl__principal_os(&buf), PAWL_OK);
    cr_expect_eq(strncmp(buf.data, "os:", 3), 0);
    const char *at = strrchr(buf.data, '@');
    cr_assert_not_null(at);
    cr_expect_str_eq(at + 1, host);
    cr_expect_gt(at - buf.data, 3);
    pawl__buf_release(&buf);
}

/* A user without a name is told by number. */
Test(principal, FallsBackToTheNumber)
{
    struct pawl__buf buf = {0};

    if (geteuid() != 0) {
        cr_skip_test("missing rights to change the user");
    }
    cr_assert_eq(seteuid(3999999), 0);
    cr_assert_eq(pawl__principal_os(&buf), PAWL_OK);
    /* Back again, or LeakSanitizer may not look into this process. */
    cr_assert_eq(seteuid(0), 0);
    cr_expect_eq(strncmp(buf.data, "os:3999999@", 11), 0, "%s", buf.data);
    pawl__buf_release(&buf);
}

/* Whichever allocation fails, the status says so, nothing is half written and nothing leaks. */
Test(payload, TellsOfEveryFailedAllocation)
{
    for (size_t n = 1;; n++) {
        struct pawl__buf buf = {0};
        pawl__heap_install();
        pawl__heap_fail_after(n);
        pawl_status built = pawl__payload_build(&sample, &buf, NULL);
        cr_expect(built == PAWL_OK || buf.len == 0);
        size_t len = buf.len;
        pawl_status named = pawl__principal_os(&buf);
        cr_expect(named == PAWL_OK || buf.len == len);
        bool failed = pawl__heap_has_failed();
        cr_expect_eq(built == PAWL_E_NOMEM || named == PAWL_E_NOMEM, failed);
        pawl__buf_release(&buf);
        cr_expect_eq(pawl__heap_live(), 0, "leak when allocation %zu fails", n);
        if (!failed) {
            cr_expect_geq(n, 4);
            break;
        }
    }
}
