/* The terminal: whether there is one, colours, the waiting line, and who is in its foreground. */
#ifndef PAWL_CLI_TERM_H
#define PAWL_CLI_TERM_H

#include <sys/types.h>
#include <termios.h>

#include "cli/cli.h"

/* Colours on `fd`: only on a terminal, unless NO_COLOR, TERM=dumb or --no-color says otherwise. */
bool pawl__term_has_color(const struct pawl__cli *cli, int fd);

/* Whether progress is worth telling: stderr is a terminal, or -v; never with -q. */
bool pawl__term_wants_progress(const struct pawl__cli *cli);

/* Progress on stderr. On a terminal one line that is overwritten; elsewhere a line the first time
 * only, so that a log is not filled. */
struct pawl__term_line {
    const struct pawl__cli *cli; /* borrowed */
    bool is_terminal;
    bool can_overwrite; /* a terminal that knows "clear to the end of the line" */
    bool is_shown;      /* the cursor stands behind our text */
    bool said;
};

void pawl__term_line_init(struct pawl__term_line *line, const struct pawl__cli *cli);
void pawl__term_line_show(struct pawl__term_line *line, const char *text);
void pawl__term_line_clear(struct pawl__term_line *line);

/* The foreground of the terminal on stdin, lent to the process group of CMD. */
struct pawl__term_loan {
    bool is_lent;
    pid_t owner; /* our own process group */
    struct termios modes;
};

/* True when stdin is our terminal and we are in its foreground: then it may be lent. */
bool pawl__term_is_ours(void);

/* Notes the modes of the terminal; the child itself takes the foreground before it becomes CMD, so
 * that it never runs without. */
void pawl__term_lend(struct pawl__term_loan *loan);

/* Makes process group `group` the foreground. Call with SIGTTOU blocked. */
void pawl__term_give(pid_t group);

/* Takes the foreground back from `group`, if it still has it, and wakes members of our own group
 * that stopped because they read the terminal meanwhile. `mend`: also restore the modes, since CMD
 * was ended by a signal and cannot. */
void pawl__term_take_back(struct pawl__term_loan *loan, pid_t group, bool mend);

#endif
