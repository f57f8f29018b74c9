/* Signals as data, by signalfd. */
#include "cli/signals.h"

#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

static const int end_signals[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

bool pawl__signals_is_end(int number)
{
    for (size_t i = 0; i < sizeof(end_signals) / sizeof(end_signals[0]); i++) {
        if (end_signals[i] == number) {
            return true;
        }
    }
    return false;
}

/* A blocked signal is queued even while it is ignored, so an ignored one must not be blocked. */
static void handle_unless_ignored(sigset_t *set, int number)
{
    struct sigaction present;
    if (sigaction(number, NULL, &present) == 0 && present.sa_handler != SIG_IGN) {
        (void)sigaddset(set, number);
    }
}

bool pawl__signals_open(struct pawl__signals *signals)
{
    memset(signals, 0, sizeof(*signals));
    signals->fd = -1;
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = SIG_IGN;
    /* A reader that went away is an error of write(), not our end while we hold a lock. */
    if (sigaction(SIGPIPE, &action, &signals->old_pipe) != 0) {
        return false;
    }
    action.sa_handler = SIG_DFL;
    /* With SIGCHLD ignored the kernel would throw CMD's exit code away. */
    if (sigaction(SIGCHLD, &action, &signals->old_child) != 0) {
        return false;
    }
    (void)sigemptyset(&signals->handled);
    for (size_t i = 0; i < sizeof(end_signals) / sizeof(end_signals[0]); i++) {
        handle_unless_ignored(&signals->handled, end_signals[i]);
    }
    handle_unless_ignored(&signals->handled, SIGTSTP);
    (void)sigaddset(&signals->handled, SIGCONT);
    (void)sigaddset(&signals->handled, SIGCHLD);

    sigset_t blocked = signals->handled;
    (void)sigaddset(&blocked, SIGTTOU); /* else taking the terminal back would stop us */
    if (sigprocmask(SIG_BLOCK, &blocked, &signals->old_mask) != 0) {
        return false;
    }
    signals->fd = signalfd(-1, &signals->handled, SFD_CLOEXEC | SFD_NONBLOCK);
    return signals->fd >= 0;
}

int pawl__signals_next(struct pawl__signals *signals)
{
    struct signalfd_siginfo info;
    ssize_t len = read(signals->fd, &info, sizeof(info));
    return len == (ssize_t)sizeof(info) ? (int)info.ssi_signo : 0;
}

void pawl__signals_restore(const struct pawl__signals *signals)
{
    (void)sigaction(SIGPIPE, &signals->old_pipe, NULL);
    (void)sigaction(SIGCHLD, &signals->old_child, NULL);
    (void)sigprocmask(SIG_SETMASK, &signals->old_mask, NULL);
}

void pawl__signals_close(struct pawl__signals *signals)
{
    if (signals->fd >= 0) {
        (void)close(signals->fd);
        signals->fd = -1;
    }
}

void pawl__signals_stop_self(void)
{
    /* SIGSTOP, not SIGTSTP: it works the same whether or not our group is orphaned. */
    (void)kill(getpid(), SIGSTOP);
}
