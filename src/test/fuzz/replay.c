/* Runs a fuzz target without libFuzzer: replay FOLDER. Each file of the corpus is one TAP case: the
 * file itself, every beginning of it, and seeded damage, so that every build fuzzes a little. A
 * property that is broken aborts, which the harness counts; the note before tells the file. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rand.h"
#include "test/fuzz/fuzz.h"
#include "test/tap.h"

#define INPUT_MAX  (16 * 1024)
#define DAMAGED    500
#define PREFIX_MAX 512

/* A copy in a block of exactly its size, so that AddressSanitizer sees any byte read beyond. */
static void run_one(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size == 0 ? 1 : size);

    if (copy == NULL) {
        abort();
    }
    if (size > 0) {
        memcpy(copy, data, size);
    }
    (void)LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

/* Changes some bytes: overwritten, removed, or repeated from elsewhere. */
static size_t damage(struct pawl__rand *rand, uint8_t *data, size_t size)
{
    for (uint64_t hits = 1 + pawl__rand_below(rand, 4); hits > 0 && size > 1; hits--) {
        size_t at = pawl__rand_below(rand, size);
        size_t from = pawl__rand_below(rand, size);
        switch (pawl__rand_below(rand, 3)) {
        case 0:
            data[at] = (uint8_t)pawl__rand_u64(rand);
            break;
        case 1:
            memmove(data + at, data + at + 1, size - at - 1);
            size--;
            break;
        default:
            data[at] = data[from];
            break;
        }
    }
    return size;
}

static void run_all(const uint8_t *data, size_t size)
{
    static uint8_t damaged[INPUT_MAX];
    struct pawl__rand rand;

    run_one(data, size);
    for (size_t len = 0; len < size && len < PREFIX_MAX; len++) {
        run_one(data, len);
    }
    pawl__rand_init(&rand, size);
    for (int i = 0; i < DAMAGED; i++) {
        memcpy(damaged, data, size);
        run_one(damaged, damage(&rand, damaged, size));
    }
}

static void replay_file(const char *folder, const char *name)
{
    static uint8_t data[INPUT_MAX];
    char path[4096];

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        tap_case(false, "%s can be opened", name);
        return;
    }
    size_t size = fread(data, 1, sizeof(data), file);
    (void)fclose(file); /* Only read from. */
    (void)fprintf(stderr, "replaying %s\n", path);
    run_all(data, size);
    tap_case(true, "%s", name);
}

int main(int argc, char **argv)
{
    struct dirent **entries = NULL;

    if (argc != 2) {
        (void)fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
        return 64;
    }
    int count = scandir(argv[1], &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        if (entries[i]->d_name[0] != '.') {
            replay_file(argv[1], entries[i]->d_name);
        }
        free(entries[i]);
    }
    free(entries);
    TAP_CHECK(count > 2); /* "." and ".." are always there: the corpus is not empty. */
    return tap_done();
}
