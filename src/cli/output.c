/* Tables, JSON lists and the one way to stdout. */
#include "cli/output.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/text.h"

#define COLUMN_GAP 2

void pawl__grid_init(struct pawl__grid *table, const char *const *headers, size_t column_count)
{
    PAWL_INVARIANT(column_count > 0 && column_count <= PAWL__GRID_COLUMNS_MAX);
    memset(table, 0, sizeof(*table));
    table->column_count = column_count;
    for (size_t i = 0; i < column_count; i++) {
        pawl__grid_cell(table, headers[i]);
    }
}

void pawl__grid_release(struct pawl__grid *table)
{
    pawl__buf_release(&table->cells);
}

void pawl__output_clean(struct pawl__buf *out, const char *text)
{
    size_t left = strlen(text);
    while (left > 0) {
        size_t len = pawl__utf8_char_len(text, left);
        unsigned char first = (unsigned char)text[0];
        bool is_c1 = len == 2 && first == 0xC2 && (unsigned char)text[1] < 0xA0;
        if (len == 0 || is_c1 || (len == 1 && (first < 0x20 || first == 0x7F))) {
            pawl__buf_append_char(out, '?');
        } else {
            pawl__buf_append(out, text, len);
        }
        len = len == 0 ? 1 : len;
        text += len;
        left -= len;
    }
}

void pawl__grid_cell(struct pawl__grid *table, const char *text)
{
    pawl__output_clean(&table->cells, text != NULL ? text : "");
    pawl__buf_append(&table->cells, "", 1);
    table->cell_count++;
}

void pawl__grid_cellf(struct pawl__grid *table, const char *format, ...)
{
    struct pawl__buf text;
    pawl__buf_init(&text);
    va_list args;
    va_start(args, format);
    pawl__buf_appendfv(&text, format, args);
    va_end(args);
    pawl__grid_cell(table, pawl__buf_str(&text));
    pawl__buf_release(&text);
}

/* Characters, not bytes; wide ones count as one, which only blurs the alignment. */
static size_t measure(const char *text)
{
    size_t width = 0;
    for (; *text != '\0'; text++) {
        width += ((unsigned char)*text & 0xC0) != 0x80;
    }
    return width;
}

static void print_row(const struct pawl__grid *table, const char *cell, const size_t *widths,
                      struct pawl__buf *out)
{
    size_t pending = 0; /* blanks that are written only before more text */
    for (size_t column = 0; column < table->column_count; column++) {
        size_t width = measure(cell);
        if (width > 0) {
            for (; pending > 0; pending--) {
                pawl__buf_append_char(out, ' ');
            }
            pawl__buf_append_str(out, cell);
        }
        pending += widths[column] - width + COLUMN_GAP;
        cell += strlen(cell) + 1;
    }
}

void pawl__grid_print(const struct pawl__grid *table, bool color, struct pawl__buf *out)
{
    PAWL_INVARIANT(table->cell_count % table->column_count == 0);
    if (!pawl__buf_ok(&table->cells)) {
        out->failed = true;
        return;
    }
    size_t widths[PAWL__GRID_COLUMNS_MAX] = {0};
    const char *cell = pawl__buf_str(&table->cells);
    for (size_t i = 0; i < table->cell_count; i++) {
        size_t width = measure(cell);
        size_t column = i % table->column_count;
        widths[column] = width > widths[column] ? width : widths[column];
        cell += strlen(cell) + 1;
    }
    cell = pawl__buf_str(&table->cells);
    for (size_t row = 0; row < table->cell_count / table->column_count; row++) {
        bool bold = color && row == 0;
        pawl__buf_append_str(out, bold ? "\033[1m" : "");
        print_row(table, cell, widths, out);
        pawl__buf_append_str(out, bold ? "\033[0m\n" : "\n");
        for (size_t column = 0; column < table->column_count; column++) {
            cell += strlen(cell) + 1;
        }
    }
}

void pawl__output_age(struct pawl__buf *out, int64_t ms)
{
    int64_t seconds = ms / 1000;
    if (seconds < 60) {
        pawl__buf_appendf(out, "%llds", (long long)seconds);
    } else if (seconds < 3600) {
        pawl__buf_appendf(out, "%lldm%02llds", (long long)(seconds / 60),
                          (long long)(seconds % 60));
    } else if (seconds < 86400) {
        pawl__buf_appendf(out, "%lldh%02lldm", (long long)(seconds / 3600),
                          (long long)(seconds / 60 % 60));
    } else {
        pawl__buf_appendf(out, "%lldd%02lldh", (long long)(seconds / 86400),
                          (long long)(seconds / 3600 % 24));
    }
}

void pawl__items_begin(struct pawl__items *list, const struct pawl__cli *cli, struct pawl__buf *out)
{
    memset(list, 0, sizeof(*list));
    list->out = out;
    list->is_lines = cli->format == PAWL__CLI_JSONL;
    pawl__jsonw_init(&list->json, out);
    if (!list->is_lines) {
        pawl__jsonw_begin_array(&list->json);
    }
}

struct pawl__jsonw *pawl__items_next(struct pawl__items *list)
{
    if (list->is_lines) {
        pawl__jsonw_init(&list->json, list->out);
    }
    pawl__jsonw_begin_object(&list->json);
    return &list->json;
}

void pawl__items_end_one(struct pawl__items *list)
{
    pawl__jsonw_end_object(&list->json);
    if (list->is_lines) {
        pawl__buf_append_char(list->out, '\n');
    }
}

void pawl__items_end(struct pawl__items *list)
{
    if (!list->is_lines) {
        pawl__jsonw_end_array(&list->json);
        pawl__buf_append_char(list->out, '\n');
    }
}

bool pawl__output_write_fd(int fd, const char *data, size_t len)
{
    while (len > 0) {
        ssize_t written = write(fd, data, len);
        if (written < 0 && errno != EINTR) {
            return false;
        }
        if (written > 0) {
            data += written;
            len -= (size_t)written;
        }
    }
    return true;
}

int pawl__output_write(const struct pawl__cli *cli, const struct pawl__buf *out)
{
    if (!pawl__buf_ok(out)) {
        return pawl__cli_fail(cli, PAWL__EXIT_INTERNAL, "out of memory");
    }
    if (pawl__output_write_fd(STDOUT_FILENO, pawl__buf_str(out), out->len)) {
        return PAWL__EXIT_OK;
    }
    if (errno == EPIPE) {
        return PAWL__EXIT_INTERNAL;
    }
    return pawl__cli_fail(cli, PAWL__EXIT_INTERNAL, "cannot write to stdout: %s", strerror(errno));
}
