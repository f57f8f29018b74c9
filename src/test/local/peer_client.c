/* See peer.h: the test's side. */
#include "peer.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* The program lies beside the test's own. */
static void find_program(char out[PATH_MAX])
{
    ssize_t len = readlink("/proc/self/exe", out, PATH_MAX - 32);

    if (len <= 0) {
        abort();
    }
    out[len] = '\0';
    char *name = strrchr(out, '/') + 1;
    (void)snprintf(name, (size_t)(out + PATH_MAX - name), "local_peer");
}

struct said peer_start(struct peer *peer, const char *dir, const char *fault)
{
    char program[PATH_MAX];
    int in[2], out[2];
    posix_spawn_file_actions_t actions;

    find_program(program);
    /* A broken pipe is an answer that does not come. */
    (void)signal(SIGPIPE, SIG_IGN);
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) {
        abort();
    }
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    char *argv[] = {program, (char *)(uintptr_t)dir, (char *)(uintptr_t)fault, NULL};
    if (posix_spawn(&peer->pid, program, &actions, NULL, argv, environ) != 0) {
        abort();
    }
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    peer->in = in[1];
    peer->out = out[0];
    return peer_hear(peer, 10000);
}

static void __attribute__((format(printf, 2, 0)))
send_line(struct peer *peer, const char *format, va_list args)
{
    char line[2048];

    int len = vsnprintf(line, sizeof(line) - 1, format, args);
    line[len++] = '\n';
    ssize_t sent = write(peer->in, line, (size_t)len);
    (void)sent; /* The answer will not come. */
}

void peer_tell(struct peer *peer, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    send_line(peer, format, args);
    va_end(args);
}

struct said peer_hear(struct peer *peer, int timeout_ms)
{
    struct said said = {false, 0, 0, 0};
    char line[256];
    size_t len = 0;

    for (;;) {
        struct pollfd fd = {peer->out, POLLIN, 0};
        if (poll(&fd, 1, timeout_ms) <= 0 || read(peer->out, &line[len], 1) != 1) {
            return said;
        }
        if (line[len] == '\n') {
            line[len] = '\0';
            break;
        }
        len += len + 2 < sizeof(line) ? 1 : 0;
    }
    char *at = NULL;
    said.status = (int)strtol(line, &at, 10);
    said.came = at != line;
    said.number = strtoull(at, &at, 10);
    said.blocker = strtoull(at, &at, 10);
    return said;
}

struct said peer_say(struct peer *peer, int timeout_ms, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    send_line(peer, format, args);
    va_end(args);
    return peer_hear(peer, timeout_ms);
}

bool peer_wait_stopped(struct peer *peer)
{
    struct timespec pause = {0, 5000000};

    for (int i = 0; i < 1000; i++) {
        int status = 0;
        if (waitpid(peer->pid, &status, WUNTRACED | WNOHANG) == peer->pid) {
            return WIFSTOPPED(status);
        }
        /* waitpid() has no bound of its own: a poll, so that a test never hangs. */
        (void)nanosleep(&pause, NULL);
    }
    return false;
}

int peer_wait(struct peer *peer)
{
    int status = 0;

    (void)waitpid(peer->pid, &status, 0);
    close(peer->in);
    close(peer->out);
    return status;
}

void peer_kill(struct peer *peer)
{
    (void)kill(peer->pid, SIGKILL);
    (void)peer_wait(peer);
}
