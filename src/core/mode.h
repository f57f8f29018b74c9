/* Lock modes and their compatibility: the one table that decides which entries conflict. */
#ifndef PAWL_CORE_MODE_H
#define PAWL_CORE_MODE_H

#include <stdbool.h>
#include <stddef.h>

/* Values equal those of the public pawl_mode where that has them. S, IS, IX, SIX are rows of the
 * table already, so that they need no new code path when the public API opens them. */
enum pawl__mode {
    PAWL__MODE_NONE = 0, /* a word that is no mode; conflicts with everything */
    PAWL__MODE_X = 1,
    PAWL__MODE_S = 2,
    PAWL__MODE_IS = 3,
    PAWL__MODE_IX = 4,
    PAWL__MODE_SIX = 5,
    PAWL__MODE_COUNT
};

/* True if an entry of mode `later` has to wait for an earlier entry of mode `earlier`. Symmetric.
 */
bool pawl__mode_conflicts(enum pawl__mode earlier, enum pawl__mode later);

/* The weakest mode that includes both: what a name given twice in one request is locked in. */
enum pawl__mode pawl__mode_join(enum pawl__mode a, enum pawl__mode b);

/* "x", "s", "is", "ix", "six"; "?" for others. The words of entry names and of sealed tokens. */
const char *pawl__mode_word(enum pawl__mode mode);

/* The mode of a word; PAWL__MODE_NONE for an unknown one. */
enum pawl__mode pawl__mode_parse(const char *word);

#endif
