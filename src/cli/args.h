/* Reads arguments: options of the command, global options, and a flag for every key of the options
 * table. No abbreviations, since a script must not change its meaning when an option is added. */
#ifndef PAWL_CLI_ARGS_H
#define PAWL_CLI_ARGS_H

#include "cli/cli.h"

/* One option of a command. `value` is NULL for a flag, else what it takes, in a word. */
struct pawl__cli_option {
    char letter;      /* 0 = none */
    const char *name; /* without the dashes */
    const char *value;
};

enum {
    PAWL__ARGS_END = -1,  /* all read: see operands and rest */
    PAWL__ARGS_ERROR = -2 /* said on stderr; the exit code is in `code` */
};

/* All pointers are borrowed from the caller of pawl__args_init() and from argv. */
struct pawl__args {
    struct pawl__cli *cli;
    const struct pawl__cli_option *options;
    size_t option_count;
    char **argv;
    int argc;
    int at;
    const char *cluster; /* what is left of "-abc" */
    const char *value;   /* of the option returned last; NULL for a flag */
    char **operands;     /* arguments that are no options: the first ones of argv, moved together */
    int operand_count;
    char **rest; /* after "--"; NULL when there was none */
    int rest_count;
    bool stop_at_operand; /* for main(): the command's name ends the global options */
    int code;
};

/* `options` ends with its `option_count`. argv is permuted while reading. */
void pawl__args_init(struct pawl__args *args, struct pawl__cli *cli,
                     const struct pawl__cli_option *options, size_t option_count);
void pawl__args_set(struct pawl__args *args, int argc, char **argv);

/* Index of the next option of the command, PAWL__ARGS_END or PAWL__ARGS_ERROR. Global options and
 * option keys are taken care of on the way. */
int pawl__args_next(struct pawl__args *args);

/* Number `index` of the global options; NULL past the end. */
const struct pawl__cli_option *pawl__args_global_at(size_t index);

#endif
