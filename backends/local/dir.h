/* The directory of the store: where it is, who may use it, what the files in it are called. */
#ifndef PAWL_BACKENDS_LOCAL_DIR_H
#define PAWL_BACKENDS_LOCAL_DIR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <pawl/status.h>

/* SQLite's own limit is 512 for a path with its suffixes. */
#define PAWL__LOCAL_DIR_MAX  400
#define PAWL__LOCAL_PATH_MAX 512

/* Immutable after pawl__local_dir_init(). */
struct pawl__local_dir {
    char path[PAWL__LOCAL_DIR_MAX + 1];
    char db[PAWL__LOCAL_PATH_MAX];
    char gate[PAWL__LOCAL_PATH_MAX];
    char sessions[PAWL__LOCAL_PATH_MAX];
    char bells[PAWL__LOCAL_PATH_MAX];
    char ballast[PAWL__LOCAL_PATH_MAX];
    bool is_shared;   /* group-writable: several users */
    mode_t file_mode; /* 0600, or 0660 if shared */
};

/* `path` from the URL; NULL or "" = the default of formats.md 2. Makes a directory that is missing
 * (0700), checks owner and mode of one that is there. Nothing is made in it. E_CONFIG,
 * E_PERMISSION, E_UNAVAILABLE. */
pawl_status pawl__local_dir_init(struct pawl__local_dir *dir, const char *path, pawl_error *err);

/* Makes the directories of sessions and bells; 0 or an errno. */
int pawl__local_dir_make_inner(const struct pawl__local_dir *dir);

/* <parent>/<16 hex of id><suffix>; `parent` is dir->sessions or dir->bells. */
void pawl__local_dir_path(char out[PAWL__LOCAL_PATH_MAX], const char *parent, uint64_t id,
                          const char *suffix);

#endif
