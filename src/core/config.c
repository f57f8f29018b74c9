/* See config.h. libyaml's events are read one by one and the first that a flat mapping does not
 * have is refused, so depth and size are bounded by us, not by the document. */
#include "core/config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yaml.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "core/error.h"

#define BOM "\xEF\xBB\xBF"

struct loader {
    yaml_parser_t parser;
    const char *file; /* borrowed */
    struct pawl__config config;
    pawl_error *err; /* borrowed */
};

static struct pawl__config_mark mark_of(const yaml_mark_t *mark)
{
    return (struct pawl__config_mark){(unsigned)mark->line + 1, (unsigned)mark->column + 1};
}

/* Puts "file:line:column" before the message. */
static void add_place(const struct loader *loader, const yaml_mark_t *at)
{
    struct pawl__config_mark mark = mark_of(at);

    pawl__error_prefix(loader->err, "%.180s:%u:%u", loader->file, mark.line, mark.column);
}

static pawl_status refuse(const struct loader *loader, const yaml_mark_t *at, const char *what)
{
    (void)pawl__error_set(loader->err, PAWL_E_CONFIG, 0, "%s", what);
    add_place(loader, at);
    return PAWL_E_CONFIG;
}

static pawl_status refuse_memory(pawl_error *err)
{
    (void)pawl__error_set(err, PAWL_E_NOMEM, 0, "out of memory while configuration is read");
    return PAWL_E_NOMEM;
}

/* What libyaml itself refuses. */
static pawl_status refuse_syntax(const struct loader *loader)
{
    const yaml_parser_t *parser = &loader->parser;
    yaml_mark_t at = parser->problem_mark;

    if (parser->error == YAML_MEMORY_ERROR) {
        return refuse_memory(loader->err);
    }
    if (parser->error == YAML_READER_ERROR) {
        at = parser->mark; /* The reader tells no mark; this is where the parser had come to. */
    }
    pawl_status status = pawl__error_set(loader->err, PAWL_E_CONFIG, 0,
                                         "not YAML: %s; write one \"key: value\" a line",
                                         parser->problem != NULL ? parser->problem : "unreadable");
    add_place(loader, &at);
    return status;
}

/* Reads the next event; the caller deletes it. */
static pawl_status next_event(struct loader *loader, yaml_event_t *event)
{
    return yaml_parser_parse(&loader->parser, event) != 0 ? PAWL_OK : refuse_syntax(loader);
}

/* Takes a scalar over as an owned string. */
static pawl_status take_scalar(const struct loader *loader, const yaml_event_t *event,
                               char **ret_text)
{
    const char *data = (const char *)event->data.scalar.value;
    size_t len = event->data.scalar.length;

    if (event->data.scalar.anchor != NULL) {
        return refuse(loader, &event->start_mark,
                      "anchors are not allowed; write the value itself");
    }
    if (event->data.scalar.tag != NULL) {
        return refuse(loader, &event->start_mark,
                      "tags are not allowed; every value is text, leave the tag out");
    }
    if (memchr(data, '\0', len) != NULL) {
        return refuse(loader, &event->start_mark, "a NUL is not allowed; leave it out");
    }
    *ret_text = pawl__strndup(data, len);
    return *ret_text != NULL ? PAWL_OK : refuse_memory(loader->err);
}

/* What stands where only a scalar may stand. */
static pawl_status refuse_event(const struct loader *loader, const yaml_event_t *event)
{
    const char *what = "only \"key: value\" lines are allowed here";

    if (event->type == YAML_ALIAS_EVENT) {
        what = "aliases are not allowed; write the value itself";
    } else if (event->type == YAML_SEQUENCE_START_EVENT) {
        what = "lists are not allowed; give each key one value";
    } else if (event->type == YAML_MAPPING_START_EVENT) {
        what = "nested values are not allowed; give each key one value";
    }
    return refuse(loader, &event->start_mark, what);
}

static pawl_status find_option(struct loader *loader, const yaml_event_t *event, const char *key,
                               enum pawl__option *ret_option)
{
    struct pawl__config *config = &loader->config;

    if (strcmp(key, "<<") == 0) {
        return refuse(loader, &event->start_mark,
                      "merge keys are not allowed; write the values themselves");
    }
    enum pawl__option option = pawl__option_find(key, loader->err);
    if (option == PAWL__OPTION_COUNT) {
        add_place(loader, &event->start_mark);
        return PAWL_E_CONFIG;
    }
    if (config->values[option] != NULL) {
        pawl_status status = pawl__error_set(loader->err, PAWL_E_CONFIG, 0,
                                             "'%s' is set twice, first in line %u; leave one out",
                                             key, config->marks[option].line);
        add_place(loader, &event->start_mark);
        return status;
    }
    *ret_option = option;
    return PAWL_OK;
}

static pawl_status read_value(struct loader *loader, enum pawl__option option)
{
    yaml_event_t event;
    char *text = NULL;

    pawl_status status = next_event(loader, &event);
    if (status != PAWL_OK) {
        return status;
    }
    if (event.type != YAML_SCALAR_EVENT) {
        status = refuse_event(loader, &event);
    } else {
        status = take_scalar(loader, &event, &text);
    }
    if (status == PAWL_OK) {
        status = pawl__option_check(option, text, loader->err);
        if (status != PAWL_OK) {
            add_place(loader, &event.start_mark);
        }
    }
    if (status == PAWL_OK) {
        loader->config.values[option] = text;
        loader->config.marks[option] = mark_of(&event.start_mark);
        text = NULL;
    }
    pawl__free(text);
    yaml_event_delete(&event);
    return status;
}

/* Reads a key and its value, or the end of the mapping. */
static pawl_status read_pair(struct loader *loader, bool *ret_is_end)
{
    enum pawl__option option = PAWL__OPTION_COUNT;
    yaml_event_t event;
    char *key = NULL;

    pawl_status status = next_event(loader, &event);
    if (status != PAWL_OK) {
        return status;
    }
    *ret_is_end = event.type == YAML_MAPPING_END_EVENT;
    if (event.type == YAML_SCALAR_EVENT) {
        status = take_scalar(loader, &event, &key);
        if (status == PAWL_OK) {
            status = find_option(loader, &event, key, &option);
        }
        pawl__free(key);
    } else if (!*ret_is_end) {
        status = refuse_event(loader, &event);
    }
    yaml_event_delete(&event);
    if (status == PAWL_OK && !*ret_is_end) {
        status = read_value(loader, option);
    }
    return status;
}

static pawl_status read_mapping(struct loader *loader, const yaml_event_t *start)
{
    bool is_end = false;
    pawl_status status = PAWL_OK;

    if (start->data.mapping_start.anchor != NULL || start->data.mapping_start.tag != NULL) {
        return refuse(loader, &start->start_mark,
                      "anchors and tags are not allowed; write only \"key: value\" lines");
    }
    /* Bounded: a key that comes twice is refused. */
    while (status == PAWL_OK && !is_end) {
        status = read_pair(loader, &is_end);
    }
    return status;
}

static pawl_status read_document_start(struct loader *loader, const yaml_event_t *event)
{
    if (event->data.document_start.version_directive != NULL ||
        event->data.document_start.tag_directives.start !=
            event->data.document_start.tag_directives.end) {
        return refuse(loader, &event->start_mark,
                      "directives are not allowed; leave the line with '%' out");
    }
    return PAWL_OK;
}

/* The value of the document: a mapping, or nothing at all (a file of comments after "---"). */
static pawl_status read_root(struct loader *loader, const yaml_event_t *event)
{
    if (event->type == YAML_MAPPING_START_EVENT) {
        return read_mapping(loader, event);
    }
    bool is_nothing = event->type == YAML_SCALAR_EVENT && event->data.scalar.length == 0 &&
                      event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
                      event->data.scalar.anchor == NULL && event->data.scalar.tag == NULL;
    if (is_nothing) {
        return PAWL_OK;
    }
    return refuse(loader, &event->start_mark,
                  "the file is not a list of \"key: value\" lines; `pawl config --reference` shows "
                  "the keys");
}

/* Handles one event at the top; *ret_is_end = the stream is over. */
static pawl_status read_top(struct loader *loader, unsigned *documents, bool *ret_is_end)
{
    yaml_event_t event;

    pawl_status status = next_event(loader, &event);
    if (status != PAWL_OK) {
        return status;
    }
    switch ((int)event.type) {
    case YAML_STREAM_START_EVENT:
    case YAML_DOCUMENT_END_EVENT:
        break;
    case YAML_STREAM_END_EVENT:
        *ret_is_end = true;
        break;
    case YAML_DOCUMENT_START_EVENT:
        status = ++*documents == 1 ? read_document_start(loader, &event)
                                   : refuse(loader, &event.start_mark,
                                            "a second document is not allowed; use one file");
        break;
    default:
        status = read_root(loader, &event);
        break;
    }
    yaml_event_delete(&event);
    return status;
}

pawl_status pawl__config_parse(const char *text, size_t len, const char *file,
                               struct pawl__config *ret_config, pawl_error *err)
{
    struct loader loader = {.file = file, .err = err};
    unsigned documents = 0;
    bool is_end = false;
    pawl_status status = PAWL_OK;

    if (yaml_parser_initialize(&loader.parser) == 0) {
        return refuse_memory(err);
    }
    /* libyaml looks for a byte order mark only where it guesses the encoding; UTF-16 is refused. */
    if (len >= sizeof(BOM) - 1 && memcmp(text, BOM, sizeof(BOM) - 1) == 0) {
        text += sizeof(BOM) - 1;
        len -= sizeof(BOM) - 1;
    }
    yaml_parser_set_encoding(&loader.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&loader.parser, (const unsigned char *)text, len);
    while (status == PAWL_OK && !is_end) {
        status = read_top(&loader, &documents, &is_end);
    }
    yaml_parser_delete(&loader.parser);
    if (status == PAWL_OK) {
        *ret_config = loader.config;
    } else {
        pawl__config_release(&loader.config);
    }
    return status;
}

/* ---- Files --------------------------------------------------------------------------------- */

static pawl_status refuse_errno(const char *path, const char *what, int code, pawl_error *err)
{
    pawl_status status =
        pawl__error_set(err, PAWL_E_CONFIG, code, "%s (errno %d): %s", what, code, strerror(code));

    pawl__error_prefix(err, "%.200s", path);
    return status;
}

/* Appends what `fd` gives, at most one byte more than is allowed. */
static pawl_status read_all(int fd, const char *path, struct pawl__buf *buf, pawl_error *err)
{
    char piece[4096];

    while (buf->len <= PAWL__CONFIG_MAX) {
        ssize_t len = read(fd, piece, sizeof(piece));
        if (len < 0 && errno == EINTR) {
            continue;
        }
        if (len < 0) {
            return refuse_errno(path, "cannot be read", errno, err);
        }
        if (len == 0) {
            break;
        }
        pawl__buf_append(buf, piece, (size_t)len);
        if (!pawl__buf_ok(buf)) {
            return refuse_memory(err);
        }
    }
    return PAWL_OK;
}

static pawl_status read_file(int fd, const char *path, struct pawl__buf *buf, pawl_error *err)
{
    struct stat info;

    if (fstat(fd, &info) != 0) {
        return refuse_errno(path, "cannot be read", errno, err);
    }
    if (!S_ISREG(info.st_mode)) {
        return pawl__error_set(err, PAWL_E_CONFIG, 0,
                               "%.200s: not a regular file; put the configuration into one", path);
    }
    pawl_status status = read_all(fd, path, buf, err);
    if (status == PAWL_OK && buf->len > PAWL__CONFIG_MAX) {
        status = pawl__error_set(err, PAWL_E_CONFIG, 0,
                                 "%.200s: longer than %d bytes; not a configuration of pawl", path,
                                 PAWL__CONFIG_MAX);
    }
    return status;
}

pawl_status pawl__config_load(const char *path, bool *ret_found, struct pawl__config *ret_config,
                              pawl_error *err)
{
    struct pawl__buf buf;

    /* Without O_NONBLOCK a FIFO of that name would hang the program. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR)) {
        *ret_config = (struct pawl__config){.values = {NULL}};
        *ret_found = false;
        return PAWL_OK;
    }
    if (fd < 0) {
        return refuse_errno(path, "cannot be opened", errno, err);
    }
    pawl__buf_init(&buf);
    pawl_status status = read_file(fd, path, &buf, err);
    (void)close(fd); /* Only read from. */
    if (status == PAWL_OK) {
        status = pawl__config_parse(pawl__buf_str(&buf), buf.len, path, ret_config, err);
    }
    if (status == PAWL_OK) {
        *ret_found = true;
    }
    pawl__buf_release(&buf);
    return status;
}

void pawl__config_release(struct pawl__config *config)
{
    if (config == NULL) {
        return;
    }
    for (int i = 0; i < PAWL__OPTION_COUNT; i++) {
        pawl__free(config->values[i]);
    }
    *config = (struct pawl__config){.values = {NULL}};
}
