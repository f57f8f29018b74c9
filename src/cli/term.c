/* The terminal: detection, the waiting line, job control. */
#include "cli/term.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/output.h"

#define WIDTH_DEFAULT 80

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && *value != '\0';
}

static bool is_dumb(void)
{
    const char *term = getenv("TERM");
    return term == NULL || *term == '\0' || strcmp(term, "dumb") == 0;
}

bool pawl__term_has_color(const struct pawl__cli *cli, int fd)
{
    return !cli->no_color && isatty(fd) && !is_set("NO_COLOR") && !is_dumb();
}

bool pawl__term_wants_progress(const struct pawl__cli *cli)
{
    return !cli->quiet && (cli->verbose || isatty(STDERR_FILENO));
}

void pawl__term_line_init(struct pawl__term_line *line, const struct pawl__cli *cli)
{
    memset(line, 0, sizeof(*line));
    line->cli = cli;
    line->is_terminal = isatty(STDERR_FILENO) != 0;
    line->can_overwrite = line->is_terminal && !is_dumb();
}

static size_t find_width(void)
{
    struct winsize size;
    memset(&size, 0, sizeof(size));
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 2) {
        return WIDTH_DEFAULT;
    }
    return size.ws_col;
}

/* Cuts `out` to `width` characters, so that overwriting one line is enough. */
static void cut(struct pawl__buf *out, size_t start, size_t width)
{
    size_t seen = 0;
    for (size_t i = start; i < out->len; i++) {
        seen += ((unsigned char)out->data[i] & 0xC0) != 0x80;
        if (seen > width) {
            out->data[i] = '\0';
            out->len = i;
            return;
        }
    }
}

void pawl__term_line_show(struct pawl__term_line *line, const char *text)
{
    if (!line->is_terminal && line->said) {
        return;
    }
    struct pawl__buf out;
    pawl__buf_init(&out);
    if (line->can_overwrite) {
        pawl__buf_append_str(&out, "\r\033[K");
    }
    size_t start = out.len;
    pawl__buf_append_str(&out, "pawl: ");
    pawl__output_clean(&out, text);
    if (line->can_overwrite && pawl__buf_ok(&out)) {
        cut(&out, start, find_width() - 1);
    } else {
        pawl__buf_append_char(&out, '\n');
    }
    /* A line that cannot be shown changes nothing about the lock. */
    (void)pawl__output_write_fd(STDERR_FILENO, pawl__buf_str(&out), out.len);
    line->is_shown = line->can_overwrite;
    line->said = true;
    pawl__buf_release(&out);
}

void pawl__term_line_clear(struct pawl__term_line *line)
{
    if (line->is_shown) {
        (void)pawl__output_write_fd(STDERR_FILENO, "\r\033[K", 4);
        line->is_shown = false;
    }
}

bool pawl__term_is_ours(void)
{
    return isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) == getpgrp();
}

void pawl__term_lend(struct pawl__term_loan *loan)
{
    memset(loan, 0, sizeof(*loan));
    loan->owner = getpgrp();
    loan->is_lent = pawl__term_is_ours() && tcgetattr(STDIN_FILENO, &loan->modes) == 0;
}

void pawl__term_give(pid_t group)
{
    /* Fails only when the terminal is gone, which CMD will notice by itself. */
    (void)tcsetpgrp(STDIN_FILENO, group);
}

void pawl__term_take_back(struct pawl__term_loan *loan, pid_t group, bool mend)
{
    if (!loan->is_lent || tcgetpgrp(STDIN_FILENO) != group) {
        return;
    }
    (void)tcsetpgrp(STDIN_FILENO, loan->owner);
    if (mend) {
        (void)tcsetattr(STDIN_FILENO, TCSADRAIN, &loan->modes);
    }
    (void)kill(-loan->owner, SIGCONT);
}
