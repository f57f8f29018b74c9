/* See waiting.h. */
#include "core/waiting.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/text.h"
#include "core/payload.h"

#define MS_PER_S 1000

void pawl__waiting_release(struct pawl__waiting *waiting)
{
    pawl__free(waiting->owner);
    *waiting = (struct pawl__waiting){0};
}

void pawl__waiting_update(struct pawl__waiting *waiting, const struct pawl__entry_info *entry,
                          int position)
{
    struct pawl__payload_fields fields;

    if (position >= 0) {
        waiting->position = position;
    }
    if (entry == NULL || entry->number == waiting->token) {
        return; /* the payload of an entry never changes */
    }
    const char *payload = entry->payload != NULL ? entry->payload : "";
    pawl__payload_parse(payload, strlen(payload), &fields);
    pawl__free(waiting->owner);
    waiting->owner = fields.owner[0] != '\0' ? pawl__strdup(fields.owner) : NULL;
    waiting->pid = fields.pid;
    waiting->since_ms = fields.since_ms;
    waiting->token = entry->number;
}

static const char *ordinal_suffix(int number)
{
    if (number % 100 >= 11 && number % 100 <= 13) {
        return "th";
    }
    switch (number % 10) {
    case 1:
        return "st";
    case 2:
        return "nd";
    case 3:
        return "rd";
    default:
        return "th";
    }
}

void pawl__waiting_describe(const struct pawl__waiting *waiting, struct pawl__buf *buf)
{
    char duration[PAWL__DURATION_TEXT_MAX];

    pawl__buf_appendf(buf, "held by %s", waiting->owner != NULL ? waiting->owner : "another");
    if (waiting->pid > 0) {
        pawl__buf_appendf(buf, " (pid %" PRId64 ")", waiting->pid);
    }
    if (waiting->since_ms > 0) {
        int64_t age_ms = pawl__wall_ms() - waiting->since_ms;
        age_ms = age_ms < 0 ? 0 : age_ms; /* two clocks: never a negative age */
        pawl__format_duration(duration, sizeof duration,
                              age_ms < MS_PER_S ? age_ms : age_ms - age_ms % MS_PER_S);
        pawl__buf_appendf(buf, " for %s", duration);
    }
    if (waiting->token != 0) {
        pawl__buf_appendf(buf, ", token %" PRIu64, waiting->token);
    }
    if (waiting->position > 0) {
        pawl__buf_appendf(buf, ", you are %d%s", waiting->position,
                          ordinal_suffix(waiting->position));
    }
}
