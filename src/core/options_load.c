/* Options from environment and files: pawl_options_load(). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "core/config.h"
#include "core/error.h"
#include "core/options_internal.h"

#define PROJECT_FILE "./.pawl.yaml"
#define SYSTEM_FILE  "/etc/pawl/config.yaml"

/* Longest key; a longer name would not be found in the environment. */
#define VARIABLE_MAX 64

static const char *system_file; /* NULL = SYSTEM_FILE; set by tests only */

void pawl__options_set_system_file(const char *path)
{
    system_file = path;
}

static pawl_status refuse_memory(pawl_error *err)
{
    return pawl__error_set(err, PAWL_E_NOMEM, 0, "out of memory while options are read");
}

/* "PAWL_REQUEST_TIMEOUT" */
static void variable_name(enum pawl__option option, char out[VARIABLE_MAX])
{
    int len = snprintf(out, VARIABLE_MAX, "PAWL_%s", pawl__option_words(option)->key);

    for (int i = 0; i < len && i < VARIABLE_MAX; i++) {
        if (out[i] >= 'a' && out[i] <= 'z') {
            out[i] = (char)(out[i] - 'a' + 'A');
        }
    }
}

/* Fills `slot` with a copy of `text`, which passed its check, and a source of its own. */
static pawl_status fill_slot(struct pawl__option_slot *slot, const char *text,
                             struct pawl__buf *source, pawl_error *err)
{
    slot->text = pawl__strdup(text);
    slot->source = pawl__buf_detach(source, NULL);
    /* Half a slot is released with the others. */
    return slot->text == NULL || slot->source == NULL ? refuse_memory(err) : PAWL_OK;
}

/* A variable that is empty counts as not set, as shells have it. A program with raised rights does
 * not listen to its caller's environment. */
static pawl_status load_variable(struct pawl__option_slot *slot, enum pawl__option option,
                                 pawl_error *err)
{
    char name[VARIABLE_MAX];
    struct pawl__buf source;

    variable_name(option, name);
    const char *text = secure_getenv(name);
    if (text == NULL || text[0] == '\0') {
        return PAWL_OK;
    }
    pawl_status status = pawl__option_check(option, text, err);
    if (status != PAWL_OK) {
        pawl__error_prefix(err, "environment %s", name);
        return status;
    }
    pawl__buf_init(&source);
    pawl__buf_appendf(&source, "environment %s", name);
    return fill_slot(slot, text, &source, err);
}

/* Takes over what `config` sets and nothing stronger did. */
static pawl_status merge(struct pawl__option_slot slots[PAWL__OPTION_COUNT], const char *path,
                         const struct pawl__config *config, pawl_error *err)
{
    for (int i = 0; i < PAWL__OPTION_COUNT; i++) {
        if (config->values[i] == NULL || slots[i].text != NULL) {
            continue;
        }
        struct pawl__buf source;
        pawl__buf_init(&source);
        pawl__buf_appendf(&source, "file %s:%u:%u", path, config->marks[i].line,
                          config->marks[i].column);
        pawl_status status = fill_slot(&slots[i], config->values[i], &source, err);
        if (status != PAWL_OK) {
            return status;
        }
    }
    return PAWL_OK;
}

/* A file is checked as a whole, also where something stronger wins. */
static pawl_status load_file(struct pawl__option_slot slots[PAWL__OPTION_COUNT], const char *path,
                             pawl_error *err)
{
    struct pawl__config config;
    bool found = false;

    pawl_status status = pawl__config_load(path, &found, &config, err);
    if (status == PAWL_OK && found) {
        status = merge(slots, path, &config, err);
        pawl__config_release(&config);
    }
    return status;
}

/* The XDG base directory specification: a relative XDG_CONFIG_HOME is to be ignored. */
static pawl_status load_user_file(struct pawl__option_slot slots[PAWL__OPTION_COUNT],
                                  pawl_error *err)
{
    const char *config_home = secure_getenv("XDG_CONFIG_HOME");
    const char *home = secure_getenv("HOME");
    struct pawl__buf path;

    pawl__buf_init(&path);
    if (config_home != NULL && config_home[0] == '/') {
        pawl__buf_appendf(&path, "%s/pawl/config.yaml", config_home);
    } else if (home != NULL && home[0] == '/') {
        pawl__buf_appendf(&path, "%s/.config/pawl/config.yaml", home);
    } else {
        return PAWL_OK;
    }
    pawl_status status =
        pawl__buf_ok(&path) ? load_file(slots, pawl__buf_str(&path), err) : refuse_memory(err);
    pawl__buf_release(&path);
    return status;
}

/* Strongest first. */
static pawl_status load_all(struct pawl__option_slot slots[PAWL__OPTION_COUNT], pawl_error *err)
{
    pawl_status status = PAWL_OK;

    for (int i = 0; i < PAWL__OPTION_COUNT && status == PAWL_OK; i++) {
        status = load_variable(&slots[i], (enum pawl__option)i, err);
    }
    if (status == PAWL_OK) {
        status = load_file(slots, PROJECT_FILE, err);
    }
    if (status == PAWL_OK) {
        status = load_user_file(slots, err);
    }
    if (status == PAWL_OK) {
        status = load_file(slots, system_file != NULL ? system_file : SYSTEM_FILE, err);
    }
    return status;
}

pawl_status pawl_options_load(pawl_options *options, pawl_error *err)
{
    struct pawl__option_slot slots[PAWL__OPTION_COUNT] = {{NULL, NULL}};

    if (options == NULL) {
        return pawl__error_set(err, PAWL_E_INVALID, 0,
                               "pawl_options_load: options must not be NULL");
    }
    pawl_status status = load_all(slots, err);
    if (status != PAWL_OK) {
        pawl__option_slots_release(slots);
        return status;
    }
    pawl__options_touch(options);
    pawl__option_slots_release(options->loaded);
    memcpy(options->loaded, slots, sizeof(slots));
    return PAWL_OK;
}
