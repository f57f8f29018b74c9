/* Allocation through a replaceable table; libc when none is set. */
#include "base/alloc.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

/* Process-wide by need: blocks cross threads and clients. Set only as alloc.h says. */
static struct pawl__allocator custom;
static bool custom_is_set;

void pawl__set_allocator(const struct pawl__allocator *allocator)
{
    if (allocator == NULL) {
        custom = (struct pawl__allocator){0};
        custom_is_set = false;
        return;
    }
    PAWL_INVARIANT(allocator->alloc != NULL);
    PAWL_INVARIANT(allocator->resize != NULL);
    PAWL_INVARIANT(allocator->release != NULL);
    custom = *allocator;
    custom_is_set = true;
}

void *pawl__alloc(size_t size)
{
    size_t real_size = size == 0 ? 1 : size;

    if (!custom_is_set) {
        return calloc(1, real_size);
    }
    void *block = custom.alloc(custom.ctx, real_size);
    if (block != NULL) {
        memset(block, 0, real_size);
    }
    return block;
}

void *pawl__alloc_array(size_t count, size_t size)
{
    if (size != 0 && count > SIZE_MAX / size) {
        return NULL;
    }
    return pawl__alloc(count * size);
}

void *pawl__realloc(void *block, size_t size)
{
    size_t real_size = size == 0 ? 1 : size; /* realloc(p, 0) may free p: never ask for it. */

    if (!custom_is_set) {
        return realloc(block, real_size);
    }
    return custom.resize(custom.ctx, block, real_size);
}

void pawl__free(void *block)
{
    if (block == NULL) {
        return;
    }
    if (!custom_is_set) {
        free(block);
        return;
    }
    custom.release(custom.ctx, block);
}

char *pawl__strdup(const char *text)
{
    if (text == NULL) {
        return NULL;
    }
    return pawl__memdup(text, strlen(text) + 1);
}

char *pawl__strndup(const char *text, size_t len)
{
    PAWL_INVARIANT(text != NULL || len == 0);
    size_t real_len = len == 0 ? 0 : strnlen(text, len);

    if (real_len == SIZE_MAX) {
        return NULL;
    }
    char *copy = pawl__alloc(real_len + 1);
    if (copy != NULL && real_len > 0) {
        memcpy(copy, text, real_len);
    }
    return copy;
}

void *pawl__memdup(const void *data, size_t len)
{
    PAWL_INVARIANT(data != NULL || len == 0);
    void *copy = pawl__alloc(len);

    if (copy != NULL && len > 0) {
        memcpy(copy, data, len);
    }
    return copy;
}
