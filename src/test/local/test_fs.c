/* File systems that carry the local store, and those that do not. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/local/fs.h"
#include "host.h"

TestSuite(local_fs, .timeout = 60);

/* The allow-list: what is not on it is refused, unknown types too. */
Test(local_fs, classify)
{
    static const struct {
        unsigned long type;
        enum pawl__fs_verdict verdict;
        const char *name;
    } rows[] = {
        {0xEF53, PAWL__FS_GOOD, "ext4"},
        {0x58465342, PAWL__FS_GOOD, "xfs"},
        {0x9123683E, PAWL__FS_GOOD, "btrfs"},
        {0x01021994, PAWL__FS_GOOD, "tmpfs"},
        {0x794C7630, PAWL__FS_OVERLAY, "overlayfs"},
        {0x6969, PAWL__FS_REFUSED, "NFS"},
        {0x01021997, PAWL__FS_REFUSED, "9p"},
        {0x65735546, PAWL__FS_REFUSED, "FUSE"},
        {0xFF534D42, PAWL__FS_REFUSED, "CIFS"},
        {0x12345678, PAWL__FS_REFUSED, "unknown"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *name = NULL;
        cr_assert_eq(pawl__fs_classify(rows[i].type, &name), rows[i].verdict, "%lx", rows[i].type);
        cr_assert_str_eq(name, rows[i].name);
    }
}

/* The upper directory is read from mountinfo: the topmost mount counts, escapes are undone. */
Test(local_fs, overlay_upper)
{
    static const char text[] =
        "22 27 0:21 / /proc rw - proc proc rw\n"
        "30 27 0:30 / / rw,relatime - overlay overlay rw,lowerdir=/l,upperdir=/old,workdir=/w\n"
        "31 27 0:31 / / rw - overlay overlay rw,lowerdir=/l,upperdir=/a\\040b/u,workdir=/w\n"
        "32 27 0:32 / /m\\040nt rw - overlay none rw,lowerdir=/l,upperdir=/up\n"
        "33 27 0:33 / /ro rw - overlay none ro,lowerdir=/l\n"
        "34 27 0:34 / /plain rw - ext4 /dev/sda rw\n";
    char out[64];

    cr_assert_eq(pawl__fs_overlay_upper(text, "/", out, sizeof(out)), PAWL_OK);
    cr_assert_str_eq(out, "/a b/u");
    cr_assert_eq(pawl__fs_overlay_upper(text, "/m nt", out, sizeof(out)), PAWL_OK);
    cr_assert_str_eq(out, "/up");
    cr_assert_eq(pawl__fs_overlay_upper(text, "/ro", out, sizeof(out)), PAWL_E_NOT_FOUND);
    cr_assert_eq(pawl__fs_overlay_upper(text, "/plain", out, sizeof(out)), PAWL_E_NOT_FOUND);
    cr_assert_eq(pawl__fs_overlay_upper(text, "/no", out, sizeof(out)), PAWL_E_NOT_FOUND);
    cr_assert_eq(pawl__fs_overlay_upper("", "/", out, sizeof(out)), PAWL_E_NOT_FOUND);
    cr_assert_eq(pawl__fs_overlay_upper("broken", "/", out, sizeof(out)), PAWL_E_NOT_FOUND);
    cr_assert_eq(pawl__fs_overlay_upper(text, "/", out, 5), PAWL_E_NOT_FOUND);
}

static char dir[64];
static char lower[80], upper[80], work[80], merged[80];

static void make_overlay(void)
{
    char options[400];

    host_make_dir(dir);
    (void)snprintf(lower, sizeof(lower), "%s/lower", dir);
    (void)snprintf(upper, sizeof(upper), "%s/upper", dir);
    (void)snprintf(work, sizeof(work), "%s/work", dir);
    (void)snprintf(merged, sizeof(merged), "%s/merged", dir);
    cr_assert_eq(mkdir(lower, 0700) | mkdir(upper, 0700) | mkdir(work, 0700) | mkdir(merged, 0700),
                 0);
    (void)snprintf(options, sizeof(options), "lowerdir=%s,upperdir=%s,workdir=%s", lower, upper,
                   work);
    if (mount("overlay", merged, "overlay", 0, options) != 0) {
        host_remove_dir(dir);
        cr_skip_test("missing: the right to mount overlayfs");
    }
}

static void remove_overlay(void)
{
    (void)umount2(merged, MNT_DETACH);
    host_remove_dir(dir);
}

/* On overlayfs the store works, with a warning that says how far its locks reach. */
Test(local_fs, overlay_warns)
{
    struct host host;

    make_overlay();
    cr_assert_eq(host_open(&host, merged, NULL), PAWL_OK);
    cr_assert_not_null(strstr(host.info.warning, "overlayfs"));
    cr_assert_eq(host_status(host_session(&host, 7, 30000)), PAWL_OK);
    cr_assert_eq(host_number(&host, 7, 1, "job"), 1);
    host_close(&host, 1000);
    cr_assert_eq(host_open(&host, merged, NULL), PAWL_OK);
    host_close(&host, 1000);
    remove_overlay();
}

/* A database that came with the image, in a lower layer, is refused: every container would have a
 * copy of it with the same identity. */
Test(local_fs, lower_layer_is_refused)
{
    struct host host;
    char options[400];
    pawl_error *err = pawl_error_new();

    make_overlay();
    cr_assert_eq(umount2(merged, 0), 0);
    cr_assert_eq(host_open(&host, lower, NULL), PAWL_OK);
    host_close(&host, 1000);
    (void)snprintf(options, sizeof(options), "lowerdir=%s,upperdir=%s,workdir=%s", lower, upper,
                   work);
    cr_assert_eq(mount("overlay", merged, "overlay", 0, options), 0);
    cr_assert_eq(host_open(&host, merged, err), PAWL_E_UNSUPPORTED);
    cr_assert_not_null(strstr(pawl_error_message(err), "lower layer"));
    cr_assert_not_null(strstr(pawl_error_message(err), "local:///dir"));
    pawl_error_free(err);
    remove_overlay();
}

/* The same where the upper directory cannot be seen, as in a container: by the device. */
Test(local_fs, lower_layer_by_device)
{
    struct host host;
    char options[400];
    pawl_error *err = pawl_error_new();

    make_overlay();
    cr_assert_eq(umount2(merged, 0), 0);
    cr_assert_eq(host_open(&host, lower, NULL), PAWL_OK);
    host_close(&host, 1000);
    /* Upper and work on another file system, hidden again after the mount. */
    cr_assert_eq(mount("tmpfs", upper, "tmpfs", 0, NULL), 0);
    char up[96], wk[96];
    (void)snprintf(up, sizeof(up), "%s/u", upper);
    (void)snprintf(wk, sizeof(wk), "%s/w", upper);
    cr_assert_eq(mkdir(up, 0700) | mkdir(wk, 0700), 0);
    (void)snprintf(options, sizeof(options), "lowerdir=%s,upperdir=%s,workdir=%s,xino=off", lower,
                   up, wk);
    cr_assert_eq(mount("overlay", merged, "overlay", 0, options), 0);
    cr_assert_eq(umount2(upper, MNT_DETACH), 0);
    cr_assert_eq(host_open(&host, merged, err), PAWL_E_UNSUPPORTED, "%s", pawl_error_message(err));
    cr_assert_not_null(strstr(pawl_error_message(err), "lower layer"));
    pawl_error_free(err);
    remove_overlay();
}

/* A file system that is not on the list is refused by its name, with the cure. */
Test(local_fs, other_file_systems_are_refused)
{
    struct host host;
    pawl_error *err = pawl_error_new();

    host_make_dir(dir);
    if (mount("ramfs", dir, "ramfs", 0, "mode=0700") != 0) {
        host_remove_dir(dir);
        cr_skip_test("missing: the right to mount ramfs");
    }
    cr_assert_eq(host_open(&host, dir, err), PAWL_E_UNSUPPORTED);
    cr_assert_not_null(strstr(pawl_error_message(err), "ramfs"));
    cr_assert_not_null(strstr(pawl_error_message(err), "local:///dir"));
    pawl_error_free(err);
    (void)umount2(dir, MNT_DETACH);
    host_remove_dir(dir);
}
