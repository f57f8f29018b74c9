/* pawl inspect: who holds, who waits, since when and why. */
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/args.h"
#include "cli/output.h"
#include "cli/term.h"

#define READ_TIMEOUT_MS 10000

enum { OPT_WATCH, OPT_COUNT };

static const struct pawl__cli_option options[OPT_COUNT] = {
    [OPT_WATCH] = {0, "watch", NULL},
};

static const char inspect_help[] =
    "[NAME] [--watch]\n"
    "\n"
    "  pawl inspect               every lock that someone holds or waits for\n"
    "  pawl inspect deploy        this one\n"
    "  pawl inspect -o json       for programs: an array, one object a lock\n"
    "\n"
    "  --watch    read again each second, until interrupted\n"
    "\n"
    "Takes no lock and leaves no trace in the store. Tokens of those who wait are not shown.\n";

static const char *get_text(const pawl_snapshot *snapshot, size_t index,
                            pawl_entry_text_field field)
{
    const char *text = pawl_snapshot_text(snapshot, index, field);
    return text != NULL ? text : "";
}

static bool is_holder(const pawl_snapshot *snapshot, size_t index)
{
    return pawl_snapshot_number(snapshot, index, PAWL_ENTRY_POSITION) == 0;
}

static void write_row(struct pawl__grid *table, const pawl_snapshot *snapshot, size_t index)
{
    bool holds = is_holder(snapshot, index);
    pawl__grid_cell(table, get_text(snapshot, index, PAWL_ENTRY_LOCK));
    pawl__grid_cell(table, get_text(snapshot, index, PAWL_ENTRY_STATE));
    if (holds) {
        pawl__grid_cellf(table, "%lld",
                         (long long)pawl_snapshot_number(snapshot, index, PAWL_ENTRY_TOKEN));
    } else {
        pawl__grid_cellf(table, "#%lld",
                         (long long)pawl_snapshot_number(snapshot, index, PAWL_ENTRY_POSITION));
    }
    struct pawl__buf age;
    pawl__buf_init(&age);
    pawl__output_age(&age, pawl_snapshot_number(snapshot, index, PAWL_ENTRY_AGE));
    pawl__grid_cell(table, pawl__buf_str(&age));
    pawl__buf_release(&age);
    pawl__grid_cell(table, get_text(snapshot, index, PAWL_ENTRY_OWNER));
    pawl__grid_cellf(table, "%lld",
                     (long long)pawl_snapshot_number(snapshot, index, PAWL_ENTRY_PID));
    pawl__grid_cell(table, get_text(snapshot, index, PAWL_ENTRY_MODE));
    pawl__grid_cell(table, get_text(snapshot, index, PAWL_ENTRY_REASON));
}

static void print_table(const pawl_snapshot *snapshot, bool color, struct pawl__buf *out)
{
    static const char *const headers[] = {"LOCK",  "STATE", "TOKEN/PLACE", "FOR",
                                          "OWNER", "PID",   "MODE",        "REASON"};
    struct pawl__grid table;
    pawl__grid_init(&table, headers, sizeof(headers) / sizeof(headers[0]));
    for (size_t i = 0; i < pawl_snapshot_count(snapshot); i++) {
        write_row(&table, snapshot, i);
    }
    pawl__grid_print(&table, color, out);
    pawl__grid_release(&table);
}

static void put_text(struct pawl__jsonw *json, const char *key, const char *text)
{
    pawl__jsonw_key(json, key);
    pawl__jsonw_str(json, text);
}

static void put_number(struct pawl__jsonw *json, const char *key, int64_t value)
{
    pawl__jsonw_key(json, key);
    pawl__jsonw_int(json, value);
}

static void write_entry(struct pawl__jsonw *json, const pawl_snapshot *snapshot, size_t index)
{
    bool holds = is_holder(snapshot, index);
    int64_t age = pawl_snapshot_number(snapshot, index, PAWL_ENTRY_AGE);
    pawl__jsonw_begin_object(json);
    if (holds) {
        pawl__jsonw_key(json, "token");
        pawl__jsonw_u64str(json, (uint64_t)pawl_snapshot_number(snapshot, index, PAWL_ENTRY_TOKEN));
    }
    put_text(json, "owner", get_text(snapshot, index, PAWL_ENTRY_OWNER));
    put_text(json, "host", get_text(snapshot, index, PAWL_ENTRY_HOST));
    put_number(json, "pid", pawl_snapshot_number(snapshot, index, PAWL_ENTRY_PID));
    put_text(json, "mode", get_text(snapshot, index, PAWL_ENTRY_MODE));
    put_text(json, "reason", get_text(snapshot, index, PAWL_ENTRY_REASON));
    put_number(json, holds ? "held_ms" : "waited_ms", age);
    put_text(json, "state", get_text(snapshot, index, PAWL_ENTRY_STATE));
    if (!holds) {
        put_number(json, "position", pawl_snapshot_number(snapshot, index, PAWL_ENTRY_POSITION));
    }
    put_number(json, "ttl_left_ms", pawl_snapshot_number(snapshot, index, PAWL_ENTRY_TTL_LEFT));
    put_text(json, "run", get_text(snapshot, index, PAWL_ENTRY_RUN));
    put_text(json, "trace", get_text(snapshot, index, PAWL_ENTRY_TRACE));
    put_text(json, "session", get_text(snapshot, index, PAWL_ENTRY_SESSION));
    pawl__jsonw_end_object(json);
}

/* One lock: the entries from `begin` on that have the same name. Returns the first of the next. */
static size_t write_lock(struct pawl__jsonw *json, const pawl_snapshot *snapshot, size_t begin)
{
    const char *name = get_text(snapshot, begin, PAWL_ENTRY_LOCK);
    size_t end = begin;
    while (end < pawl_snapshot_count(snapshot) &&
           strcmp(get_text(snapshot, end, PAWL_ENTRY_LOCK), name) == 0) {
        end++;
    }
    put_text(json, "lock", name);
    pawl__jsonw_key(json, "holders");
    pawl__jsonw_begin_array(json);
    for (size_t i = begin; i < end; i++) {
        if (is_holder(snapshot, i)) {
            write_entry(json, snapshot, i);
        }
    }
    pawl__jsonw_end_array(json);
    pawl__jsonw_key(json, "waiters");
    pawl__jsonw_begin_array(json);
    for (size_t i = begin; i < end; i++) {
        if (!is_holder(snapshot, i)) {
            write_entry(json, snapshot, i);
        }
    }
    pawl__jsonw_end_array(json);
    return end;
}

static void print_json(const struct pawl__cli *cli, const char *name, const pawl_snapshot *snapshot,
                       struct pawl__buf *out)
{
    struct pawl__items list;
    pawl__items_begin(&list, cli, out);
    size_t count = pawl_snapshot_count(snapshot);
    for (size_t i = 0; i < count;) {
        struct pawl__jsonw *json = pawl__items_next(&list);
        i = write_lock(json, snapshot, i);
        pawl__items_end_one(&list);
    }
    if (count == 0 && name != NULL) {
        /* Asked for by name: a program gets its object also when the lock is free. */
        struct pawl__jsonw *json = pawl__items_next(&list);
        put_text(json, "lock", name);
        pawl__jsonw_key(json, "holders");
        pawl__jsonw_begin_array(json);
        pawl__jsonw_end_array(json);
        pawl__jsonw_key(json, "waiters");
        pawl__jsonw_begin_array(json);
        pawl__jsonw_end_array(json);
        pawl__items_end_one(&list);
    }
    pawl__items_end(&list);
}

/* One look. `clears`: it replaces the one before on the screen. */
static int show(struct pawl__cli *cli, pawl_client *client, const char *name, bool clears)
{
    pawl_snapshot *snapshot = NULL;
    pawl_status status = pawl_inspect(client, name, READ_TIMEOUT_MS, &snapshot, cli->err);
    if (status != PAWL_OK) {
        return pawl__cli_fail_status(cli, status);
    }
    struct pawl__buf out;
    pawl__buf_init(&out);
    if (clears) {
        pawl__buf_append_str(&out, "\033[H\033[2J");
    }
    if (cli->format != PAWL__CLI_TABLE) {
        print_json(cli, name, snapshot, &out);
    } else if (pawl_snapshot_count(snapshot) > 0) {
        print_table(snapshot, pawl__term_has_color(cli, STDOUT_FILENO), &out);
    } else {
        pawl__cli_note(cli,
                       name != NULL ? "'%s' is free, nobody waits for it"
                                    : "no lock is held, nobody waits%s",
                       name != NULL ? name : "");
    }
    int code = pawl__output_write(cli, &out);
    pawl__buf_release(&out);
    pawl_snapshot_free(snapshot);
    return code;
}

/* Ends by a signal, or when stdout does. A store that is away for a while does not end it. */
static int watch(struct pawl__cli *cli, pawl_client *client, const char *name)
{
    bool clears = cli->format == PAWL__CLI_TABLE && isatty(STDOUT_FILENO);
    for (;;) {
        int code = show(cli, client, name, clears);
        if (code != PAWL__EXIT_OK && code != PAWL__EXIT_UNAVAILABLE) {
            return code;
        }
        struct timespec second = {.tv_sec = 1};
        (void)nanosleep(&second, NULL); /* looking once a second is the purpose */
    }
}

static int run_inspect(struct pawl__cli *cli, int argc, char **argv)
{
    struct pawl__args args;
    pawl__args_init(&args, cli, options, OPT_COUNT);
    pawl__args_set(&args, argc, argv);
    bool watches = false;
    int option = 0;
    while ((option = pawl__args_next(&args)) >= 0) {
        watches = true;
    }
    if (option == PAWL__ARGS_ERROR) {
        return args.code;
    }
    if (cli->help) {
        return pawl__cli_command_usage(cli, &pawl__cli_inspect);
    }
    if (args.operand_count > 1 || args.rest != NULL) {
        return pawl__cli_fail(cli, PAWL__EXIT_USAGE,
                              "one name or none; without a name every lock is shown");
    }
    const char *name = args.operand_count == 1 ? args.operands[0] : NULL;
    pawl_client *client = NULL;
    int code = pawl__cli_open(cli, &client);
    if (code != PAWL__EXIT_OK) {
        return code;
    }
    code = watches ? watch(cli, client, name) : show(cli, client, name, false);
    (void)pawl_client_close(client, 0, NULL); /* nothing was written, so nothing can be left */
    return code;
}

const struct pawl__cli_command pawl__cli_inspect = {
    .name = "inspect",
    .summary = "who holds a lock, who waits, since when and why",
    .help = inspect_help,
    .run = run_inspect,
};
