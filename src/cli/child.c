/* CMD as a process: see child.h. */
#include "cli/child.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/exitcode.h"

/* true = `variable` ("NAME=value") is one of those in `extra`. */
static bool is_replaced(const char *variable, const char *const *extra, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t len = (size_t)(strchr(extra[i], '=') - extra[i]) + 1;
        if (strncmp(variable, extra[i], len) == 0) {
            return true;
        }
    }
    return false;
}

char **pawl__child_environment(const char *const *extra, size_t count)
{
    size_t present = 0;
    while (environ[present] != NULL) {
        present++;
    }
    char **block = pawl__alloc_array(present + count + 1, sizeof(char *));
    if (block == NULL) {
        return NULL;
    }
    size_t used = 0;
    for (size_t i = 0; i < present; i++) {
        /* A variable of an outer lock would otherwise come first and win. */
        if (!is_replaced(environ[i], extra, count)) {
            block[used++] = environ[i];
        }
    }
    for (size_t i = 0; i < count; i++) {
        block[used++] = (char *)extra[i]; /* execve() does not write to it */
    }
    return block;
}

/* Runs in the child, perhaps in our memory: async-signal-safe calls only, and nothing of ours is
 * written to. */
_Noreturn static void fail_exec(const char *command, int error)
{
    const char *text = strerrordesc_np(error);
    const char *parts[] = {"pawl: cannot run '", command,
                           "': ", text != NULL ? text : "unknown error", "\n"};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        ssize_t written = write(STDERR_FILENO, parts[i], strlen(parts[i]));
        (void)written; /* the exit code tells it as well */
    }
    _exit(error == ENOENT || error == ENOTDIR ? PAWL__EXIT_NOT_FOUND : PAWL__EXIT_CANNOT_RUN);
}

struct start {
    const struct pawl__child *child;
    char **command;
    char **environment;
    int keep_fd;
    pid_t parent;
    const struct pawl__signals *signals;
};

/* As fail_exec(). SIGTTOU is still blocked when the terminal is taken, so that doing so from the
 * background does not stop us. */
_Noreturn static void become(const struct start *start)
{
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != start->parent) {
        /* Our parent died before the line above: nobody would ever end us. */
        _exit(PAWL__EXIT_SIGNAL + SIGKILL);
    }
    if (start->child->loan.is_lent) {
        pawl__term_give(getpid());
    }
    if (start->keep_fd >= 0) {
        (void)fcntl(start->keep_fd, F_SETFD, 0);
    }
    pawl__signals_restore(start->signals);
    (void)execvpe(start->command[0], start->command, start->environment);
    fail_exec(start->command[0], errno);
}

bool pawl__child_start(struct pawl__child *child, char **command, char **environment, int keep_fd,
                       const struct pawl__signals *signals)
{
    memset(child, 0, sizeof(*child));
    pawl__term_lend(&child->loan);
    struct start start = {child, command, environment, keep_fd, getpid(), signals};
    /* fork() copies the page tables of a process with threads and leaves faults behind, a tenth of
     * what a whole `pawl lock n -- true` costs; the child of vfork() changes nothing of ours
     * either, since masks, dispositions and descriptors are its own. Not on a terminal: there
     * Ctrl-Z could stop the child before it is CMD, and us with it, unable to tell the shell. */
    pid_t pid = -1;
    if (child->loan.is_lent) {
        pid = fork();
    } else {
        pid = vfork(); /* NOLINT(clang-analyzer-security.insecureAPI.vfork) */
    }
    if (pid < 0) {
        return false;
    }
    if (pid == 0) {
        become(&start); /* NOLINT(clang-analyzer-unix.Vfork) */
    }
    /* Both sides do it, so that no signal to the group comes too early. Fails once CMD runs. */
    (void)setpgid(pid, pid);
    child->pid = pid;
    return true;
}

void pawl__child_signal(const struct pawl__child *child, int number)
{
    (void)kill(-child->pid, number); /* fails when all of it is gone */
}

bool pawl__child_reap(struct pawl__child *child)
{
    int status = 0;
    while (!child->ended && waitpid(child->pid, &status, WNOHANG | WUNTRACED) == child->pid) {
        if (!WIFSTOPPED(status)) {
            child->ended = true;
            child->wait_status = status;
            pawl__term_take_back(&child->loan, child->pid, WIFSIGNALED(status));
            return false;
        }
        if (child->loan.is_lent) {
            pawl__term_take_back(&child->loan, child->pid, true);
            pawl__signals_stop_self();
            return true;
        }
    }
    return false;
}

void pawl__child_continue(struct pawl__child *child)
{
    if (child->loan.is_lent && pawl__term_is_ours()) {
        pawl__term_give(child->pid);
    }
    pawl__child_signal(child, SIGCONT);
}

int pawl__child_code(const struct pawl__child *child)
{
    if (WIFSIGNALED(child->wait_status)) {
        return PAWL__EXIT_SIGNAL + WTERMSIG(child->wait_status);
    }
    return WEXITSTATUS(child->wait_status);
}
