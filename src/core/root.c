/* See root.h. */
#include "core/root.h"

#include <stdbool.h>
#include <string.h>

#include "base/limits.h"
#include "base/text.h"
#include "core/error.h"

static pawl_status refuse(const char *root, const char *why, pawl_error *err)
{
    char quoted[PAWL__QUOTE_MAX];

    return pawl__error_set(err, PAWL_E_CONFIG, 0, "root: %s %s",
                           pawl__error_quote(quoted, root, strlen(root)), why);
}

static bool has_control(const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7F) {
            return true;
        }
    }
    return false;
}

/* What is wrong with the segment of `len` bytes; NULL if nothing is. */
static const char *check_segment(const char *segment, size_t len)
{
    if (len == 0) {
        return "has an empty segment; write names with one '/' between, none at the ends";
    }
    if ((len == 1 && segment[0] == '.') || (len == 2 && memcmp(segment, "..", 2) == 0)) {
        return "has a segment '.' or '..', which ZooKeeper refuses; write the path itself";
    }
    return NULL;
}

pawl_status pawl__root_check(const char *root, pawl_error *err)
{
    size_t len = strlen(root);
    const char *why = NULL;

    if (len > PAWL__ROOT_MAX) {
        return refuse(root, "is longer than 64 bytes; shorten it", err);
    }
    if (!pawl__utf8_is_valid(root, len) || has_control(root)) {
        return refuse(root, "is not UTF-8 without control characters; write it with letters", err);
    }
    for (const char *at = root; at != NULL && why == NULL;) {
        const char *end = strchr(at, '/');
        why = check_segment(at, end == NULL ? strlen(at) : (size_t)(end - at));
        at = end == NULL ? NULL : end + 1;
    }
    return why == NULL ? PAWL_OK : refuse(root, why, err);
}
