/* See payload.h. */
#include "core/payload.h"

#include <stdbool.h>
#include <string.h>

#include "base/assert.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/text.h"
#include "core/error.h"

_Static_assert(2 * (PAWL__REASON_MAX + PAWL__OWNER_MAX + 2 * PAWL__RUN_MAX) + PAWL__HOST_MAX +
                       256 <=
                   PAWL__PAYLOAD_MAX,
               "every legal payload fits: at worst each byte of a text is escaped by one more");

/* C0, DEL and C1 (two bytes of UTF-8: C2 80 to C2 9F); terminals obey all of them. */
static bool is_control(const char *text, size_t char_len)
{
    unsigned byte = (unsigned char)text[0];

    return byte < 0x20 || byte == 0x7F ||
           (char_len == 2 && byte == 0xC2 && (unsigned char)text[1] < 0xA0);
}

pawl_status pawl__payload_check(const char *what, const char *text, size_t max, pawl_error *err)
{
    char quoted[PAWL__QUOTE_MAX];
    size_t at = 0;

    if (text == NULL) {
        return PAWL_OK;
    }
    size_t len = strlen(text);
    (void)pawl__error_quote(quoted, text, len);
    if (len > max) {
        return pawl__error_set(err, PAWL_E_DATA, 0,
                               "the %s %s has %zu bytes; %zu are the most: shorten it", what,
                               quoted, len, max);
    }
    while (at < len) {
        size_t char_len = pawl__utf8_char_len(text + at, len - at);
        if (char_len == 0) {
            return pawl__error_set(err, PAWL_E_DATA, 0,
                                   "the %s %s is not UTF-8 at byte %zu; convert it", what, quoted,
                                   at + 1);
        }
        if (is_control(text + at, char_len)) {
            return pawl__error_set(err, PAWL_E_DATA, 0,
                                   "the %s %s has a control character at byte %zu; leave it out",
                                   what, quoted, at + 1);
        }
        at += char_len;
    }
    return PAWL_OK;
}

/* Copies `text` into `out` of `max` + 1 bytes: cut at a character, control characters and bytes
 * that are no UTF-8 as '?'. */
static void copy_clean(char *out, size_t max, const char *text)
{
    size_t len = strlen(text);
    size_t used = 0;

    for (size_t at = 0; at < len;) {
        size_t char_len = pawl__utf8_char_len(text + at, len - at);
        bool is_bad = char_len == 0 || is_control(text + at, char_len);
        size_t step = char_len == 0 ? 1 : char_len;
        size_t need = is_bad ? 1 : char_len;
        if (used + need > max) {
            break;
        }
        memcpy(out + used, is_bad ? "?" : text + at, need);
        used += need;
        at += step;
    }
    out[used] = '\0';
}

static void write_text(struct pawl__jsonw *writer, const char *key, const char *text)
{
    pawl__jsonw_key(writer, key);
    pawl__jsonw_str(writer, text == NULL ? "" : text);
}

static void write_payload(struct pawl__jsonw *writer, const struct pawl__payload *payload,
                          const char *owner, const char *host)
{
    char attempt[17];

    pawl__hex_u64(attempt, payload->attempt);
    pawl__jsonw_begin_object(writer);
    pawl__jsonw_key(writer, "v");
    pawl__jsonw_int(writer, 1);
    write_text(writer, "attempt", attempt);
    write_text(writer, "owner", owner);
    write_text(writer, "host", host);
    pawl__jsonw_key(writer, "pid");
    pawl__jsonw_int(writer, payload->pid);
    write_text(writer, "mode", pawl__mode_word(payload->mode));
    write_text(writer, "reason", payload->reason);
    write_text(writer, "run", payload->run);
    write_text(writer, "trace", payload->trace);
    pawl__jsonw_key(writer, "since");
    pawl__jsonw_int(writer, payload->since_ms);
    pawl__jsonw_end_object(writer);
}

pawl_status pawl__payload_build(const struct pawl__payload *payload, struct pawl__buf *buf,
                                pawl_error *err)
{
    char owner[PAWL__OWNER_MAX + 1];
    char host[PAWL__HOST_MAX + 1];
    struct pawl__jsonw writer;
    struct pawl__buf json;

    pawl_status status = pawl__payload_check("reason", payload->reason, PAWL__REASON_MAX, err);
    if (status == PAWL_OK) {
        status = pawl__payload_check("run id", payload->run, PAWL__RUN_MAX, err);
    }
    if (status == PAWL_OK) {
        status = pawl__payload_check("trace id", payload->trace, PAWL__RUN_MAX, err);
    }
    if (status != PAWL_OK) {
        return status;
    }
    copy_clean(owner, PAWL__OWNER_MAX, payload->owner == NULL ? "" : payload->owner);
    copy_clean(host, PAWL__HOST_MAX, payload->host == NULL ? "" : payload->host);
    pawl__buf_init(&json);
    pawl__jsonw_init(&writer, &json);
    write_payload(&writer, payload, owner, host);
    PAWL_INVARIANT(json.len <= PAWL__PAYLOAD_MAX);
    if (pawl__buf_ok(&json)) {
        pawl__buf_append(buf, json.data, json.len);
    }
    if (!pawl__buf_ok(&json) || !pawl__buf_ok(buf)) {
        status = pawl__error_set(err, PAWL_E_NOMEM, 0, "out of memory for the entry of a lock");
    }
    pawl__buf_release(&json);
    return status;
}

static void read_text(const json_t *object, const char *key, char *out, size_t max)
{
    const char *text = "";

    (void)pawl__json_str(object, key, &text); /* Absent or of another type: "" stays. */
    copy_clean(out, max, text);
}

/* A number of a foreign hand: negative ones mean nothing. */
static int64_t read_number(const json_t *object, const char *key)
{
    int64_t value = 0;

    (void)pawl__json_int(object, key, &value); /* As above: 0 stays. */
    return value < 0 ? 0 : value;
}

void pawl__payload_parse(const char *text, size_t len, struct pawl__payload_fields *ret_fields)
{
    const char *attempt = "";
    json_t *object = pawl__json_parse(text, len, PAWL__PAYLOAD_MAX);

    *ret_fields = (struct pawl__payload_fields){.attempt = 0};
    (void)pawl__json_str(object, "attempt", &attempt); /* As above. */
    (void)pawl__parse_hex_u64(attempt, strlen(attempt), &ret_fields->attempt);
    read_text(object, "owner", ret_fields->owner, PAWL__OWNER_MAX);
    read_text(object, "host", ret_fields->host, PAWL__HOST_MAX);
    read_text(object, "mode", ret_fields->mode, PAWL__MODE_MAX);
    read_text(object, "reason", ret_fields->reason, PAWL__REASON_MAX);
    read_text(object, "run", ret_fields->run, PAWL__RUN_MAX);
    read_text(object, "trace", ret_fields->trace, PAWL__RUN_MAX);
    ret_fields->pid = read_number(object, "pid");
    ret_fields->since_ms = read_number(object, "since");
    json_decref(object);
}
