/* Tests of base/assert.h as tests and debug builds see it. */
#include "base/assert.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Breaks an invariant in a child and returns what it wrote to stderr. */
static void capture_break(char *text, size_t text_size, int *ret_status, int *ret_line)
{
    int ends[2];
    size_t len = 0;

    cr_assert_eq(pipe(ends), 0);
    *ret_line = __LINE__ + 4; /* of the PAWL_INVARIANT below */
    pid_t child = fork();
    if (child == 0) {
        (void)dup2(ends[1], STDERR_FILENO);
        PAWL_INVARIANT(text_size == 0);
        _exit(0);
    }
    close(ends[1]);
    ssize_t got = 0;
    while ((got = read(ends[0], text + len, text_size - 1 - len)) > 0) {
        len += (size_t)got;
    }
    text[len] = '\0';
    close(ends[0]);
    cr_assert_eq(waitpid(child, ret_status, 0), child);
}

/* A broken invariant writes exactly one line, with place and condition, and aborts. */
Test(invariant, WritesOneLineAndAborts)
{
    char text[1024];
    char place[64];
    int status = 0;
    int line = 0;

    capture_break(text, sizeof(text), &status, &line);
    (void)snprintf(place, sizeof(place), "test_assert.c:%d: ", line);
    cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    cr_assert(strncmp(text, "pawl: ", 6) == 0, "%s", text);
    cr_assert_not_null(strstr(text, place), "%s lacks %s", text, place);
    cr_assert_not_null(strstr(text, "text_size == 0"), "%s", text);
    cr_assert_eq(strchr(text, '\n'), text + strlen(text) - 1);
}

/* A very long condition is cut, and its line still ends. */
Test(invariant, CutsALongCondition)
{
    char text[2048];
    char condition[1024];
    int ends[2];

    memset(condition, 'x', sizeof(condition) - 1);
    condition[sizeof(condition) - 1] = '\0';
    cr_assert_eq(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        (void)dup2(ends[1], STDERR_FILENO);
        pawl__invariant_failed("file.c", 7, condition);
    }
    close(ends[1]);
    ssize_t len = read(ends[0], text, sizeof(text));
    cr_assert_eq(len, 512);
    cr_assert(strncmp(text, "pawl: file.c:7: invariant broken: xxx", 37) == 0);
    cr_assert_eq(text[len - 1], '\n');
    close(ends[0]);
    cr_assert_eq(waitpid(child, NULL, 0), child);
}

/* A condition that holds costs nothing and is evaluated once. */
Test(invariant, EvaluatesOnce)
{
    int count = 0;

    PAWL_INVARIANT(++count == 1);
    cr_assert_eq(count, 1);
}

/* Without NDEBUG the debug assert aborts as well. */
Test(invariant, DebugAssertAborts, .signal = SIGABRT)
{
    pawl__assert(1 + 1 == 3);
}
