/* Many processes and threads on few names: nobody overlaps, numbers rise, first come is first
 * served, nothing is left. Plain TAP, so that ThreadSanitizer can run it.
 *
 * The store is the only judge of order, so the test keeps its own: a shared page in which the
 * holder of a name writes who it is. */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host.h"
#include "tap.h"

#define NAMES 3

/* Shared by all processes. */
struct page {
    _Atomic uint64_t holder[NAMES]; /* number of the present holder; 0 = none */
    _Atomic uint64_t last[NAMES];   /* number of the last one */
    _Atomic uint64_t overlaps, backwards, failures, grants;
};

struct worker {
    struct host *host;
    struct page *page;
    uint64_t session;
    unsigned index;
    unsigned rounds;
};

static const char *const names[NAMES] = {"one", "two/x", "three"};

static void enter(struct page *page, unsigned name, uint64_t number)
{
    uint64_t none = 0;

    if (!atomic_compare_exchange_strong(&page->holder[name], &none, number)) {
        atomic_fetch_add(&page->overlaps, 1);
    }
    /* Exclusive locks are granted in the order of their numbers: first come, first served. */
    if (atomic_exchange(&page->last[name], number) >= number) {
        atomic_fetch_add(&page->backwards, 1);
    }
    atomic_fetch_add(&page->grants, 1);
}

static void leave(struct page *page, unsigned name, uint64_t number)
{
    if (!atomic_compare_exchange_strong(&page->holder[name], &number, 0)) {
        atomic_fetch_add(&page->overlaps, 1);
    }
}

/* A hint for one watch: several workers share a host. */
static bool await_watch(struct host *host, uint64_t watch)
{
    bool is_mine = false;

    while (!is_mine) {
        struct pawl__backend_event *event = host_hint(host, PAWL__BEV_WATCH, 60000);
        if (event == NULL) {
            break;
        }
        is_mine = event->watch == watch;
        if (is_mine) {
            pawl__backend_event_free(event);
        } else {
            /* Of another worker: put back. */
            host->table.post(host->table.ctx, event);
            usleep(200); /* Lets its owner take it. */
        }
    }
    return is_mine;
}

/* Until nothing is in the way; false = failed. */
static bool await_grant(const struct worker *worker, uint64_t attempt, const char *name,
                        uint64_t blocker)
{
    while (blocker != 0) {
        uint64_t watch = host_op(worker->host);
        if (host_watch(worker->host, watch, name, blocker) != PAWL_OK ||
            !await_watch(worker->host, watch)) {
            return false;
        }
        struct pawl__backend_event *event = host_look(worker->host, worker->session, attempt, name);
        bool is_there = event != NULL && event->status == PAWL_OK && event->views[0].own_present;
        blocker = is_there ? event->views[0].blocker : 0;
        pawl__backend_event_free(event);
        if (!is_there) {
            return false;
        }
    }
    return true;
}

static bool run_round(const struct worker *worker, unsigned round)
{
    uint64_t attempt = ((uint64_t)worker->index << 32) + round + 1;
    unsigned name = (worker->index + round) % NAMES;
    struct pawl__backend_event *event =
        host_enqueue(worker->host, worker->session, attempt, names[name], false);
    bool is_done = event != NULL && event->status == PAWL_OK;
    uint64_t number = is_done ? event->views[0].own_number : 0;
    uint64_t blocker = is_done ? event->views[0].blocker : 0;

    pawl__backend_event_free(event);
    if (!is_done || !await_grant(worker, attempt, names[name], blocker)) {
        return false;
    }
    enter(worker->page, name, number);
    leave(worker->page, name, number);
    return host_status(host_remove(worker->host, worker->session, attempt, number, names[name])) ==
           PAWL_OK;
}

static void *work(void *arg)
{
    const struct worker *worker = arg;

    for (unsigned i = 0; i < worker->rounds; i++) {
        if (!run_round(worker, i)) {
            atomic_fetch_add(&worker->page->failures, 1);
        }
    }
    return NULL;
}

/* One process with `threads` workers on one host. */
static int run_process(const char *dir, struct page *page, unsigned index, unsigned threads,
                       unsigned rounds)
{
    struct host host;
    pthread_t ids[64];
    struct worker workers[64];
    uint64_t session = 1000 + index;

    if (host_open(&host, dir, NULL) != PAWL_OK ||
        host_status(host_session(&host, session, 60000)) != PAWL_OK) {
        return 1;
    }
    for (unsigned i = 0; i < threads; i++) {
        workers[i] = (struct worker){&host, page, session, index * 64 + i, rounds};
        if (pthread_create(&ids[i], NULL, work, &workers[i]) != 0) {
            return 1;
        }
    }
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(ids[i], NULL);
    }
    pawl_status status = host_status(host_session_close(&host, session, false));
    host_close(&host, 10000);
    return status == PAWL_OK ? 0 : 1;
}

static size_t count_left(const char *dir)
{
    struct host host;
    size_t count = SIZE_MAX;

    if (host_open(&host, dir, NULL) != PAWL_OK) {
        return count;
    }
    struct pawl__backend_event *event = host_list(&host, NULL);
    count = event != NULL && event->status == PAWL_OK ? event->entry_count : SIZE_MAX;
    pawl__backend_event_free(event);
    host_close(&host, 5000);
    return count;
}

static void run_case(const char *what, unsigned processes, unsigned threads, unsigned rounds)
{
    char dir[64];
    pid_t children[64];
    unsigned failed = 0;
    struct page *page =
        mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    host_make_dir(dir);
    /* This process has no threads of its own when it forks. */
    for (unsigned i = 0; i < processes; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            _exit(run_process(dir, page, i, threads, rounds));
        }
    }
    for (unsigned i = 0; i < processes; i++) {
        int status = 0;
        (void)waitpid(children[i], &status, 0);
        failed += status != 0 ? 1 : 0;
    }
    uint64_t expected = (uint64_t)processes * threads * rounds;
    tap_case(failed == 0 && atomic_load(&page->failures) == 0, "%s: every round ends", what);
    tap_case(atomic_load(&page->grants) == expected, "%s: %llu grants", what,
             (unsigned long long)expected);
    tap_case(atomic_load(&page->overlaps) == 0, "%s: no overlap", what);
    tap_case(atomic_load(&page->backwards) == 0, "%s: first come, first served", what);
    host_remove_dir(dir);
    (void)munmap(page, sizeof(*page));
}

/* The first process is killed again and again while it holds; the others go on. */
static void run_kills(void)
{
    char dir[64];
    struct page *page =
        mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t workers[4];
    unsigned failed = 0;

    host_make_dir(dir);
    for (unsigned i = 0; i < 4; i++) {
        workers[i] = fork();
        if (workers[i] == 0) {
            _exit(run_process(dir, page, i, 2, 200));
        }
    }
    for (unsigned i = 0; i < 25; i++) {
        struct page *own =
            mmap(NULL, sizeof(*own), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        pid_t victim = fork();
        if (victim == 0) {
            /* On a page of its own: it dies without leaving. */
            _exit(run_process(dir, own, 100 + i, 2, 1000000));
        }
        /* A random moment to kill at is what is tested: no event to await. */
        usleep(20000 + (i * 7919) % 40000);
        (void)kill(victim, SIGKILL);
        (void)waitpid(victim, NULL, 0);
        (void)munmap(own, sizeof(*own));
    }
    for (unsigned i = 0; i < 4; i++) {
        int status = 0;
        (void)waitpid(workers[i], &status, 0);
        failed += status != 0 ? 1 : 0;
    }
    tap_case(failed == 0 && atomic_load(&page->failures) == 0, "kills: the others end");
    tap_case(atomic_load(&page->overlaps) == 0, "kills: no overlap");
    tap_case(atomic_load(&page->backwards) == 0, "kills: numbers rise");
    /* What the dead left is out of the way of whoever looks. */
    for (unsigned i = 0; i < NAMES; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            _exit(run_process(dir, page, 200 + i, 1, NAMES));
        }
        (void)waitpid(pid, NULL, 0);
    }
    pid_t pid = fork();
    if (pid == 0) {
        _exit(count_left(dir) == 0 ? 0 : 1);
    }
    int status = 0;
    (void)waitpid(pid, &status, 0);
    tap_case(status == 0, "kills: no entry is left");
    host_remove_dir(dir);
    (void)munmap(page, sizeof(*page));
}

int main(void)
{
    run_case("16 processes", 16, 1, 200);
    run_case("32 threads", 1, 32, 50);
    run_case("4 processes with 8 threads", 4, 8, 50);
    run_kills();
    return tap_done();
}
