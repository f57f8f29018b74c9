/* A set of options: texts by key and where they came from. The public options.h but for loading
 * (options_load.c); what the texts come to is in options_resolve.c. */
#include "core/options.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "core/error.h"
#include "core/options_internal.h"

#define DEFAULT_STORE "local:"

pawl_options *pawl_options_new(void)
{
    return pawl__alloc(sizeof(pawl_options));
}

static void release_slot(struct pawl__option_slot *slot)
{
    pawl__free(slot->text);
    pawl__free(slot->source);
    *slot = (struct pawl__option_slot){NULL, NULL};
}

void pawl__option_slots_release(struct pawl__option_slot slots[PAWL__OPTION_COUNT])
{
    for (int i = 0; i < PAWL__OPTION_COUNT; i++) {
        release_slot(&slots[i]);
    }
}

void pawl__options_touch(pawl_options *options)
{
    options->view.is_fresh = false;
    pawl__url_release(&options->view.url);
}

void pawl_options_free(pawl_options *options)
{
    if (options == NULL) {
        return;
    }
    pawl__options_touch(options);
    pawl__option_slots_release(options->flags);
    pawl__option_slots_release(options->loaded);
    pawl__free(options);
}

static bool copy_slot(struct pawl__option_slot *dst, const struct pawl__option_slot *src)
{
    dst->text = pawl__strdup(src->text);
    dst->source = pawl__strdup(src->source);
    return (dst->text != NULL) == (src->text != NULL) &&
           (dst->source != NULL) == (src->source != NULL);
}

pawl_options *pawl__options_copy(const pawl_options *options)
{
    pawl_options *copy = pawl_options_new();

    for (int i = 0; copy != NULL && options != NULL && i < PAWL__OPTION_COUNT; i++) {
        if (!copy_slot(&copy->flags[i], &options->flags[i]) ||
            !copy_slot(&copy->loaded[i], &options->loaded[i])) {
            pawl_options_free(copy);
            copy = NULL;
        }
    }
    return copy;
}

pawl_status pawl_options_set(pawl_options *options, const char *key, const char *text,
                             pawl_error *err)
{
    if (options == NULL || key == NULL || text == NULL) {
        return pawl__error_set(err, PAWL_E_INVALID, 0,
                               "pawl_options_set: options, key and text must not be NULL");
    }
    enum pawl__option option = pawl__option_find(key, err);
    if (option == PAWL__OPTION_COUNT) {
        return PAWL_E_CONFIG;
    }
    pawl_status status = pawl__option_check(option, text, err);
    if (status != PAWL_OK) {
        return status;
    }
    char *copy = pawl__strdup(text);
    if (copy == NULL) {
        return pawl__error_set(err, PAWL_E_NOMEM, 0, "out of memory for option %s", key);
    }
    pawl__options_touch(options);
    release_slot(&options->flags[option]);
    options->flags[option].text = copy;
    return PAWL_OK;
}

const char *pawl__options_store(const pawl_options *options)
{
    const char *text = pawl__options_pick(options, NULL, PAWL__OPTION_STORE, NULL);

    return text == NULL ? DEFAULT_STORE : text;
}

/* What the URL says about `option`; NULL if nothing. */
static const char *pick_from_url(const struct pawl__url *url, enum pawl__option option)
{
    const char *key = pawl__option_words(option)->key;

    if (option == PAWL__OPTION_ROOT && url->path != NULL && strcmp(url->scheme, "local") != 0) {
        return url->path;
    }
    for (size_t i = 0; i < url->pair_count; i++) {
        if (strcmp(url->pairs[i].key, key) == 0) {
            return url->pairs[i].value;
        }
    }
    return NULL;
}

const char *pawl__options_pick(const pawl_options *options, const struct pawl__url *url,
                               enum pawl__option option, const char **ret_source)
{
    const char *source = "default";
    const char *text = NULL;

    if (options != NULL && options->flags[option].text != NULL) {
        text = options->flags[option].text;
        source = "flag";
    }
    if (text == NULL && url != NULL) {
        text = pick_from_url(url, option);
        source = text != NULL ? "url" : source;
    }
    if (text == NULL && options != NULL && options->loaded[option].text != NULL) {
        text = options->loaded[option].text;
        source = options->loaded[option].source;
    }
    if (ret_source != NULL) {
        *ret_source = source;
    }
    return text;
}

/* Works the view out if it is out of date. The store passed its check when it was set, so only
 * memory can be missing. */
static pawl_status refresh(pawl_options *options, pawl_error *err)
{
    struct pawl__options_view *view = &options->view;

    if (view->is_fresh) {
        return PAWL_OK;
    }
    pawl_status status = pawl__url_parse(pawl__options_store(options), &view->url, err);
    if (status != PAWL_OK) {
        return status;
    }
    pawl__options_compute(options, &view->url, &view->settings);
    view->is_fresh = true;
    return PAWL_OK;
}

/* The text of a default. */
static const char *default_text(struct pawl__options_view *view, enum pawl__option option)
{
    const struct pawl__settings *settings = &view->settings;
    char *text = view->texts[option];
    int64_t ms = pawl__settings_ms(settings, option);

    if (ms >= 0) {
        pawl__format_duration(text, PAWL__DURATION_TEXT_MAX, ms);
        return text;
    }
    if (option == PAWL__OPTION_MAX_REQUESTS) {
        (void)snprintf(text, PAWL__DURATION_TEXT_MAX, "%u", settings->max_requests);
        return text;
    }
    if (option == PAWL__OPTION_STORE) {
        return DEFAULT_STORE;
    }
    if (option == PAWL__OPTION_ROOT) {
        return settings->root;
    }
    if (option == PAWL__OPTION_LAYOUT) {
        return settings->layout == PAWL__LAYOUT_RAW ? "raw" : "pawl";
    }
    if (option == PAWL__OPTION_INSECURE) {
        return settings->insecure ? "1" : "0";
    }
    return NULL;
}

const char *pawl_options_get(pawl_options *options, const char *key)
{
    if (options == NULL || key == NULL) {
        return NULL;
    }
    enum pawl__option option = pawl__option_find(key, NULL);
    if (option == PAWL__OPTION_COUNT || refresh(options, NULL) != PAWL_OK) {
        return NULL;
    }
    const struct pawl__url *url = option == PAWL__OPTION_STORE ? NULL : &options->view.url;
    const char *text = pawl__options_pick(options, url, option, NULL);
    return text != NULL ? text : default_text(&options->view, option);
}

const char *pawl_options_source(pawl_options *options, const char *key)
{
    const char *source = NULL;

    if (options == NULL || key == NULL) {
        return NULL;
    }
    enum pawl__option option = pawl__option_find(key, NULL);
    if (option == PAWL__OPTION_COUNT || refresh(options, NULL) != PAWL_OK) {
        return NULL;
    }
    const struct pawl__url *url = option == PAWL__OPTION_STORE ? NULL : &options->view.url;
    (void)pawl__options_pick(options, url, option, &source);
    return source;
}

const char *pawl_options_describe(size_t index, const char **ret_default, const char **ret_range,
                                  const char **ret_meaning)
{
    if (index >= PAWL__OPTION_COUNT) {
        return NULL;
    }
    const struct pawl__option_words *words = pawl__option_words((enum pawl__option)index);
    if (ret_default != NULL) {
        *ret_default = words->default_text;
    }
    if (ret_range != NULL) {
        *ret_range = words->range;
    }
    if (ret_meaning != NULL) {
        *ret_meaning = words->meaning;
    }
    return words->key;
}

pawl_status pawl_options_check(pawl_options *options, pawl_error *err)
{
    if (options == NULL) {
        return pawl__error_set(err, PAWL_E_INVALID, 0,
                               "pawl_options_check: options must not be NULL");
    }
    pawl_status status = refresh(options, err);
    if (status != PAWL_OK) {
        return status;
    }
    return pawl__options_check_pairs(options, &options->view.url, &options->view.settings, err);
}
