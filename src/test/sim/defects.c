/* See defects.h. Owns the switch that core/defect.h declares. */
#include "defects.h"

#include <stddef.h>
#include <string.h>

#include "core/defect.h"

static const struct {
    const char *name;
    enum pawl__defect defect;
} defects[] = {
    {"grant-on-event", PAWL__DEFECT_GRANT_ON_EVENT},
    {"deadline-from-reply", PAWL__DEFECT_DEADLINE_FROM_REPLY},
    {"delete-without-compare", PAWL__DEFECT_DELETE_NO_COMPARE},
    {"forgotten-debt", PAWL__DEFECT_FORGOTTEN_DEBT},
    {"old-entry-taken", PAWL__DEFECT_OLD_ENTRY_TAKEN},
};

#ifdef PAWL_TEST_DEFECTS
enum pawl__defect pawl__core_defect = PAWL__DEFECT_NONE;

static bool turn_on(enum pawl__defect defect)
{
    pawl__core_defect = defect;
    return true;
}
#else
static bool turn_on(enum pawl__defect defect)
{
    return defect == PAWL__DEFECT_NONE;
}
#endif

const char *defect_name(unsigned index)
{
    return index < sizeof(defects) / sizeof(defects[0]) ? defects[index].name : NULL;
}

bool defect_choose(const char *name)
{
    for (size_t i = 0; i < sizeof(defects) / sizeof(defects[0]); i++) {
        if (strcmp(defects[i].name, name) == 0) {
            return turn_on(defects[i].defect);
        }
    }
    return strcmp(name, "none") == 0 && turn_on(PAWL__DEFECT_NONE);
}
