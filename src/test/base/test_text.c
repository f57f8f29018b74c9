/* Tests of base/text. */
#include "base/text.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <string.h>

#include "base/rand.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Encodes by the definition of UTF-8, surrogates and large values too. */
static size_t encode_utf8(uint32_t point, char out[4])
{
    if (point < 0x80) {
        out[0] = (char)point;
        return 1;
    }
    if (point < 0x800) {
        out[0] = (char)(0xC0 | point >> 6);
        out[1] = (char)(0x80 | (point & 0x3F));
        return 2;
    }
    if (point < 0x10000) {
        out[0] = (char)(0xE0 | point >> 12);
        out[1] = (char)(0x80 | (point >> 6 & 0x3F));
        out[2] = (char)(0x80 | (point & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | point >> 18);
    out[1] = (char)(0x80 | (point >> 12 & 0x3F));
    out[2] = (char)(0x80 | (point >> 6 & 0x3F));
    out[3] = (char)(0x80 | (point & 0x3F));
    return 4;
}

/* Every code point is accepted in its one encoding, but surrogates and what lies above U+10FFFF. */
Test(utf8, AcceptsExactlyTheCodePoints)
{
    for (uint32_t point = 0; point < 0x1FFFFF; point++) {
        char text[4];
        size_t len = encode_utf8(point, text);
        bool is_legal = (point < 0xD800 || point > 0xDFFF) && point <= 0x10FFFF;
        if (pawl__utf8_char_len(text, len) != (is_legal ? len : 0)) {
            cr_assert_fail("U+%04X is judged wrongly", point);
        }
    }
}

/* Together with the test above this is a proof: as many 2 and 3 byte forms are accepted as there
 * are code points for them, so none is accepted twice. */
Test(utf8, AcceptsNoOtherShortForm)
{
    size_t two = 0;
    size_t three = 0;

    for (uint32_t bytes = 0; bytes < 0x1000000; bytes++) {
        char text[3] = {(char)(bytes >> 16), (char)(bytes >> 8), (char)bytes};
        size_t len = pawl__utf8_char_len(text, 3);
        three += len == 3;
        two += len == 2;
    }
    cr_assert_eq(two / 256, 0x800 - 0x80);
    cr_assert_eq(three, 0x10000 - 0x800 - 0x800);
}

/* The same for 4 bytes, where the last one is tried at the edges of its range only. */
Test(utf8, AcceptsNoOtherLongForm)
{
    static const unsigned char last[] = {0x7F, 0x80, 0xBF, 0xC0};
    size_t four = 0;

    for (uint32_t bytes = 0; bytes < 0x1000000; bytes++) {
        for (size_t i = 0; i < COUNT(last) && (bytes >> 20) == 0xF; i++) {
            char text[4] = {(char)(bytes >> 16), (char)(bytes >> 8), (char)bytes, (char)last[i]};
            four += pawl__utf8_char_len(text, 4) == 4;
        }
    }
    cr_assert_eq(four, (size_t)2 * (0x100000 / 64));
}

/* A character that the end cuts is not read past the end, and not valid. */
Test(utf8, RefusesACutCharacter)
{
    cr_assert_eq(pawl__utf8_char_len("\xf0\x9f\x94\x92", 3), 0);
    cr_assert_eq(pawl__utf8_char_len("\xc3\xa9", 1), 0);
    cr_assert_eq(pawl__utf8_char_len("", 0), 0);
    cr_assert_not(pawl__utf8_is_valid("ab\xc3", 3));
}

/* A whole text is valid when every character is, wherever the bad one stands. */
Test(utf8, JudgesWholeTexts)
{
    cr_assert(pawl__utf8_is_valid("", 0));
    cr_assert(pawl__utf8_is_valid("a\0\xc3\xa9\xe2\x82\xac\xf0\x9f\x94\x92z", 12));
    cr_assert_not(pawl__utf8_is_valid("\x80ok", 3));
    cr_assert_not(pawl__utf8_is_valid("o\xffk", 3));
    cr_assert_not(pawl__utf8_is_valid("\xc0\x80", 2));
}

/* Hex has 16 lower-case digits and reads back. */
Test(hex, RoundTrips)
{
    static const uint64_t numbers[] = {0, 1, 0xabcdef, UINT64_C(0x0123456789abcdef), UINT64_MAX};
    char text[17];
    uint64_t value = 0;

    for (size_t i = 0; i < COUNT(numbers); i++) {
        pawl__hex_u64(text, numbers[i]);
        cr_assert_eq(strlen(text), 16);
        cr_assert(pawl__parse_hex_u64(text, 16, &value));
        cr_assert_eq(value, numbers[i]);
    }
    cr_assert_str_eq(text, "ffffffffffffffff");
    pawl__hex_u64(text, 0xabc);
    cr_assert_str_eq(text, "0000000000000abc");
}

/* Only lower-case digits, 1 to 16 of them, are hex; on failure nothing is set. */
Test(hex, RefusesOtherSpellings)
{
    static const char *const bad[] = {
        "", "g", "A", "0x1", " 1", "1 ", "-1", "a-b", "00000000000000001", "/", ":", "`", "é"};
    uint64_t value = 42;

    for (size_t i = 0; i < COUNT(bad); i++) {
        cr_expect_not(pawl__parse_hex_u64(bad[i], strlen(bad[i]), &value), "%s", bad[i]);
    }
    cr_expect_not(pawl__parse_hex_u64("1\0", 2, &value));
    cr_assert_eq(value, 42);
    cr_assert(pawl__parse_hex_u64("ff-1", 2, &value), "only len bytes count");
    cr_assert_eq(value, 255);
}

/* Decimal numbers reach to the end of uint64_t and not beyond. */
Test(decimal, ReachesItsLimit)
{
    uint64_t value = 42;

    cr_assert(pawl__parse_u64("0", &value));
    cr_assert_eq(value, 0);
    cr_assert(pawl__parse_u64("007", &value));
    cr_assert_eq(value, 7);
    cr_assert(pawl__parse_u64("18446744073709551615", &value));
    cr_assert_eq(value, UINT64_MAX);
    cr_assert_not(pawl__parse_u64("18446744073709551616", &value));
    cr_assert_not(pawl__parse_u64("99999999999999999999999", &value));
    cr_assert_eq(value, UINT64_MAX);
}

/* The whole string must be digits: no sign, space, point, base or rest. */
Test(decimal, RefusesAnythingElse)
{
    static const char *const bad[] = {"",    "-1",  "+1",  " 1",    "1 ",
                                      "1.0", "0x1", "1e3", "1_000", "a"};
    uint64_t value = 42;

    for (size_t i = 0; i < COUNT(bad); i++) {
        cr_expect_not(pawl__parse_u64(bad[i], &value), "%s", bad[i]);
    }
    cr_assert_eq(value, 42);
}

struct duration_case {
    const char *text;
    int64_t ms;
};

/* Each unit, decimals where they are whole milliseconds, and the largest value. */
Test(duration, Parses)
{
    static const struct duration_case cases[] = {
        {"0ms", 0},
        {"0s", 0},
        {"250ms", 250},
        {"10s", 10000},
        {"1.5s", 1500},
        {"1.500s", 1500},
        {"0.001s", 1},
        {"2m", 120000},
        {"0.25h", 900000},
        {"1d", 86400000},
        {"0.0000125d", 1080},
        {"2.0ms", 2},
        {"9223372036854775807ms", INT64_MAX},
        {"9223372036854775.807s", INT64_MAX},
    };
    int64_t ms = -1;

    for (size_t i = 0; i < COUNT(cases); i++) {
        cr_expect(pawl__parse_duration_ms(cases[i].text, &ms), "%s", cases[i].text);
        cr_expect_eq(ms, cases[i].ms, "%s gives %" PRId64, cases[i].text, ms);
    }
}

/* No unit, an unknown one, signs, spaces, parts of milliseconds, overflow: all refused. */
Test(duration, RefusesAnythingElse)
{
    static const char *const bad[] = {
        "",
        "5",
        "0",
        "s",
        "-1s",
        "+1s",
        " 1s",
        "1 s",
        "1s ",
        "1S",
        "1sec",
        "1us",
        "1.s",
        ".5s",
        "1.5",
        "1..5s",
        "1.5.5s",
        "1,5s",
        "1h30m",
        "1.5ms",
        "0.0005s",
        "1e3s",
        "0x1s",
        "inf",
        "1.0000000000s",
        "9223372036854775808ms",
        "9223372036854775.808s",
        "106751991168d",
        "18446744073709551616ms",
        "99999999999999999999999999s",
    };
    int64_t ms = 42;

    for (size_t i = 0; i < COUNT(bad); i++) {
        cr_expect_not(pawl__parse_duration_ms(bad[i], &ms), "%s", bad[i]);
    }
    cr_assert_eq(ms, 42);
}

/* The largest unit without a fraction is chosen. */
Test(duration, FormatsShortly)
{
    static const struct duration_case cases[] = {
        {"0s", 0},        {"1ms", 1},     {"250ms", 250},    {"1500ms", 1500},
        {"10s", 10000},   {"90s", 90000}, {"5m", 300000},    {"2h", 7200000},
        {"1d", 86400000}, {"-5s", -5000}, {"25h", 90000000},
    };
    char text[PAWL__DURATION_TEXT_MAX];

    for (size_t i = 0; i < COUNT(cases); i++) {
        pawl__format_duration(text, sizeof(text), cases[i].ms);
        cr_expect_str_eq(text, cases[i].text);
    }
}

/* What is formatted parses back to the same number, at every magnitude. */
Test(duration, RoundTrips)
{
    static const int64_t units_ms[] = {1, 1000, 60000, 3600000, 86400000};
    struct pawl__rand rand;
    char text[PAWL__DURATION_TEXT_MAX];
    int64_t back = 0;

    pawl__rand_init(&rand, 9);
    for (int i = 0; i < 20000; i++) {
        int64_t unit_ms = units_ms[i % 5];
        int64_t ms = (int64_t)(pawl__rand_u64(&rand) >> (1 + i % 63)) / unit_ms * unit_ms;
        pawl__format_duration(text, sizeof(text), ms);
        cr_assert(pawl__parse_duration_ms(text, &back), "%s", text);
        cr_assert_eq(back, ms, "%s", text);
    }
    pawl__format_duration(text, sizeof(text), INT64_MIN);
    cr_assert_str_eq(text, "-9223372036854775808ms");
}

/* Too small an output is cut and terminated. */
Test(duration, CutsToItsRoom)
{
    char text[4] = "xxx";

    pawl__format_duration(text, sizeof(text), 1500);
    cr_assert_str_eq(text, "150");
}

static const char *const option_keys[] = {"ttl",    "margin", "renew",  "request_timeout",
                                          "cacert", "cert",   "layout", "connect_timeout"};

static const char *nearest(const char *word)
{
    return pawl__nearest_word(word, option_keys, COUNT(option_keys));
}

/* A typing mistake (wrong, missing, extra, swapped letter) finds the word that was meant. */
Test(nearest_word, FindsWhatWasMeant)
{
    cr_assert_str_eq(nearest("ttk"), "ttl");
    cr_assert_str_eq(nearest("tl"), "ttl");
    cr_assert_str_eq(nearest("margins"), "margin");
    cr_assert_str_eq(nearest("magrin"), "margin");
    cr_assert_str_eq(nearest("cacrt"), "cacert");
    cr_assert_str_eq(nearest("requesttimout"), "request_timeout");
    cr_assert_str_eq(nearest("cert"), "cert");
}

/* A word that is far from all gets no suggestion, and one from which nothing would be left. */
Test(nearest_word, SuggestsNothingFarAway)
{
    cr_assert_null(nearest("banana"));
    cr_assert_null(nearest(""));
    cr_assert_null(nearest("x"));
    cr_assert_null(nearest("zz"));
    cr_assert_null(pawl__nearest_word("zz", (const char *const[]){"ab"}, 1));
    cr_assert_null(nearest("renewabcd"));
    cr_assert_null(pawl__nearest_word("ttl", option_keys, 0));
}

/* The allowed distance grows with the word: a third of its length. */
Test(nearest_word, AllowsMoreInLongWords)
{
    cr_assert_str_eq(nearest("rexxxxt_timeout"), "request_timeout");
    cr_assert_null(nearest("rexxxxxxtimeout"));
    cr_assert_null(nearest("laxxxt"));
}

/* A text far longer than any word is no typing mistake, and is not written past the row. */
Test(nearest_word, IgnoresVeryLongWords)
{
    char word[200];
    const char *long_word = word;

    memset(word, 't', sizeof(word) - 1);
    word[sizeof(word) - 1] = '\0';
    cr_assert_null(nearest(word));
    cr_assert_null(pawl__nearest_word("ttt", &long_word, 1));
    word[64] = '\0';
    cr_assert_eq(pawl__nearest_word(word, &long_word, 1), word);
}
