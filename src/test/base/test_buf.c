/* Tests of base/buf. */
#include "base/buf.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "test/heap.h"

/* A buffer into which nothing was put reads as "" and owns nothing. */
Test(buf, IsEmptyAtFirst)
{
    struct pawl__buf buf;

    pawl__heap_install();
    pawl__buf_init(&buf);
    cr_assert_str_eq(pawl__buf_str(&buf), "");
    cr_assert(pawl__buf_ok(&buf));
    pawl__buf_append(&buf, NULL, 0);
    cr_assert_str_eq(pawl__buf_str(&buf), "");
    pawl__buf_clear(&buf);
    pawl__buf_release(&buf);
    pawl__buf_release(NULL);
    cr_assert_eq(pawl__heap_live(), 0);
}

/* Every kind of append adds at the end, and a NUL follows. */
Test(buf, AppendsAndTerminates)
{
    struct pawl__buf buf;

    pawl__buf_init(&buf);
    pawl__buf_append(&buf, "abXX", 2);
    pawl__buf_append_str(&buf, "cd");
    pawl__buf_append_char(&buf, 'e');
    pawl__buf_appendf(&buf, "<%d|%s>", -7, "f");
    cr_assert_str_eq(buf.data, "abcde<-7|f>");
    cr_assert_eq(buf.len, strlen(buf.data));
    pawl__buf_release(&buf);
}

/* NUL bytes are bytes like others. */
Test(buf, KeepsNulBytes)
{
    struct pawl__buf buf;

    pawl__buf_init(&buf);
    pawl__buf_append(&buf, "a\0b", 3);
    pawl__buf_append_str(&buf, "c");
    cr_assert_eq(buf.len, 4);
    cr_assert_arr_eq(buf.data, "a\0bc", 5);
    pawl__buf_release(&buf);
}

/* Growth over many sizes loses no byte, and formatting works across the old end. */
Test(buf, GrowsWithoutLoss)
{
    struct pawl__buf buf;

    pawl__buf_init(&buf);
    for (int i = 0; i < 10000; i++) {
        pawl__buf_appendf(&buf, "%04d", i);
    }
    cr_assert_eq(buf.len, 40000);
    for (size_t i = 0; i < 10000; i += 37) {
        char want[16];
        (void)snprintf(want, sizeof(want), "%04zu", i);
        cr_assert_arr_eq(buf.data + i * 4, want, 4, "item %zu", i);
    }
    cr_assert_eq(buf.data[buf.len], '\0');
    pawl__buf_release(&buf);
}

/* A size that cannot exist is a failure, not a wrap-around. */
Test(buf, RefusesAnImpossibleSize)
{
    struct pawl__buf buf;

    pawl__buf_init(&buf);
    pawl__buf_append_str(&buf, "a");
    cr_assert_not(pawl__buf_reserve(&buf, SIZE_MAX - 1));
    cr_assert_not(pawl__buf_ok(&buf));
    cr_assert_str_eq(buf.data, "a");
    pawl__buf_release(&buf);
}

/* consume drops from the front, more than there is as well. */
Test(buf, ConsumesFromTheFront)
{
    struct pawl__buf buf;

    pawl__buf_init(&buf);
    pawl__buf_consume(&buf, 3);
    pawl__buf_append_str(&buf, "abcdef");
    pawl__buf_consume(&buf, 2);
    cr_assert_str_eq(buf.data, "cdef");
    cr_assert_eq(buf.len, 4);
    pawl__buf_consume(&buf, 100);
    cr_assert_str_eq(buf.data, "");
    pawl__buf_append_str(&buf, "g");
    cr_assert_str_eq(buf.data, "g");
    pawl__buf_release(&buf);
}

/* detach hands over an owned string, an empty one too, and leaves a usable buffer. */
Test(buf, DetachesItsString)
{
    struct pawl__buf buf;
    size_t len = 99;

    pawl__buf_init(&buf);
    char *empty = pawl__buf_detach(&buf, &len);
    cr_assert_str_eq(empty, "");
    cr_assert_eq(len, 0);
    pawl__buf_append_str(&buf, "abc");
    char *text = pawl__buf_detach(&buf, &len);
    cr_assert_str_eq(text, "abc");
    cr_assert_eq(len, 3);
    cr_assert_eq(buf.len, 0);
    pawl__buf_append_str(&buf, "d");
    cr_assert_str_eq(pawl__buf_str(&buf), "d");
    cr_assert_str_eq(text, "abc");
    pawl__buf_release(&buf);
    pawl__free(empty);
    pawl__free(text);
}

/* After a failure nothing is appended even if memory is back: no hole in the middle of a text. */
Test(buf, StaysFailedUntilCleared)
{
    struct pawl__buf buf;

    pawl__heap_install();
    pawl__buf_init(&buf);
    pawl__heap_fail_after(1);
    pawl__buf_append_str(&buf, "first");
    pawl__buf_append_str(&buf, "second");
    cr_assert_not(pawl__buf_ok(&buf));
    cr_assert_eq(buf.len, 0);
    pawl__buf_clear(&buf);
    pawl__buf_append_str(&buf, "third");
    cr_assert(pawl__buf_ok(&buf));
    cr_assert_str_eq(pawl__buf_str(&buf), "third");
    pawl__buf_release(&buf);
}

/* Builds and detaches a text with the n-th allocation failing; returns whether that happened. */
static bool build_with_failure(size_t n)
{
    struct pawl__buf buf;

    pawl__heap_install();
    pawl__heap_fail_after(n);
    pawl__buf_init(&buf);
    for (int i = 0; i < 100; i++) {
        pawl__buf_append_str(&buf, "0123456789");
        pawl__buf_appendf(&buf, "%d", i % 10);
    }
    cr_assert_eq(pawl__buf_ok(&buf), !pawl__heap_has_failed());
    char *text = pawl__buf_detach(&buf, NULL);
    cr_assert_eq(text == NULL, pawl__heap_has_failed());
    cr_assert_eq(buf.len, 0);
    cr_assert_eq(pawl__heap_live(), text == NULL ? 0 : 1, "detach leaks");
    pawl__free(text);
    return pawl__heap_has_failed();
}

/* Whichever allocation fails, the end tells, and nothing leaks. */
Test(buf, TellsOfEveryFailedAllocation)
{
    size_t n = 1;

    while (build_with_failure(n)) {
        n++;
    }
    cr_assert_geq(n, 4, "the text needs several allocations");
}

/* detach of an empty buffer needs memory too and tells when there is none. */
Test(buf, TellsWhenAnEmptyDetachFails)
{
    struct pawl__buf buf;

    pawl__heap_install();
    pawl__buf_init(&buf);
    pawl__heap_fail_after(1);
    cr_assert_null(pawl__buf_detach(&buf, NULL));
    cr_assert(pawl__buf_ok(&buf), "the buffer is new again");
}
