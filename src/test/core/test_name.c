/* Tests of core/name: what is legal, and one spelling for each name. */
#include "core/name.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/rand.h"
#include "test/heap.h"

struct golden {
    const char *name;
    const char *encoded;
};

/* The rows of formats.md 1, and the ends of the ranges that stand for themselves. */
static const struct golden goldens[] = {
    {"job", "job"},
    {"job/1", "job%2F1"},
    {"..", "%2E%2E"},
    {"a%b", "a%25b"},
    {"ha:agent", "ha%3Aagent"},
    {"\xC3\xA9", "%C3%A9"},
    {"AZaz09_-", "AZaz09_-"},
    {"@[`{/:", "%40%5B%60%7B%2F%3A"},
    {" ", "%20"},
    {".", "%2E"},
    {"job/", "job%2F"},
    {"~", "%7E"},
};

#define GOLDEN_COUNT (sizeof(goldens) / sizeof(goldens[0]))

/* Each golden name is stored as its row says, and comes back from it. */
Test(name, HasItsGoldenSpelling)
{
    for (size_t i = 0; i < GOLDEN_COUNT; i++) {
        struct pawl__buf encoded = {0};
        struct pawl__buf decoded = {0};
        const struct golden *row = &goldens[i];

        cr_expect_eq(pawl__name_check(row->name, strlen(row->name), NULL), PAWL_OK);
        cr_expect_eq(pawl__name_encode(row->name, strlen(row->name), &encoded), PAWL_OK);
        cr_expect_str_eq(pawl__buf_str(&encoded), row->encoded);
        cr_expect_eq(pawl__name_decode(row->encoded, strlen(row->encoded), &decoded), PAWL_OK);
        cr_expect_str_eq(pawl__buf_str(&decoded), row->name);
        pawl__buf_release(&encoded);
        pawl__buf_release(&decoded);
    }
}

/* "job" and "job/" are different names and stay different: a trailing slash is a byte like others.
 */
Test(name, KeepsATrailingSlash)
{
    struct pawl__buf with = {0};
    struct pawl__buf without = {0};

    cr_expect_eq(pawl__name_encode("job/", 4, &with), PAWL_OK);
    cr_expect_eq(pawl__name_encode("job", 3, &without), PAWL_OK);
    cr_expect_str_neq(pawl__buf_str(&with), pawl__buf_str(&without));
    pawl__buf_release(&with);
    pawl__buf_release(&without);
}

/* Expects `name` to be refused with a message that holds `word`, and not to be encoded. */
static void expect_refused(const char *name, size_t len, const char *word)
{
    pawl_error *err = pawl_error_new();
    struct pawl__buf buf = {0};

    cr_expect_eq(pawl__name_check(name, len, err), PAWL_E_DATA);
    cr_expect_eq(pawl_error_status(err), PAWL_E_DATA);
    cr_expect(strstr(pawl_error_message(err), word) != NULL, "'%s' is not in: %s", word,
              pawl_error_message(err));
    cr_expect_eq(pawl__name_encode(name, len, &buf), PAWL_E_DATA);
    cr_expect_eq(buf.len, 0);
    pawl__buf_release(&buf);
    pawl_error_free(err);
}

/* An empty name is refused. */
Test(name, RefusesNothing)
{
    expect_refused("", 0, "empty");
}

/* 512 bytes are legal, 513 are not. */
Test(name, IsBounded)
{
    char name[PAWL__NAME_MAX + 1];

    memset(name, 'n', sizeof(name));
    cr_expect_eq(pawl__name_check(name, PAWL__NAME_MAX, NULL), PAWL_OK);
    expect_refused(name, PAWL__NAME_MAX + 1, "513 bytes");
    expect_refused(name, PAWL__NAME_MAX + 1, "shorten");
}

/* The longest name that needs escapes everywhere fits its bound and comes back. */
Test(name, FitsTheLongestSpelling)
{
    char name[PAWL__NAME_MAX];
    struct pawl__buf encoded = {0};
    struct pawl__buf decoded = {0};

    memset(name, '/', sizeof(name));
    cr_assert_eq(pawl__name_encode(name, sizeof(name), &encoded), PAWL_OK);
    cr_expect_eq(encoded.len, (size_t)PAWL__NAME_ENCODED_MAX);
    cr_assert_eq(pawl__name_decode(encoded.data, encoded.len, &decoded), PAWL_OK);
    cr_expect_eq(decoded.len, sizeof(name));
    cr_expect_arr_eq(decoded.data, name, sizeof(name));
    pawl__buf_release(&encoded);
    pawl__buf_release(&decoded);
}

/* Every control character of ASCII is refused, NUL among them, and named. */
Test(name, RefusesControlCharacters)
{
    for (int byte = 0; byte <= 0x7F; byte++) {
        char name[3] = {'a', (char)byte, 'b'};
        if (byte < 0x20 || byte == 0x7F) {
            expect_refused(name, sizeof(name), "control character");
        } else {
            cr_expect_eq(pawl__name_check(name, sizeof(name), NULL), PAWL_OK);
        }
    }
    expect_refused("a\0b", 3, "'a\\x00b'");
}

/* Bytes that are no UTF-8 (cut, overlong, surrogate, too high) are refused with their place. */
Test(name, RefusesInvalidUtf8)
{
    expect_refused("ab\xC3", 3, "at byte 3");
    expect_refused("\xC0\xAF", 2, "UTF-8");
    expect_refused("\xED\xA0\x80", 3, "UTF-8");
    expect_refused("\xF4\x90\x80\x80", 4, "UTF-8");
    expect_refused("a\x80", 2, "at byte 2");
}

/* A stored spelling other than the one that encoding gives is refused: two segments are never one
 * name. */
Test(name, DecodesOneSpellingOnly)
{
    const char *const others[] = {
        "",    "%2f", "%6A%6F%62", "a/b", ".", "..",  "%",   "%2",     "a%",  "%2G", "%G2",
        "%00", "%1F", "%7F",       " ",   "+", "%FF", "%C3", "%C0%AF", "a.b", "%2D", "\xC3\xA9",
    };
    struct pawl__buf buf = {0};

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        cr_expect_eq(pawl__name_decode(others[i], strlen(others[i]), &buf), PAWL_E_DATA,
                     "'%s' was decoded", others[i]);
        cr_expect_eq(buf.len, 0);
    }
    cr_expect_eq(pawl__name_decode("a\0b", 3, &buf), PAWL_E_DATA);
    pawl__buf_release(&buf);
}

/* More than 512 decoded bytes are refused, whatever the spelling. */
Test(name, DecodesBoundedNamesOnly)
{
    char text[PAWL__NAME_ENCODED_MAX + 3];
    struct pawl__buf buf = {0};

    memset(text, 'a', sizeof(text));
    cr_expect_eq(pawl__name_decode(text, PAWL__NAME_MAX, &buf), PAWL_OK);
    cr_expect_eq(pawl__name_decode(text, PAWL__NAME_MAX + 1, &buf), PAWL_E_DATA);
    cr_expect_eq(pawl__name_decode(text, sizeof(text), &buf), PAWL_E_DATA);
    pawl__buf_release(&buf);
}

/* A random legal name of a few characters, drawn so that near misses of each other are common. */
static size_t make_name(struct pawl__rand *rand, char *out)
{
    static const char *const pieces[] = {"a",
                                         "A",
                                         "/",
                                         ".",
                                         "%",
                                         "2",
                                         "F",
                                         "f",
                                         "%2F",
                                         "\xC3\xA9",
                                         "\xE2\x82\xAC",
                                         "_",
                                         "-",
                                         "~",
                                         " ",
                                         ":",
                                         "\xF0\x9F\x94\x92",
                                         "00"};
    size_t count = 1 + pawl__rand_below(rand, 4);
    size_t len = 0;

    for (size_t i = 0; i < count; i++) {
        const char *piece = pieces[pawl__rand_below(rand, sizeof(pieces) / sizeof(pieces[0]))];
        for (size_t k = 0; piece[k] != '\0'; k++) {
            out[len++] = piece[k];
        }
    }
    return len;
}

/* Whether `text` is one segment of the safe alphabet. */
static bool is_safe(const char *text)
{
    return text[0] != '\0' &&
           strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-%") ==
               strlen(text);
}

/* Over random names: the stored form is a safe segment, it comes back as the same name, and two
 * names have the same form only if they are the same. */
Test(name, EncodingIsInjectiveAndComesBack)
{
    struct pawl__rand rand;
    char names[2][64];
    struct pawl__buf forms[2] = {{0}, {0}};
    struct pawl__buf back = {0};
    size_t equal = 0;

    pawl__rand_init(&rand, 20240601);
    for (int round = 0; round < 100000; round++) {
        size_t lens[2];
        for (int i = 0; i < 2; i++) {
            lens[i] = make_name(&rand, names[i]);
            pawl__buf_clear(&forms[i]);
            cr_assert_eq(pawl__name_encode(names[i], lens[i], &forms[i]), PAWL_OK);
            cr_assert(is_safe(forms[i].data));
        }
        bool same_name = lens[0] == lens[1] && memcmp(names[0], names[1], lens[0]) == 0;
        cr_assert_eq(same_name, strcmp(forms[0].data, forms[1].data) == 0);
        equal += same_name ? 1 : 0;
        pawl__buf_clear(&back);
        cr_assert_eq(pawl__name_decode(forms[0].data, forms[0].len, &back), PAWL_OK);
        cr_assert_eq(back.len, lens[0]);
        cr_assert_arr_eq(back.data, names[0], lens[0]);
    }
    cr_expect_gt(equal, 10, "the names are drawn too far apart to prove anything");
    pawl__buf_release(&forms[0]);
    pawl__buf_release(&forms[1]);
    pawl__buf_release(&back);
}

/* Over random texts: what decodes is spelled as encoding would spell it. */
Test(name, DecodingAcceptsEncodedNamesOnly)
{
    static const char alphabet[] = "aZ0_-%%%2FfCc39A./";
    struct pawl__rand rand;
    struct pawl__buf name = {0};
    struct pawl__buf again = {0};
    size_t accepted = 0;

    pawl__rand_init(&rand, 7);
    for (int round = 0; round < 200000; round++) {
        char text[9] = "";
        size_t len = 1 + pawl__rand_below(&rand, 8);
        for (size_t i = 0; i < len; i++) {
            text[i] = alphabet[pawl__rand_below(&rand, sizeof(alphabet) - 1)];
        }
        pawl__buf_clear(&name);
        pawl__buf_clear(&again);
        if (pawl__name_decode(text, len, &name) != PAWL_OK) {
            continue;
        }
        accepted++;
        cr_assert_eq(pawl__name_encode(name.data, name.len, &again), PAWL_OK);
        cr_assert_str_eq(again.data, text);
    }
    cr_expect_gt(accepted, 100);
    pawl__buf_release(&name);
    pawl__buf_release(&again);
}

/* Without memory nothing is appended and the status says so. */
Test(name, TellsWhenMemoryIsOut)
{
    struct pawl__buf buf = {0};

    pawl__heap_install();
    pawl__heap_fail_after(1);
    cr_expect_eq(pawl__name_encode("job", 3, &buf), PAWL_E_NOMEM);
    pawl__buf_release(&buf);
    pawl__heap_fail_after(1);
    cr_expect_eq(pawl__name_decode("job", 3, &buf), PAWL_E_NOMEM);
    cr_expect_eq(buf.len, 0);
    pawl__buf_release(&buf);
    cr_expect_eq(pawl__heap_live(), 0);
}
