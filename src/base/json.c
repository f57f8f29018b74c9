/* Strict reading: jansson behind our own limits. The writer is in json_write.c. */
#include "base/json.h"

#include <pthread.h>

#include "base/text.h"

static pthread_once_t seed_once = PTHREAD_ONCE_INIT;

/* jansson seeds its hash at the first object; doing it here, once, keeps that out of the threads.
 */
static void seed_objects(void)
{
    json_object_seed(0);
}

json_t *pawl__json_parse(const char *text, size_t len, size_t max_len)
{
    if (text == NULL || len > max_len) {
        return NULL;
    }
    (void)pthread_once(&seed_once, seed_objects); /* Fails for a bad argument only. */

    json_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
    if (root != NULL && !json_is_object(root)) {
        json_decref(root);
        return NULL;
    }
    return root;
}

bool pawl__json_has(const json_t *obj, const char *key)
{
    return json_object_get(obj, key) != NULL;
}

bool pawl__json_str(const json_t *obj, const char *key, const char **ret_text)
{
    const json_t *value = json_object_get(obj, key);

    if (!json_is_string(value)) {
        return false;
    }
    *ret_text = json_string_value(value);
    return true;
}

bool pawl__json_int(const json_t *obj, const char *key, int64_t *ret_value)
{
    const json_t *value = json_object_get(obj, key);

    if (!json_is_integer(value)) {
        return false;
    }
    *ret_value = (int64_t)json_integer_value(value);
    return true;
}

bool pawl__json_bool(const json_t *obj, const char *key, bool *ret_value)
{
    const json_t *value = json_object_get(obj, key);

    if (!json_is_boolean(value)) {
        return false;
    }
    *ret_value = json_is_true(value);
    return true;
}

bool pawl__json_u64str(const json_t *obj, const char *key, uint64_t *ret_value)
{
    const char *text = NULL;

    return pawl__json_str(obj, key, &text) && pawl__parse_u64(text, ret_value);
}

bool pawl__json_object(const json_t *obj, const char *key, const json_t **ret_object)
{
    const json_t *value = json_object_get(obj, key);

    if (!json_is_object(value)) {
        return false;
    }
    *ret_object = value;
    return true;
}

bool pawl__json_array(const json_t *obj, const char *key, const json_t **ret_array)
{
    const json_t *value = json_object_get(obj, key);

    if (!json_is_array(value)) {
        return false;
    }
    *ret_array = value;
    return true;
}
