/* pawl version. */
#include "cli/args.h"
#include "cli/output.h"

static const char version_help[] =
    "\n"
    "\n"
    "Shows the version of the command and of the library that it runs with.\n";

static int print_version(struct pawl__cli *cli)
{
    struct pawl__buf out;
    pawl__buf_init(&out);
    if (cli->format == PAWL__CLI_TABLE) {
        pawl__buf_appendf(&out, "pawl %s\n", PAWL_VERSION_STRING);
        if (pawl_version_hex() != PAWL_VERSION_HEX) {
            pawl__buf_appendf(&out, "libpawl %s\n", pawl_version());
        }
    } else {
        struct pawl__jsonw json;
        pawl__jsonw_init(&json, &out);
        pawl__jsonw_begin_object(&json);
        pawl__jsonw_key(&json, "version");
        pawl__jsonw_str(&json, PAWL_VERSION_STRING);
        pawl__jsonw_key(&json, "library");
        pawl__jsonw_str(&json, pawl_version());
        pawl__jsonw_end_object(&json);
        pawl__buf_append_char(&out, '\n');
    }
    int code = pawl__output_write(cli, &out);
    pawl__buf_release(&out);
    return code;
}

static int run_version(struct pawl__cli *cli, int argc, char **argv)
{
    struct pawl__args args;
    pawl__args_init(&args, cli, NULL, 0);
    pawl__args_set(&args, argc, argv);
    if (pawl__args_next(&args) == PAWL__ARGS_ERROR) {
        return args.code;
    }
    if (cli->help) {
        return pawl__cli_command_usage(cli, &pawl__cli_version);
    }
    if (args.operand_count > 0 || args.rest != NULL) {
        return pawl__cli_fail(cli, PAWL__EXIT_USAGE, "takes no arguments, but got '%s'",
                              args.operand_count > 0 ? args.operands[0] : "--");
    }
    return print_version(cli);
}

const struct pawl__cli_command pawl__cli_version = {
    .name = "version",
    .summary = "version of the command and of its library",
    .help = version_help,
    .run = run_version,
};
