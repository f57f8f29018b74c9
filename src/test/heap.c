/* See heap.h. */
#include "test/heap.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static struct {
    pthread_mutex_t mu;
    size_t live;
    size_t count;
    size_t left; /* allocations until the one that fails; 0 = none will */
    bool has_failed;
} heap = {.mu = PTHREAD_MUTEX_INITIALIZER};

/* Counts one allocation; false when it is the one to fail. mu is taken here. */
static bool admit(bool makes_block)
{
    bool is_admitted = true;

    (void)pthread_mutex_lock(&heap.mu);
    heap.count++;
    if (heap.left > 0 && --heap.left == 0) {
        heap.has_failed = true;
        is_admitted = false;
    } else if (makes_block) {
        heap.live++;
    }
    (void)pthread_mutex_unlock(&heap.mu);
    return is_admitted;
}

/* Dirt instead of zeros, so that code which relies on zeroed memory shows. */
static void *get_block(void *ctx, size_t size)
{
    (void)ctx;
    if (!admit(true)) {
        return NULL;
    }
    void *block = malloc(size);
    if (block == NULL) {
        abort(); /* The machine is out of memory: no verdict on the code under test. */
    }
    memset(block, 0xA5, size);
    return block;
}

static void *resize_block(void *ctx, void *block, size_t size)
{
    if (block == NULL) {
        return get_block(ctx, size);
    }
    if (!admit(false)) {
        return NULL;
    }
    void *moved = realloc(block, size);
    if (moved == NULL) {
        abort();
    }
    return moved;
}

static void release_block(void *ctx, void *block)
{
    (void)ctx;
    (void)pthread_mutex_lock(&heap.mu);
    heap.live--;
    (void)pthread_mutex_unlock(&heap.mu);
    free(block);
}

void pawl__heap_install(void)
{
    const struct pawl__allocator allocator = {
        .alloc = get_block,
        .resize = resize_block,
        .release = release_block,
    };

    (void)pthread_mutex_lock(&heap.mu);
    heap.live = 0;
    heap.count = 0;
    heap.left = 0;
    heap.has_failed = false;
    (void)pthread_mutex_unlock(&heap.mu);
    pawl__set_allocator(&allocator);
}

void pawl__heap_uninstall(void)
{
    pawl__set_allocator(NULL);
}

void pawl__heap_fail_after(size_t n)
{
    (void)pthread_mutex_lock(&heap.mu);
    heap.left = n;
    heap.has_failed = false;
    (void)pthread_mutex_unlock(&heap.mu);
}

bool pawl__heap_has_failed(void)
{
    (void)pthread_mutex_lock(&heap.mu);
    bool has_failed = heap.has_failed;
    (void)pthread_mutex_unlock(&heap.mu);
    return has_failed;
}

size_t pawl__heap_live(void)
{
    (void)pthread_mutex_lock(&heap.mu);
    size_t live = heap.live;
    (void)pthread_mutex_unlock(&heap.mu);
    return live;
}

size_t pawl__heap_count(void)
{
    (void)pthread_mutex_lock(&heap.mu);
    size_t count = heap.count;
    (void)pthread_mutex_unlock(&heap.mu);
    return count;
}
