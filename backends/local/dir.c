/* See dir.h. */
#include "backends/local/dir.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/text.h"
#include "core/error.h"

/* Under XDG_STATE_HOME, else as the XDG base directory specification and formats.md 2 say. */
static pawl_status find_default(char out[PAWL__LOCAL_DIR_MAX + 1], pawl_error *err)
{
    const char *state = getenv("XDG_STATE_HOME");
    const char *home = getenv("HOME");
    int len = 0;

    if (state != NULL && state[0] == '/') {
        len = snprintf(out, PAWL__LOCAL_DIR_MAX + 1, "%s/pawl", state);
    } else if (geteuid() == 0) {
        len = snprintf(out, PAWL__LOCAL_DIR_MAX + 1, "/var/lib/pawl");
    } else if (home != NULL && home[0] == '/') {
        len = snprintf(out, PAWL__LOCAL_DIR_MAX + 1, "%s/.local/state/pawl", home);
    } else {
        return pawl__error_set(err, PAWL_E_CONFIG, 0,
                               "no place for the local store: set HOME or XDG_STATE_HOME, or use "
                               "local:///dir");
    }
    if (len < 0 || len > PAWL__LOCAL_DIR_MAX) {
        return pawl__error_set(err, PAWL_E_CONFIG, 0,
                               "the path of the local store is longer than %d bytes",
                               PAWL__LOCAL_DIR_MAX);
    }
    return PAWL_OK;
}

/* Makes `path` and, with `parents`, what is missing above it. */
static int make_dirs(const char *path, bool parents)
{
    char part[PAWL__LOCAL_DIR_MAX + 1];

    if (mkdir(path, 0700) == 0 || errno == EEXIST) {
        return 0;
    }
    if (errno != ENOENT || !parents) {
        return errno;
    }
    (void)snprintf(part, sizeof(part), "%s", path);
    for (char *slash = strchr(part + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        slash[0] = '\0';
        if (mkdir(part, 0700) != 0 && errno != EEXIST) {
            return errno;
        }
        slash[0] = '/';
    }
    return mkdir(path, 0700) == 0 || errno == EEXIST ? 0 : errno;
}

/* One user alone: the directory is theirs. Several: it is writable for a group that our files get,
 * by setgid or because it is our own group. */
static pawl_status check_access(struct pawl__local_dir *dir, const struct stat *st, pawl_error *err)
{
    dir->is_shared = (st->st_mode & S_IWGRP) != 0;
    dir->file_mode = dir->is_shared ? 0660 : 0600;
    if (!S_ISDIR(st->st_mode)) {
        return pawl__error_set(err, PAWL_E_CONFIG, 0, "%s is not a directory", dir->path);
    }
    if ((st->st_mode & S_IWOTH) != 0) {
        return pawl__error_set(err, PAWL_E_PERMISSION, 0,
                               "%s is writable for everybody, so anybody could remove its locks: "
                               "use a directory below it, or chmod o-w",
                               dir->path);
    }
    if (dir->is_shared && (st->st_mode & S_ISGID) == 0 && getegid() != st->st_gid) {
        return pawl__error_set(err, PAWL_E_PERMISSION, 0,
                               "%s is shared, but files of ours would get another group than %ld: "
                               "chmod g+s %s",
                               dir->path, (long)st->st_gid, dir->path);
    }
    if (access(dir->path, R_OK | W_OK | X_OK) != 0) {
        return pawl__error_set(err, PAWL_E_PERMISSION, errno,
                               "%s is not ours to write: %s; to share it: chmod g+rwxs and a "
                               "common group",
                               dir->path, strerror(errno));
    }
    return PAWL_OK;
}

static void set_paths(struct pawl__local_dir *dir)
{
    (void)snprintf(dir->db, sizeof(dir->db), "%s/pawl.db", dir->path);
    (void)snprintf(dir->gate, sizeof(dir->gate), "%s/gate", dir->path);
    (void)snprintf(dir->sessions, sizeof(dir->sessions), "%s/sessions", dir->path);
    (void)snprintf(dir->bells, sizeof(dir->bells), "%s/bells", dir->path);
    (void)snprintf(dir->ballast, sizeof(dir->ballast), "%s/ballast", dir->path);
}

pawl_status pawl__local_dir_init(struct pawl__local_dir *dir, const char *path, pawl_error *err)
{
    struct stat st;
    bool is_default = path == NULL || path[0] == '\0';

    if (is_default) {
        pawl_status status = find_default(dir->path, err);
        if (status != PAWL_OK) {
            return status;
        }
    } else if (path[0] != '/' || strlen(path) > PAWL__LOCAL_DIR_MAX) {
        return pawl__error_set(err, PAWL_E_CONFIG, 0,
                               "the directory of local:// must be an absolute path of at most %d "
                               "bytes, as in local:///dir",
                               PAWL__LOCAL_DIR_MAX);
    } else {
        (void)snprintf(dir->path, sizeof(dir->path), "%s", path);
    }
    /* "/dir/" and "/dir" are one store, and the root directory is none. */
    for (size_t len = strlen(dir->path); len > 1 && dir->path[len - 1] == '/'; len--) {
        dir->path[len - 1] = '\0';
    }
    if (stat(dir->path, &st) != 0) {
        int code = make_dirs(dir->path, is_default);
        if (code != 0 || stat(dir->path, &st) != 0) {
            code = code != 0 ? code : errno;
            return pawl__error_set(err, code == EACCES ? PAWL_E_PERMISSION : PAWL_E_UNAVAILABLE,
                                   code, "cannot make the directory %s of the local store: %s",
                                   dir->path, strerror(code));
        }
    }
    set_paths(dir);
    return check_access(dir, &st, err);
}

static int make_inner(const struct pawl__local_dir *dir, const char *path)
{
    mode_t mode = dir->is_shared ? 02770 : 0700;

    if (mkdir(path, mode) != 0) {
        return errno == EEXIST ? 0 : errno;
    }
    /* The mode of mkdir passes through the umask. */
    return dir->is_shared && chmod(path, mode) != 0 ? errno : 0;
}

int pawl__local_dir_make_inner(const struct pawl__local_dir *dir)
{
    int code = make_inner(dir, dir->sessions);

    return code != 0 ? code : make_inner(dir, dir->bells);
}

void pawl__local_dir_path(char out[PAWL__LOCAL_PATH_MAX], const char *parent, uint64_t id,
                          const char *suffix)
{
    char hex[17];

    pawl__hex_u64(hex, id);
    int len = snprintf(out, PAWL__LOCAL_PATH_MAX, "%s/%s%s", parent, hex, suffix);
    pawl__assert(len > 0 && len < PAWL__LOCAL_PATH_MAX);
    (void)len; /* Only asserted. */
}
