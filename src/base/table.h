/* Hash table from uint64_t id to a pointer: open addressing, linear probing, grows by itself. Keys
 * are our own ids, so the hash is unseeded and iteration order depends on the history of calls
 * only: a simulator run repeats exactly. One thread at a time. */
#ifndef PAWL_BASE_TABLE_H
#define PAWL_BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pawl__table_slot;

struct pawl__table {
    struct pawl__table_slot *slots; /* owned; NULL until the first put */
    size_t cap;                     /* 0 or a power of two */
    size_t len;                     /* live entries */
    size_t used;                    /* live entries and graves */
};

/* Allocates nothing. A zeroed struct is an initialised table as well. */
void pawl__table_init(struct pawl__table *table);

/* Frees the table, not the values; reusable after. NULL is fine. */
void pawl__table_release(struct pawl__table *table);

/* `value` is borrowed and not NULL; it replaces what the key had. false = no memory, and then the
 * table is unchanged. Replacing never fails. */
bool pawl__table_put(struct pawl__table *table, uint64_t key, void *value);

/* NULL when the key is absent. */
void *pawl__table_get(const struct pawl__table *table, uint64_t key);

/* Returns the value that was there, or NULL. Never allocates, moves no other entry. */
void *pawl__table_remove(struct pawl__table *table, uint64_t key);

size_t pawl__table_len(const struct pawl__table *table);

/* Start with *cursor = 0; false = the end. Between calls entries may be removed (any of them), not
 * put. `ret_key` and `ret_value` may be NULL. */
bool pawl__table_next(const struct pawl__table *table, size_t *cursor, uint64_t *ret_key,
                      void **ret_value);

#endif
