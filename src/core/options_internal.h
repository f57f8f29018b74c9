/* Layout of a set of options: for options.c, options_load.c, options_resolve.c only. */
#ifndef PAWL_CORE_OPTIONS_INTERNAL_H
#define PAWL_CORE_OPTIONS_INTERNAL_H

#include <stdbool.h>

#include "base/text.h"
#include "core/options.h"
#include "core/options_table.h"
#include "core/url.h"

/* A value and where it came from. */
struct pawl__option_slot {
    char *text;   /* owned; NULL = not set; passed pawl__option_check() */
    char *source; /* owned; NULL = "flag" */
};

/* What the texts come to, worked out when it is asked for. */
struct pawl__options_view {
    bool is_fresh;
    struct pawl__url url; /* of the effective store */
    struct pawl__settings settings;
    char texts[PAWL__OPTION_COUNT][PAWL__DURATION_TEXT_MAX]; /* of defaults that are worked out */
};

struct pawl_options {
    struct pawl__option_slot flags[PAWL__OPTION_COUNT]; /* by pawl_options_set() */
    struct pawl__option_slot
        loaded[PAWL__OPTION_COUNT]; /* the strongest of environment and files */
    struct pawl__options_view view;
};

void pawl__option_slots_release(struct pawl__option_slot slots[PAWL__OPTION_COUNT]);

/* The view is out of date. */
void pawl__options_touch(pawl_options *options);

/* The text that is in force for `option` in the store `url`, and where it came from; NULL =
 * default. `options` may be NULL, `ret_source` too. */
const char *pawl__options_pick(const pawl_options *options, const struct pawl__url *url,
                               enum pawl__option option, const char **ret_source);

/* All values, defaults included, not checked against each other. */
void pawl__options_compute(const pawl_options *options, const struct pawl__url *url,
                           struct pawl__settings *settings);

/* Checks what pawl__options_compute() gave. */
pawl_status pawl__options_check_pairs(const pawl_options *options, const struct pawl__url *url,
                                      const struct pawl__settings *settings, pawl_error *err);

/* The milliseconds of a duration in `settings`; -1 for an option that is none. */
int64_t pawl__settings_ms(const struct pawl__settings *settings, enum pawl__option option);

#endif
