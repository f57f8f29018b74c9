/* pawl doctor: settings, store and sessions; see doctor.h. */
#include "cli/doctor.h"

#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/args.h"
#include "cli/term.h"

#define READ_TIMEOUT_MS 10000
#define SLOW_READ_MS    200

static const char doctor_help[] =
    "\n"
    "\n"
    "Looks at the settings, the store, its directory and this machine, and names the cure of\n"
    "whatever is wrong. Makes the store if it is not there yet, and changes nothing else.\n"
    "Exit code 0, or 78 when something must be mended.\n";

static const char *const verdict_names[] = {"ok", "warn", "FAIL"};
static const char *const verdict_words[] = {"ok", "warn", "fail"}; /* of the JSON output */

void pawl__doctor_find(struct pawl__doctor *doctor, const char *check, enum pawl__verdict verdict,
                       const char *cure, const char *format, ...)
{
    struct pawl__buf text;
    pawl__buf_init(&text);
    va_list args;
    va_start(args, format);
    pawl__buf_appendfv(&text, format, args);
    va_end(args);
    doctor->counts[verdict]++;
    if (doctor->cli->format == PAWL__CLI_TABLE) {
        pawl__grid_cell(&doctor->table, verdict_names[verdict]);
        pawl__grid_cell(&doctor->table, check);
        pawl__grid_cellf(&doctor->table, "%s%s%s", pawl__buf_str(&text),
                         *cure != '\0' ? ". Cure: " : "", cure);
    } else {
        struct pawl__jsonw *json = pawl__items_next(&doctor->list);
        pawl__jsonw_key(json, "check");
        pawl__jsonw_str(json, check);
        pawl__jsonw_key(json, "state");
        pawl__jsonw_str(json, verdict_words[verdict]);
        pawl__jsonw_key(json, "text");
        pawl__jsonw_str(json, pawl__buf_str(&text));
        pawl__jsonw_key(json, "cure");
        pawl__jsonw_str(json, cure);
        pawl__items_end_one(&doctor->list);
    }
    pawl__buf_release(&text);
}

/* What the library said about a failure. Its messages name the cure. */
static void find_error(struct pawl__doctor *doctor, const char *check, pawl_status status)
{
    const char *message = pawl_error_message(doctor->cli->err);
    pawl__doctor_find(doctor, check, PAWL__DOCTOR_FAIL, "", "%s",
                      *message != '\0' ? message : pawl_status_text(status));
}

static const char *get_option(const struct pawl__doctor *doctor, const char *key)
{
    const char *text = pawl_options_get(doctor->cli->options, key);
    return text != NULL ? text : "-";
}

/* false = no use going on. */
static bool examine_settings(struct pawl__doctor *doctor)
{
    pawl_options *options = doctor->cli->options;
    pawl_status status = pawl_options_load(options, doctor->cli->err);
    if (status == PAWL_OK) {
        doctor->cli->loaded = true;
        status = pawl_options_check(options, doctor->cli->err);
    }
    if (status != PAWL_OK) {
        find_error(doctor, "settings", status);
        return false;
    }
    const char *ttl = get_option(doctor, "ttl");
    pawl__doctor_find(doctor, "settings", PAWL__DOCTOR_OK, "",
                      "ttl %s, margin %s, renew %s, request_timeout %s fit together", ttl,
                      get_option(doctor, "margin"), get_option(doctor, "renew"),
                      get_option(doctor, "request_timeout"));
    int64_t ttl_ms = 0;
    if (strcmp(ttl, "off") == 0) {
        pawl__doctor_find(doctor, "ttl", PAWL__DOCTOR_WARN, "set ttl, as in ttl: 30s",
                          "ttl is off: a stopped or stuck process keeps its locks for ever");
        return true;
    }
    int64_t need_ms = pawl__cli_option_ms(doctor->cli, "grace", 0) +
                      2 * pawl__cli_option_ms(doctor->cli, "margin", 0);
    if (pawl__parse_duration_ms(ttl, &ttl_ms) && need_ms > ttl_ms / 2) {
        pawl__doctor_find(doctor, "grace", PAWL__DOCTOR_WARN,
                          "raise ttl, or lower grace to what the command needs to end",
                          "grace %s is much of ttl %s: a command is ended soon after one renewal "
                          "is late",
                          get_option(doctor, "grace"), ttl);
    }
    return true;
}

/* The directory of "local:///dir"; NULL for another store. `url` is decoded into `out`. */
static const char *get_directory(const char *url, struct pawl__buf *out)
{
    static const char scheme[] = "local://";
    if (strncmp(url, scheme, sizeof(scheme) - 1) != 0) {
        return NULL;
    }
    const char *at = url + sizeof(scheme) - 1;
    while (*at != '\0' && *at != '?') {
        uint64_t byte = 0;
        char digits[3] = {0};
        if (at[0] == '%' && at[1] != '\0' && at[2] != '\0') {
            for (size_t i = 0; i < 2; i++) {
                digits[i] =
                    (char)(at[i + 1] >= 'A' && at[i + 1] <= 'F' ? at[i + 1] | 0x20 : at[i + 1]);
            }
        }
        if (digits[0] != '\0' && pawl__parse_hex_u64(digits, 2, &byte)) {
            pawl__buf_append_char(out, (char)byte);
            at += 3;
        } else {
            pawl__buf_append_char(out, *at++);
        }
    }
    return pawl__buf_ok(out) ? pawl__buf_str(out) : NULL;
}

static size_t count_expired(const pawl_snapshot *snapshot)
{
    size_t count = 0;
    for (size_t i = 0; i < pawl_snapshot_count(snapshot); i++) {
        const char *state = pawl_snapshot_text(snapshot, i, PAWL_ENTRY_STATE);
        count += state != NULL && strcmp(state, "expired") == 0;
    }
    return count;
}

static void examine_sessions(struct pawl__doctor *doctor, pawl_client *client)
{
    pawl_snapshot *snapshot = NULL;
    struct pawl__boot begin = pawl__boot_now();
    pawl_status status = pawl_inspect(client, NULL, READ_TIMEOUT_MS, &snapshot, doctor->cli->err);
    int64_t took_ms = pawl__boot_diff(pawl__boot_now(), begin);
    if (status != PAWL_OK) {
        find_error(doctor, "reading", status);
        return;
    }
    bool is_slow = took_ms > SLOW_READ_MS;
    pawl__doctor_find(doctor, "reading", is_slow ? PAWL__DOCTOR_WARN : PAWL__DOCTOR_OK,
                      is_slow ? "see what else loads the disk or the machine" : "",
                      "all locks were read in %lld ms; %zu entries", (long long)took_ms,
                      pawl_snapshot_count(snapshot));
    size_t expired = count_expired(snapshot);
    pawl__doctor_find(doctor, "stale sessions", expired > 0 ? PAWL__DOCTOR_WARN : PAWL__DOCTOR_OK,
                      expired > 0 ? "none needed: the next who asks for the lock removes them" : "",
                      "%zu entries of sessions that are over", expired);
    pawl_snapshot_free(snapshot);
}

static void examine_store(struct pawl__doctor *doctor)
{
    pawl_client *client = NULL;
    struct pawl__buf dir;
    pawl__buf_init(&dir);
    pawl_status status = pawl_client_open(NULL, doctor->cli->options, &client, doctor->cli->err);
    const char *store = pawl_options_get(doctor->cli->options, "store");
    const char *url = status == PAWL_OK ? pawl_client_url(client) : store;
    if (status == PAWL_OK) {
        const char *source = pawl_options_source(doctor->cli->options, "store");
        pawl__doctor_find(doctor, "store", PAWL__DOCTOR_OK, "", "%s (from %s), id %s", url,
                          source != NULL ? source : "default", pawl_client_store_id(client));
    } else {
        find_error(doctor, "store", status);
    }
    const char *path = url != NULL ? get_directory(url, &dir) : NULL;
    if (path != NULL && *path != '\0') {
        pawl__doctor_directory(doctor, path);
    }
    if (status == PAWL_OK) {
        examine_sessions(doctor, client);
        (void)pawl_client_close(client, 0, NULL); /* it only read */
    }
    pawl__buf_release(&dir);
}

static int finish(struct pawl__doctor *doctor)
{
    struct pawl__cli *cli = doctor->cli;
    if (cli->format == PAWL__CLI_TABLE) {
        pawl__grid_print(&doctor->table, pawl__term_has_color(cli, STDOUT_FILENO), &doctor->out);
    } else {
        pawl__items_end(&doctor->list);
    }
    int code = pawl__output_write(cli, &doctor->out);
    pawl__grid_release(&doctor->table);
    pawl__buf_release(&doctor->out);
    if (code == PAWL__EXIT_OK && doctor->counts[PAWL__DOCTOR_FAIL] > 0) {
        code = PAWL__EXIT_CONFIG;
    }
    return code;
}

static int run_doctor(struct pawl__cli *cli, int argc, char **argv)
{
    static const char *const headers[] = {"STATE", "CHECK", "FOUND"};
    struct pawl__args args;
    pawl__args_init(&args, cli, NULL, 0);
    pawl__args_set(&args, argc, argv);
    if (pawl__args_next(&args) == PAWL__ARGS_ERROR) {
        return args.code;
    }
    if (cli->help) {
        return pawl__cli_command_usage(cli, &pawl__cli_doctor);
    }
    if (args.operand_count > 0 || args.rest != NULL) {
        return pawl__cli_fail(cli, PAWL__EXIT_USAGE,
                              "takes no arguments, but got '%s'; --store chooses the store",
                              args.operand_count > 0 ? args.operands[0] : "--");
    }
    struct pawl__doctor doctor = {.cli = cli};
    pawl__grid_init(&doctor.table, headers, 3);
    if (cli->format != PAWL__CLI_TABLE) {
        pawl__items_begin(&doctor.list, cli, &doctor.out);
    }
    if (examine_settings(&doctor)) {
        examine_store(&doctor);
    }
    pawl__doctor_machine(&doctor);
    return finish(&doctor);
}

const struct pawl__cli_command pawl__cli_doctor = {
    .name = "doctor",
    .summary = "checks settings, store and machine, and names the cures",
    .help = doctor_help,
    .run = run_doctor,
};
