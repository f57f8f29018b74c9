/* The argument reader. Own code instead of getopt_long(), which accepts any abbreviation and keeps
 * its state in globals. */
#include "cli/args.h"

#include <string.h>

#include "base/assert.h"
#include "base/text.h"

#define KEY_MAX   64 /* longest flag made from an option key */
#define WORDS_MAX 96 /* option names that a misspelt one is compared with */

enum { GLOBAL_OUTPUT, GLOBAL_QUIET, GLOBAL_VERBOSE, GLOBAL_NO_COLOR, GLOBAL_HELP, GLOBAL_VERSION };

static const struct pawl__cli_option global_options[] = {
    [GLOBAL_OUTPUT] = {'o', "output", "FORMAT"}, [GLOBAL_QUIET] = {'q', "quiet", NULL},
    [GLOBAL_VERBOSE] = {'v', "verbose", NULL},   [GLOBAL_NO_COLOR] = {0, "no-color", NULL},
    [GLOBAL_HELP] = {'h', "help", NULL},         [GLOBAL_VERSION] = {0, "version", NULL},
};

#define GLOBAL_COUNT (sizeof(global_options) / sizeof(global_options[0]))

const struct pawl__cli_option *pawl__args_global_at(size_t index)
{
    return index < GLOBAL_COUNT ? &global_options[index] : NULL;
}

void pawl__args_init(struct pawl__args *args, struct pawl__cli *cli,
                     const struct pawl__cli_option *options, size_t option_count)
{
    memset(args, 0, sizeof(*args));
    args->cli = cli;
    args->options = options;
    args->option_count = option_count;
}

void pawl__args_set(struct pawl__args *args, int argc, char **argv)
{
    args->argc = argc;
    args->argv = argv;
    args->operands = argv;
}

static int fail(struct pawl__args *args, int code)
{
    args->code = code;
    return PAWL__ARGS_ERROR;
}

/* Spelt as a flag: "request_timeout" is --request-timeout. false when it does not fit. */
static bool spell_flag(char out[KEY_MAX], const char *key)
{
    size_t len = strlen(key);
    if (len >= KEY_MAX) {
        return false;
    }
    for (size_t i = 0; i <= len; i++) {
        out[i] = (char)(key[i] == '_' ? '-' : key[i]);
    }
    return true;
}

/* The key of the options table that `flag` stands for, in either spelling; NULL if none. */
static const char *find_key(const char *flag)
{
    char wanted[KEY_MAX];
    char have[KEY_MAX];
    if (!spell_flag(wanted, flag)) {
        return NULL;
    }
    const char *key = NULL;
    for (size_t i = 0; (key = pawl_options_describe(i, NULL, NULL, NULL)) != NULL; i++) {
        if (spell_flag(have, key) && strcmp(have, wanted) == 0) {
            return key;
        }
    }
    return NULL;
}

/* Points `words` to every option that could have been meant; returns how many. */
static size_t list_words(const struct pawl__args *args, const char *words[WORDS_MAX],
                         char keys[WORDS_MAX][KEY_MAX])
{
    size_t count = 0;
    for (size_t i = 0; i < args->option_count && count < WORDS_MAX; i++) {
        words[count++] = args->options[i].name;
    }
    for (size_t i = 0; i < GLOBAL_COUNT && count < WORDS_MAX; i++) {
        words[count++] = global_options[i].name;
    }
    const char *key = NULL;
    for (size_t i = 0; (key = pawl_options_describe(i, NULL, NULL, NULL)) != NULL; i++) {
        if (count < WORDS_MAX && spell_flag(keys[count], key)) {
            words[count] = keys[count];
            count++;
        }
    }
    return count;
}

static int refuse_unknown(struct pawl__args *args, const char *name)
{
    const char *words[WORDS_MAX];
    char keys[WORDS_MAX][KEY_MAX];
    size_t count = list_words(args, words, keys);
    const char *nearest = pawl__nearest_word(name, words, count);
    const char *command = args->cli->command != NULL ? args->cli->command : "";
    if (nearest != NULL) {
        return fail(args,
                    pawl__cli_fail(args->cli, PAWL__EXIT_USAGE,
                                   "unknown option '--%s'; did you mean '--%s'?", name, nearest));
    }
    return fail(args, pawl__cli_fail(args->cli, PAWL__EXIT_USAGE,
                                     "unknown option '--%s'; see 'pawl %s%s--help'", name, command,
                                     *command != '\0' ? " " : ""));
}

static int set_format(struct pawl__args *args, const char *text)
{
    static const char *const words[] = {"table", "json", "jsonl"};
    PAWL_INVARIANT(text != NULL);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(text, words[i]) == 0) {
            args->cli->format = (enum pawl__cli_format)i;
            return 0;
        }
    }
    return fail(args, pawl__cli_fail(args->cli, PAWL__EXIT_USAGE,
                                     "-o '%s' is no format; use table, json or jsonl", text));
}

static int apply_global(struct pawl__args *args, size_t index)
{
    switch (index) {
    case GLOBAL_OUTPUT:
        return set_format(args, args->value);
    case GLOBAL_QUIET:
        args->cli->quiet = true;
        return 0;
    case GLOBAL_VERBOSE:
        args->cli->verbose = true;
        return 0;
    case GLOBAL_NO_COLOR:
        args->cli->no_color = true;
        return 0;
    case GLOBAL_HELP:
        args->cli->help = true;
        return 0;
    default:
        if (!args->stop_at_operand) {
            return refuse_unknown(args, global_options[index].name);
        }
        args->cli->version = true;
        return 0;
    }
}

/* Fetches the value of an option called `name` from behind "=" or from the next argument. */
static int take_value(struct pawl__args *args, const char *name, const char *attached)
{
    if (attached != NULL) {
        args->value = attached;
        return 0;
    }
    if (args->at >= args->argc) {
        return fail(args, pawl__cli_fail(args->cli, PAWL__EXIT_USAGE,
                                         "option '%s' needs a value behind it", name));
    }
    args->value = args->argv[args->at++];
    return 0;
}

static int apply_key(struct pawl__args *args, const char *key, const char *name,
                     const char *attached)
{
    int outcome = take_value(args, name, attached);
    if (outcome != 0) {
        return outcome;
    }
    pawl_status status = pawl_options_set(args->cli->options, key, args->value, args->cli->err);
    if (status != PAWL_OK) {
        return fail(args, pawl__cli_fail_status(args->cli, status));
    }
    return 0;
}

/* Index into `options`, or -1. */
static int find_long(const struct pawl__cli_option *options, size_t count, const char *name,
                     size_t len)
{
    for (size_t i = 0; i < count; i++) {
        if (strlen(options[i].name) == len && strncmp(options[i].name, name, len) == 0) {
            return (int)i;
        }
    }
    return -1;
}

static int find_letter(const struct pawl__cli_option *options, size_t count, char letter)
{
    for (size_t i = 0; i < count; i++) {
        if (options[i].letter == letter) {
            return (int)i;
        }
    }
    return -1;
}

/* Value or no value, as `option` wants it. `shown` is how the user wrote the option. */
static int settle_value(struct pawl__args *args, const struct pawl__cli_option *option,
                        const char *shown, const char *attached)
{
    args->value = NULL;
    if (option->value != NULL) {
        return take_value(args, shown, attached);
    }
    if (attached != NULL) {
        return fail(args, pawl__cli_fail(args->cli, PAWL__EXIT_USAGE,
                                         "option '--%s' takes no value, but got '%s'", option->name,
                                         attached));
    }
    return 0;
}

/* *ret_index = the command's option, or -1 when it was a global one or a key. */
static int read_long(struct pawl__args *args, const char *text, int *ret_index)
{
    const char *equals = strchr(text, '=');
    size_t len = equals != NULL ? (size_t)(equals - text) : strlen(text);
    const char *attached = equals != NULL ? equals + 1 : NULL;
    const char *shown = text - 2;

    int index = find_long(args->options, args->option_count, text, len);
    if (index >= 0) {
        *ret_index = index;
        return settle_value(args, &args->options[index], shown, attached);
    }
    *ret_index = -1;
    index = find_long(global_options, GLOBAL_COUNT, text, len);
    if (index >= 0) {
        int outcome = settle_value(args, &global_options[index], shown, attached);
        return outcome != 0 ? outcome : apply_global(args, (size_t)index);
    }
    char name[KEY_MAX] = "";
    if (len < KEY_MAX) {
        memcpy(name, text, len);
        name[len] = '\0';
    }
    const char *key = find_key(name);
    if (key != NULL) {
        return apply_key(args, key, shown, attached);
    }
    return refuse_unknown(args, len < KEY_MAX ? name : text);
}

/* As read_long(), for the next letter of a cluster. */
static int read_letter(struct pawl__args *args, int *ret_index)
{
    char letter = *args->cluster++;
    char shown[3] = {'-', letter, '\0'};
    const struct pawl__cli_option *option = NULL;
    *ret_index = find_letter(args->options, args->option_count, letter);
    int global = -1;
    if (*ret_index >= 0) {
        option = &args->options[*ret_index];
    } else if ((global = find_letter(global_options, GLOBAL_COUNT, letter)) >= 0) {
        option = &global_options[global];
    } else {
        const char *command = args->cli->command != NULL ? args->cli->command : "help";
        return fail(args,
                    pawl__cli_fail(args->cli, PAWL__EXIT_USAGE,
                                   "unknown option '-%c'; see 'pawl %s --help'", letter, command));
    }
    const char *attached = NULL;
    if (option->value != NULL && *args->cluster != '\0') {
        attached = args->cluster;
        args->cluster = "";
    }
    int outcome = settle_value(args, option, shown, attached);
    if (outcome == 0 && global >= 0) {
        outcome = apply_global(args, (size_t)global);
    }
    return outcome;
}

/* The next whole argument. *ret_index as in read_long(); *ret_end = nothing more is to be read. */
static int read_word(struct pawl__args *args, int *ret_index, bool *ret_end)
{
    char *word = args->argv[args->at];
    *ret_index = -1;
    if (strcmp(word, "--") == 0) {
        args->rest = &args->argv[args->at + 1];
        args->rest_count = args->argc - args->at - 1;
        args->at = args->argc;
        *ret_end = true;
        return 0;
    }
    bool is_operand = word[0] != '-' || word[1] == '\0';
    if (is_operand && args->stop_at_operand) {
        *ret_end = true;
        return 0;
    }
    args->at++;
    if (is_operand) {
        args->operands[args->operand_count++] = word;
        return 0;
    }
    if (word[1] == '-') {
        return read_long(args, word + 2, ret_index);
    }
    args->cluster = word + 1;
    return 0;
}

int pawl__args_next(struct pawl__args *args)
{
    bool end = false;
    while (!end) {
        int index = -1;
        int outcome = 0;
        if (args->cluster != NULL && *args->cluster != '\0') {
            outcome = read_letter(args, &index);
        } else if (args->at < args->argc) {
            outcome = read_word(args, &index, &end);
        } else {
            end = true;
        }
        if (outcome != 0 || index >= 0) {
            return outcome != 0 ? outcome : index;
        }
    }
    return PAWL__ARGS_END;
}
