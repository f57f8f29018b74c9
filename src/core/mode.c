/* Lock modes: compatibility and join tables (Gray's granular locks), and their words. */
#include "core/mode.h"

#include <string.h>

#include "base/assert.h"

/* Row: earlier entry; column: later entry. NONE conflicts with all: an entry whose mode nobody
 * understands must be waited for, never passed. */
static const bool conflicts[PAWL__MODE_COUNT][PAWL__MODE_COUNT] = {
    /*                      NONE   X     S      IS     IX     SIX */
    [PAWL__MODE_NONE] = {true, true, true, true, true, true},
    [PAWL__MODE_X] = {true, true, true, true, true, true},
    [PAWL__MODE_S] = {true, true, false, false, true, true},
    [PAWL__MODE_IS] = {true, true, false, false, false, false},
    [PAWL__MODE_IX] = {true, true, true, false, false, true},
    [PAWL__MODE_SIX] = {true, true, true, false, true, true},
};

static const enum pawl__mode joins[PAWL__MODE_COUNT][PAWL__MODE_COUNT] = {
    [PAWL__MODE_NONE] = {PAWL__MODE_NONE, PAWL__MODE_X, PAWL__MODE_S, PAWL__MODE_IS, PAWL__MODE_IX,
                         PAWL__MODE_SIX},
    [PAWL__MODE_X] = {PAWL__MODE_X, PAWL__MODE_X, PAWL__MODE_X, PAWL__MODE_X, PAWL__MODE_X,
                      PAWL__MODE_X},
    [PAWL__MODE_S] = {PAWL__MODE_S, PAWL__MODE_X, PAWL__MODE_S, PAWL__MODE_S, PAWL__MODE_SIX,
                      PAWL__MODE_SIX},
    [PAWL__MODE_IS] = {PAWL__MODE_IS, PAWL__MODE_X, PAWL__MODE_S, PAWL__MODE_IS, PAWL__MODE_IX,
                       PAWL__MODE_SIX},
    [PAWL__MODE_IX] = {PAWL__MODE_IX, PAWL__MODE_X, PAWL__MODE_SIX, PAWL__MODE_IX, PAWL__MODE_IX,
                       PAWL__MODE_SIX},
    [PAWL__MODE_SIX] = {PAWL__MODE_SIX, PAWL__MODE_X, PAWL__MODE_SIX, PAWL__MODE_SIX,
                        PAWL__MODE_SIX, PAWL__MODE_SIX},
};

static const char *const words[PAWL__MODE_COUNT] = {
    [PAWL__MODE_NONE] = "?", [PAWL__MODE_X] = "x",   [PAWL__MODE_S] = "s",
    [PAWL__MODE_IS] = "is",  [PAWL__MODE_IX] = "ix", [PAWL__MODE_SIX] = "six",
};

bool pawl__mode_conflicts(enum pawl__mode earlier, enum pawl__mode later)
{
    PAWL_INVARIANT(earlier < PAWL__MODE_COUNT);
    PAWL_INVARIANT(later < PAWL__MODE_COUNT);
    return conflicts[earlier][later];
}

enum pawl__mode pawl__mode_join(enum pawl__mode a, enum pawl__mode b)
{
    PAWL_INVARIANT(a < PAWL__MODE_COUNT);
    PAWL_INVARIANT(b < PAWL__MODE_COUNT);
    return joins[a][b];
}

const char *pawl__mode_word(enum pawl__mode mode)
{
    return mode < PAWL__MODE_COUNT ? words[mode] : "?";
}

enum pawl__mode pawl__mode_parse(const char *word)
{
    for (int i = PAWL__MODE_X; i < PAWL__MODE_COUNT; i++) {
        if (strcmp(words[i], word) == 0) {
            return (enum pawl__mode)i;
        }
    }
    return PAWL__MODE_NONE;
}
