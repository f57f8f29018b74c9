/* The only way to memory in Pawl. Replaceable, so that tests can count blocks and make the n-th
 * allocation fail. */
#ifndef PAWL_BASE_ALLOC_H
#define PAWL_BASE_ALLOC_H

#include <stddef.h>

/* `alloc` need not zero. `resize` gets NULL for a new block. `release` never gets NULL. A size is
 * never 0. All three are called from any thread at once. */
struct pawl__allocator {
    void *(*alloc)(void *ctx, size_t size);
    void *(*resize)(void *ctx, void *block, size_t size);
    void (*release)(void *ctx, void *block);
    void *ctx; /* borrowed */
};

/* Copies `allocator`; NULL restores libc. Process-wide and not synchronised: call it before the
 * first allocation or, in tests, while no other thread runs. A block is released by the allocator
 * that is set at that moment. */
void pawl__set_allocator(const struct pawl__allocator *allocator);

/* Zeroed memory, or NULL when there is none (never an abort). A size of 0 gives a block that may be
 * freed, so NULL always means failure. */
void *pawl__alloc(size_t size);

/* `count` zeroed elements; NULL also when the product does not fit into size_t. */
void *pawl__alloc_array(size_t count, size_t size);

/* On NULL the old block is untouched and still owned by the caller. New bytes are not zeroed. */
void *pawl__realloc(void *block, size_t size);

/* NULL is fine. */
void pawl__free(void *block);

/* Owned copies; NULL when there is no memory. `text` of pawl__strdup may be NULL and gives NULL. */
char *pawl__strdup(const char *text);

/* Exactly up to `len` bytes, less when a NUL comes first; the copy is NUL-terminated. */
char *pawl__strndup(const char *text, size_t len);

void *pawl__memdup(const void *data, size_t len);

#endif
