/* Tests of base/json: the strict reader. */
#include "base/json.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/alloc.h"
#include "test/heap.h"

static json_t *parse(const char *text)
{
    return pawl__json_parse(text, strlen(text), 4096);
}

/* Whatever is not exactly one object in valid UTF-8 without doubles is refused. */
Test(json, RefusesWhatIsNotOneObject)
{
    static const char *const bad[] = {
        "",
        " ",
        "{",
        "[]",
        "[{}]",
        "1",
        "\"a\"",
        "null",
        "{} {}",
        "{}x",
        "{\"a\":1,\"a\":2}",
        "{\"a\":{\"b\":1,\"b\":1}}",
        "{\"a\":01}",
        "{\"a\":1,}",
        "{'a':1}",
        "{\"a\":NaN}",
        "{\"a\":\"\\u0000\"}",
        "{\"a\":\"\xff\"}",
        "{\"a\":\"\xed\xa0\x80\"}",
        "{\"a\":\"\n\"}",
        "{\"a\":9223372036854775808}",
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        cr_expect_null(parse(bad[i]), "accepted: %s", bad[i]);
    }
    cr_expect_null(pawl__json_parse(NULL, 0, 10));
    cr_expect_null(pawl__json_parse("{}\0", 3, 10), "bytes after the object");
}

/* The size is checked before parsing: the limit is legal, one more byte is not. */
Test(json, RefusesWhatIsTooLong)
{
    json_t *root = pawl__json_parse("{\"a\":1}", 7, 7);

    cr_assert_not_null(root);
    json_decref(root);
    cr_assert_null(pawl__json_parse("{\"a\":1}", 7, 6));
}

/* Only `len` bytes are read: no NUL is needed behind them. */
Test(json, ReadsExactlyItsLength)
{
    json_t *root = pawl__json_parse("{\"a\":1}garbage", 7, 100);

    cr_assert_not_null(root);
    json_decref(root);
}

/* Nesting beyond reason is an error, not a stack overflow. */
Test(json, RefusesDeepNesting)
{
    static char deep[200000];
    const char *start = "{\"a\":";

    memset(deep, '[', sizeof(deep));
    for (size_t i = 0; start[i] != '\0'; i++) {
        deep[i] = start[i];
    }
    cr_assert_null(pawl__json_parse(deep, sizeof(deep), sizeof(deep)));
}

/* Getters give the value when key and type are right. */
Test(json, GetsEachType)
{
    json_t *root =
        parse("{\"s\":\"t\",\"i\":-5,\"b\":true,\"f\":false,\"u\":\"18446744073709551615\","
              "\"o\":{\"x\":1},\"a\":[1]}");
    const char *text = NULL;
    int64_t number = 0;
    uint64_t big = 0;
    bool flag = false;
    const json_t *sub = NULL;

    cr_assert(pawl__json_str(root, "s", &text));
    cr_assert_str_eq(text, "t");
    cr_assert(pawl__json_int(root, "i", &number));
    cr_assert_eq(number, -5);
    cr_assert(pawl__json_bool(root, "b", &flag));
    cr_assert(flag);
    cr_assert(pawl__json_bool(root, "f", &flag));
    cr_assert_not(flag);
    cr_assert(pawl__json_u64str(root, "u", &big));
    cr_assert_eq(big, UINT64_MAX);
    cr_assert(pawl__json_object(root, "o", &sub));
    cr_assert(pawl__json_int(sub, "x", &number));
    cr_assert(pawl__json_array(root, "a", &sub));
    cr_assert_eq(json_array_size(sub), 1);
    cr_assert(pawl__json_has(root, "a"));
    json_decref(root);
}

/* Calls every getter on `key` and checks that all refuse and none sets anything. */
static void expect_nothing(const json_t *obj, const char *key)
{
    const char *text = "kept";
    int64_t number = 42;
    uint64_t big = 42;
    bool flag = true;
    const json_t *sub = NULL;

    cr_expect_not(pawl__json_str(obj, key, &text), "%s", key);
    cr_expect_not(pawl__json_int(obj, key, &number), "%s", key);
    cr_expect_not(pawl__json_u64str(obj, key, &big), "%s", key);
    cr_expect_not(pawl__json_bool(obj, key, &flag), "%s", key);
    cr_expect_not(pawl__json_object(obj, key, &sub), "%s", key);
    cr_expect_not(pawl__json_array(obj, key, &sub), "%s", key);
    cr_expect_str_eq(text, "kept");
    cr_expect(number == 42 && big == 42 && flag && sub == NULL);
}

/* An absent key, null, a real number, and no object at all leave the caller's defaults alone. */
Test(json, SetsNothingOnFailure)
{
    json_t *root = parse("{\"null\":null,\"real\":1.5}");

    expect_nothing(root, "absent");
    expect_nothing(root, "null");
    expect_nothing(root, "real");
    expect_nothing(NULL, "absent");
    cr_assert(pawl__json_has(root, "null"));
    cr_assert_not(pawl__json_has(root, "absent"));
    json_decref(root);
}

/* A number is no string, and a string no number: types are not guessed. */
Test(json, DoesNotConvertTypes)
{
    json_t *root = parse("{\"i\":5,\"s\":\"5\",\"bad\":\"5x\",\"neg\":\"-5\",\"i1\":1}");
    const char *text = NULL;
    int64_t number = 0;
    uint64_t big = 0;
    bool flag = false;

    cr_assert_not(pawl__json_str(root, "i", &text));
    cr_assert_not(pawl__json_int(root, "s", &number));
    cr_assert_not(pawl__json_u64str(root, "i", &big));
    cr_assert_not(pawl__json_u64str(root, "bad", &big));
    cr_assert_not(pawl__json_u64str(root, "neg", &big));
    cr_assert_not(pawl__json_bool(root, "i1", &flag));
    json_decref(root);
}

/* With each allocation failing in turn parsing gives NULL and leaks nothing. jansson's allocator is
 * the process's, which a test may set and the library may not. */
Test(json, SurvivesEveryFailedAllocation)
{
    const char *text = "{\"key\":\"value\",\"list\":[1,2,{\"deep\":null}]}";
    json_t *root = NULL;
    size_t n = 0;

    json_set_alloc_funcs(pawl__alloc, pawl__free);
    do {
        n++;
        pawl__heap_install();
        pawl__heap_fail_after(n);
        root = pawl__json_parse(text, strlen(text), 100);
        cr_assert_eq(root == NULL, pawl__heap_has_failed(), "allocation %zu", n);
        json_decref(root);
        cr_assert_eq(pawl__heap_live(), 0, "allocation %zu", n);
    } while (pawl__heap_has_failed());
    cr_assert_gt(n, 5);
}
