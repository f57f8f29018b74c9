/* A process of its own with a local backend, driven by lines on stdin; see peer.h. */
#include "peer.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "backends/local/fault.h"
#include "host.h"

static struct host host;
static int session_fd = -1;

static void say(int status, uint64_t number, uint64_t blocker)
{
    printf("%d %" PRIu64 " %" PRIu64 "\n", status, number, blocker);
    fflush(stdout);
}

static void say_event(struct pawl__backend_event *event)
{
    int status = event != NULL ? (int)event->status : PAWL_E_TIMEOUT;
    const struct pawl__queue_view *view =
        event != NULL && event->view_count > 0 ? &event->views[0] : NULL;

    say(status,
        view != NULL    ? view->own_number
        : event != NULL ? event->entry_count
                        : 0,
        view != NULL ? view->blocker : 0);
    pawl__backend_event_free(event);
}

static void open_session(uint64_t session, int64_t ttl_ms)
{
    struct pawl__backend_event *event = host_session(&host, session, ttl_ms);

    session_fd = event != NULL && event->status == PAWL_OK ? event->session_fd : -1;
    say_event(event);
}

/* Looks, and watches who is in the way, until nobody is. */
static void wait_for_grant(uint64_t session, uint64_t attempt, const char *name)
{
    for (;;) {
        struct pawl__backend_event *event = host_look(&host, session, attempt, name);
        bool is_over = event == NULL || event->status != PAWL_OK || event->views[0].blocker == 0;
        if (is_over) {
            say_event(event);
            return;
        }
        (void)pawl__backend_watch(host.backend, host_op(&host), name, event->views[0].blocker);
        pawl__backend_event_free(event);
        pawl__backend_event_free(host_hint(&host, PAWL__BEV_WATCH, 60000));
    }
}

/* A child that keeps a copy of the session descriptor, as CMD of `pawl lock` does, until its stdin
 * (our own) ends or it is killed. Answers its pid. */
static void start_copy(void)
{
    int copy = dup(session_fd); /* Without FD_CLOEXEC. */
    pid_t pid = fork();

    if (pid == 0) {
        execlp("sleep", "sleep", "60", (char *)NULL);
        _exit(127);
    }
    close(copy);
    say(PAWL_OK, (uint64_t)pid, 0);
}

/* The next number of *at, which moves behind it; 0 if there is none. */
static uint64_t next_number(char **at)
{
    return strtoull(*at, at, 10);
}

static bool run_line(char *line)
{
    char *at = NULL;

    line[strcspn(line, "\n")] = '\0';
    const char *verb = strtok_r(line, " ", &at);
    if (verb == NULL) {
        return false;
    }
    uint64_t a = next_number(&at), b = next_number(&at);
    uint64_t c = strcmp(verb, "remove") == 0 ? next_number(&at) : 0;
    const char *name = at + strspn(at, " ");
    if (strcmp(verb, "session") == 0) {
        open_session(a, (int64_t)b);
    } else if (strcmp(verb, "renew") == 0) {
        say_event(host_renew(&host, a, NULL, 0));
    } else if (strcmp(verb, "close") == 0) {
        say_event(host_session_close(&host, a, false));
    } else if (strcmp(verb, "bequeath") == 0) {
        say_event(host_session_close(&host, a, true));
    } else if (strcmp(verb, "enqueue") == 0) {
        say_event(host_enqueue(&host, a, b, name, false));
    } else if (strcmp(verb, "try") == 0) {
        say_event(host_enqueue(&host, a, b, name, true));
    } else if (strcmp(verb, "look") == 0) {
        say_event(host_look(&host, a, b, name));
    } else if (strcmp(verb, "remove") == 0) {
        say_event(host_remove(&host, a, b, c, name));
    } else if (strcmp(verb, "wait") == 0) {
        wait_for_grant(a, b, name);
    } else if (strcmp(verb, "list") == 0) {
        say_event(host_list(&host, NULL));
    } else if (strcmp(verb, "copy") == 0) {
        start_copy();
    } else if (strcmp(verb, "hint") == 0) {
        struct pawl__backend_event *hint =
            host_hint(&host, (enum pawl__backend_event_kind)a, (int64_t)b);
        say(hint != NULL ? PAWL_OK : PAWL_E_TIMEOUT, hint != NULL ? hint->number : 0, 0);
        pawl__backend_event_free(hint);
    } else {
        return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    char line[2048];

    if (argc < 2) {
        return 64;
    }
    /* A test that fails must not leave one behind that is stopped. */
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    pawl__fault_set(argc > 2 ? argv[2] : NULL);
    pawl_error *err = pawl_error_new();
    pawl_status status = host_open(&host, argv[1], err);
    if (status != PAWL_OK) {
        fprintf(stderr, "%s\n", pawl_error_message(err));
    }
    say(status, 0, 0);
    pawl_error_free(err);
    if (status != PAWL_OK) {
        return 1;
    }
    while (fgets(line, sizeof(line), stdin) != NULL && run_line(line)) {
    }
    host_close(&host, 5000);
    return 0;
}
