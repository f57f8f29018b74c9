/* Tests of base/alloc and of the counting allocator that all other tests rely on. */
#include "base/alloc.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

#include "test/heap.h"

static bool is_zeroed(const unsigned char *data, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (data[i] != 0) {
            return false;
        }
    }
    return true;
}

/* Memory is zeroed also when the allocator beneath hands out dirt. */
Test(alloc, ZeroesWhatADirtyAllocatorGives)
{
    pawl__heap_install();
    unsigned char *block = pawl__alloc(300);

    cr_assert_not_null(block);
    cr_assert(is_zeroed(block, 300));
    pawl__free(block);
}

/* libc's memory is zeroed too, after it was used and freed. */
Test(alloc, ZeroesWhatLibcGives)
{
    unsigned char *block = pawl__alloc(300);
    memset(block, 0xFF, 300);
    pawl__free(block);
    block = pawl__alloc(300);
    cr_assert(is_zeroed(block, 300));
    pawl__free(block);
}

/* A size of 0 gives a block, so that NULL always means failure. */
Test(alloc, GivesABlockForSizeZero)
{
    void *block = pawl__alloc(0);
    void *copy = pawl__memdup(NULL, 0);

    cr_assert_not_null(block);
    cr_assert_not_null(copy);
    block = pawl__realloc(block, 0);
    cr_assert_not_null(block);
    pawl__free(block);
    pawl__free(copy);
}

/* An array whose size does not fit into size_t is refused instead of wrapping round. */
Test(alloc, RefusesAnArrayThatOverflows)
{
    pawl__heap_install();
    cr_assert_null(pawl__alloc_array(SIZE_MAX / 8 + 1, 16));
    cr_assert_eq(pawl__heap_count(), 0, "the allocator was asked");

    unsigned char *array = pawl__alloc_array(10, 16);
    cr_assert(is_zeroed(array, 160));
    pawl__free(array);
    void *none = pawl__alloc_array(10, 0);
    cr_assert_not_null(none);
    pawl__free(none);
}

/* pawl__strndup stops at the length and at a NUL, whichever comes first, and terminates. */
Test(alloc, CopiesAPartOfAString)
{
    char *part = pawl__strndup("abcdef", 3);
    char *whole = pawl__strndup("ab", 10);
    char *empty = pawl__strndup(NULL, 0);

    cr_assert_str_eq(part, "abc");
    cr_assert_str_eq(whole, "ab");
    cr_assert_str_eq(empty, "");
    pawl__free(part);
    pawl__free(whole);
    pawl__free(empty);
}

/* pawl__strdup passes NULL through, and pawl__free takes it. */
Test(alloc, PassesNullThrough)
{
    cr_assert_null(pawl__strdup(NULL));
    pawl__free(NULL);

    pawl__heap_install();
    pawl__free(NULL);
    cr_assert_eq(pawl__heap_live(), 0);
}

/* Every routine returns NULL when its allocation fails, and none of them aborts. */
Test(alloc, ReturnsNullWhenMemoryIsOut)
{
    pawl__heap_install();
    pawl__heap_fail_after(1);
    cr_expect_null(pawl__alloc(8));
    pawl__heap_fail_after(1);
    cr_expect_null(pawl__alloc_array(2, 8));
    pawl__heap_fail_after(1);
    cr_expect_null(pawl__strdup("a"));
    pawl__heap_fail_after(1);
    cr_expect_null(pawl__strndup("a", 1));
    pawl__heap_fail_after(1);
    cr_expect_null(pawl__memdup("a", 1));
    pawl__heap_fail_after(1);
    cr_expect_null(pawl__realloc(NULL, 8));
    cr_expect_eq(pawl__heap_live(), 0);
}

/* A resize that fails leaves the old block and its bytes to the caller. */
Test(alloc, KeepsTheOldBlockWhenAResizeFails)
{
    pawl__heap_install();
    char *block = pawl__strdup("kept");
    pawl__heap_fail_after(1);
    cr_assert_null(pawl__realloc(block, 4096));
    cr_assert_str_eq(block, "kept");
    block = pawl__realloc(block, 4096);
    cr_assert_str_eq(block, "kept");
    pawl__free(block);
    cr_assert_eq(pawl__heap_live(), 0);
}

/* The counting allocator fails exactly the allocation asked for, and counts what lives. */
Test(heap, FailsExactlyTheNth)
{
    void *blocks[4] = {NULL};

    pawl__heap_install();
    pawl__heap_fail_after(3);
    for (size_t i = 0; i < 4; i++) {
        cr_assert_eq(pawl__heap_has_failed(), i > 2);
        blocks[i] = pawl__alloc(1);
        cr_assert_eq(blocks[i] == NULL, i == 2, "allocation %zu", i);
    }
    cr_assert_eq(pawl__heap_live(), 3);
    cr_assert_eq(pawl__heap_count(), 4);
    for (size_t i = 0; i < 4; i++) {
        pawl__free(blocks[i]);
    }
    cr_assert_eq(pawl__heap_live(), 0);
}

/* After _uninstall nothing is counted any more. */
Test(heap, IsGoneAfterUninstall)
{
    pawl__heap_install();
    pawl__heap_uninstall();
    pawl__free(pawl__alloc(1));
    cr_assert_eq(pawl__heap_count(), 0);
}
