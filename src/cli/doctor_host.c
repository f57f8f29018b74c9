/* pawl doctor: the directory of a local store, and the machine; see doctor.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/doctor.h"

#define BYTES_A_MIB       (1024ULL * 1024)
#define SPACE_WARN_BYTES  (64 * BYTES_A_MIB)
#define SPACE_FAIL_BYTES  (4 * BYTES_A_MIB)
#define FILES_MIN         256 /* descriptors: a client takes about ten, CMD its own */
#define INOTIFY_MIN       64
#define YEAR_2024_SECONDS 1704067200

/* Says how a mode lets others in. */
static void examine_rights(struct pawl__doctor *doctor, const char *dir, const struct stat *st)
{
    const char *check = "directory";
    unsigned mode = (unsigned)st->st_mode & 07777U;
    if (access(dir, R_OK | W_OK | X_OK) != 0) {
        pawl__doctor_find(doctor, check, PAWL__DOCTOR_FAIL,
                          "give your user or group the right to write, or choose another --store",
                          "%s (mode %04o) is not writable for you: %s", dir, mode, strerror(errno));
    } else if ((mode & S_IWOTH) != 0) {
        pawl__doctor_find(doctor, check, PAWL__DOCTOR_WARN, "chmod o-w, and share it by a group",
                          "%s (mode %04o): any user of this machine can break any lock", dir, mode);
    } else {
        pawl__doctor_find(doctor, check, PAWL__DOCTOR_OK, "", "%s, mode %04o%s", dir, mode,
                          (mode & S_IWGRP) != 0 ? ", shared with its group" : "");
    }
}

struct fs_kind {
    unsigned long magic;
    const char *name;
    enum pawl__verdict verdict;
    const char *cure;
};

static const struct fs_kind *find_fs(unsigned long magic)
{
    static const char elsewhere[] = "choose a directory on a local disk with --store local:///dir";
    static const struct fs_kind kinds[] = {
        {0xEF53, "ext4", PAWL__DOCTOR_OK, ""},
        {0x58465342, "xfs", PAWL__DOCTOR_OK, ""},
        {0x9123683E, "btrfs", PAWL__DOCTOR_OK, ""},
        {0x01021994, "tmpfs: gone after a reboot, and then a new store", PAWL__DOCTOR_OK, ""},
        {0x794C7630, "overlayfs: other containers do not see these locks", PAWL__DOCTOR_WARN,
         "mount a volume that all of them share"},
        {0x6969, "NFS: its locks do not hold between machines as ours need", PAWL__DOCTOR_FAIL,
         elsewhere},
        {0x01021997, "9p: no locks between processes", PAWL__DOCTOR_FAIL, elsewhere},
        {0x65735546, "FUSE: locks depend on the program behind it", PAWL__DOCTOR_FAIL, elsewhere},
    };
    static const struct fs_kind unknown = {0, "of a kind that is not known to work",
                                           PAWL__DOCTOR_FAIL, elsewhere};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (kinds[i].magic == magic) {
            return &kinds[i];
        }
    }
    return &unknown;
}

static void examine_space(struct pawl__doctor *doctor, const char *dir)
{
    struct statvfs space;
    if (statvfs(dir, &space) != 0) {
        return;
    }
    uint64_t bytes = (uint64_t)space.f_bavail * space.f_frsize;
    enum pawl__verdict verdict = PAWL__DOCTOR_OK;
    if (bytes < SPACE_FAIL_BYTES || (space.f_files > 0 && space.f_favail == 0)) {
        verdict = PAWL__DOCTOR_FAIL;
    } else if (bytes < SPACE_WARN_BYTES) {
        verdict = PAWL__DOCTOR_WARN;
    }
    pawl__doctor_find(doctor, "free space", verdict,
                      verdict == PAWL__DOCTOR_OK ? "" : "make room: a full disk grants no lock",
                      "%" PRIu64 " MiB for you", (uint64_t)(bytes / BYTES_A_MIB));
}

void pawl__doctor_directory(struct pawl__doctor *doctor, const char *dir)
{
    struct stat st;
    struct statfs fs;
    if (stat(dir, &st) != 0 || statfs(dir, &fs) != 0) {
        pawl__doctor_find(doctor, "directory", PAWL__DOCTOR_FAIL,
                          "make it, or choose another with --store local:///dir", "%s: %s", dir,
                          strerror(errno));
        return;
    }
    examine_rights(doctor, dir, &st);
    const struct fs_kind *kind = find_fs((unsigned long)fs.f_type);
    pawl__doctor_find(doctor, "file system", kind->verdict, kind->cure, "%s", kind->name);
    examine_space(doctor, dir);
}

static void examine_clock(struct pawl__doctor *doctor)
{
    struct timespec boot;
    struct timespec wall;
    if (clock_gettime(CLOCK_BOOTTIME, &boot) != 0 || clock_gettime(CLOCK_REALTIME, &wall) != 0) {
        pawl__doctor_find(doctor, "clock", PAWL__DOCTOR_FAIL,
                          "use a kernel with CLOCK_BOOTTIME, or allow the call in the sandbox",
                          "no clock that counts suspend: %s", strerror(errno));
        return;
    }
    bool is_early = wall.tv_sec < YEAR_2024_SECONDS;
    pawl__doctor_find(doctor, "clock", is_early ? PAWL__DOCTOR_WARN : PAWL__DOCTOR_OK,
                      is_early ? "set the clock; locks do not depend on it, 'since' does" : "",
                      is_early ? "the date is before 2024 (up for %lld s)"
                               : "counts suspend (up for %lld s); the date is plausible",
                      (long long)boot.tv_sec);
}

static void examine_files(struct pawl__doctor *doctor)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return;
    }
    bool is_low = limit.rlim_cur < FILES_MIN;
    pawl__doctor_find(doctor, "descriptors", is_low ? PAWL__DOCTOR_WARN : PAWL__DOCTOR_OK,
                      is_low ? "ulimit -n 1024" : "", "%llu open files allowed",
                      (unsigned long long)limit.rlim_cur);
}

static void examine_inotify(struct pawl__doctor *doctor)
{
    char line[32] = "";
    uint64_t instances = 0;
    FILE *file = fopen("/proc/sys/fs/inotify/max_user_instances", "re");
    if (file == NULL) {
        return;
    }
    if (fgets(line, sizeof(line), file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        bool is_low = pawl__parse_u64(line, &instances) && instances < INOTIFY_MIN;
        pawl__doctor_find(doctor, "inotify", is_low ? PAWL__DOCTOR_WARN : PAWL__DOCTOR_OK,
                          is_low ? "sysctl fs.inotify.max_user_instances=256" : "",
                          "%s instances a user: as many processes can wait without polling", line);
    }
    (void)fclose(file); /* was only read */
}

void pawl__doctor_machine(struct pawl__doctor *doctor)
{
    examine_clock(doctor);
    examine_files(doctor);
    examine_inotify(doctor);
}
