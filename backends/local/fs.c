/* See fs.h. An allow-list: what is not known to work is refused. */
#include "backends/local/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "core/error.h"

#define MOUNTINFO_MAX ((size_t)1024 * 1024)

/* Numbers of linux/magic.h and of the file systems' own sources; not all are in the headers. */
static const struct {
    unsigned long type;
    const char *name;
    enum pawl__fs_verdict verdict;
} known[] = {
    {0xEF53, "ext4", PAWL__FS_GOOD},
    {0x58465342, "xfs", PAWL__FS_GOOD},
    {0x9123683E, "btrfs", PAWL__FS_GOOD},
    {0x01021994, "tmpfs", PAWL__FS_GOOD},
    {0x794C7630, "overlayfs", PAWL__FS_OVERLAY},
    {0x6969, "NFS", PAWL__FS_REFUSED},
    {0x01021997, "9p", PAWL__FS_REFUSED},
    {0x65735546, "FUSE", PAWL__FS_REFUSED},
    {0xFF534D42, "CIFS", PAWL__FS_REFUSED},
    {0xFE534D42, "SMB", PAWL__FS_REFUSED},
    {0x517B, "SMB", PAWL__FS_REFUSED},
    {0x00C36400, "CephFS", PAWL__FS_REFUSED},
    {0x2FC12FC1, "ZFS", PAWL__FS_REFUSED},
    {0xF2F52010, "f2fs", PAWL__FS_REFUSED},
    {0x4D44, "FAT", PAWL__FS_REFUSED},
    {0x2011BAB0, "exFAT", PAWL__FS_REFUSED},
    {0x5346544E, "NTFS", PAWL__FS_REFUSED},
    {0xF15F, "eCryptfs", PAWL__FS_REFUSED},
    {0x858458F6, "ramfs", PAWL__FS_REFUSED},
    {0x01161970, "GFS2", PAWL__FS_REFUSED},
    {0x7461636F, "OCFS2", PAWL__FS_REFUSED},
    {0x0BD00BD0, "Lustre", PAWL__FS_REFUSED},
    {0x5346414F, "AFS", PAWL__FS_REFUSED},
    {0x9FA0, "proc", PAWL__FS_REFUSED},
    {0x62656572, "sysfs", PAWL__FS_REFUSED},
};

enum pawl__fs_verdict pawl__fs_classify(unsigned long type, const char **ret_name)
{
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (known[i].type == type) {
            *ret_name = known[i].name;
            return known[i].verdict;
        }
    }
    *ret_name = "unknown";
    return PAWL__FS_REFUSED;
}

/* ---- Overlay ----------------------------------------------------------------------------------
 */

/* Undoes the octal escapes of mountinfo (\040 for a space); false if it does not fit. */
static bool copy_unescaped(const char *text, size_t len, char *out, size_t out_size)
{
    size_t used = 0;

    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        if (c == '\\' && i + 3 < len) {
            c = (char)(((text[i + 1] - '0') << 6) | ((text[i + 2] - '0') << 3) |
                       (text[i + 3] - '0'));
            i += 3;
        }
        if (used + 1 >= out_size) {
            return false;
        }
        out[used++] = c;
    }
    out[used] = '\0';
    return true;
}

/* The n-th field (from 0) of a line; its length in *ret_len. */
static const char *find_field(const char *line, int n, size_t *ret_len)
{
    for (; n > 0; n--) {
        line += strcspn(line, " \n");
        if (line[0] != ' ') {
            return NULL;
        }
        line++;
    }
    *ret_len = strcspn(line, " \n");
    return line;
}

/* upperdir= of the options after " - overlay "; NULL if the line is of another type. */
static const char *find_upper(const char *line, size_t line_len, size_t *ret_len)
{
    const char *options = memmem(line, line_len, " - overlay ", 11);
    if (options == NULL) {
        return NULL;
    }
    const char *upper =
        memmem(options, line_len - (size_t)(options - line), "upperdir=", strlen("upperdir="));
    if (upper == NULL) {
        return NULL;
    }
    upper += strlen("upperdir=");
    *ret_len = strcspn(upper, ", \n");
    return upper;
}

pawl_status pawl__fs_overlay_upper(const char *mountinfo, const char *mount_point, char *out,
                                   size_t out_size)
{
    char point[PATH_MAX];
    pawl_status status = PAWL_E_NOT_FOUND;

    /* The last line of a mount point is the one on top. */
    for (const char *line = mountinfo; line[0] != '\0';) {
        size_t line_len = strcspn(line, "\n");
        size_t len = 0;
        const char *field = find_field(line, 4, &len);
        if (field != NULL && copy_unescaped(field, len, point, sizeof(point)) &&
            strcmp(point, mount_point) == 0) {
            const char *upper = find_upper(line, line_len, &len);
            bool fits = upper != NULL && copy_unescaped(upper, len, out, out_size);
            status = fits ? PAWL_OK : PAWL_E_NOT_FOUND;
        }
        line += line_len + (line[line_len] == '\n' ? 1 : 0);
    }
    return status;
}

/* The mount point of `path` (absolute, resolved): the highest ancestor on the same device. */
static bool find_mount_point(char *path)
{
    struct stat here, above;

    if (stat(path, &here) != 0) {
        return false;
    }
    while (strcmp(path, "/") != 0) {
        char *slash = strrchr(path, '/');
        char kept = slash[1];
        slash[slash == path ? 1 : 0] = '\0';
        bool is_same = stat(path, &above) == 0 && above.st_dev == here.st_dev;
        if (!is_same) {
            /* `path` again as it was: the mount point. */
            slash[0] = '/';
            slash[1] = kept;
            return true;
        }
    }
    return true;
}

static bool read_mountinfo(struct pawl__buf *buf)
{
    FILE *file = fopen("/proc/self/mountinfo", "re");
    char chunk[4096];
    size_t len = 0;

    if (file == NULL) {
        return false;
    }
    while (buf->len < MOUNTINFO_MAX && (len = fread(chunk, 1, sizeof(chunk), file)) > 0) {
        pawl__buf_append(buf, chunk, len);
    }
    (void)fclose(file); /* Only read. */
    return pawl__buf_ok(buf);
}

/* Whether `db` is absent from the upper directory of its overlay, where that can be seen at all. */
static bool is_missing_in_upper(const char *dir, const char *db)
{
    char real[PATH_MAX], point[PATH_MAX], upper[PATH_MAX], path[2 * (size_t)PATH_MAX];
    struct pawl__buf buf = {0};
    struct stat st;
    bool is_missing = false;

    if (realpath(dir, real) == NULL) {
        return false;
    }
    memcpy(point, real, sizeof(point));
    if (!find_mount_point(point) || !read_mountinfo(&buf) ||
        pawl__fs_overlay_upper(pawl__buf_str(&buf), point, upper, sizeof(upper)) != PAWL_OK ||
        stat(upper, &st) != 0) {
        goto out;
    }
    const char *below = strcmp(point, "/") == 0 ? real : real + strlen(point);
    (void)snprintf(path, sizeof(path), "%s%s/%s", upper, below, strrchr(db, '/') + 1);
    is_missing = lstat(path, &st) != 0 && errno == ENOENT;
out:
    pawl__buf_release(&buf);
    return is_missing;
}

/* A new file lies in the upper layer: the database must be on the same device. */
static bool differs_from_new_file(const char *dir, const struct stat *db_stat)
{
    char path[PATH_MAX];
    struct stat st;

    int len = snprintf(path, sizeof(path), "%s/layer.XXXXXX", dir);
    if (len < 0 || (size_t)len >= sizeof(path)) {
        return false;
    }
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    bool differs = fstat(fd, &st) == 0 && st.st_dev != db_stat->st_dev;
    (void)unlink(path); /* A leftover of no meaning. */
    (void)close(fd);
    return differs;
}

static pawl_status check_overlay(const char *dir, const char *db, char *warning,
                                 size_t warning_size, pawl_error *err)
{
    struct stat st;

    (void)snprintf(warning, warning_size,
                   "overlayfs at %s: locks are shared only within this container", dir);
    if (stat(db, &st) != 0) {
        return PAWL_OK;
    }
    if (is_missing_in_upper(dir, db) || differs_from_new_file(dir, &st)) {
        return pawl__error_set(err, PAWL_E_UNSUPPORTED, 0,
                               "the store %s is in a lower layer of overlayfs, where every "
                               "container would get a copy of it; use a volume: local:///dir",
                               db);
    }
    return PAWL_OK;
}

pawl_status pawl__fs_check(const char *dir, const char *db, char *warning, size_t warning_size,
                           pawl_error *err)
{
    struct statfs fs;
    const char *name = NULL;

    warning[0] = '\0';
    if (statfs(dir, &fs) != 0) {
        return pawl__error_set(err, PAWL_E_UNAVAILABLE, errno, "statfs %s: %s", dir,
                               strerror(errno));
    }
    switch (pawl__fs_classify((unsigned long)fs.f_type, &name)) {
    case PAWL__FS_GOOD:
        return PAWL_OK;
    case PAWL__FS_OVERLAY:
        return check_overlay(dir, db, warning, warning_size, err);
    case PAWL__FS_REFUSED:
        break;
    }
    return pawl__error_set(err, PAWL_E_UNSUPPORTED, 0,
                           "%s is on a file system of type %s (0x%lx), whose locks cannot be "
                           "relied on; use a directory on ext4, xfs, btrfs or tmpfs: local:///dir",
                           dir, name, (unsigned long)fs.f_type);
}
