/* Tests of base/json: the writer. */
#include "base/json.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "test/heap.h"

/* A document with every kind of value, nested both ways. */
static void write_sample(struct pawl__jsonw *writer)
{
    pawl__jsonw_begin_object(writer);
    pawl__jsonw_key(writer, "name");
    pawl__jsonw_str(writer, "a\"b\\c");
    pawl__jsonw_key(writer, "token");
    pawl__jsonw_u64str(writer, UINT64_MAX);
    pawl__jsonw_key(writer, "ms");
    pawl__jsonw_int(writer, INT64_MIN);
    pawl__jsonw_key(writer, "list");
    pawl__jsonw_begin_array(writer);
    pawl__jsonw_bool(writer, true);
    pawl__jsonw_bool(writer, false);
    pawl__jsonw_begin_object(writer);
    pawl__jsonw_end_object(writer);
    pawl__jsonw_begin_array(writer);
    pawl__jsonw_end_array(writer);
    pawl__jsonw_null(writer);
    pawl__jsonw_end_array(writer);
    pawl__jsonw_key(writer, "none");
    pawl__jsonw_str(writer, NULL);
    pawl__jsonw_end_object(writer);
}

/* Commas, keys and nesting come out exactly so, on one line, in the order of the calls. */
Test(json_write, WritesOneLine)
{
    struct pawl__buf buf;
    struct pawl__jsonw writer;

    pawl__buf_init(&buf);
    pawl__jsonw_init(&writer, &buf);
    cr_assert_not(pawl__jsonw_is_done(&writer));
    write_sample(&writer);
    cr_assert(pawl__jsonw_is_done(&writer));
    cr_assert_str_eq(pawl__buf_str(&buf),
                     "{\"name\":\"a\\\"b\\\\c\",\"token\":\"18446744073709551615\","
                     "\"ms\":-9223372036854775808,\"list\":[true,false,{},[],null],\"none\":null}");
    pawl__buf_release(&buf);
}

/* A container that follows another at the same depth starts without a comma. */
Test(json_write, StartsEachLevelAfresh)
{
    struct pawl__buf buf;
    struct pawl__jsonw writer;

    pawl__buf_init(&buf);
    pawl__jsonw_init(&writer, &buf);
    pawl__jsonw_begin_array(&writer);
    for (int i = 0; i < 2; i++) {
        pawl__jsonw_begin_array(&writer);
        pawl__jsonw_int(&writer, 1);
        pawl__jsonw_int(&writer, 2);
        pawl__jsonw_end_array(&writer);
    }
    pawl__jsonw_end_array(&writer);
    cr_assert_str_eq(pawl__buf_str(&buf), "[[1,2],[1,2]]");
    pawl__buf_release(&buf);
}

static char *write_text(const char *text, size_t len)
{
    struct pawl__buf buf;
    struct pawl__jsonw writer;

    pawl__buf_init(&buf);
    pawl__jsonw_init(&writer, &buf);
    pawl__jsonw_strn(&writer, text, len);
    return pawl__buf_detach(&buf, NULL);
}

/* Control characters, DEL and NUL are escaped; other characters stand as they are. */
Test(json_write, EscapesControls)
{
    char *line = write_text("\n\r\t\b\x1b\x7f\0/\xc3\xa9\xf0\x9f\x94\x92", 14);

    cr_assert_str_eq(line, "\"\\n\\r\\t\\u0008\\u001b\\u007f\\u0000/\xc3\xa9\xf0\x9f\x94\x92\"");
    pawl__free(line);
}

/* Each byte that belongs to no valid character becomes one U+FFFD, so output is always UTF-8. */
Test(json_write, ReplacesInvalidUtf8)
{
    char *line = write_text("a\xff\xc3", 3);
    cr_assert_str_eq(line, "\"a\xef\xbf\xbd\xef\xbf\xbd\"");
    pawl__free(line);

    line = write_text("\xed\xa0\x80z", 4);
    cr_assert_str_eq(line, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz\"");
    pawl__free(line);
}

/* Every pair of bytes gives one line of valid JSON, and valid text comes back as it was. */
Test(json_write, RoundTripsEveryPairOfBytes)
{
    for (unsigned pair = 0; pair < 0x10000; pair++) {
        char text[2] = {(char)(pair >> 8), (char)(pair & 0xFF)};
        char *line = write_text(text, 2);
        cr_assert_null(strchr(line, '\n'));
        json_t *value = json_loads(line, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
        cr_assert_not_null(value, "%04x gives %s", pair, line);
        if (pawl__utf8_is_valid(text, 2)) {
            cr_assert_eq(json_string_length(value), 2, "%04x", pair);
            cr_assert_arr_eq(json_string_value(value), text, 2, "%04x", pair);
        }
        json_decref(value);
        pawl__free(line);
    }
}

/* Keys are escaped as strings are. */
Test(json_write, EscapesKeys)
{
    struct pawl__buf buf;
    struct pawl__jsonw writer;

    pawl__buf_init(&buf);
    pawl__jsonw_init(&writer, &buf);
    pawl__jsonw_begin_object(&writer);
    pawl__jsonw_key(&writer, "a\"\n");
    pawl__jsonw_int(&writer, 0);
    pawl__jsonw_end_object(&writer);
    cr_assert_str_eq(pawl__buf_str(&buf), "{\"a\\\"\\n\":0}");
    pawl__buf_release(&buf);
}

/* 32 levels are the limit and work, object bits and comma bits included. */
Test(json_write, NestsToItsLimit)
{
    struct pawl__buf buf;
    struct pawl__jsonw writer;

    pawl__buf_init(&buf);
    pawl__jsonw_init(&writer, &buf);
    for (int i = 0; i < PAWL__JSONW_DEPTH_MAX; i++) {
        pawl__jsonw_begin_array(&writer);
        pawl__jsonw_int(&writer, i);
    }
    for (int i = 0; i < PAWL__JSONW_DEPTH_MAX; i++) {
        pawl__jsonw_end_array(&writer);
    }
    cr_assert(pawl__jsonw_is_done(&writer));
    json_t *value = json_loads(pawl__buf_str(&buf), 0, NULL);
    cr_assert_not_null(value);
    json_decref(value);
    pawl__buf_release(&buf);
}

/* A fresh writer for the tests of misuse, which end the process. */
static struct pawl__jsonw *start_misuse(void)
{
    static struct pawl__buf buf;
    static struct pawl__jsonw writer;

    pawl__buf_init(&buf);
    pawl__jsonw_init(&writer, &buf);
    return &writer;
}

/* A value in an object needs a key. */
Test(json_write, AbortsOnAValueWithoutKey, .signal = SIGABRT)
{
    struct pawl__jsonw *writer = start_misuse();

    pawl__jsonw_begin_object(writer);
    pawl__jsonw_int(writer, 1);
}

/* A key in an array has no meaning. */
Test(json_write, AbortsOnAKeyInAnArray, .signal = SIGABRT)
{
    struct pawl__jsonw *writer = start_misuse();

    pawl__jsonw_begin_array(writer);
    pawl__jsonw_key(writer, "a");
}

/* An object cannot end between a key and its value. */
Test(json_write, AbortsOnAKeyWithoutValue, .signal = SIGABRT)
{
    struct pawl__jsonw *writer = start_misuse();

    pawl__jsonw_begin_object(writer);
    pawl__jsonw_key(writer, "a");
    pawl__jsonw_end_object(writer);
}

/* An array is not ended as an object. */
Test(json_write, AbortsOnAWrongEnd, .signal = SIGABRT)
{
    struct pawl__jsonw *writer = start_misuse();

    pawl__jsonw_begin_array(writer);
    pawl__jsonw_end_object(writer);
}

/* One writer writes one value. */
Test(json_write, AbortsOnASecondValue, .signal = SIGABRT)
{
    struct pawl__jsonw *writer = start_misuse();

    pawl__jsonw_int(writer, 1);
    pawl__jsonw_int(writer, 2);
}

/* The 33rd level is a bug of the caller. */
Test(json_write, AbortsBelowItsLimit, .signal = SIGABRT)
{
    struct pawl__jsonw *writer = start_misuse();

    for (int i = 0; i < PAWL__JSONW_DEPTH_MAX + 1; i++) {
        pawl__jsonw_begin_array(writer);
    }
}

/* With each allocation failing in turn the buffer tells, and the calls go on without harm. */
Test(json_write, TellsOfEveryFailedAllocation)
{
    size_t n = 0;

    do {
        struct pawl__buf buf;
        struct pawl__jsonw writer;
        n++;
        pawl__heap_install();
        pawl__heap_fail_after(n);
        pawl__buf_init(&buf);
        pawl__jsonw_init(&writer, &buf);
        write_sample(&writer);
        cr_assert_eq(pawl__buf_ok(&buf), !pawl__heap_has_failed());
        pawl__buf_release(&buf);
        cr_assert_eq(pawl__heap_live(), 0);
    } while (pawl__heap_has_failed());
    cr_assert_gt(n, 2);
}
