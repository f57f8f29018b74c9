/* See gate.h. Two bytes of one file under open-file-description locks: the door (0) is held while
 * writing, the turnstile (1) while waiting for the door. A busy process that leaves must queue at
 * the turnstile behind the one that waits at the door, so that it cannot starve the others, as
 * SQLite's own busy wait does. The kernel frees both when a process dies. */
#include "backends/local/gate.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "backends/local/fault.h"
#include "base/assert.h"
#include "base/clock.h"

#define DOOR      0
#define TURNSTILE 1

int pawl__local_gate_open(const struct pawl__local_dir *dir)
{
    int fd = open(dir->gate, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, dir->file_mode);

    if (fd >= 0 && dir->is_shared) {
        /* The umask took the group's bits; only the owner may give them, and did if it is not us.
         */
        (void)fchmod(fd, dir->file_mode);
    }
    return fd;
}

static int lock_byte(int fd, int command, short type, off_t byte)
{
    struct flock lock = {
        .l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1, .l_pid = 0};
    int rc = 0;

    do {
        rc = fcntl(fd, command, &lock);
    } while (rc != 0 && errno == EINTR);
    return rc == 0 ? 0 : errno;
}

static void unlock_byte(int fd, off_t byte)
{
    int code = lock_byte(fd, F_OFD_SETLK, F_UNLCK, byte);
    PAWL_INVARIANT(code == 0); /* Else every process of this machine waits for us for ever. */
}

/* Two files of that name would be two gates. Door held on entry; let go on failure. */
static int check_file(int fd, const struct pawl__local_dir *dir)
{
    struct stat held, named;

    if (fstat(fd, &held) == 0 && stat(dir->gate, &named) == 0 && held.st_dev == named.st_dev &&
        held.st_ino == named.st_ino) {
        return 0;
    }
    unlock_byte(fd, DOOR);
    return ESTALE;
}

int pawl__local_gate_enter(int fd, const struct pawl__local_dir *dir)
{
    int code = lock_byte(fd, F_OFD_SETLKW, F_WRLCK, TURNSTILE);

    if (code != 0) {
        return code;
    }
    pawl__fault_point("local.gate.turnstile");
    code = lock_byte(fd, F_OFD_SETLKW, F_WRLCK, DOOR);
    unlock_byte(fd, TURNSTILE);
    if (code != 0) {
        return code;
    }
    pawl__fault_point("local.gate.entered");
    return check_file(fd, dir);
}

/* There is no timed wait for a file lock without signals, which a library must not use: so it
 * polls. Only for the first open of a store. */
int pawl__local_gate_enter_timed(int fd, const struct pawl__local_dir *dir, int64_t timeout_ms)
{
    struct timespec pause = {0, 2000000};
    struct pawl__boot end = pawl__boot_add(pawl__boot_now(), timeout_ms);

    for (;;) {
        int code = lock_byte(fd, F_OFD_SETLK, F_WRLCK, DOOR);
        if (code == 0) {
            return check_file(fd, dir);
        }
        if (code != EAGAIN && code != EACCES) {
            return code;
        }
        if (!pawl__boot_before(pawl__boot_now(), end)) {
            return ETIMEDOUT;
        }
        (void)nanosleep(&pause, NULL); /* Woken early is as good. */
    }
}

void pawl__local_gate_leave(int fd)
{
    unlock_byte(fd, DOOR);
}

/* ---- The mark ----------------------------------------------------------------------------------
 */

#define MARK_MAGIC "pawlnext"

struct mark {
    char magic[8];
    char store_id[16];
    uint64_t next;
    uint64_t inverse; /* ~next: what is torn or foreign is no mark */
};

_Static_assert(sizeof(struct mark) == 40, "the mark has no holes");

uint64_t pawl__local_gate_mark(int fd, const char *store_id)
{
    struct mark mark;

    PAWL_INVARIANT(strlen(store_id) == sizeof(mark.store_id));
    if (pread(fd, &mark, sizeof(mark), 0) != (ssize_t)sizeof(mark) ||
        memcmp(mark.magic, MARK_MAGIC, sizeof(mark.magic)) != 0 ||
        memcmp(mark.store_id, store_id, sizeof(mark.store_id)) != 0 || mark.inverse != ~mark.next) {
        return 0;
    }
    return mark.next;
}

int pawl__local_gate_set_mark(int fd, const char *store_id, uint64_t next)
{
    struct mark mark = {.next = next, .inverse = ~next};

    PAWL_INVARIANT(strlen(store_id) == sizeof(mark.store_id));
    memcpy(mark.magic, MARK_MAGIC, sizeof(mark.magic));
    memcpy(mark.store_id, store_id, sizeof(mark.store_id));
    ssize_t len = pwrite(fd, &mark, sizeof(mark), 0);
    if (len < 0) {
        return errno;
    }
    return len == (ssize_t)sizeof(mark) ? 0 : ENOSPC;
}
