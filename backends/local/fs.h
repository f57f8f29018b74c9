/* Which file systems can carry the store: locks must hold between processes, a rename must be
 * atomic, an fsync must reach the disk. */
#ifndef PAWL_BACKENDS_LOCAL_FS_H
#define PAWL_BACKENDS_LOCAL_FS_H

#include <stddef.h>

#include <pawl/status.h>

enum pawl__fs_verdict {
    PAWL__FS_GOOD = 1,
    PAWL__FS_OVERLAY, /* works, but is not shared with others that see the same lower layer */
    PAWL__FS_REFUSED,
};

/* Pure. `type` is f_type of statfs. *ret_name: for people, static; "unknown" if not in our list. */
enum pawl__fs_verdict pawl__fs_classify(unsigned long type, const char **ret_name);

/* Pure. Finds the upper directory of the overlay that is mounted at `mount_point` in the text of a
 * mountinfo file; PAWL_E_NOT_FOUND if there is none or it does not fit. */
pawl_status pawl__fs_overlay_upper(const char *mountinfo, const char *mount_point, char *out,
                                   size_t out_size);

/* Checks the directory `dir` and the database `db` in it (which need not exist). `warning` gets a
 * sentence for people or "". E_UNSUPPORTED with the name of the file system and the cure. */
pawl_status pawl__fs_check(const char *dir, const char *db, char *warning, size_t warning_size,
                           pawl_error *err);

#endif
