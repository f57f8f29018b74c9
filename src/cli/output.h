/* What the command says on stdout: whole buffers at once, tables, JSON. */
#ifndef PAWL_CLI_OUTPUT_H
#define PAWL_CLI_OUTPUT_H

#include "base/buf.h"
#include "base/json.h"
#include "cli/cli.h"

#define PAWL__GRID_COLUMNS_MAX 10

/* Rows of text, printed with aligned columns. */
struct pawl__grid {
    struct pawl__buf cells; /* owned: every cell, each followed by a NUL */
    size_t column_count;
    size_t cell_count;
};

/* `headers` are column_count words. */
void pawl__grid_init(struct pawl__grid *table, const char *const *headers, size_t column_count);
void pawl__grid_release(struct pawl__grid *table);

/* Appends one cell; rows fill from left to right. Control characters, which could come from another
 * user's reason and rewrite our reader's terminal, are replaced. NULL is an empty cell. */
void pawl__grid_cell(struct pawl__grid *table, const char *text);
void pawl__grid_cellf(struct pawl__grid *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Appends the table to `out`, its head in bold when `color`. */
void pawl__grid_print(const struct pawl__grid *table, bool color, struct pawl__buf *out);

/* Appends `text` with each control character (C0, DEL, C1) and each byte of invalid UTF-8 replaced
 * by '?'. */
void pawl__output_clean(struct pawl__buf *out, const char *text);

/* Appends "12s", "5m03s", "2h07m", "3d04h" for people. */
void pawl__output_age(struct pawl__buf *out, int64_t ms);

/* Begins the JSON output of a list: an array for json, nothing for jsonl, where each item is a line
 * of its own, to be begun and ended by the next two. */
struct pawl__items {
    struct pawl__buf *out; /* borrowed */
    struct pawl__jsonw json;
    bool is_lines;
};

void pawl__items_begin(struct pawl__items *list, const struct pawl__cli *cli,
                       struct pawl__buf *out);
struct pawl__jsonw *pawl__items_next(struct pawl__items *list);
void pawl__items_end_one(struct pawl__items *list);
void pawl__items_end(struct pawl__items *list);

/* Writes all of `out` to stdout. Returns an exit code: 0, or 70 with a message (none when the
 * reader went away, since nobody is there to care). */
int pawl__output_write(const struct pawl__cli *cli, const struct pawl__buf *out);

/* Writes `len` bytes to `fd`, through EINTR and short writes; false with errno set on failure. */
bool pawl__output_write_fd(int fd, const char *data, size_t len);

#endif
