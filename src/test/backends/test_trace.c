/* Tests of the decorator backends/wrap/trace.c. */
#include <criterion/criterion.h>
#include <string.h>

#include "backends/wrap/trace.h"
#include "base/buf.h"
#include "fake.h"

static void keep_line(void *ctx, const char *text)
{
    pawl__buf_appendf(ctx, "%s\n", text);
}

/* Calls and events go through unchanged, and each leaves one line with its time. */
Test(trace, WritesCallsAndEvents)
{
    static const struct pawl__want wants[2] = {{"job", PAWL__MODE_X}, {"other", PAWL__MODE_X}};
    struct fake fake;
    struct sink sink;
    struct pawl__buf lines;
    struct pawl__trace trace = {
        .inner = &fake_ops, .inner_context = &fake, .line = keep_line, .ctx = &lines};
    struct pawl__backend_settings settings = {
        .request_timeout_ms = 1000, .connect_timeout_ms = 1000, .context = &trace};
    struct pawl__remove removal = {
        .session = 0x1f, .attempt = 0x2a, .number = 17, .wants = wants, .count = 2};
    struct pawl__backend *backend = NULL;

    memset(&fake, 0, sizeof(fake));
    sink_init(&sink);
    pawl__buf_init(&lines);
    cr_assert_eq(
        pawl__backend_open_with(&pawl__trace_ops, &settings, &sink.host, &backend, NULL, NULL),
        PAWL_OK);
    cr_assert_eq(pawl__backend_remove(backend, 3, &removal), PAWL_OK);
    cr_assert_eq(fake.session, 0x1f);
    struct pawl__backend_event *event = fake_event(&fake, PAWL__BEV_REMOVED);
    pawl__backend_event_fail(event, PAWL_E_UNKNOWN, 4, "no answer");
    fake_post(&fake, event);
    cr_assert_eq(sink.last, event);
    pawl__backend_close(backend, 0);

    const char *text = pawl__buf_str(&lines);
    cr_assert_not_null(
        strstr(text, "1000 > remove op=3 session=1f attempt=2a number=17 names=job,other\n"), "%s",
        text);
    cr_assert_not_null(strstr(text, "1000 < removed op=3 session=1f status=E_UNKNOWN"), "%s", text);
    cr_assert_not_null(strstr(text, "code=4 no answer\n"), "%s", text);
    pawl__buf_release(&lines);
    sink_release(&sink);
}

/* Names longer than a line are cut, not overrun. */
Test(trace, CutsLongNames)
{
    static char names[64][513];
    struct pawl__want wants[64];
    struct fake fake;
    struct sink sink;
    struct pawl__buf lines;
    struct pawl__trace trace = {
        .inner = &fake_ops, .inner_context = &fake, .line = keep_line, .ctx = &lines};
    struct pawl__backend_settings settings = {
        .request_timeout_ms = 1000, .connect_timeout_ms = 1000, .context = &trace};
    struct pawl__look look = {.session = 1, .attempt = 1, .wants = wants, .count = 64};
    struct pawl__backend *backend = NULL;

    for (int i = 0; i < 64; i++) {
        memset(names[i], 'a' + i % 26, 512);
        names[i][0] = (char)('0' + i);
        wants[i] = (struct pawl__want){names[i], PAWL__MODE_X};
    }
    memset(&fake, 0, sizeof(fake));
    sink_init(&sink);
    pawl__buf_init(&lines);
    cr_assert_eq(
        pawl__backend_open_with(&pawl__trace_ops, &settings, &sink.host, &backend, NULL, NULL),
        PAWL_OK);
    cr_assert_eq(pawl__backend_look(backend, 1, &look), PAWL_OK);
    cr_assert_lt(lines.len, 2000);
    pawl__backend_close(backend, 0);
    pawl__buf_release(&lines);
    sink_release(&sink);
}
