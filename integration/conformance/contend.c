/* Many processes and threads on one name: contend [URL [--full]]. Processes run this program again
 * with --worker, because a fork of a process with threads proves nothing under ThreadSanitizer.
 *
 * Tokens are given in the order of the queue. So tokens that rise in the order of the grants, which
 * is the order of the lines in the file, also show that waiters were served in that order. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suite.h"
#include "tap.h"

#define PROCESSES_MAX 16
#define THREADS_MAX   32
#define NAME          "contended"

struct shape {
    const char *what;
    int processes;
    int threads; /* of each process, all on one client */
    int rounds;  /* of each thread */
};

/* ---- A worker ------------------------------------------------------------------------------- */

struct worker {
    pawl_client *client; /* borrowed */
    const char *folder;  /* borrowed */
    int index;
    int rounds;
    int failures;
};

/* One line, under a marker that nobody else may find or leave: true if nobody was inside. */
static bool write_line(const struct worker *worker, uint64_t token)
{
    char marker[4096];
    char path[4096];
    char line[64];

    (void)snprintf(marker, sizeof(marker), "%s/inside", worker->folder); /* fits, as below */
    (void)snprintf(path, sizeof(path), "%s/lines", worker->folder);
    int len =
        snprintf(line, sizeof(line), "%" PRIu64 " %d.%d\n", token, (int)getpid(), worker->index);
    int inside = open(marker, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (inside < 0) {
        return false;
    }
    (void)close(inside); /* nothing was written */
    int lines = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    bool is_written = lines >= 0 && write(lines, line, (size_t)len) == len;
    if (lines >= 0) {
        is_written = close(lines) == 0 && is_written;
    }
    return unlink(marker) == 0 && is_written;
}

static void *work(void *user)
{
    struct worker *worker = user;
    pawl_error *err = pawl_error_new();

    for (int i = 0; i < worker->rounds; i++) {
        pawl_hold *hold = NULL;
        if (pawl_lock(worker->client, NAME, PAWL_WAIT_FOREVER, &hold, err) != PAWL_OK) {
            (void)fprintf(stderr, "lock: %s\n", pawl_error_message(err));
            worker->failures++;
            continue;
        }
        if (!write_line(worker, pawl_hold_token(hold))) {
            (void)fprintf(stderr, "token %" PRIu64 ": somebody else is inside: %s\n",
                          pawl_hold_token(hold), strerror(errno));
            worker->failures++;
        }
        if (pawl_hold_release(hold, PATIENCE_MS, err) != PAWL_OK) {
            (void)fprintf(stderr, "release: %s\n", pawl_error_message(err));
            worker->failures++;
        }
        pawl_hold_free(hold);
    }
    pawl_error_free(err);
    return NULL;
}

/* --worker URL FOLDER THREADS ROUNDS */
static int run_worker(char **argv)
{
    int threads = (int)strtol(argv[4], NULL, 10);
    int failures = 0;
    pthread_t ids[THREADS_MAX];
    struct worker workers[THREADS_MAX];
    pawl_client *client = NULL;
    pawl_error *err = pawl_error_new();

    if (pawl_client_open(argv[2], NULL, &client, err) != PAWL_OK) {
        (void)fprintf(stderr, "open %s: %s\n", argv[2], pawl_error_message(err));
        return 1;
    }
    for (int i = 0; i < threads && i < THREADS_MAX; i++) {
        workers[i] = (struct worker){.client = client,
                                     .folder = argv[3],
                                     .index = i,
                                     .rounds = (int)strtol(argv[5], NULL, 10)};
        if (pthread_create(&ids[i], NULL, work, &workers[i]) != 0) {
            return 1;
        }
    }
    for (int i = 0; i < threads && i < THREADS_MAX; i++) {
        (void)pthread_join(ids[i], NULL); /* cannot fail: joinable, once */
        failures += workers[i].failures;
    }
    failures += !suite_close(client);
    pawl_error_free(err);
    return failures == 0 ? 0 : 1;
}

/* ---- The test ------------------------------------------------------------------------------- */

static pid_t start_worker(const char *url, const char *folder, const struct shape *shape)
{
    char threads[16];
    char rounds[16];
    pid_t pid = fork();

    if (pid == 0) {
        (void)snprintf(threads, sizeof(threads), "%d", shape->threads); /* fits, as below */
        (void)snprintf(rounds, sizeof(rounds), "%d", shape->rounds);
        (void)execl("/proc/self/exe", "contend", "--worker", url, folder, threads, rounds,
                    (char *)NULL);
        _exit(127);
    }
    return pid;
}

/* Counts lines; *ret_falls = tokens that were not greater than the one before, which for the first
 * is *last: also over the end of all processes. Leaves the last one in *last. */
static int read_lines(const char *folder, uint64_t *last, int *ret_falls)
{
    char path[4096];
    char line[128];
    int count = 0;

    (void)snprintf(path, sizeof(path), "%s/lines", folder); /* fits */
    FILE *file = fopen(path, "re");
    *ret_falls = 0;
    if (file == NULL) {
        return 0;
    }
    while (fgets(line, (int)sizeof(line), file) != NULL) {
        uint64_t token = strtoull(line, NULL, 10);
        *ret_falls += token <= *last;
        *last = token;
        count++;
    }
    (void)fclose(file); /* was only read */
    (void)unlink(path); /* the folder is removed by the harness in any case */
    return count;
}

static void check_shape(struct suite *suite, const char *folder, const struct shape *shape,
                        uint64_t *last)
{
    pid_t pids[PROCESSES_MAX];
    int failures = 0;
    int falls = 0;
    int64_t begin = suite_now_ms();

    for (int i = 0; i < shape->processes; i++) {
        pids[i] = start_worker(suite->url, folder, shape);
    }
    for (int i = 0; i < shape->processes; i++) {
        int status = -1;
        failures += pids[i] < 0 || waitpid(pids[i], &status, 0) != pids[i] || status != 0;
    }
    int64_t took = suite_now_ms() - begin;
    int expected = shape->processes * shape->threads * shape->rounds;
    int count = read_lines(folder, last, &falls);
    tap_note("%s: %d grants in %lld ms", shape->what, count, (long long)took);
    tap_case(failures == 0, "%s: nobody met another inside", shape->what);
    tap_case(count == expected, "%s: %d of %d rounds", shape->what, count, expected);
    tap_case(falls == 0, "%s: tokens rise in the order of the grants", shape->what);

    pawl_client *client = suite_open(suite, NULL, NULL);
    tap_case(suite_count(suite, client, NULL) == 0, "%s: nothing is left", shape->what);
    tap_case(suite_close(client), "%s: closed", shape->what);
}

int main(int argc, char **argv)
{
    if (argc == 6 && strcmp(argv[1], "--worker") == 0) {
        return run_worker(argv);
    }
    char *url = suite_make_url(argc > 1 ? argv[1] : "local:");
    char *folder = suite_make_url("local:"); /* of the file: a folder is all that is wanted */
    bool is_full = argc > 2 && strcmp(argv[2], "--full") == 0;
    const char *sanitizer = getenv("PAWL_SANITIZE");
    uint64_t last = 0;
    struct suite suite = {.url = url, .err = pawl_error_new()};
    struct shape shapes[] = {
        {.what = "16 processes", .processes = 16, .threads = 1, .rounds = 200},
        {.what = "32 threads of one client", .processes = 1, .threads = 32, .rounds = 200},
        {.what = "8 processes of 4 threads", .processes = 8, .threads = 4, .rounds = 200},
    };

    if (url == NULL || folder == NULL || suite.err == NULL) {
        (void)fprintf(stderr, "contend: no folder or no memory\n");
        return 1;
    }
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        shapes[i].rounds = is_full ? 1000 : shapes[i].rounds;
        shapes[i].rounds /= sanitizer != NULL && sanitizer[0] != '\0' ? 5 : 1;
        check_shape(&suite, folder + strlen("local://"), &shapes[i], &last);
    }
    pawl_error_free(suite.err);
    free(folder);
    free(url);
    return tap_done();
}
