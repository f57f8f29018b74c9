/* See event.h. */
#include "core/event.h"

#include <string.h>

#include "base/alloc.h"

struct pawl_event *pawl__event_new(pawl_event_kind kind, const char *lock, uint64_t token,
                                   const char *text)
{
    size_t lock_size = strlen(lock) + 1;
    size_t text_size = strlen(text) + 1;
    struct pawl_event *event = pawl__alloc(sizeof *event + lock_size + text_size);

    if (event == NULL) {
        return NULL;
    }
    char *strings = (char *)(event + 1);
    (void)memcpy(strings, lock, lock_size);
    (void)memcpy(strings + lock_size, text, text_size);
    pawl__list_init(&event->due.link);
    pawl__list_init(&event->event_link);
    event->due.is_event = true;
    event->kind = kind;
    event->token = token;
    event->lock = strings;
    event->text = strings + lock_size;
    return event;
}

pawl_event_kind pawl_event_get_kind(const pawl_event *event)
{
    return event->kind;
}

const char *pawl_event_lock(const pawl_event *event)
{
    return event->lock;
}

const char *pawl_event_text(const pawl_event *event)
{
    return event->text;
}

uint64_t pawl_event_token(const pawl_event *event)
{
    return event->token;
}
