/* See table.h. A removed entry leaves a grave (a slot that is passed over, not an end of probing),
 * so that nothing moves under an iteration; graves at the end of a run are cleared at once. */
#include "base/table.h"

#include "base/alloc.h"
#include "base/assert.h"

#define CAP_MIN 16

struct pawl__table_slot {
    uint64_t key;
    void *value; /* NULL = never used since the last rehash, &grave = removed */
};

static char grave;

/* The finaliser of splitmix64: consecutive ids must not land in one run. */
static size_t hash_key(uint64_t key)
{
    key ^= key >> 30;
    key *= 0xbf58476d1ce4e5b9U;
    key ^= key >> 27;
    key *= 0x94d049bb133111ebU;
    key ^= key >> 31;
    return (size_t)key;
}

static bool slot_is_live(const struct pawl__table_slot *slot)
{
    return slot->value != NULL && slot->value != &grave;
}

/* The slot of `key`, or NULL. Ends because at least a quarter of the slots is unused. */
static struct pawl__table_slot *find_slot(const struct pawl__table *table, uint64_t key)
{
    if (table->cap == 0) {
        return NULL;
    }
    size_t mask = table->cap - 1;
    for (size_t at = hash_key(key) & mask; table->slots[at].value != NULL; at = (at + 1) & mask) {
        if (table->slots[at].key == key && slot_is_live(&table->slots[at])) {
            return &table->slots[at];
        }
    }
    return NULL;
}

/* Puts a key that is known to be absent into a table that has room. Graves are re-used. */
static void insert_absent(struct pawl__table *table, uint64_t key, void *value)
{
    size_t mask = table->cap - 1;
    size_t at = hash_key(key) & mask;

    while (slot_is_live(&table->slots[at])) {
        at = (at + 1) & mask;
    }
    if (table->slots[at].value == NULL) {
        table->used++;
    }
    table->slots[at] = (struct pawl__table_slot){.key = key, .value = value};
    table->len++;
    pawl__assert(table->used < table->cap);
}

/* Makes room for one more: sized by live entries, so that graves alone never make it grow. */
static bool rehash(struct pawl__table *table)
{
    struct pawl__table fresh = {.cap = CAP_MIN};

    while (fresh.cap / 2 <= table->len) {
        if (fresh.cap > SIZE_MAX / 2) {
            return false;
        }
        fresh.cap *= 2;
    }
    fresh.slots = pawl__alloc_array(fresh.cap, sizeof(*fresh.slots));
    if (fresh.slots == NULL) {
        return false;
    }
    for (size_t at = 0; at < table->cap; at++) {
        if (slot_is_live(&table->slots[at])) {
            insert_absent(&fresh, table->slots[at].key, table->slots[at].value);
        }
    }
    pawl__free(table->slots);
    *table = fresh;
    return true;
}

void pawl__table_init(struct pawl__table *table)
{
    *table = (struct pawl__table){0};
}

void pawl__table_release(struct pawl__table *table)
{
    if (table == NULL) {
        return;
    }
    pawl__free(table->slots);
    pawl__table_init(table);
}

bool pawl__table_put(struct pawl__table *table, uint64_t key, void *value)
{
    PAWL_INVARIANT(value != NULL);
    struct pawl__table_slot *slot = find_slot(table, key);

    if (slot != NULL) {
        slot->value = value;
        return true;
    }
    /* A quarter stays unused, which ends every probe and keeps runs short. */
    if (table->used >= table->cap - table->cap / 4 && !rehash(table)) {
        return false;
    }
    insert_absent(table, key, value);
    return true;
}

void *pawl__table_get(const struct pawl__table *table, uint64_t key)
{
    const struct pawl__table_slot *slot = find_slot(table, key);

    return slot == NULL ? NULL : slot->value;
}

void *pawl__table_remove(struct pawl__table *table, uint64_t key)
{
    struct pawl__table_slot *slot = find_slot(table, key);

    if (slot == NULL) {
        return NULL;
    }
    void *value = slot->value;
    size_t mask = table->cap - 1;
    size_t at = (size_t)(slot - table->slots);

    slot->value = &grave;
    table->len--;
    /* A grave just before an unused slot serves no probe; nor do the graves before it. */
    if (table->slots[(at + 1) & mask].value == NULL) {
        while (table->slots[at].value == &grave) {
            table->slots[at].value = NULL;
            table->used--;
            at = (at - 1) & mask;
        }
    }
    pawl__assert(table->len <= table->used);
    return value;
}

size_t pawl__table_len(const struct pawl__table *table)
{
    return table->len;
}

bool pawl__table_next(const struct pawl__table *table, size_t *cursor, uint64_t *ret_key,
                      void **ret_value)
{
    for (size_t at = *cursor; at < table->cap; at++) {
        if (!slot_is_live(&table->slots[at])) {
            continue;
        }
        *cursor = at + 1;
        if (ret_key != NULL) {
            *ret_key = table->slots[at].key;
        }
        if (ret_value != NULL) {
            *ret_value = table->slots[at].value;
        }
        return true;
    }
    *cursor = table->cap;
    return false;
}
