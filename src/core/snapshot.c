/* See snapshot.h. States and places are worked out once, when it is made; nothing changes after. */
#include "core/snapshot.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "core/mode.h"
#include "core/payload.h"
#include "core/query.h"

/* The payload's texts, one behind the other in one block. */
enum words { WORDS_OWNER, WORDS_HOST, WORDS_REASON, WORDS_RUN, WORDS_TRACE, WORDS_COUNT };

struct item {
    char *block; /* owned */
    const char *words[WORDS_COUNT];
    const char *state; /* static */
    int64_t pid;
    int64_t since_ms;
    int64_t age_ms;
    int position;
};

struct pawl_snapshot {
    struct pawl__entry_info *entries; /* owned; sorted */
    struct item *items;               /* owned; one an entry */
    size_t count;
};

static int compare_entries(const void *a, const void *b)
{
    const struct pawl__entry_info *left = a;
    const struct pawl__entry_info *right = b;

    int by_name = strcmp(left->name, right->name);
    if (by_name != 0) {
        return by_name;
    }
    return left->number < right->number ? -1 : left->number > right->number;
}

/* False: no memory. */
static bool read_payload(struct item *item, const char *payload, int64_t now_ms)
{
    struct pawl__payload_fields fields;
    struct pawl__buf buf;
    size_t starts[WORDS_COUNT];

    pawl__payload_parse(payload, strlen(payload), &fields);
    const char *const texts[WORDS_COUNT] = {[WORDS_OWNER] = fields.owner,
                                            [WORDS_HOST] = fields.host,
                                            [WORDS_REASON] = fields.reason,
                                            [WORDS_RUN] = fields.run,
                                            [WORDS_TRACE] = fields.trace};
    pawl__buf_init(&buf);
    for (size_t i = 0; i < WORDS_COUNT; i++) {
        starts[i] = buf.len;
        pawl__buf_append(&buf, texts[i], strlen(texts[i]) + 1);
    }
    item->block = pawl__buf_detach(&buf, NULL);
    if (item->block == NULL) {
        return false;
    }
    for (size_t i = 0; i < WORDS_COUNT; i++) {
        item->words[i] = item->block + starts[i];
    }
    item->pid = fields.pid;
    item->since_ms = fields.since_ms;
    /* The contender's wall clock against ours: never negative, whatever they say. */
    item->age_ms = fields.since_ms > 0 && fields.since_ms < now_ms ? now_ms - fields.since_ms : 0;
    return true;
}

static const char *state_of(const struct pawl__entry_info *entry, bool is_blocked)
{
    if (entry->marked) {
        return "breaking";
    }
    if (entry->ttl_left_ms == 0) {
        return "expired";
    }
    return is_blocked ? "waiting" : "held";
}

/* The modes of the entries before this one, as bits, say whether one of them is in its way. */
static bool is_in_way(unsigned earlier_modes, enum pawl__mode mode)
{
    for (int earlier = 0; earlier < PAWL__MODE_COUNT; earlier++) {
        if ((earlier_modes >> earlier & 1U) != 0 &&
            pawl__mode_conflicts((enum pawl__mode)earlier, mode)) {
            return true;
        }
    }
    return false;
}

static void place_entries(pawl_snapshot *snapshot)
{
    unsigned earlier_modes = 0;
    int waiters = 0;

    for (size_t i = 0; i < snapshot->count; i++) {
        const struct pawl__entry_info *entry = &snapshot->entries[i];
        if (i == 0 || strcmp(entry->name, snapshot->entries[i - 1].name) != 0) {
            earlier_modes = 0;
            waiters = 0;
        }
        bool is_blocked = is_in_way(earlier_modes, entry->mode);
        waiters += is_blocked ? 1 : 0;
        snapshot->items[i].position = is_blocked ? waiters : 0;
        snapshot->items[i].state = state_of(entry, is_blocked);
        earlier_modes |= 1U << entry->mode;
    }
}

static void free_items(pawl_snapshot *snapshot)
{
    for (size_t i = 0; snapshot->items != NULL && i < snapshot->count; i++) {
        pawl__free(snapshot->items[i].block);
    }
    pawl__free(snapshot->items);
}

pawl_snapshot *pawl__snapshot_new(struct pawl__entry_info *entries, size_t count, int64_t now_ms)
{
    pawl_snapshot *snapshot = pawl__alloc(sizeof *snapshot);

    if (snapshot == NULL) {
        return NULL;
    }
    snapshot->count = count;
    snapshot->items = pawl__alloc_array(count, sizeof *snapshot->items);
    bool has_memory = snapshot->items != NULL;
    if (count > 0) {
        qsort(entries, count, sizeof *entries, compare_entries);
    }
    for (size_t i = 0; i < count && has_memory; i++) {
        const char *payload = entries[i].payload != NULL ? entries[i].payload : "";
        has_memory = read_payload(&snapshot->items[i], payload, now_ms);
    }
    if (!has_memory) {
        free_items(snapshot);
        pawl__free(snapshot);
        return NULL;
    }
    snapshot->entries = entries;
    place_entries(snapshot);
    return snapshot;
}

void pawl_snapshot_free(pawl_snapshot *snapshot)
{
    if (snapshot == NULL) {
        return;
    }
    free_items(snapshot);
    pawl__entries_free(snapshot->entries, snapshot->count);
    pawl__free(snapshot);
}

size_t pawl_snapshot_count(const pawl_snapshot *snapshot)
{
    return snapshot != NULL ? snapshot->count : 0;
}

const char *pawl_snapshot_text(const pawl_snapshot *snapshot, size_t index,
                               pawl_entry_text_field field)
{
    if (snapshot == NULL || index >= snapshot->count) {
        return NULL;
    }
    const struct pawl__entry_info *entry = &snapshot->entries[index];
    const struct item *item = &snapshot->items[index];
    switch (field) {
    case PAWL_ENTRY_LOCK:
        return entry->name;
    case PAWL_ENTRY_OWNER:
        return item->words[WORDS_OWNER];
    case PAWL_ENTRY_HOST:
        return item->words[WORDS_HOST];
    case PAWL_ENTRY_MODE:
        return pawl__mode_word(entry->mode);
    case PAWL_ENTRY_REASON:
        return item->words[WORDS_REASON];
    case PAWL_ENTRY_RUN:
        return item->words[WORDS_RUN];
    case PAWL_ENTRY_TRACE:
        return item->words[WORDS_TRACE];
    case PAWL_ENTRY_SESSION:
        return entry->session != NULL ? entry->session : "";
    case PAWL_ENTRY_STATE:
        return item->state;
    }
    return NULL;
}

int64_t pawl_snapshot_number(const pawl_snapshot *snapshot, size_t index,
                             pawl_entry_number_field field)
{
    if (snapshot == NULL || index >= snapshot->count) {
        return -1;
    }
    const struct pawl__entry_info *entry = &snapshot->entries[index];
    const struct item *item = &snapshot->items[index];
    switch (field) {
    case PAWL_ENTRY_TOKEN:
        /* A waiter's token would let its reader pass a guard once it is granted. */
        return item->position == 0 ? (int64_t)entry->number : 0;
    case PAWL_ENTRY_PID:
        return item->pid;
    case PAWL_ENTRY_SINCE:
        return item->since_ms;
    case PAWL_ENTRY_AGE:
        return item->age_ms;
    case PAWL_ENTRY_POSITION:
        return item->position;
    case PAWL_ENTRY_TTL_LEFT:
        return entry->ttl_left_ms;
    }
    return -1;
}
