/* See vfs_test.h. Passes everything on to SQLite's own VFS; before each write of a database or a
 * WAL it keeps what was there, until the file is synced. */
#include "backends/local/vfs_test.h"

#ifdef PAWL_FAULT_POINTS

#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/local/dir.h"
#include "backends/local/store.h"
#include "base/alloc.h"
#include "base/assert.h"
#include "base/rand.h"

/* A write, or a cut, that is not on the disk yet. */
struct unsynced {
    struct unsynced *older;
    char path[PAWL__LOCAL_PATH_MAX];
    sqlite3_int64 size; /* of the file before */
    sqlite3_int64 offset;
    size_t len; /* of the bytes that were there */
    unsigned char bytes[];
};

/* SQLite allocates it with the real file behind. */
struct file {
    sqlite3_file base;
    bool is_tracked;
    char path[PAWL__LOCAL_PATH_MAX];
};

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static struct unsynced *newest; /* guarded by mu; owned */
static sqlite3_vfs vfs;         /* immutable after install */
static sqlite3_vfs *below;

static sqlite3_file *real_of(sqlite3_file *file)
{
    return (sqlite3_file *)(void *)((char *)file + sizeof(struct file));
}

/* ---- What is kept -----------------------------------------------------------------------------
 */

static int keep(struct file *file, sqlite3_int64 offset, sqlite3_int64 len)
{
    sqlite3_file *real = real_of(&file->base);
    sqlite3_int64 size = 0;

    if (!file->is_tracked) {
        return SQLITE_OK;
    }
    int rc = real->pMethods->xFileSize(real, &size);
    if (rc != SQLITE_OK) {
        return rc;
    }
    sqlite3_int64 there = offset >= size ? 0 : size - offset < len ? size - offset : len;
    struct unsynced *write = pawl__alloc(sizeof(*write) + (size_t)there);
    if (write == NULL) {
        return SQLITE_NOMEM;
    }
    (void)snprintf(write->path, sizeof(write->path), "%s", file->path);
    write->size = size;
    write->offset = offset;
    write->len = (size_t)there;
    if (there > 0) {
        rc = real->pMethods->xRead(real, write->bytes, (int)there, offset);
    }
    if (rc != SQLITE_OK) {
        pawl__free(write);
        return rc;
    }
    pthread_mutex_lock(&mu);
    write->older = newest;
    newest = write;
    pthread_mutex_unlock(&mu);
    return SQLITE_OK;
}

static void forget(const char *path)
{
    pthread_mutex_lock(&mu);
    for (struct unsynced **at = &newest; *at != NULL;) {
        struct unsynced *write = *at;
        if (strcmp(write->path, path) == 0) {
            *at = write->older;
            pawl__free(write);
        } else {
            at = &write->older;
        }
    }
    pthread_mutex_unlock(&mu);
}

static void undo(const struct unsynced *write)
{
    int fd = open(write->path, O_RDWR | O_CLOEXEC);

    if (fd < 0) {
        return; /* Removed since. */
    }
    ssize_t len = pwrite(fd, write->bytes, write->len, write->offset);
    PAWL_INVARIANT(len == (ssize_t)write->len);
    struct stat st;
    if (fstat(fd, &st) == 0 && st.st_size > write->size) {
        int rc = ftruncate(fd, write->size);
        PAWL_INVARIANT(rc == 0);
    }
    (void)close(fd);
}

unsigned pawl__vfs_test_power_loss(uint64_t seed)
{
    struct pawl__rand rand;
    char shm[PAWL__LOCAL_PATH_MAX];
    unsigned lost = 0;

    pawl__rand_init(&rand, seed);
    pthread_mutex_lock(&mu);
    while (newest != NULL) {
        struct unsynced *write = newest;
        newest = write->older;
        if (seed == 0 || pawl__rand_below(&rand, 2) == 0) {
            undo(write);
            lost++;
        }
        size_t len = strlen(write->path);
        bool is_wal = len > 4 && strcmp(write->path + len - 4, "-wal") == 0;
        if (is_wal) {
            (void)snprintf(shm, sizeof(shm), "%.*s-shm", (int)(len - 4), write->path);
            (void)unlink(shm);
        }
        pawl__free(write);
    }
    pthread_mutex_unlock(&mu);
    return lost;
}

/* ---- Methods of a file ------------------------------------------------------------------------
 */

static int file_close(sqlite3_file *file)
{
    return real_of(file)->pMethods->xClose(real_of(file));
}

static int file_read(sqlite3_file *file, void *data, int len, sqlite3_int64 offset)
{
    return real_of(file)->pMethods->xRead(real_of(file), data, len, offset);
}

static int file_write(sqlite3_file *file, const void *data, int len, sqlite3_int64 offset)
{
    int rc = keep((struct file *)(void *)file, offset, len);

    return rc != SQLITE_OK ? rc : real_of(file)->pMethods->xWrite(real_of(file), data, len, offset);
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    sqlite3_int64 old = 0;

    int rc = real_of(file)->pMethods->xFileSize(real_of(file), &old);
    if (rc == SQLITE_OK && old > size) {
        rc = keep((struct file *)(void *)file, size, old - size);
    }
    return rc != SQLITE_OK ? rc : real_of(file)->pMethods->xTruncate(real_of(file), size);
}

static int file_sync(sqlite3_file *file, int flags)
{
    int rc = real_of(file)->pMethods->xSync(real_of(file), flags);

    if (rc == SQLITE_OK) {
        forget(((struct file *)(void *)file)->path);
    }
    return rc;
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size)
{
    return real_of(file)->pMethods->xFileSize(real_of(file), size);
}

static int file_lock(sqlite3_file *file, int level)
{
    return real_of(file)->pMethods->xLock(real_of(file), level);
}

static int file_unlock(sqlite3_file *file, int level)
{
    return real_of(file)->pMethods->xUnlock(real_of(file), level);
}

static int file_check_reserved(sqlite3_file *file, int *result)
{
    return real_of(file)->pMethods->xCheckReservedLock(real_of(file), result);
}

static int file_control(sqlite3_file *file, int op, void *arg)
{
    return real_of(file)->pMethods->xFileControl(real_of(file), op, arg);
}

static int file_sector_size(sqlite3_file *file)
{
    return real_of(file)->pMethods->xSectorSize(real_of(file));
}

static int file_characteristics(sqlite3_file *file)
{
    return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}

static int file_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **ret)
{
    return real_of(file)->pMethods->xShmMap(real_of(file), page, size, extend, ret);
}

static int file_shm_lock(sqlite3_file *file, int offset, int count, int flags)
{
    return real_of(file)->pMethods->xShmLock(real_of(file), offset, count, flags);
}

static void file_shm_barrier(sqlite3_file *file)
{
    real_of(file)->pMethods->xShmBarrier(real_of(file));
}

static int file_shm_unmap(sqlite3_file *file, int remove)
{
    return real_of(file)->pMethods->xShmUnmap(real_of(file), remove);
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_check_reserved,
    .xFileControl = file_control,
    .xSectorSize = file_sector_size,
    .xDeviceCharacteristics = file_characteristics,
    .xShmMap = file_shm_map,
    .xShmLock = file_shm_lock,
    .xShmBarrier = file_shm_barrier,
    .xShmUnmap = file_shm_unmap,
};

/* ---- The VFS ----------------------------------------------------------------------------------
 */

static int vfs_open(sqlite3_vfs *self, const char *path, sqlite3_file *base, int flags,
                    int *ret_flags)
{
    struct file *file = (struct file *)(void *)base;

    (void)self;
    memset(file, 0, sizeof(*file));
    file->is_tracked = path != NULL && (flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL)) != 0;
    (void)snprintf(file->path, sizeof(file->path), "%s", path != NULL ? path : "");
    int rc = below->xOpen(below, path, real_of(base), flags, ret_flags);
    base->pMethods = real_of(base)->pMethods != NULL ? &methods : NULL;
    return rc;
}

bool pawl__vfs_test_install(void)
{
    below = sqlite3_vfs_find(NULL);
    if (below == NULL) {
        return false;
    }
    vfs = *below;
    vfs.zName = "pawl-loss";
    vfs.szOsFile = below->szOsFile + (int)sizeof(struct file);
    vfs.xOpen = vfs_open;
    vfs.pNext = NULL;
    pawl__local_test_vfs = vfs.zName;
    return sqlite3_vfs_register(&vfs, 0) == SQLITE_OK;
}

#endif
