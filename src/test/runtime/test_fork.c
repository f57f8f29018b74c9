/* A host that forks: the child is refused at once and harms nothing; the parent goes on. Not under
 * ThreadSanitizer, which cannot follow a child of a process with threads. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"
#include "test/runtime/fake.h"
#include "test/runtime/support.h"

#define CHECK_IN_CHILD(condition)                                                                  \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            _exit(__LINE__ % 250 + 1);                                                             \
        }                                                                                          \
    } while (0)

struct objects {
    pawl_client *client;
    pawl_hold *hold;
    pawl_pending *pending;
    pawl_request *request;
    int fd;
};

static void ask_holds(const struct objects *objects)
{
    pawl_hold *hold = NULL;
    int position = 0;

    CHECK_IN_CHILD(pawl_hold_state(objects->hold) == PAWL_HOLD_LOST);
    CHECK_IN_CHILD(pawl_hold_remaining_ms(objects->hold) == 0);
    CHECK_IN_CHILD(strstr(pawl_hold_lost_reason(objects->hold), "forked") != NULL);
    CHECK_IN_CHILD(pawl_hold_release(objects->hold, 1000, NULL) == PAWL_E_FORKED);
    CHECK_IN_CHILD(pawl_hold_reenter(objects->hold, NULL) == PAWL_E_FORKED);
    CHECK_IN_CHILD(pawl_hold_on_change(objects->hold, NULL, NULL, NULL) == PAWL_E_FORKED);
    CHECK_IN_CHILD(strcmp(pawl_hold_name(objects->hold, 0), "job") == 0);
    CHECK_IN_CHILD(pawl_pending_take(objects->pending, 1000, &hold, NULL) == PAWL_E_FORKED);
    CHECK_IN_CHILD(pawl_pending_position(objects->pending, &position) == PAWL_E_FORKED);
    pawl_pending_cancel(objects->pending);
}

static void ask_client(const struct objects *objects)
{
    pawl_client *client = objects->client;
    pawl_snapshot *snapshot = NULL;
    pawl_pending *pending = NULL;
    pawl_hold *hold = NULL;
    int fd = -1;

    CHECK_IN_CHILD(pawl_lock(client, "x", PAWL_WAIT_FOREVER, &hold, NULL) == PAWL_E_FORKED);
    CHECK_IN_CHILD(pawl_acquire(client, objects->request, 9999, &hold, NULL) == PAWL_E_FORKED);
    CHECK_IN_CHILD(pawl_acquire_start(client, objects->request, 1, NULL, NULL, &pending, NULL) ==
                   PAWL_E_FORKED);
    CHECK_IN_CHILD(pawl_inspect(client, NULL, 9999, &snapshot, NULL) == PAWL_E_FORKED);
    CHECK_IN_CHILD(pawl_break(client, "x", 1, "y", 0, 9999, NULL) == PAWL_E_FORKED);
    CHECK_IN_CHILD(pawl_client_session_fd(client, &fd, NULL) == PAWL_E_FORKED);
    CHECK_IN_CHILD(pawl_client_on_event(client, NULL, NULL, NULL) == PAWL_E_FORKED);
    CHECK_IN_CHILD(pawl_client_start_dispatch(client, NULL) == PAWL_E_FORKED);
    CHECK_IN_CHILD(pawl_dispatch(client, NULL) == PAWL_E_FORKED);
    CHECK_IN_CHILD(pawl_client_fd(client) == -1);
    CHECK_IN_CHILD(pawl_client_capabilities(client) == 0);
    CHECK_IN_CHILD(strcmp(pawl_client_store_id(client), "") == 0);
}

static void run_child(const struct objects *objects)
{
    int64_t begin = now_ms();

    /* The descriptors of the parent's client are closed here. */
    CHECK_IN_CHILD(write(objects->fd, "12345678", 8) == -1);
    ask_client(objects);
    ask_holds(objects);
    pawl_hold_free(objects->hold);
    pawl_pending_free(objects->pending);
    CHECK_IN_CHILD(pawl_client_close(objects->client, 5000, NULL) == PAWL_OK);
    CHECK_IN_CHILD(now_ms() - begin < 100);
    /* A client of its own works. */
    pid_t grandchild = fork();
    if (grandchild == 0) {
        CHECK_IN_CHILD(pawl_hold_state(objects->hold) == PAWL_HOLD_LOST);
        _exit(0);
    }
    int status = 0;
    CHECK_IN_CHILD(waitpid(grandchild, &status, 0) == grandchild && status == 0);
    _exit(0);
}

static _Atomic bool stop;

static void *keep_busy(void *arg)
{
    while (!atomic_load(&stop)) {
        pawl_hold *hold = NULL;
        if (pawl_lock(arg, "busy", 1000, &hold, NULL) == PAWL_OK) {
            (void)pawl_hold_release(hold, 1000, NULL);
            pawl_hold_free(hold);
        }
    }
    return NULL;
}

/* With other threads in the middle of everything, so that locks of ours are held at the fork. */
static void child_is_refused_and_parent_goes_on(void)
{
    struct objects objects = {.client = open_fake("30s"), .request = request_of("job")};
    pthread_t threads[3];
    int failed = 0;

    objects.hold = lock_now(objects.client, "job");
    objects.fd = pawl_client_fd(objects.client);
    TAP_CHECK(objects.hold != NULL);
    TAP_CHECK(pawl_acquire_start(objects.client, objects.request, PAWL_WAIT_FOREVER, NULL, NULL,
                                 &objects.pending, NULL) == PAWL_OK);
    for (int i = 0; i < 3; i++) {
        pthread_create(&threads[i], NULL, keep_busy, objects.client);
    }
    for (int i = 0; i < 30; i++) {
        int status = 0;
        pid_t child = fork();
        if (child == 0) {
            run_child(&objects);
        }
        (void)waitpid(child, &status, 0);
        if (status != 0) {
            tap_note("child ended with %#x", (unsigned)status);
            failed++;
        }
    }
    TAP_CHECK(failed == 0);
    atomic_store(&stop, true);
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
    }
    TAP_CHECK(pawl_hold_state(objects.hold) == PAWL_HOLD_HELD);
    TAP_CHECK(fake_entries() >= 2);
    TAP_CHECK(pawl_hold_release(objects.hold, 1000, NULL) == PAWL_OK);
    pawl_hold_free(objects.hold);
    TAP_CHECK(pawl_pending_take(objects.pending, 2000, &objects.hold, NULL) == PAWL_OK);
    pawl_hold_free(objects.hold);
    pawl_pending_free(objects.pending);
    pawl_request_free(objects.request);
    TAP_CHECK(close_client(objects.client));
}

int main(void)
{
    fake_install();
    child_is_refused_and_parent_goes_on();
    return tap_done();
}
