/* pawl config: the settings in force and where each came from; the table of all options; checking a
 * file. */
#include <string.h>
#include <unistd.h>

#include "cli/args.h"
#include "cli/output.h"
#include "cli/term.h"

enum { OPT_REFERENCE, OPT_COUNT };

static const struct pawl__cli_option options[OPT_COUNT] = {
    [OPT_REFERENCE] = {0, "reference", NULL},
};

static const char config_help[] =
    "[--reference | check FILE]\n"
    "\n"
    "  pawl config                     every setting, its value and where it came from\n"
    "  pawl config --reference         every option: default, range, meaning\n"
    "  pawl config check FILE          whether FILE is a good configuration file\n"
    "\n"
    "Flag, environment (PAWL_<KEY>), ./.pawl.yaml, $XDG_CONFIG_HOME/pawl/config.yaml and\n"
    "/etc/pawl/config.yaml count in this order.\n";

/* Four columns at most; the first is the key. */
struct row {
    const char *cells[4];
    size_t count;
};

/* Prints rows as a table or as JSON objects with `keys`. */
struct listing {
    const struct pawl__cli *cli;
    const char *const *keys;
    struct pawl__grid table;
    struct pawl__items list;
    struct pawl__buf out;
};

static void begin_listing(struct listing *listing, const struct pawl__cli *cli,
                          const char *const *headers, const char *const *keys, size_t count)
{
    memset(listing, 0, sizeof(*listing));
    listing->cli = cli;
    listing->keys = keys;
    pawl__grid_init(&listing->table, headers, count);
    if (cli->format != PAWL__CLI_TABLE) {
        pawl__items_begin(&listing->list, cli, &listing->out);
    }
}

static void add_row(struct listing *listing, const struct row *row)
{
    if (listing->cli->format == PAWL__CLI_TABLE) {
        for (size_t i = 0; i < row->count; i++) {
            pawl__grid_cell(&listing->table, row->cells[i] != NULL ? row->cells[i] : "-");
        }
        return;
    }
    struct pawl__jsonw *json = pawl__items_next(&listing->list);
    for (size_t i = 0; i < row->count; i++) {
        pawl__jsonw_key(json, listing->keys[i]);
        pawl__jsonw_str(json, row->cells[i]);
    }
    pawl__items_end_one(&listing->list);
}

static int end_listing(struct listing *listing)
{
    if (listing->cli->format == PAWL__CLI_TABLE) {
        pawl__grid_print(&listing->table, pawl__term_has_color(listing->cli, STDOUT_FILENO),
                         &listing->out);
    } else {
        pawl__items_end(&listing->list);
    }
    int code = pawl__output_write(listing->cli, &listing->out);
    pawl__grid_release(&listing->table);
    pawl__buf_release(&listing->out);
    return code;
}

static int print_reference(const struct pawl__cli *cli)
{
    static const char *const headers[] = {"KEY", "DEFAULT", "RANGE", "MEANING"};
    static const char *const keys[] = {"key", "default", "range", "meaning"};
    struct listing listing;
    begin_listing(&listing, cli, headers, keys, 4);
    struct row row = {.count = 4};
    for (size_t i = 0; (row.cells[0] = pawl_options_describe(i, &row.cells[1], &row.cells[2],
                                                             &row.cells[3])) != NULL;
         i++) {
        add_row(&listing, &row);
    }
    return end_listing(&listing);
}

static int print_effective(struct pawl__cli *cli)
{
    static const char *const headers[] = {"KEY", "VALUE", "FROM"};
    static const char *const keys[] = {"key", "value", "source"};
    int code = pawl__cli_load(cli);
    if (code != PAWL__EXIT_OK) {
        return code;
    }
    struct listing listing;
    begin_listing(&listing, cli, headers, keys, 3);
    struct row row = {.count = 3};
    for (size_t i = 0; (row.cells[0] = pawl_options_describe(i, NULL, NULL, NULL)) != NULL; i++) {
        row.cells[1] = pawl_options_get(cli->options, row.cells[0]);
        row.cells[2] = pawl_options_source(cli->options, row.cells[0]);
        add_row(&listing, &row);
    }
    code = end_listing(&listing);
    /* Shown first, judged after: seeing the values is how a bad pair is found. */
    pawl_status status = pawl_options_check(cli->options, cli->err);
    return status == PAWL_OK ? code : pawl__cli_fail_status(cli, status);
}

static int check_file(struct pawl__cli *cli, const char *path)
{
    pawl_status status = pawl_options_check_file(path, cli->err);
    if (status != PAWL_OK) {
        return pawl__cli_fail_status(cli, status);
    }
    pawl__cli_note(cli, "%s is good", path);
    return PAWL__EXIT_OK;
}

static int run_config(struct pawl__cli *cli, int argc, char **argv)
{
    struct pawl__args args;
    pawl__args_init(&args, cli, options, OPT_COUNT);
    pawl__args_set(&args, argc, argv);
    bool reference = false;
    int option = 0;
    while ((option = pawl__args_next(&args)) >= 0) {
        reference = true;
    }
    if (option == PAWL__ARGS_ERROR) {
        return args.code;
    }
    if (cli->help) {
        return pawl__cli_command_usage(cli, &pawl__cli_config);
    }
    bool checks = args.operand_count > 0 && strcmp(args.operands[0], "check") == 0;
    if (args.rest != NULL || (args.operand_count > 0 && !checks)) {
        return pawl__cli_fail(cli, PAWL__EXIT_USAGE, "unknown argument '%s'; only 'check FILE'",
                              args.operand_count > 0 ? args.operands[0] : "--");
    }
    if (checks && (args.operand_count != 2 || reference)) {
        return pawl__cli_fail(cli, PAWL__EXIT_USAGE, "check needs exactly one file");
    }
    if (reference) {
        return print_reference(cli);
    }
    return checks ? check_file(cli, args.operands[1]) : print_effective(cli);
}

const struct pawl__cli_command pawl__cli_config = {
    .name = "config",
    .summary = "settings in force and where they came from",
    .help = config_help,
    .run = run_config,
};
