/* What all commands need: failing with words, loading the settings, opening the store. */
#include "cli/cli.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/output.h"

__attribute__((format(printf, 3, 0))) static void
print(const struct pawl__cli *cli, bool with_command, const char *format, va_list args)
{
    struct pawl__buf text;
    struct pawl__buf out;
    pawl__buf_init(&text);
    pawl__buf_init(&out);
    pawl__buf_appendfv(&text, format, args);
    pawl__buf_append_str(&out, "pawl: ");
    if (with_command && cli->command != NULL) {
        pawl__buf_appendf(&out, "%s: ", cli->command);
    }
    pawl__output_clean(&out, pawl__buf_str(&text));
    pawl__buf_append_char(&out, '\n');
    /* In one piece, so that lines of several processes do not mix; nothing can be done if it fails.
     */
    (void)pawl__output_write_fd(STDERR_FILENO, pawl__buf_str(&out), out.len);
    pawl__buf_release(&text);
    pawl__buf_release(&out);
}

int pawl__cli_fail(const struct pawl__cli *cli, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print(cli, true, format, args);
    va_end(args);
    return code;
}

int pawl__cli_fail_status(const struct pawl__cli *cli, pawl_status status)
{
    const char *message = pawl_error_message(cli->err);
    if (*message == '\0') {
        message = pawl_status_text(status);
    }
    return pawl__cli_fail(cli, pawl__exit_from_status(status), "%s", message);
}

void pawl__cli_note(const struct pawl__cli *cli, const char *format, ...)
{
    if (cli->quiet) {
        return;
    }
    va_list args;
    va_start(args, format);
    print(cli, false, format, args);
    va_end(args);
}

int pawl__cli_load(struct pawl__cli *cli)
{
    if (cli->loaded) {
        return PAWL__EXIT_OK;
    }
    pawl_status status = pawl_options_load(cli->options, cli->err);
    if (status != PAWL_OK) {
        return pawl__cli_fail_status(cli, status);
    }
    cli->loaded = true;
    return PAWL__EXIT_OK;
}

int pawl__cli_open(struct pawl__cli *cli, pawl_client **ret_client)
{
    int code = pawl__cli_load(cli);
    if (code != PAWL__EXIT_OK) {
        return code;
    }
    pawl_client *client = NULL;
    pawl_status status = pawl_client_open(NULL, cli->options, &client, cli->err);
    if (status != PAWL_OK) {
        return pawl__cli_fail_status(cli, status);
    }
    const char *source = pawl_options_source(cli->options, "store");
    bool is_chosen = source != NULL && strcmp(source, "default") != 0;
    if (!is_chosen || cli->verbose) {
        /* A lock on another store than the one that was meant protects nothing. */
        pawl__cli_note(cli, "store %s%s", pawl_client_url(client),
                       is_chosen ? ""
                                 : " (this machine only; --store or PAWL_STORE choose another)");
    }
    *ret_client = client;
    return PAWL__EXIT_OK;
}

int64_t pawl__cli_option_ms(struct pawl__cli *cli, const char *key, int64_t fallback_ms)
{
    const char *text = pawl_options_get(cli->options, key);
    int64_t ms = fallback_ms;
    if (text != NULL) {
        (void)pawl__parse_duration_ms(text, &ms);
    }
    return ms;
}
